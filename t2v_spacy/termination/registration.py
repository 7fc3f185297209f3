"""What of a record was known when the trial was registered: all a prediction may read.

A registry shows the record as it is today, and much of it is written after the end: the
actual enrolment (0 is nearly the same as "withdrawn"), results and their papers, dates.
Each field of `Trial` is therefore listed here, as KNOWN or as LATER, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..trial import Trial
from .wording import outcome_wording, without_outcome

__all__ = ["KNOWN", "LATER", "flagged", "outcome_wording", "registration_view"]

# Fields of words, which are read for passages that tell the outcome.
_WORDS = (
    *("title", "official_title", "acronym", "brief_summary", "detailed_description"),
    *("conditions", "keywords", "interventions", "arms", "outcomes", "eligibility"),
)
KNOWN = (
    "nct_id",
    *_WORDS,
    *("sex", "min_age", "max_age", "healthy_volunteers", "phases", "study_type"),
    "design",
    "enrollment",  # only where it is said to be anticipated
    *("sponsor", "sponsor_class", "collaborators"),
    *("condition_mesh", "intervention_mesh"),
)
LATER = (
    *("status", "why_stopped", "has_results"),
    # Most are of the end or of a change after it. A planned start becomes an actual one
    # only if the trial starts; nothing that predicts reads a date, so none is kept.
    *("start_date", "primary_completion_date", "completion_date"),
    *("first_posted", "last_updated"),
    "locations",  # filled in as sites open, taken away when a trial is withdrawn
    "references",  # mostly papers on the results
    *("aliases", "org_study_id"),  # say nothing of the trial
    *("source", "snapshot"),  # of the copy, not of the trial
)


def registration_view(trial: Trial) -> Trial:
    """The record with what was known at registration, as far as today's record shows.

    Only the fields in KNOWN are kept, without descriptions of outcomes (they are
    rewritten when results are posted) and without passages that tell how the trial
    ended (`outcome_wording`). An enrolment is kept only where it is marked as
    anticipated. The view of a view is the view itself.
    """
    kept = {name: getattr(trial, name) for name in KNOWN}
    planned = trial.enrollment is not None and trial.enrollment.actual is False
    kept["enrollment"] = trial.enrollment if planned else None
    kept["outcomes"] = tuple(replace(o, description=None) for o in trial.outcomes)
    kept |= {name: _mapped(kept[name], without_outcome) for name in _WORDS}
    return Trial(**kept)


def flagged(trial: Trial) -> dict[str, list[str]]:
    """The passages of a record that tell how the trial ended, by field; those of a
    field are in order, and no field is there without one."""
    found = {
        name: [
            p for text in _texts(getattr(trial, name)) for p in outcome_wording(text)
        ]
        for name in _WORDS
    }
    return {name: passages for name, passages in found.items() if passages}


def _mapped(value: Any, change: Callable[[str], str | None]) -> Any:
    """A value with each text in it changed. A member that loses the text it is named by
    is left out."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(
            new for item in value if (new := _mapped(item, change)) is not None
        )
    if is_dataclass(value) and not isinstance(value, type):
        new = {f.name: _mapped(getattr(value, f.name), change) for f in fields(value)}
        named = fields(value)[0].name  # name, label or measure
        return None if new[named] is None else replace(value, **new)
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif is_dataclass(value):
        for member in fields(value):
            yield from _texts(getattr(value, member.name))
