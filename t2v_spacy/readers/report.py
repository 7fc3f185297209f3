"""What happened to a batch: read, written, refused with reason, fill rates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..trial import CONTENT_FIELDS, Trial
from ..values import STATUS_LABELS


@dataclass(frozen=True)
class Refusal:
    """path names the file (and archive member), where the record ("line 7",
    "NCT90000001", "study 3"), reason the cause in plain words."""

    path: str
    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, {self.where}: {self.reason}"


@dataclass
class ReadReport:
    """Counts of one batch. `read + len(refused)` is every record that was seen."""

    read: int = 0
    written: int = 0
    refused: list[Refusal] = field(default_factory=list)
    filled: Counter[str] = field(default_factory=Counter)
    unknown_status: Counter[str] = field(default_factory=Counter)

    def count(self, trial: Trial) -> None:
        self.read += 1
        for name in CONTENT_FIELDS:
            if getattr(trial, name):
                self.filled[name] += 1
        if trial.status not in STATUS_LABELS:
            self.unknown_status[trial.status or ""] += 1

    def refuse(self, path: str, where: str, reason: str) -> None:
        self.refused.append(Refusal(path, where, reason))

    @property
    def empty_fields(self) -> list[str]:
        """Fields that no record of the batch has: a sign of a renamed source field."""
        return [n for n in CONTENT_FIELDS if self.read and not self.filled[n]]
