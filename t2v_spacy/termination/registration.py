"""What of a record was known when the trial was registered: all a prediction may read.

A registry shows the record as it is today, and much of it is written after the end: the
actual enrolment (0 is nearly the same as "withdrawn"), results and their papers, dates.
Each field of `Trial` is therefore listed here, as KNOWN or as LATER, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..trial import Trial
from .wording import without_outcome

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
    *("sponsor", "sponsor_class", "collaborators"),
    *("condition_mesh", "intervention_mesh"),
)
LATER = (
    *("status", "why_stopped", "has_results"),
    # Most are of the end or of a change after it. A planned start becomes an actual one
    # only if the trial starts; nothing that predicts reads a date, so none is kept.
    *("start_date", "primary_completion_date", "completion_date"),
    *("first_posted", "last_updated"),
    # The registry wants the actual number once a trial has ended: of those that ended,
    # one still marked as planned was suspended; and all new trials look like it.
    "enrollment",
    "locations",  # filled in as sites open, taken away when a trial is withdrawn
    "references",  # mostly papers on the results
    *("aliases", "org_study_id"),  # say nothing of the trial
    *("source", "snapshot"),  # of the copy, not of the trial
)


def registration_view(trial: Trial) -> Trial:
    """The record with what was known at registration, as far as today's record shows.

    Only the fields in KNOWN are kept, without descriptions of outcomes (they are
    rewritten when results are posted) and without passages that tell how the trial
    ended (see `wording`). The view of a view is the view itself.
    """
    kept = {name: getattr(trial, name) for name in KNOWN}
    kept["outcomes"] = tuple(replace(o, description=None) for o in trial.outcomes)
    kept |= {name: _mapped(kept[name], without_outcome) for name in _WORDS}
    return Trial(**kept)


def told_only(trial: Trial, view: Trial) -> tuple[str, ...]:
    """The fields in which the record says nothing but how the trial ended. The view
    lacks them, and their absence tells the end as well as what stood there: such a
    trial can neither be learnt from nor tested on."""
    return tuple(n for n in _WORDS if getattr(trial, n) and not getattr(view, n))


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
