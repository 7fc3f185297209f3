"""One result of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..trial import Trial


@dataclass(frozen=True)
class Hit:
    """A trial that was found.

    score (float): Cosine, -1 to 1. rank (int): 1 for the best.
    why (dict): Section label -> cosine of the query's and this trial's section, the
        highest first; only sections that both have.
    ranks (dict): Of a search by several rankings, name -> place of this trial in each,
        1 for the best, 0 where the ranking cannot say.
    """

    nct_id: str
    score: float
    rank: int
    title: str | None = None
    why: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    read: Callable[[], Trial] | None = field(default=None, repr=False, compare=False)

    @property
    def trial(self) -> Trial:
        """The record, read from the index when asked."""
        if self.read is None:
            raise AttributeError("This hit is not connected to an index.")
        return self.read()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the record is left out."""
        return {
            "nct_id": self.nct_id,
            "score": self.score,
            "rank": self.rank,
            "title": self.title,
            "why": dict(self.why),
            "ranks": dict(self.ranks),
        }

    def __getstate__(self) -> dict[str, Any]:
        # A hit that travels takes its record along, not the whole index.
        record = self.trial if self.read else None
        return {**vars(self), "read": record and _Record(record)}


@dataclass(frozen=True)
class _Record:
    trial: Trial

    def __call__(self) -> Trial:
        return self.trial
