"""What a trial's status says of its end: the gold label of termination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..trial import Trial
from ..values import STATUS_LABELS, outcome_label, parse_status

# The positive class is the rare one, which the precision-recall curve is about.
POSITIVE = "TERMINATED"
NEGATIVE = "COMPLETED"


@dataclass(frozen=True)
class LabelCounts:
    """terminated, completed: Labelled trials. unlabelled: Trials by a known status that
    says nothing of the end. unknown: Trials by a status nobody knows, "" if absent."""

    terminated: int
    completed: int
    unlabelled: dict[str, int]
    unknown: dict[str, int]

    @property
    def labelled(self) -> int:
        return self.terminated + self.completed


def termination_label(status: str | None) -> bool | None:
    """True for TERMINATED, WITHDRAWN and SUSPENDED, False for COMPLETED and
    APPROVED_FOR_MARKETING, None for all else, whether it is known or not."""
    label = outcome_label(parse_status(status))
    return None if label is None else label == POSITIVE


def count_labels(trials: Iterable[Trial]) -> LabelCounts:
    """How many trials have which label, and which statuses gave none."""
    statuses = Counter(parse_status(trial.status) or "" for trial in trials)
    counts = {True: 0, False: 0}
    silent: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for status, number in sorted(statuses.items()):
        label = termination_label(status)
        if label is None:
            silent[status in STATUS_LABELS][status] = number
        else:
            counts[label] += number
    return LabelCounts(counts[True], counts[False], silent[True], silent[False])
