"""Measure how fast trials are read from JSON lines, against json.loads alone."""

from __future__ import annotations

import gzip
import json
import resource
import time
from pathlib import Path
from typing import IO, Annotated, cast

import typer

from t2v_spacy.readers import ReadReport, read_trials


def main(
    path: Annotated[Path, typer.Argument(help="A .jsonl or .jsonl.gz file.")],
    repeats: Annotated[int, typer.Option(help="Runs of each; the best counts.")] = 3,
) -> None:
    """Print both times, their ratio, and how far the memory grew while reading."""
    before = peak_mib()
    runs = [time_reading(path) for _ in range(repeats)]
    growth = peak_mib() - before
    reading, records = min(runs)
    opening, parsing = min(time_parsing(path) for _ in range(repeats))
    typer.echo(f"read_trials     {reading:6.2f} s for {records} records")
    typer.echo(f"open, read lines{opening:6.2f} s")
    typer.echo(f"json.loads      {parsing:6.2f} s for the same lines")
    typer.echo(f"ratio           {reading / (opening + parsing):6.2f} to both of these")
    typer.echo(f"ratio           {(reading - opening) / parsing:6.2f} without opening")
    typer.echo(f"peak memory     {before + growth:6.0f} MiB, grown by {growth:.0f} MiB")


def time_reading(path: Path) -> tuple[float, int]:
    report = ReadReport()
    start = time.perf_counter()
    for _ in read_trials(path, report=report):
        pass
    return time.perf_counter() - start, report.read


def time_parsing(path: Path) -> tuple[float, float]:
    """Seconds to open and pass over all lines, and seconds of json.loads on top."""
    start = time.perf_counter()
    with _open(path) as file:
        for _ in file:
            pass
    opening = time.perf_counter() - start
    start = time.perf_counter()
    with _open(path) as file:
        for line in file:
            json.loads(line)
    return opening, time.perf_counter() - start - opening


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], (gzip.open if path.suffix == ".gz" else open)(path, "rb"))


if __name__ == "__main__":
    typer.run(main)
