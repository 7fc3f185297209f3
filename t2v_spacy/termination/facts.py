"""Structured registration facts of a trial as numbers.

Three facts are left out on purpose. Planned enrolment: see `registration`. Places:
sites are added while a trial runs and taken away when it is withdrawn, so that their
number today tells the end. The year of the start: of trials that started lately only
those that stopped can have an end yet, and with a random split a model learns that
share rather than anything about trials.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from ..trial import Design, Trial
from ..values import INTERVENTION_TYPES, PHASES, SPONSOR_CLASSES, STUDY_TYPES
from .registration import registration_view

SEXES = ("ALL", "FEMALE", "MALE")
DESIGNS = {
    "allocation": ("RANDOMIZED", "NON_RANDOMIZED", "NA"),
    "intervention_model": (
        *("SINGLE_GROUP", "PARALLEL", "CROSSOVER", "FACTORIAL", "SEQUENTIAL"),
    ),
    "masking": ("NONE", "SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE"),
    "primary_purpose": (
        *("TREATMENT", "PREVENTION", "DIAGNOSTIC", "SUPPORTIVE_CARE", "SCREENING"),
        *("HEALTH_SERVICES_RESEARCH", "BASIC_SCIENCE", "DEVICE_FEASIBILITY", "OTHER"),
    ),
}
_PLACEBO = re.compile(r"\b(?:placebo|sham)\b", re.IGNORECASE)
_PLACEBO_ARMS = ("PLACEBO_COMPARATOR", "SHAM_COMPARATOR")
_CENTURY = 100.0  # years, so that ages lie between 0 and about 1


def registration_facts(trial: Trial) -> np.ndarray:
    """float32 (len(FACTS),), each number near 0 to 1 or the log1p of a count.

    What a record does not say is 0 in its column and 1 in the column "... unknown"; so
    is a value that is not listed. Read from the registration view of any record.
    """
    return facts_of_view(registration_view(trial))


def facts_of_view(view: Trial) -> np.ndarray:
    """`registration_facts` of a view, which is not made again."""
    return np.array(list(_facts(view).values()), dtype="float32")


def facts_matrix(views: Iterable[Trial]) -> np.ndarray:
    """float32 (views, len(FACTS)), of registration views."""
    rows = [facts_of_view(view) for view in views]
    return np.array(rows, dtype="float32").reshape(len(rows), len(FACTS))


def _facts(view: Trial) -> dict[str, float]:
    """Name -> number, in the order of FACTS whatever the trial."""
    design = view.design or Design()
    kinds = [item.type for item in view.interventions]
    facts = {
        **_among("phase", view.phases, PHASES),
        **_among("study type", [view.study_type], STUDY_TYPES),
        **_among("intervention type", kinds, INTERVENTION_TYPES),
        **_count("interventions", len(view.interventions) or None),
        **_count("arms", len(view.arms) or None),
        **_count("conditions", len(view.conditions) or None),
        **_among("sponsor class", [view.sponsor_class], SPONSOR_CLASSES),
        "collaborators": math.log1p(len(view.collaborators)),
    }
    for name, values in DESIGNS.items():
        facts |= _among(name.replace("_", " "), [getattr(design, name)], values)
    healthy = view.healthy_volunteers
    facts |= {
        **_among("sex", [view.sex], SEXES),
        "healthy volunteers": float(bool(healthy)),
        "healthy volunteers unknown": float(healthy is None),
        **_age("minimum age", view.min_age),
        **_age("maximum age", view.max_age),
        "placebo": float(_has_placebo(view)),
    }
    return facts


def _among(
    name: str, found: Iterable[str | None], values: tuple[str, ...]
) -> dict[str, float]:
    there = set(found)
    columns = {f"{name} {value}": float(value in there) for value in values}
    return columns | {f"{name} unknown": float(not any(columns.values()))}


def _count(name: str, number: int | None) -> dict[str, float]:
    return {
        name: math.log1p(max(number or 0, 0)),
        f"{name} unknown": float(number is None),
    }


def _age(name: str, years: float | None) -> dict[str, float]:
    """No limit and not said are the same in a record: both are None."""
    known = 0.0 if years is None else years / _CENTURY
    return {name: known, f"{name} unknown": float(years is None)}


def _has_placebo(view: Trial) -> bool:
    return any(arm.type in _PLACEBO_ARMS for arm in view.arms) or any(
        _PLACEBO.search(item.name) for item in view.interventions
    )


FACTS: tuple[str, ...] = tuple(_facts(Trial("")))
