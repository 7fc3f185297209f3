"""Trials for training: parsed and linked once, a part of them held out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc
from tqdm import tqdm

from t2v_spacy.errors import T2VError
from t2v_spacy.files import replaced_file
from t2v_spacy.readers import ReadReport
from t2v_spacy.training.corpus import link_trials
from t2v_spacy.training.training_trial import LEFT_OUT

PARTS = 10_000
SHOWN = 20
ENCODERS = ["transformer", "trial2vec"]


def main(
    trials: Path,
    train: Path,
    dev: Path,
    model: Annotated[
        str, typer.Option(help="Whose parser and linker; '' for new ones.")
    ] = "",
    dev_share: Annotated[
        float, typer.Option(help="Of the trials, by their id.")
    ] = 0.05,
    dev_most: Annotated[int, typer.Option(help="Most held-out trials.")] = 1000,
    max_words: Annotated[int, typer.Option(help="Kept of each section.")] = 200,
    require: Annotated[
        str, typer.Option(help="Sections each must have, comma-separated.")
    ] = "",
    share: Annotated[float, typer.Option(help="Of the trials used, by id.")] = 1.0,
    processes: Annotated[int, typer.Option()] = 1,
) -> None:
    """Write two files of training trials for the reader t2v.TrialCorpus.v1."""
    needed = {label.strip() for label in require.split(",") if label.strip()}
    counts = {"train": 0, "dev": 0, "passed over": 0}
    report = ReadReport()

    def keep(doc: Doc, nct_id: str) -> bool:
        labels = {span.label_ for span in doc.spans["sections"]} - set(LEFT_OUT)
        kept = needed <= labels and len(labels) > 1 and _draw(nct_id[::-1]) < share
        counts["passed over"] += not kept
        return kept

    def part_of(nct_id: str) -> str:
        held_out = _draw(nct_id) < dev_share and counts["dev"] < dev_most
        return "dev" if held_out else "train"

    try:
        nlp = spacy.load(model, exclude=ENCODERS) if model else _pipes()
        for path in (train, dev):
            path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(train) as new_train, replaced_file(dev) as new_dev:
            with new_train.open("w") as for_train, new_dev.open("w") as for_dev:
                out = {"train": for_train, "dev": for_dev}
                linked = link_trials(
                    nlp,
                    trials,
                    max_words,
                    n_process=processes,
                    report=report,
                    keep=keep,
                )
                for trial in tqdm(linked, disable=None, unit=" trials"):
                    part = part_of(trial.nct_id)
                    counts[part] += 1
                    out[part].write(json.dumps(trial.to_dict()) + "\n")
            for refusal in report.refused[:SHOWN]:
                typer.echo(f"Refused: {refusal}", err=True)
            counts["refused"] = len(report.refused)
            typer.echo(", ".join(f"{n} {name}" for name, n in counts.items()))
            if not counts["train"] or not counts["dev"]:
                typer.echo("A part is empty: give more trials or another --dev-share.")
                raise typer.Exit(1)
    except (T2VError, OSError) as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err


def _pipes() -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    nlp.add_pipe("umls_linker")
    return nlp


def _draw(nct_id: str) -> float:
    digest = hashlib.blake2b(nct_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % PARTS / PARTS


if __name__ == "__main__":
    typer.run(main)
