"""Measure the knowledge base: load time and memory beside scispaCy's, UMLS streaming.

Every figure comes from a process of its own. Memory is what the step adds to the
resident memory after all imports; "peak" is the highest of the whole process.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)
TERM = "type 2 diabetes"
PAGE = resource.getpagesize()


@app.command()
def load(
    repeats: Annotated[int, typer.Option(help="Processes each; the best counts.")] = 3,
) -> None:
    """Load the built-in base, and the same concepts into scispaCy's KnowledgeBase."""
    from t2v_spacy.kb import load_builtin
    from t2v_spacy.kb.scispacy_bridge import write_scispacy_jsonl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kb.jsonl"
        write_scispacy_jsonl(load_builtin(), path)
        rows = [
            ("t2v_spacy, loaded", best(repeats, ours, [])),
            ("t2v_spacy, and first look-up", best(repeats, ours, ["lookup"])),
            ("t2v_spacy, and any word order", best(repeats, ours, ["lookup", "norm"])),
            ("scispaCy KnowledgeBase", best(repeats, theirs, str(path))),
        ]
    typer.echo("| | seconds | MB added | peak MB |\n|---|---:|---:|---:|")
    for name, found in rows:
        figures = (found["seconds"], found["added"], found["peak"])
        typer.echo(
            f"| {name} | {figures[0]:.2f} | {figures[1]:.0f} | {figures[2]:.0f} |"
        )


@app.command()
def umls(
    meta: Annotated[Path, typer.Argument(help="META folder, real or synthetic.")],
) -> None:
    """Read a UMLS release and write it as a base."""
    typer.echo(json.dumps(in_process(read_release, str(meta)), indent=2))


def ours(steps: list[str]) -> dict[str, Any]:
    from t2v_spacy.kb.builtin import FILE, read_checked

    with Measure() as measure:
        kb = read_checked(FILE)
        if "lookup" in steps:
            assert kb.lookup(TERM)
        if "norm" in steps:
            assert kb.lookup_norm(TERM)
    return measure.found


def theirs(path: str) -> dict[str, Any]:
    from scispacy.linking_utils import KnowledgeBase

    with Measure() as measure:
        kb = KnowledgeBase(path)
        assert len(kb.cui_to_entity)
    return measure.found


def read_release(meta: str) -> dict[str, Any]:
    from t2v_spacy.kb.umls import read_umls

    with Measure() as measure:
        kb = read_umls(meta)
        read = measure.now()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kb"
            path.write_bytes(kb.to_bytes(preset=1))
            size = path.stat().st_size
    info = kb.info()
    counts = {k: info[k] for k in ("concepts", "aliases", "with_parents")}
    return {**measure.found, "read_seconds": read, "file_bytes": size, **counts}


class Measure:
    """Seconds, resident megabytes added, and peak of the process."""

    def __enter__(self) -> Measure:
        self._before = resident()
        self._start = time.perf_counter()
        return self

    def now(self) -> float:
        return time.perf_counter() - self._start

    def __exit__(self, *_: object) -> None:
        seconds = self.now()
        added = resident() - self._before
        self.found = {"seconds": seconds, "added": added, "peak": peak()}


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * PAGE / 1e6


def peak() -> float:
    # Not getrusage: its figure is inherited from the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def best(repeats: int, step: Callable[[Any], dict], argument: Any) -> dict[str, Any]:
    found = [in_process(step, argument) for _ in range(repeats)]
    return min(found, key=lambda figures: figures["seconds"])


def in_process(step: Callable[[Any], dict], argument: Any) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(step, argument).result()


if __name__ == "__main__":
    app()
