"""Use a running `t2v serve` for minutes, well and badly, and count what it answers.

Each answer must belong to its own request: what an undisturbed server said to a few
fixed questions before must come back to each of them under load.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

API = "/api/v1"
WORDS = ("gout", "asthma", "cancer", "insulin", "stroke", "children", "pain", "sepsis")
JSON = {"content-type": "application/json"}
_KEPT = 20  # wrong answers that are shown
_EVERY = 2.0  # seconds between two looks at the memory


@dataclass
class Counts:
    """What came back, by kind of request."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, status: int, wrong: str | None, seconds: float) -> None:
        with self.lock:
            self.statuses[kind, status] += 1
            self.seconds.append(seconds)
            if wrong:
                self.wrong.append(f"{kind}: {wrong}")


@dataclass(frozen=True)
class Known:
    """Ids of the index, and questions with the answers of an undisturbed server."""

    ids: list[str]
    answers: list[tuple[dict[str, Any], Any]]


Check = Callable[[httpx.Response], str | None]
Request = tuple[str, str, dict[str, Any], Check]


def main(
    url: Annotated[str, typer.Argument(help="Address of the running server.")],
    minutes: Annotated[float, typer.Option(help="How long.")] = 10.0,
    threads: Annotated[int, typer.Option(help="Clients at a time.", min=1)] = 8,
    pid: Annotated[
        int | None, typer.Option(help="Process of the server, to watch its memory.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is asked.")] = 0,
) -> None:
    """Print a table; exit code 1 for an answer that is wrong, or 5xx other than 503."""
    url = url.rstrip("/")
    with httpx.Client(base_url=url, timeout=120) as client:
        known = learn(client, random.Random(seed))
    counts, memory = Counts(), list[float]()
    end = time.monotonic() + 60 * minutes
    workers = [
        threading.Thread(target=use, args=(url, known, counts, end, f"{seed}-{n}"))
        for n in range(threads)
    ]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        if pid:
            memory.append(resident(pid))
        time.sleep(min(_EVERY, max(0.05, end - time.monotonic())))
    for worker in workers:
        worker.join()
    bad = report(counts, memory)
    sys.exit(1 if bad else 0)


def learn(client: httpx.Client, draw: random.Random) -> Known:
    """Ask a few questions one after the other, twice each."""
    found = client.get(f"{API}/search", params={"text": "disease", "k": 50})
    found.raise_for_status()
    ids = [hit["nct_id"] for hit in found.json()["hits"]]
    asked: list[dict[str, Any]] = [{"id": nct_id, "k": 5} for nct_id in ids[:10]]
    asked += [{"text": f"{word} {n}", "k": 5} for n, word in enumerate(WORDS)]
    asked += [{"text": "pain", "k": 5, "filters": {"phases": [n]}} for n in "123"]
    asked += [{"like": ids[:2], "unlike": [ids[n]], "k": 5} for n in (3, 4)]
    answers = []
    for question in asked:
        question["reasons"] = draw.random() < 0.3
        first, again = (
            client.post(f"{API}/search", json=question).raise_for_status().json()
            for _ in range(2)
        )
        if key(first) != key(again):
            raise SystemExit(f"Two answers to one question differ: {question}")
        answers.append((question, key(first)))
    return Known(ids, answers)


def key(answer: dict[str, Any]) -> Any:
    """What must be the same: query, number, ids, scores but for rounding."""
    hits = [(hit["nct_id"], round(hit["score"], 3)) for hit in answer["hits"]]
    return [answer["query"], answer["total"], hits]


def use(url: str, known: Known, counts: Counts, end: float, seed: str) -> None:
    draw = random.Random(seed)
    client = httpx.Client(base_url=url, timeout=120)
    while time.monotonic() < end:
        kind = draw.choice(list(KINDS))
        method, path, settings, check = KINDS[kind](draw, known)
        start = time.monotonic()
        try:
            answer = client.request(method, path, **settings)
        except httpx.HTTPError as err:
            # A body that is refused unread may end the connection first.
            status = 0 if kind in UNREAD else -1
            wrong = None if kind in UNREAD else repr(err)
            counts.add(kind, status, wrong, time.monotonic() - start)
            client.close()
            client = httpx.Client(base_url=url, timeout=120)
            continue
        wrong = fault(answer) or (check(answer) if answer.status_code != 503 else None)
        counts.add(kind, answer.status_code, wrong, time.monotonic() - start)
    client.close()


