"""Queries by a part of a record alone: partial retrieval, the paper's figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import Errors, error
from ..sections.labels import SECTION_LABELS
from ..trial import Trial
from .benchmark import Benchmark

_FIELDS = {
    "title": ("title",),
    "condition": ("conditions",),
    "intervention": ("interventions",),
    "outcome": ("outcomes",),
    "keyword": ("keywords",),
    "summary": ("brief_summary",),
    "description": ("detailed_description",),
    "eligibility": ("eligibility",),
    "inclusion": (),
    "exclusion": (),
    "design": ("study_type", "phases", "design", "sex", "min_age", "max_age")
    + ("healthy_volunteers", "enrollment"),
    "other": ("official_title", "acronym", "arms"),
}


def only(trial: Trial, parts: Sequence[str]) -> Trial:
    """The record with the given sections alone, under the same id.

    parts: Section labels. "eligibility" stands for all criteria; "inclusion" and
        "exclusion" keep the criteria under such a heading.
    RAISES (T008): A part that is no section.
    """
    for part in parts:
        if part not in _FIELDS:
            known = ", ".join(SECTION_LABELS)
            raise error(Errors.T008, value=part, labels=known)
    kept = {name: getattr(trial, name) for part in parts for name in _FIELDS[part]}
    if "eligibility" not in kept and trial.eligibility:
        text = trial.eligibility
        blocks = [b for b in trial.criteria.blocks if b.kind in parts]
        kept["eligibility"] = "\n\n".join(text[b.start : b.end] for b in blocks) or None
    return Trial(trial.nct_id, aliases=trial.aliases, source=trial.source, **kept)


def by_parts(benchmark: Benchmark, parts: Sequence[str]) -> Benchmark:
    """The benchmark with queries of the given sections alone. A query that has none of
    them cannot be asked and goes to `left_out`."""
    queries = {name: only(trial, parts) for name, trial in benchmark.queries.items()}
    empty = tuple(name for name, trial in queries.items() if not trial.sections)
    for name in empty:
        del queries[name]
    return replace(
        benchmark,
        name=f"{benchmark.name}, by {', '.join(parts)}",
        queries=queries,
        left_out=benchmark.left_out + empty,
    )
