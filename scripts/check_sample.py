"""Check the built-in sample and say what is in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import srsly
import typer

from t2v_spacy.readers import ReadReport, read_trials


def main(sample: Path, out: Path, at_least: int = 240) -> None:
    """Read every sample trial and write counts; exit 1 if one is refused or missing."""
    report = ReadReport()
    trials = list(read_trials(sample, report=report))
    words = [len(trial.to_text().split()) for trial in trials]
    counts = {
        "trials": len(trials),
        "areas": len({trial.nct_id[:7] for trial in trials}),
        "words": {
            "least": min(words),
            "most": max(words),
            "mean": sum(words) // len(words),
        },
        "status": dict(Counter(trial.status for trial in trials)),
        "phases": dict(Counter("/".join(sorted(t.phases)) or "none" for t in trials)),
        "report": report.to_dict(),
    }
    if len(trials) < at_least or report.refused or report.duplicates:
        typer.echo("\n".join(report.lines()), err=True)
        raise typer.Exit(1)
    out.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(out, counts)
    typer.echo(f"{len(trials)} trials in {counts['areas']} disease areas -> {out}")


if __name__ == "__main__":
    typer.run(main)
