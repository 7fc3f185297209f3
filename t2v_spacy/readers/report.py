"""What happened to a batch: read, written, refused with reason, fill rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..trial import CONTENT_FIELDS, Trial
from ..values import STATUS_LABELS

SHOWN = 20


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
    """Counts of one batch. `read + len(refused)` is every record that was seen.

    skipped are files that cannot hold records (notes, pictures). duplicates counts
    the further records of an id that came before; they are read like any other.
    """

    read: int = 0
    written: int = 0
    refused: list[Refusal] = field(default_factory=list)
    skipped: list[Refusal] = field(default_factory=list)
    filled: Counter[str] = field(default_factory=Counter)
    unknown_status: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set, repr=False)

    def count(self, trial: Trial) -> None:
        self.read += 1
        filled = self.filled
        for name in CONTENT_FIELDS:
            if getattr(trial, name):
                filled[name] += 1
        if trial.status not in STATUS_LABELS:
            self.unknown_status[trial.status or ""] += 1
        if trial.nct_id in self._seen:
            self.duplicates[trial.nct_id] += 1
        else:
            self._seen.add(trial.nct_id)

    def refuse(self, path: str, where: str, reason: str) -> None:
        self.refused.append(Refusal(path, where, reason))

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Refusal(path, "file", reason))

    @property
    def empty_fields(self) -> list[str]:
        """Fields that no record of the batch has: a sign of a renamed source field."""
        return [n for n in CONTENT_FIELDS if self.read and not self.filled[n]]

    def lines(self) -> list[str]:
        """The report to read: one summary line, fill rates, warnings, refusals."""
        return list(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "read": self.read,
            "written": self.written,
            "refused": [vars(refusal) for refusal in self.refused],
            "skipped": [refusal.path for refusal in self.skipped],
            "filled": {name: self.filled[name] for name in CONTENT_FIELDS},
            "empty_fields": self.empty_fields,
            "unknown_status": dict(self.unknown_status),
            "duplicates": dict(self.duplicates),
        }

    def _lines(self) -> Iterator[str]:
        lacking = self.read - self.filled["eligibility"]
        yield (
            f"{self.read} read, {self.written} written, {len(self.refused)} refused; "
            f"{lacking} without eligibility"
        )
        if self.read:
            rates = (f"{n} {self.filled[n] / self.read:.0%}" for n in CONTENT_FIELDS)
            yield f"Filled: {', '.join(rates)}"
        for name in self.empty_fields:
            yield (
                f"Warning: no record has {name}. If the source has it, its field may "
                "have been renamed."
            )
        if unknown := Counter({k: n for k, n in self.unknown_status.items() if k}):
            yield (
                f"Warning: {unknown.total()} with an unknown status, kept as given and "
                f"left out of the outcome labels: {_listed(unknown)}"
            )
        if self.unknown_status[""]:
            yield f"Warning: {self.unknown_status['']} without a status"
        if self.duplicates:
            yield (
                f"Warning: {self.duplicates.total()} further records of an id that "
                f"came before (kept): {_listed(self.duplicates)}"
            )
        for refusal in self.refused[:SHOWN]:
            yield f"Refused: {refusal}"
        if len(self.refused) > SHOWN:
            yield f"... and {len(self.refused) - SHOWN} more refused"
        if self.skipped:
            names = [refusal.path for refusal in self.skipped[:SHOWN]]
            more = len(self.skipped) - len(names)
            yield (
                f"Skipped {len(self.skipped)} files that hold no records: "
                f"{', '.join(names)}{f' and {more} more' if more else ''}"
            )


def _listed(counts: Counter[str]) -> str:
    shown = [f"{value} ({n})" for value, n in counts.most_common(SHOWN)]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
