"""The tasks of the suite with one encoder: every task gives a row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...errors import T2VError
from ...files import replaced_file, writing
from .clustering import score_clustering
from .encoders import Encoder
from .hub import load_mteb, load_own, score_mteb
from .local import find_local, read_local
from .probe import score_probe
from .retrieval import score_retrieval
from .score import NoData, Score, checksum
from .sts import score_sts
from .tasks import SuiteTask

RAN, NO_DATA, FAILED = "ran", "no data", "failed"
_PROTOCOL = 1  # raised with each change of a protocol, so that old results do not count


@dataclass(frozen=True)
class Row:
    """What became of a task. status: RAN, NO_DATA or FAILED; why: if not RAN.
    protocol: "own" or "mteb". source: a path in the folder of data, or the hub's name.
    data: checksum."""

    task: str
    kind: str
    metric: str
    status: str
    score: Score | None = None
    why: str = ""
    protocol: str = ""
    source: str = ""
    data: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Job:
    """A task that has data. run: scores it."""

    protocol: str
    source: str
    data: str
    run: Callable[[Encoder], Score]


def run_suite(
    encoder: Encoder,
    tasks: Sequence[SuiteTask],
    *,
    folder: Path | None = None,
    hub: bool = False,
    cache: Path | None = None,
    seed: int = 0,
    report: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """A row for each task, in order. Bad data of one do not stop the others.

    folder (Path | None): Local data, see `find_local`; they come before the hub's.
    hub (bool): Load from the hub what the folder has not.
    cache (Path | None): Folder that keeps each result as soon as it is there, by the
        checksums of model and data; a run that was stopped goes on from it.
    seed (int): Of ties, intervals and the regression.
    report (Callable): Is told a line for each task.
    RAISES (T2VError): T010 if the cache cannot be written.
    """
    rows = []
    for task in tasks:
        row = _run(encoder, task, folder, hub, cache, seed)
        rows.append(row)
        said = f"{row.score.value:.4f}" if row.score else f"{row.status}: {row.why}"
        report(f"{encoder.name}, {task.name}: {said}")
    return rows


def _run(
    encoder: Encoder,
    task: SuiteTask,
    folder: Path | None,
    hub: bool,
    cache: Path | None,
    seed: int,
) -> Row:
    row = Row(task.name, task.kind, task.metric, NO_DATA)
    try:
        job = _find(task, folder, hub, seed)
        row = replace(
            row, protocol=job.protocol, source=job.source, data=job.data, status=RAN
        )
        kept = _cached(cache, encoder, row, seed)
        if kept is not None and kept.is_file():
            return _read(kept)
        started = time.perf_counter()
        score = job.run(encoder)
        row = replace(row, score=score, seconds=round(time.perf_counter() - started, 1))
    except NoData as err:
        return replace(row, why=str(err))
    except T2VError as err:
        return replace(row, status=FAILED, why=str(err))
    if kept is not None:
        with writing(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            with replaced_file(kept) as new:
                new.write_text(json.dumps(asdict(row), indent=1), encoding="utf8")
    return row


def _find(task: SuiteTask, folder: Path | None, hub: bool, seed: int) -> _Job:
    why = "neither a folder of data nor the hub was given"
    if folder is not None:
        try:
            path = find_local(folder, task)
        except NoData as err:
            why = str(err)
        else:
            data = read_local(path, task)
            part = task.part is not None and path == folder / task.part
            source = path.relative_to(folder).as_posix()
            return _own(task, data, source, seed, task.part_note if part else "")
    if not hub:
        raise NoData(why)
    if task.mteb is None:
        data = load_own(task)
        return _own(task, data, task.hub.path if task.hub else "", seed, "")
    loaded = load_mteb(task)
    of = loaded.metadata.dataset
    facts = f"{of} {task.subsets} {version('mteb')}"
    return _Job(
        "mteb",
        of["path"],
        sha256(facts.encode()).hexdigest(),
        lambda encoder: score_mteb(task, loaded, encoder),
    )


def _own(task: SuiteTask, data: Any, source: str, seed: int, note: str) -> _Job:
    def run(encoder: Encoder) -> Score:
        if task.kind == "retrieval":
            found = score_retrieval(data, encoder, seed=seed)
        elif task.kind == "probe":
            found = score_probe(data, encoder, task.metric, seed=seed)
        elif task.kind == "sts":
            found = score_sts(data, encoder, seed=seed)
        else:
            found = score_clustering(data, encoder, seed=seed)
        notes = "; ".join(filter(None, (note, found.note)))
        return replace(found, note=notes)

    return _Job("own", source, checksum(data), run)


def _cached(cache: Path | None, encoder: Encoder, row: Row, seed: int) -> Path | None:
    if cache is None:
        return None
    what = (row.task, row.protocol, row.source, row.data)
    facts = (encoder.checksum, *what, seed, _PROTOCOL)
    return cache / f"{sha256(repr(facts).encode()).hexdigest()[:32]}.json"


def _read(path: Path) -> Row:
    found = json.loads(path.read_text(encoding="utf8"))
    return Row(**found | {"score": Score(**found["score"])})
