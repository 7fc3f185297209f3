"""What tells one version of a record from another: `stamps.npz` of an index.

Of each trial: a hash of its record without source and snapshot, and the snapshot.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..trial import Trial
from .vectors import Array

STAMPS = "stamps.npz"
_WHERE_FROM = ("source", "snapshot")


def content_hash(trial: Trial) -> int:
    """64 bits of a hash of all fields but where and when the record was taken."""
    plain = trial.to_dict()
    for name in _WHERE_FROM:
        plain.pop(name, None)
    data = json.dumps(plain, sort_keys=True).encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def stamps_of(trials: Iterable[Trial]) -> dict[str, Array]:
    """Columns by name: "hash" uint64 (n,), "snapshot" S10 (n,), empty if not said."""
    writer = StampWriter()
    for trial in trials:
        writer.append(trial)
    return writer.columns()


def snapshot_range(days: Array) -> list[str] | None:
    """First and last day of a column "snapshot", None if none is said."""
    said = days[days != b""]
    return [day.decode() for day in (min(said), max(said))] if len(said) else None


class StampWriter:
    """Collect the columns, one trial after the other."""

    def __init__(self) -> None:
        self._hashes: list[int] = []
        self._days: list[str] = []

    def append(self, trial: Trial) -> None:
        self._hashes.append(content_hash(trial))
        self._days.append(trial.snapshot.value if trial.snapshot else "")

    def columns(self, kept: list[int] | None = None) -> dict[str, Array]:
        """kept: old position of each trial that stays, None if all stay."""
        rows = slice(None) if kept is None else np.array(kept, np.int64)
        return {
            "hash": np.array(self._hashes, np.uint64)[rows],
            "snapshot": np.array(self._days, "S10")[rows],
        }

    def save(self, folder: Path, kept: list[int] | None = None) -> list[str] | None:
        """Write the file; returns the range of the snapshots."""
        columns = self.columns(kept)
        np.savez(folder / STAMPS, **columns)  # type: ignore[arg-type]
        return snapshot_range(columns["snapshot"])
