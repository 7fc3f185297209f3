"""Which arm gets which intervention: sources say it on either side, or on both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..trial import Arm, Intervention


def link_arms(
    interventions: list[Intervention], arms: list[Arm]
) -> tuple[tuple[Intervention, ...], tuple[Arm, ...]]:
    """Both lists with the links of either side on both sides."""
    linked = tuple(
        replace(item, arms=_merged(item.arms, [a.label for a in arms if _has(a, item)]))
        for item in interventions
    )
    completed = tuple(
        # In the order of the interventions, as a source that says it there has it.
        replace(
            arm,
            interventions=_merged(
                [item.name for item in linked if arm.label in item.arms],
                arm.interventions,
            ),
        )
        for arm in arms
    )
    return linked, completed


def _has(arm: Arm, item: Intervention) -> bool:
    return item.name in arm.interventions


def _merged(first: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))
