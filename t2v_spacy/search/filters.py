"""What a trial must be to be found: `Filters`, with their values in normal form."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from ..errors import Errors, error
from ..readers.terms import parse_class
from ..values import (
    INTERVENTION_TYPES,
    PHASES,
    SPONSOR_CLASSES,
    STATUS_LABELS,
    STUDY_TYPES,
    PartialDate,
    constant,
    parse_age,
    parse_bool,
    parse_date,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
)
from .facet_values import date_span

Some = str | Iterable[str] | None
Day = PartialDate | date | str | int | None
Age = float | str | tuple[float, float] | None
# In a mapping a filter may also be named as its command-line option is.
_SINGULAR = {
    "phase": "phases",
    "status": "statuses",
    "intervention_type": "intervention_types",
}
_SEXES = ("FEMALE", "MALE", "ALL")
_RANGE = re.compile(r"\s*(?:-|–|\bto\b)\s*")
_NUMBER = re.compile(r"[\d.]+")
# One number and its unit: of "between 1 and 18 months" no half may be taken.
_WITH_UNIT = re.compile(r"[\d.]+\s*([a-z]+)\D*", re.IGNORECASE)


@dataclass(frozen=True)
class Filters:
    """Trials must pass all filters that are set; of several values of one, one is
    enough. A trial that does not say what a filter asks does not pass it.

    phases: "2", "Phase II", "PHASE2" find trials of phase 2, and of 1/2 and 2/3;
        "2/3" those of both.
    statuses: Of values.STATUS_LABELS, in any spelling.
    recruiting: Whether participants are taken now: recruiting, enrolling by invitation,
        expanded access available.
    study_type, intervention_types, sponsor_class: The registry's, in any spelling.
    started_after, started_before, completed_after, completed_before: Days, months or
        years, which belong to the range themselves: "2015" is from its first day, or
        to its last. A trial with less exact dates passes if one of the days that it
        may mean does. Without a completion date the primary one counts.
    country: One that the trial has a place in; by its old and new name, USA, UK.
    age: In years, or with a unit ("6 months"): of a person whom the trial may admit.
        A range, (18, 65) or "18-65": it may admit someone of this range. "2-30 months"
        is from 2 months.
    sex: "FEMALE" finds trials for women or for all, "ALL" those for all.
    healthy_volunteers, has_results: Whether the trial takes, has them.
    condition_concept, intervention_concept: Ids of concepts ("MESH:D003924"); narrower
        concepts count too.
    RAISES (T160): A value that is not known, or a range that ends before it begins.
    """

    phases: Some = ()
    statuses: Some = ()
    recruiting: bool | None = None
    study_type: Some = ()
    intervention_types: Some = ()
    started_after: Day = None
    started_before: Day = None
    completed_after: Day = None
    completed_before: Day = None
    country: Some = ()
    age: Age = None
    sex: Some = ()
    healthy_volunteers: bool | None = None
    sponsor_class: Some = ()
    has_results: bool | None = None
    condition_concept: Some = ()
    intervention_concept: Some = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = read_value(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        check_order(vars(self))

    @classmethod
    def of(cls, given: Given) -> Filters:
        """Filters of a mapping of their names to values. RAISES (T160): also if one is
        given by both its names; (T162): no such filter."""
        if isinstance(given, Filters):
            return given
        if not isinstance(given, Mapping | None):
            reason = "it is Filters, or a mapping of their names to values"
            raise error(Errors.T160, name="filters", value=given, reason=reason)
        named = dict(given or {})
        for name, full in _SINGULAR.items():
            if name in named and full in named:
                reason = f"{full} is given too, and means the same"
                raise error(Errors.T160, name=name, value=named[name], reason=reason)
            if name in named:
                named[full] = named.pop(name)
        known = [field.name for field in fields(cls)]
        for name in named:
            if name not in known:
                raise error(Errors.T162, name=name, known=", ".join(known))
        return cls(**named)

    def active(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of each filter that is set."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value not in (None, ()):
                yield field.name, value

    def __bool__(self) -> bool:
        return any(True for _ in self.active())


Given = Filters | Mapping[str, Any] | None  # as a caller may give them


def read_value(name: str, value: Any, shown: str | None = None) -> Any:
    """A value of the filter `name` in normal form, which is read as itself.

    shown: What the filter is called in a message. RAISES (T160): not known.
    """
    try:
        return _READERS[name](value)
    except _Refused as err:
        shown_value = err.value if isinstance(err.value, str) else repr(err.value)
        raise error(
            Errors.T160, name=shown or name, value=shown_value, reason=err.reason
        ) from None


def check_order(values: Mapping[str, Any], shown: Callable[[str], str] = str) -> None:
    """RAISES (T160): Days of which the last is before the first."""
    for what in ("started", "completed"):
        first, last = values[f"{what}_after"], values[f"{what}_before"]
        if first and last and date_span(last)[1] < date_span(first)[0]:
            name, reason = shown(f"{what}_before"), f"{shown(f'{what}_after')} is later"
            raise error(Errors.T160, name=name, value=last, reason=reason)


class _Refused(Exception):
    def __init__(self, value: Any, reason: str) -> None:
        self.value = value
        self.reason = reason


def _several(given: Any) -> list[Any]:
    if given is None:
        return []
    one = isinstance(given, str) or not isinstance(given, Iterable)
    return [given] if one else list(given)


def _choices(
    known: Iterable[str], parse: Callable[[str], str | None]
) -> Callable[[Any], tuple[str, ...]]:
    """A reader of values that `parse` brings to one of those known."""

    def read(given: Any) -> tuple[str, ...]:
        found = set()
        for item in _several(given):
            value = parse(str(item))
            if value is None or value not in known:
                raise _Refused(item, f"known are {', '.join(known)}")
            found.add(value)
        return tuple(sorted(found))

    return read


def _phases(given: Any) -> tuple[str, ...]:
    found = set()
    for item in _several(given):
        phases = parse_phases(str(item))
        if not phases:
            raise _Refused(
                item, f"known are 1, 2, 1/2 and so on, or {', '.join(PHASES)}"
            )
        found.add("/".join(sorted(phases, key=PHASES.index)))
    return tuple(sorted(found))


def _names(given: Any) -> tuple[str, ...]:
    found = set()
    for item in _several(given):
        if not isinstance(item, str) or not item.strip():
            raise _Refused(item, "it is a text")
        found.add(item.strip())
    return tuple(sorted(found))


def _yes_no(given: Any) -> bool | None:
    value = parse_bool(given) if isinstance(given, str) else given
    if isinstance(value, bool) or given is None:
        return value
    raise _Refused(given, "it is true or false")


def _day(given: Any) -> PartialDate | None:
    if given is None:
        return None
    text = str(given)
    day = parse_date(text)
    # What leaves only a year of more ("03/04/2020") would find more than was asked.
    if not day or not day.value or (day.precision == "year" and len(text.strip()) > 4):
        raise _Refused(text, "write it as 2015, 2015-09 or 2015-09-04")
    return PartialDate(day.value, day.precision)


def _age(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    pair = _RANGE.split(given.strip()) if isinstance(given, str) else given
    pair = list(pair) if isinstance(pair, Iterable) else [pair]
    if len(pair) not in (1, 2):
        raise _Refused(given, "write it as 50, 18-65 or 6 months")
    unit = _WITH_UNIT.fullmatch(pair[-1]) if isinstance(given, str) else None
    if unit and _NUMBER.fullmatch(pair[0]):
        pair[0] += unit[1]
    first, last = (_years(age, given) for age in (pair[0], pair[-1]))
    if first > last:
        raise _Refused(given, "the range ends before it begins")
    return first, last


def _years(age: Any, given: Any) -> float:
    try:
        years: float | None = float(age)
    except (TypeError, ValueError):
        text = str(age).strip()
        years = parse_age(text) if _WITH_UNIT.fullmatch(text) else None
    if years is None or not 0 <= years < math.inf:
        raise _Refused(given, "write it as 50, 18-65 or 6 months")
    return years


_READERS: dict[str, Callable[[Any], Any]] = {
    "phases": _phases,
    "statuses": _choices(STATUS_LABELS, parse_status),
    "recruiting": _yes_no,
    "study_type": _choices(STUDY_TYPES, parse_study_type),
    "intervention_types": _choices(INTERVENTION_TYPES, constant),
    "started_after": _day,
    "started_before": _day,
    "completed_after": _day,
    "completed_before": _day,
    "country": _names,
    "age": _age,
    "sex": _choices(_SEXES, parse_sex),
    "healthy_volunteers": _yes_no,
    "sponsor_class": _choices(SPONSOR_CLASSES, parse_class),
    "has_results": _yes_no,
    "condition_concept": _names,
    "intervention_concept": _names,
}
