"""Registration facts of two trials, readable, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ..trial import Trial
from ..values import display
from .countries import country_key
from .criteria_pairs import words_alike

_NEAR = 1.25  # enrolments that differ by no more than this factor agree
_SHOWN = 4  # countries that are named


@dataclass(frozen=True)
class Fact:
    """query, hit: readable, None where the record does not say. agree: None if one of
    them does not."""

    name: str
    query: str | None
    hit: str | None
    agree: bool | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class _Kind(NamedTuple):
    """show: the readable form. value: what is compared, by default the readable form.
    agree: of two values, by default whether they are equal."""

    name: str
    show: Callable[[Trial], str | None]
    value: Callable[[Trial], Any] | None = None
    agree: Callable[[Any, Any], bool] | None = None


def compare_facts(query: Trial, hit: Trial) -> tuple[Fact, ...]:
    """The facts that at least one of them has, in a fixed order.

    Enrolments agree within a quarter, countries if one is common to both, primary
    outcomes if two of them are alike; all others if they are equal.
    """
    found = []
    for kind in _KINDS:
        one, other = kind.show(query), kind.show(hit)
        if one is None and other is None:
            continue
        agree = None
        if one is not None and other is not None:
            value = kind.value or kind.show
            same = kind.agree or _equal
            agree = same(value(query), value(hit))
        found.append(Fact(kind.name, one, other, agree))
    return tuple(found)


def _equal(one: Any, other: Any) -> bool:
    return one == other


def _phase(trial: Trial) -> str | None:
    return "/".join(display(phase) for phase in sorted(trial.phases)) or None


def _design(name: str) -> Callable[[Trial], str | None]:
    def show(trial: Trial) -> str | None:
        value = trial.design and getattr(trial.design, name)
        return display(value) if value else None

    return show


def _model(trial: Trial) -> str | None:
    return _design("intervention_model")(trial) or _design("observational_model")(trial)


def _constant(name: str) -> Callable[[Trial], str | None]:
    def show(trial: Trial) -> str | None:
        value = getattr(trial, name)
        return display(value) if value else None

    return show


def _enrolment(trial: Trial) -> str | None:
    if trial.enrollment is None:
        return None
    kind = {True: " (actual)", False: " (planned)", None: ""}[trial.enrollment.actual]
    return f"{trial.enrollment.count}{kind}"


def _count(trial: Trial) -> int:
    return trial.enrollment.count if trial.enrollment else 0


def _near(one: int, other: int) -> bool:
    return max(one, other) <= _NEAR * min(one, other)


def _ages(trial: Trial) -> str | None:
    low, high = trial.min_age, trial.max_age
    if low is None and high is None:
        return None if trial.sex is None else "any"
    if high is None:
        return f"{_age(low)} and older"
    return f"up to {_age(high)}" if low is None else f"{_age(low)} to {_age(high)}"


def _age(years: float | None) -> str:
    """In the unit in which it is a whole number, where there is one."""
    years = years or 0.0
    for unit, per_year in (("year", 1), ("month", 12), ("week", 365.25 / 7)):
        count = round(years * per_year)
        if count and abs(count - years * per_year) < 0.02:
            return f"{count} {unit}{'s' * (count != 1)}"
    return f"{years:.2g} years" if years >= 1 else f"{round(years * 365.25)} days"


def _healthy(trial: Trial) -> str | None:
    return {None: None, True: "Yes", False: "No"}[trial.healthy_volunteers]


def _start(trial: Trial) -> str | None:
    return trial.start_date.value[:4] or None if trial.start_date else None


def _countries(trial: Trial) -> str | None:
    names = list(dict.fromkeys(p.country for p in trial.locations if p.country))
    more = f" +{len(names) - _SHOWN}" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or None


def _country_keys(trial: Trial) -> set[str]:
    return {country_key(place.country) for place in trial.locations if place.country}


def _outcomes(trial: Trial) -> str | None:
    return "; ".join(_measures(trial)) or None


def _measures(trial: Trial) -> list[str]:
    return [outcome.measure for outcome in trial.outcomes if outcome.role == "primary"]


def _common(one: set[str], other: set[str]) -> bool:
    return bool(one & other)


_KINDS = (
    _Kind("phase", _phase),
    _Kind("study type", _constant("study_type")),
    _Kind("allocation", _design("allocation")),
    _Kind("model", _model),
    _Kind("masking", _design("masking")),
    _Kind("purpose", _design("primary_purpose")),
    _Kind("enrolment", _enrolment, _count, _near),
    _Kind("status", _constant("status")),
    _Kind("sex", _constant("sex")),
    _Kind("ages", _ages),
    _Kind("healthy volunteers", _healthy),
    _Kind("sponsor class", _constant("sponsor_class")),
    _Kind("start year", _start),
    _Kind("countries", _countries, _country_keys, _common),
    _Kind("primary outcomes", _outcomes, _measures, words_alike),
)
FACT_NAMES = tuple(kind.name for kind in _KINDS)
