"""Measure an index of real trials at a size: building, opening, memory, searching.

A larger index holds the same records under new ids, over and over, each with a vector
of its own: a real one with some of the difference of two others.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import httpx
import numpy as np
import typer

from t2v_spacy import Trial
from t2v_spacy.load import load_nlp
from t2v_spacy.search import IndexEntry, TrialIndex, build
from t2v_spacy.search.vectors import unit

K = 10
CLIENTS = (1, 8)
# What is opened, and how the memory of the process grows, in a process of its own.
OPEN = """
import json, sys, time
from t2v_spacy.search import TrialIndex
def memory():
    lines = open("/proc/self/status").read().splitlines()
    return {name: int(line.split()[1]) / 1024 for line in lines
            for name in ("RssAnon", "RssFile") if line.startswith(name)}
before, start = memory(), time.perf_counter()
index = TrialIndex.from_disk(sys.argv[1], verify=sys.argv[2] == "verify")
opened = time.perf_counter() - start
after, ids = memory(), index.ids()
start = time.perf_counter()
index.search(ids[len(ids) // 2], 10)
found = time.perf_counter() - start
for nct_id in ids[::max(1, len(ids) // 200)]:
    index.search(nct_id, 10)
used = memory()
print(json.dumps({"open": opened, "first": found,
                  "own": after["RssAnon"] - before["RssAnon"],
                  "used": used["RssAnon"] - before["RssAnon"],
                  "mapped": used["RssFile"] - before["RssFile"]}))
"""


def main(
    index: Annotated[Path, typer.Argument(help="Folder of an index of real trials.")],
    out: Annotated[
        Path, typer.Argument(help="Folder of the index measured; kept as it is.")
    ],
    model: Annotated[str, typer.Option(help="Pipeline that encodes the texts.")],
    items: Annotated[
        int | None, typer.Option(help="Trials in it. Default: those of the first.")
    ] = None,
    queries: Annotated[int, typer.Option(help="Searches of each kind.")] = 200,
    noise: Annotated[float, typer.Option(help="Share of the difference.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Print markdown tables. One thread, except where clients are counted."""
    warnings.simplefilter("ignore")
    if not out.exists():
        build_at_size(index, out, items, noise, seed)
    typer.echo(f"\n{os.sched_getaffinity(0).__len__()} cores, seed {seed}\n")
    report_opening(out)
    report_searches(out, model, queries, seed)
    report_clients(out, model, queries, seed)


# building


def build_at_size(
    source: Path, out: Path, items: int | None, noise: float, seed: int
) -> None:
    real = TrialIndex.from_disk(source)
    entries = real.entries() if items is None else repeated(real, items, noise, seed)
    start = time.perf_counter()
    with stages() as spent:
        counted = Reading(entries)
        out.mkdir(parents=True)
        facts = build.write_index(out, counted, seed=seed)
    total = time.perf_counter() - start
    spent["reading the entries"] = counted.seconds
    spent["the rest"] = total - sum(spent.values())
    typer.echo(f"{facts['n_items']:,} trials, built in {total:.0f} s\n")
    typer.echo("| stage | seconds |\n|---|---:|")
    for name, seconds in spent.items():
        typer.echo(f"| {name} | {seconds:.1f} |")
    sizes: dict[str, int] = defaultdict(int)
    for path in out.rglob("*"):
        if path.is_file():
            name = path.relative_to(out).parts[0]
            sizes[name.split(".")[0] if name.startswith("lexical") else name] += (
                path.stat().st_size
            )
    typer.echo("\n| file | MB |\n|---|---:|")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        typer.echo(f"| `{name}` | {size / 1e6:,.1f} |")
    typer.echo(f"| all | {sum(sizes.values()) / 1e6:,.1f} |")


class Reading:
    """The entries, and the seconds spent on getting them."""

    def __init__(self, entries: Iterator[IndexEntry]) -> None:
        self.entries, self.seconds = entries, 0.0

    def __iter__(self) -> Iterator[IndexEntry]:
        while True:
            start = time.perf_counter()
            entry = next(self.entries, None)
            self.seconds += time.perf_counter() - start
            if entry is None:
                return
            yield entry


def repeated(
    real: TrialIndex, items: int, noise: float, seed: int
) -> Iterator[IndexEntry]:
    rng = np.random.default_rng(seed)
    vectors = np.stack([real.vector(nct_id) for nct_id in real.ids()])
    number = 0
    while number < items:
        for place, entry in enumerate(real.entries()):
            if number == items:
                return
            one, other = vectors[rng.integers(len(vectors), size=2)]
            trial = replace(entry.trial, nct_id=f"NCT9{number:07}", aliases=())
            vector = unit(vectors[place] + noise * (one - other))
            yield replace(entry, trial=trial, vector=vector)
            number += 1


@contextmanager
def stages() -> Iterator[dict[str, float]]:
    """Seconds by part of the index while it is written."""
    parts: list[tuple[Any, str, str]] = [
        (build.RecordWriter, "add", "records"),
        (build.RecordWriter, "renumber", "records"),
        (build.SectionWriter, "append", "section vectors"),
        (build.SectionWriter, "close", "section vectors"),
        (build.FacetWriter, "append", "facets for filters"),
        (build.FacetWriter, "save", "facets for filters"),
        (build.LexicalWriter, "append", "words"),
        (build.LexicalWriter, "save", "words"),
        (build.AnnoyStore, "build", "trees"),
        (build.AnnoyStore, "save", "trees"),
        (build, "describe", "checksums"),
    ]
    spent: dict[str, float] = {}
    kept = [(owner, name, vars(owner)[name]) for owner, name, _ in parts]
    try:
        for owner, name, label in parts:
            setattr(owner, name, timed(getattr(owner, name), label, spent))
        yield spent
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def timed(
    function: Callable[..., Any], label: str, spent: dict[str, float]
) -> Callable[..., Any]:
    def call(*args: Any, **settings: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **settings)
        finally:
            spent[label] = spent.get(label, 0.0) + time.perf_counter() - start

    return call


# opening


def report_opening(folder: Path) -> None:
    typer.echo(
        "| opening | s | first search s | own memory MB | after 200 searches MB "
        "| mapped files MB |"
    )
    typer.echo("|---|---:|---:|---:|---:|---:|")
    for label, verify, cold in (
        ("cold, checksums compared", "verify", True),
        ("cold, `verify=False`", "", True),
        ("warm, checksums compared", "verify", False),
        ("warm, `verify=False`", "", False),
    ):
        if cold:
            forget(folder)
        command = [sys.executable, "-c", OPEN, str(folder), verify]
        found = json.loads(subprocess.run(command, stdout=-1, check=True).stdout)
        typer.echo(
            f"| {label} | {found['open']:.2f} | {found['first']:.3f} "
            f"| {found['own']:.0f} | {found['used']:.0f} | {found['mapped']:.0f} |"
        )
    typer.echo()


def forget(folder: Path) -> None:
    """Let the system drop what it keeps of the files in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# searching


def report_searches(folder: Path, model: str, n: int, seed: int) -> None:
    index, draw = TrialIndex.from_disk(folder, verify=False), random.Random(seed)
    index.nlp = load_nlp(model)
    ids = draw.sample(index.ids(), n)
    titles = [title_of(index[nct_id]) for nct_id in ids]
    start = time.perf_counter()
    docs = [index.nlp(title) for title in titles]
    encoding = 1000 * (time.perf_counter() - start) / n
    filters = [draw_filters(index[nct_id], draw) for nct_id in draw.sample(ids, n)]
    shares = [index.filter_report(chosen).matching / len(index) for chosen in filters]
    typer.echo(
        f"A title of {np.mean([len(d) for d in docs]):.0f} tokens: {encoding:.1f}"
    )
    typer.echo("ms to encode; not in the figures below.\n")
    typer.echo("| search | p50 ms | p95 ms |\n|---|---:|---:|")
    for what, asked in (("an id", ids), ("a title", docs)):
        for label, hybrid in (("", False), (", hybrid", True)):
            row(f"{what}{label}", ask(index, asked, hybrid=hybrid))
            row(f"{what}{label}, filters", ask(index, asked, filters, hybrid=hybrid))
    row("an id, exact", ask(index, ids, exact=True))
    typer.echo(
        "\nFilters: 1 to 3 facts of a random trial, which leave "
        f"{np.median(shares):.2%} of the trials (median; {min(shares):.3%} to "
        f"{max(shares):.0%}).\n"
    )
    report_exhaustive(index, ids, docs, filters)


def title_of(trial: Trial) -> str:
    return trial.title or trial.official_title or " ".join(trial.conditions) or "pain"


def ask(
    index: TrialIndex,
    asked: Sequence[Any],
    filters: Sequence[Any] | None = None,
    **settings: Any,
) -> list[float]:
    """Milliseconds of each search."""
    spent = []
    for number, query in enumerate(asked):
        chosen = filters[number] if filters else None
        start = time.perf_counter()
        index.search(query, K, filters=chosen, **settings)
        spent.append(1000 * (time.perf_counter() - start))
    return spent


def row(label: str, spent: Sequence[float]) -> None:
    middle, most = np.quantile(spent, (0.5, 0.95))
    typer.echo(f"| {label} | {middle:.1f} | {most:.1f} |")


def draw_filters(trial: Trial, draw: random.Random) -> dict[str, Any]:
    """One to three facts of a trial, as filters that it passes itself."""
    start = trial.start_date
    facts: dict[str, Any] = {
        "phases": sorted(trial.phases)[:1],
        "statuses": trial.status,
        "study_type": trial.study_type,
        "sex": trial.sex,
        "has_results": trial.has_results,
        "country": [place.country for place in trial.locations[:1] if place.country],
        "sponsor_class": trial.sponsor_class,
        "started_after": start.value[:4] if start and start.value else None,
        "intervention_types": [i.type for i in trial.interventions[:1] if i.type],
        "healthy_volunteers": trial.healthy_volunteers,
    }
    known = {
        name: value for name, value in facts.items() if value not in (None, (), [])
    }
    names = draw.sample(sorted(known), min(len(known), draw.randint(1, 3)))
    return {name: known[name] for name in names}


def report_exhaustive(
    index: TrialIndex, ids: list[str], docs: list[Any], filters: list[dict[str, Any]]
) -> None:
    """What of the ten nearest of a comparison with every trial is found."""
    typer.echo("| 200 searches against exhaustive ones | recall@10 | same list |")
    typer.echo("|---|---:|---:|")
    half = len(ids) // 2
    asked = [*ids[:half], *docs[half:]]
    for label, chosen in (("without filters", None), ("with filters", filters)):
        shares, same = [], 0
        for number, query in enumerate(asked):
            given = chosen[number] if chosen else None
            found, truth = (
                [hit.nct_id for hit in index.search(query, K, filters=given, exact=e)]
                for e in (False, True)
            )
            if len(found) != len(truth):
                raise SystemExit(f"{len(found)} instead of {len(truth)} results")
            shares.append(len({*found} & {*truth}) / len(truth) if truth else 1.0)
            same += found == truth
        typer.echo(f"| {label} | {np.mean(shares):.4f} | {same} of {len(asked)} |")
    typer.echo()


# clients


def report_clients(folder: Path, model: str, n: int, seed: int) -> None:
    """Of the server, which runs in a process of its own."""
    index, draw = TrialIndex.from_disk(folder, verify=False), random.Random(seed)
    ids = draw.sample(index.ids(), n)
    bare = [{"id": nct_id, "reasons": False} for nct_id in ids]
    filters = [{"filters": draw_filters(index[nct_id], draw)} for nct_id in ids]
    titles = [title_of(index[nct_id]) for nct_id in ids]
    kinds = {
        "an id": bare,
        "an id, filters": [a | b for a, b in zip(bare, filters, strict=True)],
        "an id, hybrid": [body | {"hybrid": True} for body in bare],
        "an id, with reasons": [body | {"reasons": True} for body in bare],
        "a title": [{"text": title, "reasons": False} for title in titles],
        "a title, with reasons": [{"text": title} for title in titles],
    }
    typer.echo("| asked of `t2v serve` | clients | p50 ms | p95 ms | requests/s |")
    typer.echo("|---|---:|---:|---:|---:|")
    with server(folder, model) as url:
        for what, asked in kinds.items():
            for clients in CLIENTS:
                start = time.perf_counter()
                spent = from_clients(url, asked, clients)
                rate = len(asked) / (time.perf_counter() - start)
                middle, most = np.quantile(spent, (0.5, 0.95))
                typer.echo(
                    f"| {what} | {clients} | {middle:.0f} | {most:.0f} | {rate:.0f} |"
                )


@contextmanager
def server(folder: Path, model: str) -> Iterator[str]:
    """A server at a free port, ready, and its address."""
    command = [sys.executable, "-m", "t2v_spacy", "serve", str(folder)]
    process = subprocess.Popen(
        [*command, "--model", model, "--port", "0"], stderr=-1, text=True
    )
    try:
        assert process.stderr
        url = ""
        for line in process.stderr:
            if line.startswith("Serving"):
                url = line.split(" at ")[1].split()[0].rstrip("/")
                break
        threading.Thread(target=process.stderr.read, daemon=True).start()
        body = {"text": "asthma in children", "k": K}
        httpx.post(f"{url}/api/v1/search", json=body, timeout=120).raise_for_status()
        yield url
    finally:
        process.terminate()
        process.wait()


def from_clients(url: str, asked: list[dict[str, Any]], clients: int) -> list[float]:
    """Milliseconds of each request."""
    local = threading.local()

    def post(body: dict[str, Any]) -> float:
        if not hasattr(local, "client"):
            local.client = httpx.Client(base_url=url, timeout=120)
        start = time.perf_counter()
        answer = local.client.post("/api/v1/search", json={"k": K, **body})
        answer.raise_for_status()
        return 1000 * (time.perf_counter() - start)

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(post, asked))


if __name__ == "__main__":
    typer.run(main)