def fault(answer: httpx.Response) -> str | None:
    """What no answer may be."""
    if answer.status_code >= 500 and answer.status_code != 503:
        return f"{answer.status_code} {answer.request.url} {answer.text[:200]}"
    if "default-src 'none'" not in answer.headers.get("content-security-policy", ""):
        return f"no policy in the answer to {answer.request.url}"
    if answer.status_code >= 400:
        error = answer.json().get("error", {})
        if set(error) != {"code", "message", "field"}:
            return f"an error of another shape: {answer.text[:200]}"
    return None


def expect(*statuses: int) -> Check:
    def check(answer: httpx.Response) -> str | None:
        if answer.status_code in statuses:
            return None
        return f"{answer.status_code} instead of {statuses}: {answer.text[:150]}"

    return check


# kinds of requests


def question(draw: random.Random, known: Known) -> Request:
    body, expected = draw.choice(known.answers)

    def check(answer: httpx.Response) -> str | None:
        if answer.status_code != 200:
            return f"{answer.status_code}: {answer.text[:150]}"
        if key(answer.json()) == expected:
            return None
        return f"another answer to {body}: {answer.text[:150]}"

    return "POST", f"{API}/search", {"json": body}, check


def record(draw: random.Random, known: Known) -> Request:
    nct_id = draw.choice(known.ids)
    whole = draw.random() < 0.3

    def check(answer: httpx.Response) -> str | None:
        if answer.status_code == 200 and answer.json()["nct_id"] == nct_id:
            return None
        return f"not {nct_id}: {answer.text[:150]}"

    return "GET", f"{API}/records/{nct_id}", {"params": {"whole": whole}}, check


def compared(draw: random.Random, known: Known) -> Request:
    ids = draw.sample(known.ids, draw.randint(2, 5))

    def check(answer: httpx.Response) -> str | None:
        if answer.status_code == 200 and answer.json()["ids"] == ids:
            return None
        return f"not {ids}: {answer.text[:150]}"

    return "POST", f"{API}/compare", {"json": {"ids": ids}}, check


def own_text(draw: random.Random, known: Known) -> Request:
    """A text nobody else sends, which the answer repeats."""
    text = f"{draw.choice(WORDS)} {draw.getrandbits(64):x}"

    def check(answer: httpx.Response) -> str | None:
        if answer.status_code == 200 and answer.json()["query"]["text"] == text:
            return None
        return f"not for {text}: {answer.text[:150]}"

    body = {"text": text, "k": draw.randint(1, 20), "reasons": draw.random() < 0.5}
    return "POST", f"{API}/search", {"json": body}, check


def page_file(draw: random.Random, known: Known) -> Request:
    names = ("", "style.css", "app.js", "map.js", "api/v1/health", "api/v1/facets")
    return "GET", f"/{draw.choice((*names, 'api/v1/map'))}", {}, expect(200, 202)


def exported(draw: random.Random, known: Known) -> Request:
    kind = draw.choice(("csv", "json", "ris"))
    nct_id = draw.choice(known.ids)
    body = {"id": nct_id, "format": kind, "k": 10, "reasons": False}
    return "POST", f"{API}/export", {"json": body}, expect(200)


def long_text(draw: random.Random, known: Known) -> Request:
    text = " ".join(draw.choices(WORDS, k=draw.randint(100, 5000)))
    body = {"text": text, "k": 3, "reasons": False}
    return "POST", f"{API}/search", {"json": body}, expect(200)


def new_words(draw: random.Random, known: Known) -> Request:
    """Words that nobody has sent before, which a server must not keep."""
    text = " ".join(f"{draw.getrandbits(40):x}" for _ in range(draw.randint(100, 2000)))
    body = {"text": text, "k": 3, "reasons": False}
    return "POST", f"{API}/search", {"json": body}, expect(200)


def odd_text(draw: random.Random, known: Known) -> Request:
    """Valid JSON with every sign that a text can hold, lone surrogates among them."""

    def sign() -> str:
        control, any_sign = draw.randrange(0x20), draw.randrange(0x110000)
        return chr(draw.choice((control, any_sign, 0xD800, 0x202E)))

    signs = [sign() for _ in range(draw.randint(1, 300))]
    body = json.dumps({"text": "gout " + "".join(signs), "k": 2})
    return "POST", f"{API}/search", {"content": body, "headers": JSON}, expect(200)


