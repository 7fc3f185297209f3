"""Record fields as lines of text and back: each `*_line` has an exact inverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..values import (
    constant,
    display,
    parse_age,
    parse_bool,
    parse_count,
    parse_phases,
    parse_sex,
    split_type,
)

_TIME_FRAME = "Time frame: "
_DESIGN = {
    "allocation": "Allocation",
    "intervention_model": "Intervention Model",
    "observational_model": "Observational Model",
    "time_perspective": "Time Perspective",
    "masking": "Masking",
    "primary_purpose": "Primary Purpose",
}


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def read_bullets(body: str) -> list[tuple[str, list[str]]]:
    """Items of a bulleted body, each with its nested items."""
    items: list[tuple[str, list[str]]] = []
    for line in body.split("\n"):
        if line.startswith("  * ") and items:
            items[-1][1].append(line[4:])
        elif line.startswith("- "):
            items.append((line[2:], []))
        elif line.strip():
            items.append((line.strip(), []))
    return items


def intervention_line(name: str, kind: str | None, other_names: Iterable[str]) -> str:
    head = f"{display(kind)}: {name}" if kind else name
    return "\n".join([head, *(f"  * {other}" for other in other_names)])


def read_intervention(head: str, nested: list[str]) -> dict[str, Any]:
    kind, name = split_type(head)
    return {"name": name, "type": kind, "other_names": tuple(nested)}


def outcome_line(measure: str, time_frame: str | None) -> str:
    return f"{measure}\n  * {_TIME_FRAME}{time_frame}" if time_frame else measure


def read_outcome(head: str, nested: list[str]) -> dict[str, Any]:
    frame = next((n for n in nested if n.startswith(_TIME_FRAME)), None)
    return {"measure": head, "time_frame": frame and frame[len(_TIME_FRAME) :]}


def design_lines(trial: Mapping[str, Any]) -> list[str]:
    """One "Name: value" line for each registration fact that is present."""
    facts: list[tuple[str, str | None]] = [
        ("Study Type", trial["study_type"] and display(trial["study_type"])),
        ("Phase", ", ".join(display(phase) for phase in sorted(trial["phases"]))),
    ]
    for name, label in _DESIGN.items():
        value = trial["design"] and getattr(trial["design"], name)
        facts.append((label, value and display(value)))
    planned = trial["enrollment"] and trial["enrollment"].actual is False
    healthy = trial["healthy_volunteers"]
    facts += [
        ("Sex", trial["sex"] and display(trial["sex"])),
        ("Minimum Age", _age(trial["min_age"])),
        ("Maximum Age", _age(trial["max_age"])),
        ("Healthy Volunteers", None if healthy is None else "Yes" if healthy else "No"),
        ("Planned Enrollment", str(trial["enrollment"].count) if planned else None),
    ]
    return [f"{label}: {value}" for label, value in facts if value]


def _age(years: float | None) -> str | None:
    return None if years is None else f"{years!r} years"


def read_design(body: str) -> dict[str, Any]:
    """Registration facts of a design section: Trial fields, with "design" a dict and
    "planned_enrollment" an int. Lines that are none of these are left out."""
    facts = dict(line.split(": ", 1) for line in body.split("\n") if ": " in line)
    design = {n: constant(facts[lab]) for n, lab in _DESIGN.items() if lab in facts}
    return {
        "study_type": constant(facts.get("Study Type")),
        "phases": parse_phases(facts.get("Phase")),
        "design": design or None,
        "sex": parse_sex(facts.get("Sex")),
        "min_age": parse_age(facts.get("Minimum Age")),
        "max_age": parse_age(facts.get("Maximum Age")),
        "healthy_volunteers": parse_bool(facts.get("Healthy Volunteers")),
        "planned_enrollment": parse_count(facts.get("Planned Enrollment")),
    }
