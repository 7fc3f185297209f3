"""Which trials pass filters, and what each filter left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..errors import Errors, error
from ..values import PartialDate
from .facet_values import NO_LIMIT, NO_YES, age_days, date_span
from .facets import Facets
from .filters import Filters
from .vectors import Array

_CONCEPTS = ("condition_concept", "intervention_concept")
# What a trial does not say, in words.
_FACT = {
    "phases": "phase",
    "statuses": "status",
    "recruiting": "status",
    "study_type": "study type",
    "intervention_types": "type of intervention",
    "started_after": "start date",
    "started_before": "start date",
    "completed_after": "completion date",
    "completed_before": "completion date",
    "country": "country",
    "age": "age limits",
    "sex": "sex",
    "healthy_volunteers": "rule on healthy volunteers",
    "sponsor_class": "class of sponsor",
    "has_results": "posting of results",
    "condition_concept": "concept of a condition",
    "intervention_concept": "concept of an intervention",
}


@dataclass(frozen=True)
class FilterCount:
    """One filter of several, in words.

    matching (int): Trials that pass this filter.
    left (int): Trials that pass this one and all before it.
    unknown (int): Trials that do not say what it asks and that no other filter rejects
        by what they do say.
    hint (str): What else may have been meant, or "".
    """

    name: str
    value: str
    matching: int
    left: int
    unknown: int
    hint: str = ""


@dataclass(frozen=True)
class FilterReport:
    """What filters do in an index: of `total` trials, `matching` pass all of them."""

    total: int
    matching: int
    filters: tuple[FilterCount, ...]

    def lines(self, shown: Callable[[str], str] = str) -> list[str]:
        """What a person should know: what was left out because it is not known, and
        which filter left nothing. shown: what a filter is called there."""
        # Two filters of one fact: what one cannot tell includes what the other cannot.
        unknown: dict[str, int] = {}
        for count in self.filters:
            fact = _FACT[count.name]
            unknown[fact] = max(count.unknown, unknown.get(fact, 0))
        said = [_left_out(fact, n) for fact, n in unknown.items() if n]
        if self.filters and not self.matching:
            said.append(self._nothing(shown))
        return said

    def _nothing(self, shown: Callable[[str], str]) -> str:
        for count in self.filters:
            if not count.matching:
                hint = f" {count.hint}" if count.hint else ""
                asked = f"{shown(count.name)} {count.value}"
                return f"None of {self.total} trials passes {asked}.{hint}"
        # Nothing is left from some filter on; the first of these is to be named.
        at = next(i for i, count in enumerate(self.filters) if not count.left)
        last, before = self.filters[at], self.filters[at - 1].left
        others = ", ".join(f"{shown(c.name)} {c.value}" for c in self.filters[:at])
        return (
            f"No trial passes all filters: {last.matching} of {self.total} pass "
            f"{shown(last.name)} {last.value}, but none of the {before} that pass "
            f"{others}."
        )


@dataclass(frozen=True)
class Selection:
    """rows: bool (places,), the trials that pass; and what each filter did."""

    rows: Array
    report: FilterReport


def select(parts: Sequence[Facets], there: Array, filters: Filters) -> Selection:
    """The trials that pass, of several Facets one after the other.

    there: bool (places,), False for trials that were removed.
    RAISES (T161): a filter by concepts, and no trial has any.
    """
    asked = list(filters.active())
    lacking = [name for name, _ in asked if name in _CONCEPTS]
    if lacking and not any(part.has_concepts for part in parts):
        raise error(Errors.T161, name=lacking[0])
    answers = [_ask(parts, name, value) for name, value in asked]
    rows, possible = there.copy(), there.copy()
    left = []
    for found, known in answers:
        rows &= found
        possible &= found | ~known
        left.append(int(rows.sum()))
    counts = [
        FilterCount(
            name,
            _in_words(value),
            int((found & there).sum()),
            remaining,
            int((possible & ~known).sum()),
            "" if remaining else _hint(parts, name, value),
        )
        for (name, value), (found, known), remaining in zip(
            asked, answers, left, strict=True
        )
    ]
    report = FilterReport(int(there.sum()), int(rows.sum()), tuple(counts))
    return Selection(rows, report)


def _ask(parts: Sequence[Facets], name: str, value: Any) -> tuple[Array, Array]:
    """(matches, known), both bool (places,)."""
    found, known = zip(*(_ask_one(part, name, value) for part in parts), strict=True)
    return np.concatenate(found), np.concatenate(known)


def _ask_one(facets: Facets, name: str, value: Any) -> tuple[Array, Array]:
    if name in _CONCEPTS:
        return facets.concept(name, value)
    if name == "country":
        return facets.country(value)
    if name == "age":
        return facets.span("age", *map(age_days, value))
    if name.endswith("_after"):
        return facets.span(name.removesuffix("_after"), date_span(value)[0], NO_LIMIT)
    if name.endswith("_before"):
        return facets.span(name.removesuffix("_before"), 0, date_span(value)[1])
    if isinstance(value, bool):
        value = (NO_YES[value],)
    if name == "sex":
        value = tuple("FEMALE/MALE" if sex == "ALL" else sex for sex in value)
    return facets.category(name, value)


def _hint(parts: Sequence[Facets], name: str, value: Any) -> str:
    if name in _CONCEPTS:
        return "`t2v kb show NAME` finds the id of a concept."
    if name != "country":
        return ""
    known = {country.casefold(): country for p in parts for country in p.countries}
    near = [get_close_matches(one.casefold(), known, n=1, cutoff=0.75) for one in value]
    meant = [known[match] for matches in near for match in matches]
    return f"Did you mean {' or '.join(meant)}?" if meant else ""


def _left_out(fact: str, n: int) -> str:
    return (
        f"{n} {'trials' if n > 1 else 'trial'} left out because "
        f"{'their' if n > 1 else 'its'} {fact} "
        f"{'are' if fact == _FACT['age'] else 'is'} unknown"
    )


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return NO_YES[value]
    if isinstance(value, PartialDate):
        return value.value
    if isinstance(value[0], float):
        first, last = value
        return f"{first:g}" if first == last else f"{first:g}-{last:g}"
    return " or ".join(value)
