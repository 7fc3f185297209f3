"""How well early termination is predicted, beside simple systems: a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.termination.inputs import StudySettings
from t2v_spacy.evaluation.termination.records import NOTHING_TO_LEARN
from t2v_spacy.evaluation.termination.report import REPORT
from t2v_spacy.evaluation.termination.study import run_study


def main(
    records: Annotated[Path, typer.Argument(help="In any format that t2v reads.")],
    out: Annotated[Path, typer.Argument(help="Folder of the results.")],
    encoder: Annotated[Path, typer.Option(help="Pipeline that makes trial vectors.")],
    config: Annotated[
        Path, typer.Option(help="spacy train config of the classifier.")
    ] = Path("configs/termination.cfg"),
    cache: Annotated[
        Path | None, typer.Option(help="Folder that keeps vectors. Default: in OUT.")
    ] = None,
    cutoff: Annotated[
        str, typer.Option(help="First day of the test part of the split by date.")
    ] = "2012-01-01",
    seeds: Annotated[int, typer.Option(help="Random splits and trainings.")] = 3,
    limit: Annotated[
        int, typer.Option(help="Labelled trials, drawn at random; 0 for all.")
    ] = 0,
    any_type: Annotated[
        bool, typer.Option(help="Not only interventional trials.")
    ] = False,
    complete_only: Annotated[
        bool, typer.Option(help="Without the tables of all records.")
    ] = False,
    word2vec: Annotated[bool, typer.Option(help="With a row of Word2Vec.")] = True,
    backbone: Annotated[
        str | None, typer.Option(help="Of TrialBERT, for a row of it.")
    ] = None,
    finetuned: Annotated[
        Path | None,
        typer.Option(help="Config that trains the encoder along, for a row of it."),
    ] = None,
) -> None:
    """Write termination.json, termination.md and its figure to OUT; exit 1 if a row
    failed for another reason than too few trials to learn from. Run again to resume a
    stopped run: only what is not there is made."""
    try:
        settings = StudySettings(
            records=records,
            encoder=encoder,
            config=config,
            cache=cache,
            cutoff=cutoff,
            seeds=seeds,
            limit=limit,
            study_type=None if any_type else "INTERVENTIONAL",
            word2vec=word2vec,
            complete_only=complete_only,
            backbone=backbone,
            finetuned=finetuned,
        )
        result = run_study(settings, out, command=shlex.join(["python", *sys.argv]))
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    failed = False
    for table in result["tables"]:
        for row in table["rows"]:
            if row["failed"]:
                failed |= row["code"] != NOTHING_TO_LEARN
                typer.echo(f"{row['system']} failed: {row['failed']}", err=True)
    typer.echo(f"Report: {out / REPORT}")
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
