"""What filters can be set to in an index, with the number of trials of each value."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..errors import T2VError
from ..search import TrialIndex
from ..search.facet_values import CATEGORIES
from ..values import display

_YES_NO = ("recruiting", "healthy_volunteers", "has_results")
_FIRST_YEAR, _LAST_YEAR = 1950, 2100


def facet_counts(index: TrialIndex) -> dict[str, Any]:
    """{"total", "filters": name -> [{"value", "label", "count"}], "years": [[year,
    trials that may have started in it]], "concepts": whether there are any}. Values of
    no trial are left out; countries come by their number, others in their order."""
    filters = {
        name: _counts(index, name, [False, True] if name in _YES_NO else list(known))
        for name, known in CATEGORIES.items()
    }
    countries = _counts(index, "country", index.countries())
    filters["country"] = sorted(countries, key=lambda row: -row["count"])
    return {
        "total": len(index),
        "filters": filters,
        "years": _years(index),
        "concepts": _has_concepts(index),
    }


def _counts(index: TrialIndex, name: str, values: list[Any]) -> list[dict[str, Any]]:
    found = [
        {"value": value, "label": _label(value), "count": _count(index, {name: value})}
        for value in values
    ]
    return [row for row in found if row["count"]]


def _label(value: str | bool) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return display(value) if value.isupper() else value


def _count(index: TrialIndex, filters: dict[str, Any]) -> int:
    return index.filter_report(filters).matching


def _years(index: TrialIndex) -> list[list[int]]:
    """From the first year that any trial started in to the last."""
    counts = [
        [year, _count(index, {"started_after": year, "started_before": year})]
        for year in range(_FIRST_YEAR, _LAST_YEAR)
    ]
    there = [at for at, (_, count) in enumerate(counts) if count]
    return counts[there[0] : there[-1] + 1] if there else []


def _has_concepts(index: TrialIndex) -> bool:
    found = False
    for name in ("condition_concept", "intervention_concept"):
        with suppress(T2VError):  # there are none
            index.filter_report({name: "any"})
            found = True
    return found
