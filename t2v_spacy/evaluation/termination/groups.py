"""What is left of a figure among records of which the same fields are filled.

A collection merged from copies of a registry mixes trials that differ in how they were
copied. Within a group no model can tell them by which of the fields looked at are
filled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...termination.fill import FILL_FIELDS, REQUIRED
from ...termination.measures import average_precision, roc_auc

LEAST = 100  # trials of a group
# Which fields must be alike. By all, nothing is left of the copy, but few groups are
# large; by those that every registration has, nearly all trials are in a large group.
FIELDS = {"required": REQUIRED, "all": FILL_FIELDS}


def within_groups(
    gold: np.ndarray, probabilities: np.ndarray, filled: np.ndarray, least: int = LEAST
) -> dict[str, Any]:
    """For each of FIELDS: `groups` (n, prevalence, roc_auc, pr_auc, `lacking` fields),
    the largest first. Over those with both labels: `roc_auc`, `pr_auc`, `prevalence`,
    means by trials; `together`, both areas over the trials of these groups as one; `n`
    and `share` of all trials. None where there is no such group.

    filled: bool (trials, len(FILL_FIELDS)). least: Trials of a group that counts.
    """
    return {
        name: _within(gold, probabilities, filled, fields, least)
        for name, fields in FIELDS.items()
    }


def _within(
    gold: np.ndarray,
    p: np.ndarray,
    filled: np.ndarray,
    fields: tuple[str, ...],
    least: int,
) -> dict[str, Any]:
    members: dict[tuple[bool, ...], list[int]] = {}
    columns = [FILL_FIELDS.index(name) for name in fields]
    for i, pattern in enumerate(filled[:, columns].tolist()):
        members.setdefault(tuple(pattern), []).append(i)
    groups: list[dict[str, Any]] = []
    kept: list[int] = []
    for pattern, rows in sorted(members.items(), key=lambda item: -len(item[1])):
        if len(rows) < least:
            continue
        area = roc_auc(gold[rows], p[rows])
        if area is not None:
            kept += rows
        groups.append(
            {
                "n": len(rows),
                "prevalence": float(gold[rows].mean()),
                "roc_auc": area,
                "pr_auc": average_precision(gold[rows], p[rows]),
                "lacking": [
                    n for n, there in zip(fields, pattern, strict=True) if not there
                ],
            }
        )
    two = [group for group in groups if group["roc_auc"] is not None]
    sizes = [group["n"] for group in two]

    def mean(measure: str) -> float | None:
        values = [group[measure] for group in two]
        return float(np.average(values, weights=sizes)) if two else None

    return {
        "groups": groups,
        "n": len(kept),
        "share": len(kept) / len(gold) if len(gold) else None,
        "prevalence": mean("prevalence"),
        "roc_auc": mean("roc_auc"),
        "pr_auc": mean("pr_auc"),
        "together": {
            "roc_auc": roc_auc(gold[kept], p[kept]) if two else None,
            "pr_auc": average_precision(gold[kept], p[kept]) if two else None,
        },
    }
