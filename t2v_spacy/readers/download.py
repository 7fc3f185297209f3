"""Fetch study records from the ClinicalTrials.gov API v2: paged, polite, resumable."""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..about import __version__
from ..errors import Errors, error
from ..values import parse_id

API = "https://clinicaltrials.gov/api/v2/studies"
OFFLINE = (
    "Check the network connection and run the same command again to go on where it "
    "stopped, or read a file you already have."
)
QUERY = "Check the query; its parameters are those of the API, such as query.cond."
_BUSY = frozenset((408, 425, 429, 500, 502, 503, 504))
_LONGEST_WAIT = 120.0


@dataclass(frozen=True)
class IdList:
    """Ids of a list, in order, each once; kinds as `values.parse_id` tells them."""

    valid: tuple[str, ...]
    other_registry: tuple[str, ...]
    invalid: tuple[str, ...]
    duplicates_removed: int


def read_ids(path: str | Path) -> IdList:
    """Read a text file with one id a line. RAISES T001."""
    path = Path(path)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    found: dict[str, str] = {}
    duplicates = 0
    for line in path.read_text(encoding="utf-8-sig", errors="replace").split("\n"):
        name, kind = parse_id(line)
        if name in found:
            duplicates += 1
        elif name:
            found[name] = kind
    by_kind = {
        kind: tuple(name for name, k in found.items() if k == kind)
        for kind in ("nct", "other", "invalid")
    }
    return IdList(by_kind["nct"], by_kind["other"], by_kind["invalid"], duplicates)


def download_studies(
    out: str | Path,
    *,
    query: Mapping[str, str] | None = None,
    ids: Sequence[str] | None = None,
    url: str = API,
    page_size: int = 100,
    limit: int | None = None,
    delay: float = 0.5,
    retries: int = 6,
    timeout: float = 60.0,
    sleep: Callable[[float], object] = time.sleep,
) -> int:
    """Download studies as JSON lines of API v2 records; returns the number in `out`.

    query (Mapping[str, str]): Parameters of the API, e.g. {"query.cond": "asthma"}.
    ids (Sequence[str] | None): Only these studies, asked for page by page.
    limit (int | None): Stop after so many records; the last page may be cut.
    delay, timeout (float): Seconds between pages, and to wait for an answer.
    retries (int): New tries for a page that fails. The wait before each doubles, from
        one second (or `delay`) up to two minutes, or is what the server asks for.
    `out` appears when all is there. An interrupted run goes on where it stopped:
    `{out}.part` holds the pages so far and `{out}.state.json` the place. In the end
    `{out}.meta.json` records address, query, day, count and ids that were not found.
    RAISES T006 (no ids), T010 (cannot write), T060 (no answer), T061 (cannot resume).
    """
    if ids is not None and not ids:
        raise error(Errors.T006, path="the list of ids", reason="it has no NCT id")
    out = Path(out)
    partial = out.with_name(f"{out.name}.part")
    job = _Job(url, dict(query or {}), list(ids or ()), page_size, limit)
    state = _State.load(out, job)
    client = _Client(delay, retries, timeout, sleep)
    try:
        with (
            partial.open("r+b" if state.size else "wb") as file,
            tqdm(
                total=job.total,
                initial=state.count,
                unit="study",
                disable=None,
                desc=f"Download to {out.name}",
            ) as bar,
        ):
            # Half a page may lie behind the place that the state vouches for.
            file.truncate(state.size)
            file.seek(state.size)
            while not state.done:
                if state.pages:
                    sleep(delay)
                page = client.get(job.address(state))
                studies = job.cut(page["studies"], state.count)
                if total := page.get("totalCount"):
                    bar.total = min(total, limit or total)
                lines = (json.dumps(study, ensure_ascii=False) for study in studies)
                text = "".join(f"{line}\n" for line in lines)
                file.write(text.encode(errors="replace"))
                file.flush()
                state.advance(job, studies, page.get("nextPageToken"), file.tell())
                state.save(out)
                bar.update(len(studies))
        partial.replace(out)
        _write_json(_beside(out, "meta"), {**job.meta(), **state.meta()})
        _beside(out, "state").unlink(missing_ok=True)
    except OSError as err:
        raise error(Errors.T010, path=out, reason=err.strerror or err) from err
    finally:
        if not state.pages:
            with suppress(OSError):
                partial.unlink()
    return state.count


@dataclass(frozen=True)
class _Job:
    url: str
    query: dict[str, str]
    ids: list[str]
    page_size: int
    limit: int | None

    @property
    def total(self) -> int | None:
        return self.limit or len(self.ids) or None

    def address(self, state: _State) -> str:
        fields = {**self.query, "format": "json", "pageSize": str(self.page_size)}
        if not state.pages:
            fields["countTotal"] = "true"
        if self.ids:
            fields["filter.ids"] = ",".join(self.part(state.asked))
        elif state.token:
            fields["pageToken"] = state.token
        return f"{self.url}?{urllib.parse.urlencode(fields)}"

    def part(self, start: int) -> list[str]:
        return self.ids[start : start + self.page_size]

    def cut(self, studies: list[Any], count: int) -> list[Any]:
        return studies if self.limit is None else studies[: self.limit - count]

    def meta(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "query": self.query,
            "ids": self.ids,
            "page_size": self.page_size,
            "limit": self.limit,
        }


