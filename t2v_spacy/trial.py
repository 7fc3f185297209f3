"""`Trial`: the one record every part of the package works on.

Absent stays absent: a field nobody filled is None or empty, never a placeholder word.
Readers make Trials, `Trial.to_text` writes them as headed text, `to_dict` as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .plain import from_plain, to_plain
from .sections.eligibility import Eligibility, split_eligibility
from .sections.fields import bullets, design_lines, intervention_line, outcome_line
from .sections.headed import write_headed_text
from .values import PartialDate, is_control_name


@dataclass(frozen=True)
class Intervention:
    """name is free of its type; type is one of values.INTERVENTION_TYPES or None;
    arms are the labels of the arms that get it."""

    name: str
    type: str | None = None
    other_names: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    description: str | None = None

    @property
    def is_control(self) -> bool:
        """Whether this is a placebo, sham, or usual care: no evidence of likeness."""
        return is_control_name(self.name)


@dataclass(frozen=True)
class Arm:
    label: str
    type: str | None = None
    description: str | None = None
    interventions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """role is "primary", "secondary" or "other"."""

    measure: str
    role: str = "primary"
    time_frame: str | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        if self.role not in ("primary", "secondary", "other"):
            raise ValueError(f"{self.role!r} is not the role of an outcome")


@dataclass(frozen=True)
class Enrollment:
    """count 0 is the number 0 (nobody came), not absent."""

    count: int
    actual: bool | None = None


@dataclass(frozen=True)
class Location:
    facility: str | None = None
    city: str | None = None
    state: str | None = None
    country: str | None = None


@dataclass(frozen=True)
class Reference:
    """type is the registry's: "BACKGROUND", "RESULT", "DERIVED", or None."""

    pmid: str | None = None
    type: str | None = None
    citation: str | None = None


@dataclass(frozen=True)
class Design:
    allocation: str | None = None
    intervention_model: str | None = None
    observational_model: str | None = None
    time_perspective: str | None = None
    masking: str | None = None
    primary_purpose: str | None = None


@dataclass(frozen=True)
class Trial:
    """One registry record. Ages are in years; dates carry their precision.

    eligibility is the raw criteria text; `criteria` splits it into items when asked.
    status, phases, intervention types and study type use the registry's constants
    (`values.py`); an unknown status is kept as given. `source` names the format read,
    `snapshot` the day the record was taken; neither takes part in equality.
    """

    nct_id: str
    aliases: tuple[str, ...] = ()
    org_study_id: str | None = None
    title: str | None = None
    official_title: str | None = None
    acronym: str | None = None
    brief_summary: str | None = None
    detailed_description: str | None = None
    conditions: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    arms: tuple[Arm, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    eligibility: str | None = None
    sex: str | None = None
    min_age: float | None = None
    max_age: float | None = None
    healthy_volunteers: bool | None = None
    phases: frozenset[str] = frozenset()
    study_type: str | None = None
    design: Design | None = None
    status: str | None = None
    why_stopped: str | None = None
    start_date: PartialDate | None = None
    primary_completion_date: PartialDate | None = None
    completion_date: PartialDate | None = None
    first_posted: PartialDate | None = None
    last_updated: PartialDate | None = None
    enrollment: Enrollment | None = None
    sponsor: str | None = None
    sponsor_class: str | None = None
    collaborators: tuple[str, ...] = ()
    locations: tuple[Location, ...] = ()
    condition_mesh: tuple[str, ...] = ()
    intervention_mesh: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    has_results: bool | None = None
    source: str | None = field(default=None, compare=False)
    snapshot: PartialDate | None = field(default=None, compare=False)

    @cached_property
    def criteria(self) -> Eligibility:
        """The eligibility text split into inclusion, exclusion, unspecified items."""
        return split_eligibility(self.eligibility)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the fields that carry content and are absent in this record."""
        return tuple(n for n in CONTENT_FIELDS if getattr(self, n) in (None, ()))

    @property
    def sections(self) -> list[tuple[str, str]]:
        """(heading, body) of each part that is present, in the order of HEADINGS."""
        return _sections(self)

    def to_text(self) -> str:
        """Write the record as headed text, which `trial_parser` reads back exactly.

        Only what was known at registration is written: no status, reason for stopping,
        results or actual enrolment. Outcome and arm descriptions, locations, sponsors,
        dates and references stay in the record.
        """
        return write_headed_text(self.sections)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values, absent fields left out."""
        return to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trial:
        """Inverse of `to_dict`; None is absent. RAISES (ValueError) for an unknown
        field, one that is lacking, and a value of the wrong kind."""
        return from_plain(cls, data)


CONTENT_FIELDS = (
    "title",
    "conditions",
    "interventions",
    "outcomes",
    "keywords",
    "brief_summary",
    "detailed_description",
    "eligibility",
)


def _sections(trial: Trial) -> list[tuple[str, str]]:
    outcomes: dict[str, list[str]] = {"primary": [], "secondary": [], "other": []}
    for outcome in trial.outcomes:
        outcomes[outcome.role].append(outcome_line(outcome.measure, outcome.time_frame))
    parts = [
        ("Title", trial.title),
        ("Official Title", trial.official_title),
        ("Acronym", trial.acronym),
        ("Conditions", bullets(list(trial.conditions))),
        ("Keywords", bullets(list(trial.keywords))),
        (
            "Interventions",
            bullets(
                [
                    intervention_line(i.name, i.type, i.other_names)
                    for i in trial.interventions
                ]
            ),
        ),
        ("Arms", bullets([arm.label for arm in trial.arms])),
        ("Primary Outcomes", bullets(outcomes["primary"])),
        ("Secondary Outcomes", bullets(outcomes["secondary"])),
        ("Other Outcomes", bullets(outcomes["other"])),
        ("Brief Summary", trial.brief_summary),
        ("Detailed Description", trial.detailed_description),
        ("Eligibility", trial.eligibility),
        ("Design", "\n".join(design_lines(vars(trial)))),
    ]
    return [(heading, body) for heading, body in parts if body]
