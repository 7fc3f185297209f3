"""Invented trials with every fact that a filter asks, drawn at random; and the same
filters read from the records one by one, as a second opinion."""

from __future__ import annotations

import random

import numpy as np

from t2v_spacy.search import Filters, IndexEntry, TrialIndex
from t2v_spacy.trial import Intervention, Location, Trial
from t2v_spacy.values import (
    INTERVENTION_TYPES,
    PHASES,
    STATUS_LABELS,
    STUDY_TYPES,
    parse_date,
)

from .toys import nct

WIDTH = 16
COUNTRIES = ("Germany", "France", "United States", "Korea, Republic of", "Peru")
# id -> all that is broader
BROADER = {"C1": (), "C2": ("C1",), "C3": ("C2", "C1"), "C4": ("C1",), "C5": ()}


def random_trial(number: int, draw: random.Random) -> Trial:
    def maybe(value, chance=0.8):
        return value if draw.random() < chance else None

    def day():
        year, month, day = (
            draw.randint(2008, 2022),
            draw.randint(1, 12),
            draw.randint(1, 28),
        )
        text = f"{year}-{month:02}-{day:02}"
        return maybe(parse_date(text[: draw.choice((4, 7, 10))]))

    low, high = sorted((draw.randint(0, 80), draw.randint(0, 90)))
    return Trial(
        nct(number),
        title=f"Study {number}",
        phases=frozenset(draw.sample(PHASES, draw.choice((0, 1, 1, 1, 2)))),
        status=maybe(draw.choice(list(STATUS_LABELS))),
        study_type=maybe(draw.choice(STUDY_TYPES)),
        interventions=tuple(
            Intervention(f"thing {i}", maybe(draw.choice(INTERVENTION_TYPES)))
            for i in range(draw.randint(0, 3))
        ),
        start_date=day(),
        primary_completion_date=day(),
        completion_date=day(),
        locations=tuple(
            Location(country=maybe(name))
            for name in draw.sample(COUNTRIES, draw.randint(0, 3))
        ),
        min_age=maybe(float(low), 0.5),
        max_age=maybe(float(high), 0.5),
        sex=maybe(draw.choice(("ALL", "FEMALE", "MALE"))),
        healthy_volunteers=maybe(draw.random() < 0.5),
        sponsor_class=maybe(draw.choice(("INDUSTRY", "NIH", "OTHER", "UNKNOWN"))),
        has_results=maybe(draw.random() < 0.5),
    )


def random_concepts(draw: random.Random) -> dict | None:
    if draw.random() < 0.1:
        return None
    return {
        label: {c: BROADER[c] for c in draw.sample(list(BROADER), draw.randint(0, 2))}
        for label in ("condition", "intervention")
    }


def random_entries(n: int, seed: int = 0, first: int = 0) -> list[IndexEntry]:
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    return [
        IndexEntry(
            random_trial(number, draw),
            rng.normal(size=WIDTH).astype(np.float32),
            {"title": rng.normal(size=WIDTH).astype(np.float32)},
            random_concepts(draw),
        )
        for number in range(first, first + n)
    ]


def random_filters(draw: random.Random) -> Filters:
    """One to three filters at random."""
    choices = {
        "phases": lambda: draw.sample(["1", "2", "3", "2/3", "NA"], 2),
        "statuses": lambda: draw.sample(list(STATUS_LABELS), 4),
        "recruiting": lambda: draw.random() < 0.5,
        "study_type": lambda: draw.choice(STUDY_TYPES),
        "intervention_types": lambda: draw.sample(INTERVENTION_TYPES, 3),
        "started_after": lambda: f"{draw.randint(2008, 2022)}-{draw.randint(1, 12):02}",
        "completed_before": lambda: draw.randint(2008, 2022),
        "country": lambda: draw.choice(("germany", "USA", "South Korea", "Chile")),
        "age": lambda: draw.choice((5, 50, (10, 20), "6 months")),
        "sex": lambda: draw.choice(("female", "male", "all")),
        "healthy_volunteers": lambda: draw.random() < 0.5,
        "sponsor_class": lambda: draw.choice(("industry", ["nih", "other"])),
        "has_results": lambda: draw.random() < 0.5,
        "condition_concept": lambda: draw.choice(("C1", "C2", ["C3", "C5"])),
        "intervention_concept": lambda: draw.choice(("C1", "C4")),
    }
    names = draw.sample(list(choices), draw.randint(1, 3))
    return Filters(**{name: choices[name]() for name in names})


def brute_nearest(
    index: TrialIndex, query: np.ndarray, k: int, passing: set[str]
) -> list[str]:
    """Ids of the nearest that pass, from all cosines in float64."""
    query = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    scored = [
        (-np.float32(index.vector(nct_id).astype(np.float64) @ query), place, nct_id)
        for place, nct_id in enumerate(index.ids())
        if nct_id in passing
    ]
    return [nct_id for _, _, nct_id in sorted(scored)[:k]]


def passes(entry: IndexEntry, filters: Filters) -> bool:
    """Whether a record passes, asked of the record itself."""
    return all(_passes(entry, name, value) for name, value in filters.active())


def _passes(entry: IndexEntry, name: str, value) -> bool:
    trial = entry.trial
    match name:
        case "phases":
            return any(set(one.split("/")) <= trial.phases for one in value)
        case "statuses":
            return trial.status in value
        case "recruiting":
            taking = ("RECRUITING", "ENROLLING_BY_INVITATION", "AVAILABLE")
            silent = (None, "UNKNOWN", "WITHHELD")
            return trial.status not in silent and (trial.status in taking) == value
        case "study_type" | "sponsor_class":
            return getattr(trial, name) in value
        case "intervention_types":
            return any(i.type in value for i in trial.interventions)
        case "started_after":
            # Text of the last day that may be meant.
            date = trial.start_date
            return date is not None and date.value.ljust(10, "~") >= value.value
        case "completed_before":
            date = trial.completion_date or trial.primary_completion_date
            return date is not None and date.value <= f"{value.value}~"
        case "country":
            names = {"USA": "United States", "South Korea": "Korea, Republic of"}
            wanted = {names.get(one, one).casefold() for one in value}
            return any((p.country or "").casefold() in wanted for p in trial.locations)
        case "age":
            if trial.min_age is None and trial.max_age is None and trial.sex is None:
                return False
            low = trial.min_age or 0
            high = 200 if trial.max_age is None else trial.max_age
            return low <= value[1] and high >= value[0]
        case "sex":
            return trial.sex in (*value, "ALL")
        case "healthy_volunteers" | "has_results":
            return getattr(trial, name) is value
        case "condition_concept" | "intervention_concept":
            linked = (entry.concepts or {}).get(name.removesuffix("_concept"), {})
            return any(v in (c, *above) for v in value for c, above in linked.items())
    raise AssertionError(name)
