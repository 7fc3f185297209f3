"""Pair files for contrastive training, from trial records and a knowledge base."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from t2v_spacy.errors import Errors, T2VError, error
from t2v_spacy.files import writing
from t2v_spacy.kb.loaders import open_kb
from t2v_spacy.readers import ReadReport, read_trials
from t2v_spacy.training.contrastive.concept_pairs import CONCEPT_SOURCES, concept_pairs
from t2v_spacy.training.contrastive.pairs import Sample, write_pairs
from t2v_spacy.training.contrastive.trial_pairs import TRIAL_SOURCES, trial_pairs
from t2v_spacy.trial import Trial

SHOWN = 20
SOURCES = (*TRIAL_SOURCES, *CONCEPT_SOURCES)
_NCT = re.compile(rb"NCT\d{8}")


def main(
    trials: Annotated[Path, typer.Argument(help="Trial records of any known format.")],
    out: Annotated[Path, typer.Argument(help="Folder of the pair files.")],
    kb: Annotated[
        str, typer.Option(help="'builtin', or a file of `t2v kb build`.")
    ] = "builtin",
    source: Annotated[
        list[str] | None, typer.Option(help=f"Of {', '.join(SOURCES)}; default all.")
    ] = None,
    most_pairs: Annotated[int, typer.Option(help="Of each source.")] = 10_000,
    without: Annotated[
        list[Path] | None,
        typer.Option(help="Files of evaluation: trials they name are left out."),
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="Share of concepts left out, by a hash of their ids.")
    ] = 0.05,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Write OUT/SOURCE.jsonl for each source and print how many pairs each has."""
    report = ReadReport()
    try:
        wanted = list(dict.fromkeys(source or SOURCES))
        for name in wanted:
            if name not in SOURCES:
                known = ", ".join(SOURCES)
                raise error(Errors.T197, value=name, known=known)
        if most_pairs < 1:
            reason = "at least 1"
            raise error(
                Errors.T026, setting="most_pairs", value=most_pairs, reason=reason
            )
        base = open_kb(None if kb == "builtin" else kb)
        samples = {name: Sample(most_pairs, seed) for name in wanted}
        of_trials = [name for name in wanted if name in TRIAL_SOURCES]
        left_out = named_trials(without or [])
        mentioned: set[str] = set()
        records = read_trials(trials, report=report)
        for trial in tqdm(records, desc="Trials", unit="trial", disable=None):
            if trial.nct_id in left_out:
                continue
            mentioned.update(concepts(trial, base))
            for name, pair in trial_pairs(trial, base, of_trials):
                samples[name].add(pair)
        of_base = [name for name in wanted if name in CONCEPT_SOURCES]
        if of_base:
            found = concept_pairs(base, of_base, held_out=held_out, seed=seed)
            for name, pair in tqdm(found, desc="Concepts", unit="pair", disable=None):
                samples[name].add(pair, preferred=pair.groups[0] in mentioned)
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
        for name, sample in samples.items():
            pairs = sample.pairs()
            if not pairs:
                typer.echo(f"{name}: no pairs, no file: {why_none(name)}", err=True)
                continue
            write_pairs(out / f"{name}.jsonl", pairs)
            typer.echo(f"{name}: {len(pairs)} pairs, {sample.repeated} repeats dropped")
    except (T2VError, OSError) as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for refusal in report.refused[:SHOWN]:
        typer.echo(f"Refused: {refusal}", err=True)
    if not any(sample.pairs() for sample in samples.values()):
        raise typer.Exit(1)


def named_trials(paths: list[Path]) -> set[str]:
    """NCT ids that occur anywhere in some files."""
    found: set[str] = set()
    for path in paths:
        if not path.is_file():
            raise error(Errors.T001, path=path)
        found.update(match.decode() for match in _NCT.findall(path.read_bytes()))
    return found


def concepts(trial: Trial, base: object) -> set[str]:
    """Concepts that the conditions, interventions and keywords of a trial name."""
    names = (*trial.conditions, *trial.keywords, *(i.name for i in trial.interventions))
    return {concept for name in names for concept in base.lookup(name)}  # type: ignore


def why_none(name: str) -> str:
    if name == "name_definition":
        return "the base holds no definitions"
    if name in CONCEPT_SOURCES:
        return "the base holds no such names"
    return "no record has both texts"


if __name__ == "__main__":
    typer.run(main)
