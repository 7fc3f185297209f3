"""Fit the section maps of a pipeline to trials with linked concepts, in closed form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.files import replaced_folder
from t2v_spacy.training.callbacks import hide_paths
from t2v_spacy.training.concept_maps import fit_concept_maps
from t2v_spacy.training.corpus import trial_corpus


def main(
    model: str,
    trials: Annotated[Path, typer.Argument(help="Made by prepare_corpus.py.")],
    out: Path,
    limit: Annotated[int, typer.Option(help="Trials drawn at random.")] = 8000,
    power: Annotated[float, typer.Option(help="0 centres only, 1 whitens.")] = 0.5,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Write the pipeline with its maps set, and print what they rest on."""
    try:
        nlp = spacy.load(model)
        corpus = trial_corpus(trials, shuffle=True, seed=seed)
        docs = (example.predicted for example in corpus(nlp))
        counts = fit_concept_maps(nlp, docs, power=power, limit=limit)
        with replaced_folder(out) as folder:
            hide_paths()(nlp).to_disk(folder)
    except (T2VError, OSError) as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for label, count in counts.items():
        typer.echo(f"{label}: {count} trials share a concept with another")


if __name__ == "__main__":
    typer.run(main)
