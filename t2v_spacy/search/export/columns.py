"""What an export says of a trial, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from ...errors import Errors, error
from ...sections.labels import SECTION_LABELS
from ...trial import Trial
from ...values import PHASES, PartialDate, record_page

Value = str | int | float | bool | PartialDate | tuple[str, ...] | None
Row = Mapping[str, Value]
_ID = "{nct_id}"
COSINE = "cosine_"


@dataclass(frozen=True)
class Item:
    """A trial to export, and what a search said of it. why: as `Hit.why`; reason: one
    line."""

    trial: Trial
    rank: int | None = None
    score: float | None = None
    why: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    link: str | None = None


def _phases(trial: Trial) -> Value:
    return tuple(sorted(trial.phases, key=lambda p: (p not in PHASES, p)))


def _countries(trial: Trial) -> Value:
    return tuple(dict.fromkeys(p.country for p in trial.locations if p.country))


def _enrollment_type(trial: Trial) -> Value:
    actual = trial.enrollment.actual if trial.enrollment else None
    return None if actual is None else ("ESTIMATED", "ACTUAL")[actual]


def _primary(trial: Trial) -> Value:
    return tuple(
        f"{outcome.measure} [{outcome.time_frame}]"
        if outcome.time_frame
        else outcome.measure
        for outcome in trial.outcomes
        if outcome.role == "primary"
    )


def _age(years: float | None) -> Value:
    if years is not None and float(years).is_integer():
        return int(years)
    return _rounded(years)


def _cosine(label: str) -> Callable[[Item], Value]:
    return lambda item: _rounded(item.why.get(label))


def _date(date: PartialDate | None) -> Value:
    return date if date and date.value else None


_OF_HIT: dict[str, Callable[[Item], Value]] = {
    "rank": lambda item: item.rank,
    "score": lambda item: _rounded(item.score),
}
_OF_TRIAL: dict[str, Callable[[Trial], Value]] = {
    "nct_id": lambda t: t.nct_id,
    "title": lambda t: t.title or t.official_title,
    "status": lambda t: t.status,
    "phases": _phases,
    "study_type": lambda t: t.study_type,
    "conditions": lambda t: t.conditions,
    "interventions": lambda t: tuple(i.name for i in t.interventions),
    "enrollment": lambda t: t.enrollment.count if t.enrollment else None,
    "enrollment_type": _enrollment_type,
    "start_date": lambda t: _date(t.start_date),
    "completion_date": lambda t: _date(t.completion_date or t.primary_completion_date),
    "sponsor": lambda t: t.sponsor,
    "countries": _countries,
    "sex": lambda t: t.sex,
    "min_age": lambda t: _age(t.min_age),
    "max_age": lambda t: _age(t.max_age),
    "primary_outcomes": _primary,
    "has_results": lambda t: t.has_results,
}
_AT_END: dict[str, Callable[[Item], Value]] = {
    "link": lambda item: item.link,
    "reason": lambda item: item.reason,
    **{COSINE + label: _cosine(label) for label in SECTION_LABELS},
}
TRIAL_COLUMNS = (*_OF_TRIAL, "link")
COLUMNS = (*_OF_HIT, *_OF_TRIAL, *_AT_END)


def choose(columns: Sequence[str] | None, default: Iterable[str]) -> tuple[str, ...]:
    """RAISES (T182): no such column."""
    if not columns:
        return tuple(default)
    for name in columns:
        if name not in COLUMNS:
            raise error(Errors.T182, value=name, known=", ".join(COLUMNS))
    return tuple(dict.fromkeys(columns))


def row(item: Item, columns: Sequence[str]) -> Row:
    """Column -> what the trial says there; None where it says nothing."""
    return {name: _value(item, name) for name in columns}


def check_link(template: str | None) -> None:
    """RAISES (T184): it has no place for the id."""
    if template is not None and _ID not in template:
        raise error(Errors.T184, value=template, reason=f"it has no {_ID}")


def address(template: str | None, nct_id: str) -> str | None:
    """Where a record is shown: without a template where the registry does, None for an
    id of another one."""
    if template is None:
        return record_page(nct_id)
    return template.replace(_ID, quote(nct_id, safe=""))


def _value(item: Item, name: str) -> Value:
    if name in _OF_TRIAL:
        return _OF_TRIAL[name](item.trial)
    return (_OF_HIT.get(name) or _AT_END[name])(item)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 6)
