"""The command `t2v predict`: will these trials be terminated, and what says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer
import wasabi

from .errors import Errors, error
from .load import load_nlp
from .readers import ReadReport, read_trials
from .termination.labels import NEGATIVE, POSITIVE, termination_label
from .trial import Trial

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import TextCategorizer
    from spacy.tokens import Doc

    from .search import TrialIndex

FACTS = "facts"  # named beside the sections, if the classifier reads them
_SHOWN = 3  # sections in a row of the table


@dataclass(frozen=True)
class Neighbours:
    """Of the k nearest indexed trials: how many have ended (labelled), how many of
    these were terminated, and their share, None if none has ended."""

    k: int
    labelled: int
    terminated: int
    rate: float | None


@dataclass(frozen=True)
class Prediction:
    """probability: Of termination, as known at registration. decision: "TERMINATED" if
    it is at least the threshold, else "COMPLETED"; None for a trial in which there is
    nothing to read, which has the base rate of the calibration as its probability.
    neighbours: None without an index, and where the pipeline makes no trial vector.
    sections: Section, or "facts", -> how much higher the probability is with it than
    without (of facts: than if the record gave none), the largest in size first."""

    nct_id: str
    title: str | None
    probability: float
    decision: str | None
    threshold: float
    neighbours: Neighbours | None = None
    sections: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def predict(
    file: Annotated[Path, typer.Argument(help="Records, of any known format.")],
    model: Annotated[
        str, typer.Option(help="Pipeline trained on termination: a name or a path.")
    ],
    index: Annotated[
        Path | None, typer.Option(help="Index of past trials to compare with.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", "--k", help="Indexed trials to compare with.", min=1)
    ] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for programs.")
    ] = False,
) -> None:
    """Say how likely trials are to be terminated early, from their registration."""
    from .search import TrialIndex

    nlp = load_classifier(model)
    opened = TrialIndex.from_disk(index, verify=False) if index else None
    report = ReadReport()
    found = list(predict_trials(nlp, read_trials(file, report=report), opened, k))
    for refusal in report.refused:
        typer.echo(f"Refused: {refusal}", err=True)
    if as_json:
        typer.echo(srsly.json_dumps([row.to_dict() for row in found], indent=2))
    else:
        typer.echo(_table(found))


def predict_trials(
    nlp: Language,
    trials: Iterable[Trial],
    index: TrialIndex | None = None,
    k: int = 20,
) -> Iterator[Prediction]:
    """One prediction a trial, in order. Only what was known at its registration is
    read; `k` and the trial itself are as in `TrialIndex.search`.

    RAISES (T2VError T152): If the pipeline has no textcat trained on termination.
    """
    pipe = find_textcat(nlp)
    docs = nlp.pipe(_variants(nlp, pipe, trials), as_tuples=True)
    for _, group in groupby(docs, key=lambda pair: pair[1][0]):
        (doc, (_, trial, _)), *others = group
        probability = _probability(pipe, doc)
        known = any(map(str.isalnum, doc.text))
        found = {
            label: probability - _probability(pipe, other)
            for other, (_, _, label) in others
        }
        threshold = float(pipe.cfg["threshold"])  # type: ignore[arg-type]
        decision = POSITIVE if probability >= threshold else NEGATIVE
        yield Prediction(
            nct_id=trial.nct_id,
            title=trial.title or trial.official_title,
            probability=probability,
            decision=decision if known else None,
            threshold=threshold,
            neighbours=_neighbours(index, doc, trial, k)
            if index is not None and doc._.trial_vector is not None
            else None,
            sections=dict(sorted(found.items(), key=lambda item: -abs(item[1]))),
        )


def load_classifier(name: str) -> Language:
    """A pipeline with a textcat for termination, on vectors of a pipe `trial2vec` or
    with an encoder of its own. RAISES (T2VError): T027 if it cannot be loaded, T152."""
    nlp = load_nlp(name, exclude=("umls_linker",))
    find_textcat(nlp)
    return nlp


def find_textcat(nlp: Language) -> TextCategorizer:
    """The pipe that was trained on termination. RAISES (T2VError T152): None was."""
    for _, pipe in nlp.pipeline:
        if {POSITIVE, NEGATIVE} == set(getattr(pipe, "labels", ())):
            return pipe  # type: ignore[return-value]
    raise error(Errors.T152, labels=f"{POSITIVE}, {NEGATIVE}")


def _variants(
    nlp: Language, pipe: TextCategorizer, trials: Iterable[Trial]
) -> Iterator[tuple[Doc, tuple[int, Trial, str]]]:
    """Each trial whole, then once without each of its sections. The transformer encodes
    equal texts of a batch once, so that this costs little more than the whole."""
    from .doc import make_trial_doc
    from .extensions import SECTIONS
    from .ml.span_getters import ENCODED_LABELS
    from .ml.trial_textcat import FACTS_KEY
    from .termination.facts import registration_facts
    from .termination.registration import registration_view

    # No record that was learnt from had no facts at all.
    nothing = registration_facts(Trial(""))
    for number, trial in enumerate(trials):
        doc = make_trial_doc(nlp, registration_view(trial))
        there = {span.label_ for span in doc.spans[SECTIONS]}
        labels = [label for label in ENCODED_LABELS if label in there]
        yield doc.copy(), (number, trial, "")
        for label in labels if len(labels) > 1 else ():
            other = doc.copy()
            kept = [s for s in other.spans[SECTIONS] if s.label_ != label]
            other.spans[SECTIONS] = kept
            yield other, (number, trial, label)
        if pipe.model.attrs.get("facts"):
            doc.user_data[FACTS_KEY] = nothing
            yield doc, (number, trial, FACTS)


def _probability(pipe: TextCategorizer, doc: Doc) -> float:
    if doc.cats[POSITIVE] or doc.cats[NEGATIVE]:
        return doc.cats[POSITIVE]
    # An empty Doc, which spaCy's textcat does not ask the model about.
    prior = pipe.model.attrs["prior"]
    return prior[pipe.labels.index(POSITIVE)] if prior else 0.5


def _neighbours(index: TrialIndex, doc: Doc, trial: Trial, k: int) -> Neighbours:
    doc._.trial = trial  # with its other ids, by which the index may have it
    hits = index.search(doc, k)
    labels = [termination_label(hit.trial.status) for hit in hits]
    ended = [label for label in labels if label is not None]
    rate = sum(ended) / len(ended) if ended else None
    return Neighbours(len(hits), len(ended), sum(ended), rate)


def _table(rows: list[Prediction]) -> str:
    """Id, probability, decision, what became of the nearest trials, the sections that
    moved it most, and the title."""
    cells = []
    for row in rows:
        near = row.neighbours
        shown = [f"{label} {value:+.2f}" for label, value in row.sections.items()]
        cells.append(
            (
                row.nct_id,
                f"{row.probability:.2f}",
                row.decision or "nothing to read",
                f"{near.terminated} of {near.labelled}" if near else "-",
                ", ".join(shown[:_SHOWN]) or "-",
                row.title or "-",
            )
        )
    header = ("Trial", "P", "Decision", "Near", "Why", "Title")
    return wasabi.table(cells, header=header, divider=True, max_col=60).strip("\n")
