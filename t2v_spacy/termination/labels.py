"""What a trial's status says of its end: the gold label of termination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypedDict

from ..values import outcome_label, parse_status

# The positive class is the rare one, which the precision-recall curve is about.
POSITIVE = "TERMINATED"
NEGATIVE = "COMPLETED"


class StatusCount(TypedDict):
    n: int
    label: bool | None


def termination_label(status: str | None) -> bool | None:
    """True for TERMINATED, WITHDRAWN and SUSPENDED, False for COMPLETED and
    APPROVED_FOR_MARKETING, None for all else, whether it is known or not."""
    label = outcome_label(parse_status(status))
    return None if label is None else label == POSITIVE


def count_labels(statuses: Iterable[str | None]) -> dict[str, StatusCount]:
    """Status as the registry writes it ("" if absent) -> how many there are and the
    label it gives, the most frequent first."""
    found = Counter(parse_status(status) or "" for status in statuses)
    return {
        status: {"n": n, "label": termination_label(status)}
        for status, n in found.most_common()
    }
