"""What a page shows of a trial: at a glance, or the record."""

from __future__ import annotations

from typing import Any

from ..plain import to_plain
from ..trial import Trial
from ..values import record_page

_EXCERPT = 400
_LEFT_OUT = ("locations", "references", "source", "snapshot")
_SHOWN_PLACES = 50


def card(trial: Trial) -> dict[str, Any]:
    """Key facts; what is absent is null or empty."""
    return {
        "status": trial.status,
        "phases": sorted(trial.phases),
        "study_type": trial.study_type,
        "enrollment": to_plain(trial.enrollment),
        "start_date": str(trial.start_date) if trial.start_date else None,
        "completion_date": str(trial.completion_date)
        if trial.completion_date
        else None,
        "sponsor": trial.sponsor,
        "sponsor_class": trial.sponsor_class,
        "conditions": list(trial.conditions),
        "interventions": [i.name for i in trial.interventions],
        "countries": countries(trial),
        "has_results": trial.has_results,
        "summary": excerpt(trial.brief_summary or trial.detailed_description),
    }


def record(trial: Trial, whole: bool = False) -> dict[str, Any]:
    """A record as `Trial.to_dict` has it, with its criteria split and its address in
    the registry. In short form countries stand for locations, references are left out.
    """
    plain = trial.to_dict()
    found = {"nct_id": trial.nct_id, "form": "whole" if whole else "compact"}
    if not whole:
        plain = {name: value for name, value in plain.items() if name not in _LEFT_OUT}
        found["countries"] = countries(trial)  # type: ignore[assignment]
        found["n_locations"] = len(trial.locations)  # type: ignore[assignment]
    kinds = ("inclusion", "exclusion", "unspecified")
    criteria = {kind: list(getattr(trial.criteria, kind)) for kind in kinds}
    return {**found, **plain, "criteria": criteria, "url": record_page(trial.nct_id)}


def countries(trial: Trial) -> list[str]:
    places = [place.country for place in trial.locations if place.country]
    return list(dict.fromkeys(places))[:_SHOWN_PLACES]


def excerpt(text: str | None) -> str:
    """The beginning, to the end of a word."""
    if not text or len(text) <= _EXCERPT:
        return text or ""
    cut = text[:_EXCERPT]
    return f"{cut.rpartition(' ')[0] or cut}…"