def broken_json(draw: random.Random, known: Known) -> Request:
    whole = json.dumps({"text": draw.choice(WORDS), "k": 5}).encode()
    cut = bytearray(whole[: draw.randint(0, len(whole) - 1)])
    for _ in range(draw.randint(0, 5)):
        cut.insert(draw.randint(0, len(cut)), draw.randrange(256))
    deep = (b"[" * 50_000, b'{"a":' * 20_000)
    body = draw.choice((bytes(cut), *deep, b"\xff\xfe", b"1" * 6000))
    settings = {"content": body, "headers": JSON}
    return "POST", f"{API}/search", settings, expect(400, 422)


def wrong_value(draw: random.Random, known: Known) -> Request:
    name = draw.choice(
        ("k", "offset", "against", "parts", "like", "filters", "id", "x")
    )
    plain = (-1, 1e308, 10**30, "\0", "../../etc/passwd", None)
    value = draw.choice((*plain, [[1]], {"a": {"b": 1}}, ["x"] * 200))
    body = json.dumps({"text": "gout", name: value})
    allowed = expect(200, 404, 422)  # no id is no mistake
    return "POST", f"{API}/search", {"content": body, "headers": JSON}, allowed


def strange_path(draw: random.Random, known: Known) -> Request:
    tails = ("..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "%0d%0aa:b", "%2e%2e/%2e%2e")
    tail = draw.choice((*tails, "a" * 3000, "'--", "%F0%9F%98%80"))
    root = draw.choice((f"{API}/records/", f"{API}/", "/", "/page/"))
    return "GET", root + tail, {}, expect(404)


def too_large(draw: random.Random, known: Known) -> Request:
    size = draw.randint(2_000_000, 6_000_000)
    body: Any = b"a" * size
    if draw.random() < 0.5:  # in chunks, without its length
        body = (b"a" * 65_536 for _ in range(size // 65_536))
    settings = {"content": body, "headers": JSON}
    return "POST", f"{API}/search", settings, expect(413)


def other_host(draw: random.Random, known: Known) -> Request:
    host = draw.choice(("evil.example", "127.0.0.1.evil.example:80", "localhost:1"))
    return "GET", f"{API}/health", {"headers": {"host": host}}, expect(421)


def other_type(draw: random.Random, known: Known) -> Request:
    headers = {"content-type": draw.choice(("text/plain", "multipart/form-data", ""))}
    settings = {"content": b'{"text": "gout"}', "headers": headers}
    return "POST", f"{API}/search", settings, expect(415)


KINDS: dict[str, Callable[[random.Random, Known], Request]] = {
    "question": question,
    "record": record,
    "compare": compared,
    "own text": own_text,
    "page": page_file,
    "export": exported,
    "long text": long_text,
    "new words": new_words,
    "odd text": odd_text,
    "broken JSON": broken_json,
    "wrong value": wrong_value,
    "strange path": strange_path,
    "too large": too_large,
    "other host": other_host,
    "other type": other_type,
}
UNREAD = frozenset(("too large",))


# report


def resident(pid: int) -> float:
    """Memory of a process in MB (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def report(counts: Counts, memory: list[float]) -> bool:
    """Print what was counted; says whether something was wrong."""
    statuses = sorted({status for _, status in counts.statuses})
    lines = [["kind", *map(name, statuses)], ["---"] * (len(statuses) + 1)]
    for kind in KINDS:
        row = [counts.statuses[kind, status] or "" for status in statuses]
        lines.append([kind, *map(str, row)])
    for line in lines:
        typer.echo(f"| {' | '.join(line)} |")
    seconds = sorted(counts.seconds) or [0.0]
    half, most, longest = (seconds[int(p * (len(seconds) - 1))] for p in (0.5, 0.95, 1))
    times = f"median {half:.3f}, 95 % {most:.3f}, longest {longest:.3f}"
    typer.echo(f"{len(counts.seconds)} requests; seconds: {times}")
    if memory:
        n = -(-len(memory) // 10)
        tenths = [max(memory[at : at + n]) for at in range(0, len(memory), n)]
        shown = ", ".join(f"{most:.0f}" for most in tenths)
        typer.echo(f"Memory (MB), the most in each tenth of the time: {shown}")
    for wrong in counts.wrong[:_KEPT]:
        typer.echo(f"WRONG {wrong}", err=True)
    typer.echo(f"{len(counts.wrong)} wrong answers")
    return bool(counts.wrong)


def name(status: int) -> str:
    return {-1: "failed", 0: "cut off"}.get(status, str(status))


if __name__ == "__main__":
    typer.run(main)
