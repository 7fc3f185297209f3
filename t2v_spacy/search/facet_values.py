"""What a trial says to each filter: its categories, and its spans of days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..trial import Trial
from ..values import (
    INTERVENTION_TYPES,
    PHASES,
    SPONSOR_CLASSES,
    STATUS_LABELS,
    STUDY_TYPES,
    PartialDate,
)

NO_YES = ("no", "yes")
# Known values of each category, at most 16. A trial may have several; one for all
# sexes has both.
CATEGORIES: dict[str, tuple[str, ...]] = {
    "phases": PHASES,
    "statuses": tuple(STATUS_LABELS),
    "recruiting": NO_YES,
    "study_type": STUDY_TYPES,
    "intervention_types": INTERVENTION_TYPES,
    "sex": ("FEMALE", "MALE"),
    "healthy_volunteers": NO_YES,
    "sponsor_class": SPONSOR_CLASSES,
    "has_results": NO_YES,
}
SPANS = ("started", "completed", "age")
CONCEPT_LISTS = {
    "condition": "condition_concept",
    "intervention": "intervention_concept",
}
LISTS = ("country", *CONCEPT_LISTS.values())
RECRUITING = frozenset(("RECRUITING", "ENROLLING_BY_INVITATION", "AVAILABLE"))
NO_LIMIT = 2**31 - 1
_UNKNOWN = (-1, -1)
_NOT_SAID = frozenset(("UNKNOWN", "WITHHELD"))

# Section label -> id of a concept linked there -> ids of all broader concepts.
Concepts = Mapping[str, Mapping[str, tuple[str, ...]]]


def to_bits(known: Iterable[str], values: Iterable[str]) -> int:
    """Bit i for the i-th known value. A value that is not known has none."""
    values = frozenset(values)
    return sum(1 << i for i, value in enumerate(known) if value in values)


def trial_categories(trial: Trial) -> dict[str, Iterable[str]]:
    """Values of each of CATEGORIES; what is not said has none."""
    status = trial.status
    recruiting = None
    if status in STATUS_LABELS and status not in _NOT_SAID:
        recruiting = status in RECRUITING
    return {
        "phases": trial.phases,
        "statuses": _one(status),
        "recruiting": _no_yes(recruiting),
        "study_type": _one(trial.study_type),
        "intervention_types": [i.type for i in trial.interventions if i.type],
        "sex": ("FEMALE", "MALE") if trial.sex == "ALL" else _one(trial.sex),
        "healthy_volunteers": _no_yes(trial.healthy_volunteers),
        "sponsor_class": _one(trial.sponsor_class),
        "has_results": _no_yes(trial.has_results),
    }


def trial_spans(trial: Trial) -> dict[str, tuple[int, int]]:
    """(first, last) of each of SPANS, both -1 for what is not said.

    A completion that is not said is the primary one.
    """
    ends = (trial.completion_date, trial.primary_completion_date)
    return {
        "started": date_span(trial.start_date),
        "completed": date_span(next((end for end in ends if end and end.value), None)),
        "age": _ages(trial),
    }


def date_span(date: PartialDate | None) -> tuple[int, int]:
    """First and last day that a date may be, as numbers 20150930. A month ends with
    day 99: they are only compared."""
    if date is None or not date.value:
        return _UNKNOWN
    digits = date.value.replace("-", "")
    return int(digits.ljust(8, "0")), int(digits.ljust(8, "9"))


def age_days(years: float) -> int:
    """Whole days, so that the same age is the same in whatever unit it was given."""
    return round(min(years * 365.25, NO_LIMIT))


def _ages(trial: Trial) -> tuple[int, int]:
    low, high = trial.min_age, trial.max_age
    # A record gives sex and ages together, and leaves an age out where there is no
    # limit: with neither, nothing was said of who may take part.
    if low is None and high is None and trial.sex is None:
        return _UNKNOWN
    return age_days(low or 0), NO_LIMIT if high is None else age_days(high)


def _one(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _no_yes(value: bool | None) -> tuple[str, ...]:
    return () if value is None else (NO_YES[value],)
