"""Trials side by side: the first one, and what each other has in common with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import Errors, error
from ..trial import Trial
from .compared_facts import FACT_NAMES, Fact
from .criteria_pairs import CriteriaPair, Spans, compared_items
from .reasons import Explainer, Reasons

if TYPE_CHECKING:
    from spacy.language import Language

    from ..kb.knowledge_base import KnowledgeBase

MOST_TRIALS = 5
KINDS = ("inclusion", "exclusion", "unspecified")


@dataclass(frozen=True)
class Cell:
    """A criterion of one trial. score, differences: of its pair with one of the first
    trial; None and () if there is none."""

    text: str
    score: float | None = None
    differences: Spans = ()

    def to_dict(self) -> dict[str, Any]:
        score = None if self.score is None else round(self.score, 4)
        spans = [list(span) for span in self.differences]
        return {"text": self.text, "differences": spans, "score": score}


@dataclass(frozen=True)
class Row:
    """Criteria that are alike, one cell a trial; None where a trial has none."""

    kind: str
    cells: tuple[Cell | None, ...]

    @property
    def shared(self) -> bool:
        return sum(cell is not None for cell in self.cells) > 1

    def to_dict(self) -> dict[str, Any]:
        cells = [cell and cell.to_dict() for cell in self.cells]
        return {"kind": self.kind, "cells": cells}


@dataclass(frozen=True)
class FactRow:
    """A fact of each trial. agree: with the first; its own is None."""

    name: str
    values: tuple[str | None, ...]
    agree: tuple[bool | None, ...]

    def to_dict(self) -> dict[str, Any]:
        values = {"values": list(self.values), "agree": list(self.agree)}
        return {"name": self.name, **values}


@dataclass(frozen=True)
class Comparison:
    """names: what each trial is called. reasons: of each but the first."""

    trials: tuple[Trial, ...]
    names: tuple[str, ...]
    reasons: tuple[Reasons, ...]
    facts: tuple[FactRow, ...]
    criteria: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        heads = [
            {"nct_id": trial.nct_id, "name": name, "title": title_of(trial)}
            for trial, name in zip(self.trials, self.names, strict=True)
        ]
        return {
            "trials": heads,
            "reasons": [reasons.to_dict() for reasons in self.reasons],
            "facts": [row.to_dict() for row in self.facts],
            "criteria": [row.to_dict() for row in self.criteria],
        }


def compare(
    trials: Sequence[Trial],
    *,
    names: Sequence[str] | None = None,
    kb: KnowledgeBase | None = None,
    nlp: Language | None = None,
    cosines: Sequence[Mapping[str, float]] | None = None,
) -> Comparison:
    """Compare the first trial with each of the others.

    names: what each is called; default: its id, or its number.
    kb, nlp: as in `Explainer`.
    cosines: of each other trial, label -> cosine of its section with the first one's.
    RAISES (T177): fewer than two trials, or more than five.
    """
    if not 2 <= len(trials) <= MOST_TRIALS:
        raise error(Errors.T177, n=len(trials), most=MOST_TRIALS)
    first, *others = trials
    explainer = Explainer(first, kb=kb, nlp=nlp)
    explainer.encode(others)
    each = cosines or [{}] * len(others)
    reasons = [explainer(*pair) for pair in zip(others, each, strict=True)]
    called = names or [t.nct_id or f"trial {i}" for i, t in enumerate(trials, start=1)]
    return Comparison(
        tuple(trials),
        tuple(called),
        tuple(reasons),
        tuple(_fact_rows([r.facts for r in reasons])),
        tuple(_criteria_rows(trials, [r.criteria.pairs for r in reasons])),
    )


def title_of(trial: Trial) -> str | None:
    return trial.title or trial.official_title


def _fact_rows(facts: Sequence[Sequence[Fact]]) -> Iterator[FactRow]:
    """A fact that the first has is in all lists, any other in some."""
    by_name = [{fact.name: fact for fact in each} for each in facts]
    for name in FACT_NAMES:
        found = [each.get(name) for each in by_name]
        if any(found):
            own = next((fact.query for fact in found if fact), None)
            values = [fact.hit if fact else None for fact in found]
            agree = [fact.agree if fact else None for fact in found]
            yield FactRow(name, (own, *values), (None, *agree))


def _criteria_rows(
    trials: Sequence[Trial], pairs: Sequence[Sequence[CriteriaPair]]
) -> Iterator[Row]:
    """Of each kind: the rows of the first trial in its order, those with most in
    common first, then what each other has alone."""
    of_first = [{pair.query_index: pair for pair in each} for each in pairs]
    taken = [{pair.hit_index for pair in each} for each in pairs]
    n = len(trials)
    for kind in KINDS:
        rows = []
        for i, item in compared_items(trials[0]):
            if item.kind == kind:
                found = [each.get(i) for each in of_first]
                rows.append(Row(kind, _cells(item.text, found)))
        yield from sorted(rows, key=lambda row: -sum(c is not None for c in row.cells))
        for place, trial in enumerate(trials[1:], start=1):
            for i, item in compared_items(trial):
                if item.kind == kind and i not in taken[place - 1]:
                    cells = (Cell(item.text) if j == place else None for j in range(n))
                    yield Row(kind, tuple(cells))


def _cells(text: str, found: Sequence[CriteriaPair | None]) -> tuple[Cell | None, ...]:
    own = {span for pair in found if pair for span in pair.query_differences}
    others = [Cell(p.hit, p.score, p.hit_differences) if p else None for p in found]
    return (Cell(text, differences=tuple(sorted(own))), *others)
