"""The experiments of the paper, on the records and benchmarks of a settings file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.experiments import (
    read_settings,
    run_experiments,
    write_report,
)


def main(
    settings: Annotated[Path, typer.Option(help="YAML or JSON file.")] = Path(
        "configs/experiments.yml"
    ),
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "metrics/experiments"
    ),
    report: Annotated[
        Path | None,
        typer.Option(help="Folder of report.md and its figures. Default: --out."),
    ] = None,
    quick: Annotated[
        bool, typer.Option(help="With the changes of the block 'quick'.")
    ] = False,
    again: Annotated[bool, typer.Option(help="Do also what is done already.")] = False,
    report_only: Annotated[
        bool, typer.Option(help="Write the report of the results that are there.")
    ] = False,
) -> None:
    """Run what is new or has changed and write the report; exit 1 if something failed
    that is not marked optional. Run again to resume a stopped run."""
    where = report or out
    try:
        if report_only:
            write_report(out, where)
            failed = []
        else:
            given = read_settings(settings, quick=quick)
            failed = run_experiments(given, out, where, again=again)
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for row in failed:
        typer.echo(f"{row['system']} failed: {row['failed']}", err=True)
    typer.echo(f"Report: {where / 'report.md'}")
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
