"""What records are compared by, in short: one or two kilobytes a trial."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sys import intern

from ...trial import Trial
from ...values import PartialDate
from ..records import alias_ids, normal_id
from .words import condition_words, drug_words, sponsor_words, title_words

Bag = tuple[str, ...]  # different words, sorted: a tenth of the memory of a set

_NCT = re.compile(r"NCT\d{8}")
_CODE = re.compile(r"(?=[\w./-]*[A-Z])(?=[\w./-]*\d)[A-Z0-9][\w./-]{4,}[A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Card:
    """Of a trial, in words where not said otherwise.

    ids: its own, aliases too. org_id: what its organisation calls it. titles: the
    short and the official one, their words that matter. interventions: without placebo
    and the like. start, completion, posted: days or months, ISO. named: ids of others
    in its texts; codes: what may be ids of organisations there.
    """

    ids: Bag
    org_id: str | None
    titles: tuple[Bag, Bag]
    sponsor: Bag
    collaborators: tuple[Bag, ...]
    conditions: Bag
    interventions: Bag
    phases: Bag
    enrollment: int | None
    actual: bool | None
    start: str | None
    completion: str | None
    posted: str | None
    status: str | None
    named: Bag
    codes: Bag


def make_card(trial: Trial) -> Card:
    own = frozenset({normal_id(trial.nct_id)} | alias_ids(trial))
    text = "\n".join(texts_of(trial))
    drugs = [i.name for i in trial.interventions if not i.is_control]
    enrollment = trial.enrollment
    return Card(
        ids=_bag(own),
        org_id=normal_code(trial.org_study_id),
        titles=(
            _bag(title_words(trial.title)),
            _bag(title_words(trial.official_title)),
        ),
        sponsor=_bag(sponsor_words(trial.sponsor)),
        collaborators=tuple(_bag(sponsor_words(c)) for c in trial.collaborators),
        conditions=_bag(condition_words(trial.conditions)),
        interventions=_bag(drug_words(drugs)),
        phases=_bag(trial.phases - {"NA"}),
        enrollment=enrollment.count if enrollment else None,
        actual=enrollment.actual if enrollment else None,
        start=_date(trial.start_date),
        completion=_date(trial.completion_date or trial.primary_completion_date),
        posted=_date(trial.first_posted),
        status=trial.status,
        named=_bag(set(_NCT.findall(text)) - own),
        codes=_bag(c for raw in _CODE.findall(text) if (c := normal_code(raw))),
    )


def texts_of(trial: Trial) -> Iterator[str]:
    """What may name other trials."""
    for text in (
        trial.title,
        trial.official_title,
        trial.brief_summary,
        trial.detailed_description,
        trial.eligibility,
    ):
        if text:
            yield text


def normal_code(raw: str | None) -> str | None:
    """An organisation's id without what it may be written with or without; None if it
    is too short to tell studies apart."""
    found = re.sub(r"[^A-Z0-9]", "", (raw or "").upper())
    return found if len(found) > 4 and any(map(str.isdigit, found)) else None


def _bag(words: Iterable[str]) -> Bag:
    return tuple(sorted(map(intern, set(words))))


def _date(date: PartialDate | None) -> str | None:
    """Not known to the month is not known."""
    return date.value if date and date.precision in ("month", "day") else None
