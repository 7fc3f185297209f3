"""How much memory each processed Doc keeps, against a bare tokenised Doc."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from t2v_spacy import make_trial_doc, read_trials
from t2v_spacy.cli import load_pipeline


def main(
    trials: Path,
    model: Annotated[str, typer.Option()] = "models/trial2vec",
    copies: Annotated[int, typer.Option(help="Docs kept in a list.")] = 600,
) -> None:
    """Print kB of resident memory a kept Doc, after the first 200 have warmed up."""
    nlp = load_pipeline(model)
    whole = (t for t in read_trials(trials) if t.eligibility and t.title)
    trial = next(whole)
    text = trial.to_text()
    list(nlp.pipe(make_trial_doc(nlp, trial) for _ in range(200)))
    typer.echo(f"{len(nlp.make_doc(text))} tokens, {copies} copies")
    # Both lists stay alive, or the second would fill the room the first has left.
    bare = grow(nlp.make_doc(text) for _ in range(copies))
    full = grow(nlp.pipe(make_trial_doc(nlp, trial) for _ in range(copies)))
    typer.echo(f"tokenised only:       {bare[0]:.0f} kB a Doc")
    typer.echo(f"through the pipeline: {full[0]:.0f} kB a Doc")


def grow(docs: Iterable[Doc]) -> tuple[float, list[Doc]]:
    """Kilobytes of the process a Doc of a stream that is kept, and the Docs; counted
    from the 200th on, when the buffers of the stream are there."""
    stream = iter(docs)
    kept = list(islice(stream, 200))
    before = resident_kb()
    kept += stream
    gc.collect()
    return (resident_kb() - before) / (len(kept) - 200), kept


def resident_kb() -> float:
    """Resident memory of this process (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return float(line.split()[1])


if __name__ == "__main__":
    typer.run(main)