@dataclass
class _State:
    """Place in a download: what is asked next, and how many bytes of it are sure."""

    job: dict[str, Any]
    snapshot: str
    token: str | None = None
    asked: int = 0
    pages: int = 0
    count: int = 0
    size: int = 0
    done: bool = False
    missing: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, out: Path, job: _Job) -> _State:
        path = _beside(out, "state")
        if not path.exists():
            return cls(job.meta(), datetime.now(UTC).date().isoformat())
        try:
            state = cls(**json.loads(path.read_text(encoding="utf-8")))
            partial = out.with_name(f"{out.name}.part")
            size = partial.stat().st_size if state.size else 0
        except (OSError, TypeError, ValueError) as err:
            raise error(Errors.T061, path=path, reason="it is damaged") from err
        if state.job != job.meta():
            raise error(Errors.T061, path=path, reason="it belongs to another query")
        if size < state.size:
            raise error(Errors.T061, path=path, reason=f"{partial} was cut since")
        return state

    def advance(
        self, job: _Job, studies: list[Any], token: str | None, size: int
    ) -> None:
        found = {name for study in studies for name in _ids_of(study)}
        self.missing += [name for name in job.part(self.asked) if name not in found]
        self.token = token
        self.asked += job.page_size
        self.pages += 1
        self.count += len(studies)
        self.size = size
        more = self.asked < len(job.ids) if job.ids else bool(token)
        self.done = not more or (job.limit is not None and self.count >= job.limit)

    def save(self, out: Path) -> None:
        _write_json(_beside(out, "state"), vars(self))

    def meta(self) -> dict[str, Any]:
        return {
            "snapshot": self.snapshot,
            "count": self.count,
            "missing": self.missing,
        }


@dataclass(frozen=True)
class _Client:
    delay: float
    retries: int
    timeout: float
    sleep: Callable[[float], object]

    def get(self, address: str) -> dict[str, Any]:
        """One page. RAISES T060 when the address refuses or stays silent."""
        wait = max(1.0, self.delay)
        reason = ""
        for left in range(self.retries, -1, -1):
            asked = None
            try:
                return self._page(address)
            except urllib.error.HTTPError as err:
                reason = f"{err.code} {err.reason}"
                if err.code not in _BUSY:
                    said = err.read(300).decode(errors="replace").strip()
                    raise _failed(address, f"{reason} {said}", QUERY) from err
                asked = _retry_after(err.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException, ValueError) as err:
                # Refused or cut connections, timeouts, and JSON that stops half-way.
                cause = getattr(err, "reason", None) or err
                reason = str(cause) or type(err).__name__
                if isinstance(cause, socket.gaierror):
                    break  # There is no network: waiting a minute does not help.
            if left:
                self.sleep(wait if asked is None else asked)
                wait = min(2 * wait, _LONGEST_WAIT)
        raise _failed(address, reason, OFFLINE)

    def _page(self, address: str) -> dict[str, Any]:
        agent = {"User-Agent": f"t2v_spacy/{__version__}", "Accept": "application/json"}
        request = urllib.request.Request(address, headers=agent)
        with urllib.request.urlopen(request, timeout=self.timeout) as answer:
            page = json.loads(answer.read())
        if not isinstance(page, dict) or not isinstance(page.get("studies"), list):
            raise ValueError("the answer holds no studies")
        return page


def _retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header: a number of seconds, or a date."""
    if not value:
        return None
    try:
        return min(max(float(value), 0.0), _LONGEST_WAIT)
    except ValueError:
        pass
    try:
        ahead = parsedate_to_datetime(value) - datetime.now(UTC)
    except (TypeError, ValueError):
        return None
    return min(max(ahead.total_seconds(), 0.0), _LONGEST_WAIT)


def _ids_of(study: dict[str, Any]) -> list[str]:
    identity = study.get("protocolSection", {}).get("identificationModule", {})
    return [identity.get("nctId", ""), *identity.get("nctIdAliases", [])]


def _failed(address: str, reason: str, remedy: str) -> Exception:
    return error(Errors.T060, url=address, reason=reason, remedy=remedy)


def _beside(out: Path, kind: str) -> Path:
    return out.with_name(f"{out.name}.{kind}.json")


def _write_json(path: Path, data: dict[str, Any]) -> None:
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(json.dumps(data, indent=1), encoding="utf-8")
    partial.replace(path)
