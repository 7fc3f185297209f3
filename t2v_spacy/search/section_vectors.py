"""Section vectors of an index: for each label, the rows that exist, nothing else.

`sections/<label>.npy` holds float16 unit rows (rows, width). Beside it,
`sections/<label>.rows.npy`, int32 (n,), says which row belongs to a trial, -1 if none.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from ..errors import Errors, error
from .vectors import Array, RowWriter, all_cosines, defect, unit

SECTIONS = "sections"
_ROWS = ".rows.npy"


class SectionWriter:
    """Append the section vectors of one trial after the other."""

    def __init__(self, folder: Path, width: int) -> None:
        self.folder = folder / SECTIONS
        self.folder.mkdir()
        self.width = width
        self._writers: dict[str, RowWriter] = {}
        self._positions: dict[str, array[int]] = {}  # of the trial of each row
        self._n = 0

    def append(self, sections: Mapping[str, Array]) -> None:
        """Vectors without direction (zero, not finite) count as absent."""
        for label, vector in sections.items():
            if defect(vector):
                continue
            if label not in self._writers:
                path = self.folder / f"{label}.npy"
                self._writers[label] = RowWriter(path, self.width, "float16")
                self._positions[label] = array("i")
            self._positions[label].append(self._n)
            self._writers[label].append(unit(vector))
        self._n += 1

    def close(self, kept: list[int] | None = None) -> dict[str, int]:
        """Finish the files; returns the number of trials with each label.

        kept (list[int]): Old position of each trial that stays, None if all stay.
        """
        counts = {}
        for label in sorted(self._writers):
            self._writers[label].close()
            rows = np.full(self._n, -1, dtype=np.int32)
            positions = self._positions[label]
            rows[np.array(positions)] = np.arange(len(positions))
            rows = rows if kept is None else rows[kept]
            np.save(self.folder / f"{label}{_ROWS}", rows)
            counts[label] = int((rows >= 0).sum())
        return counts


class SectionVectors:
    """Read the section vectors of a folder, memory-mapped.

    RAISES (T041): a file is missing or does not fit the number of trials.
    """

    def __init__(self, folder: Path, labels: Collection[str], n: int, width: int):
        self._matrix: dict[str, Array] = {}
        self._rows: dict[str, Array] = {}
        for label in labels:
            path = folder / SECTIONS / f"{label}.npy"
            try:
                matrix = np.load(path, mmap_mode="r", allow_pickle=False)
                rows = np.load(path.with_name(f"{label}{_ROWS}"), allow_pickle=False)
            except (OSError, ValueError, EOFError) as err:
                reason = f"the vectors of section {label} cannot be read ({err})"
                raise error(Errors.T041, path=folder, reason=reason) from err
            if matrix.shape[1:] != (width,) or rows.shape != (n,):
                reason = f"the vectors of section {label} have shape {matrix.shape}"
                raise error(Errors.T041, path=folder, reason=reason)
            self._matrix[label], self._rows[label] = matrix, rows

    def of(self, position: int) -> dict[str, Array]:
        """Label -> float32 (width,) of the sections that a trial has."""
        return {
            label: unit(self._matrix[label][rows[position]])
            for label, rows in self._rows.items()
            if rows[position] >= 0
        }

    def cosines(self, label: str, vector: Array, positions: Array) -> Array:
        """float32 (len(positions),): cosine of a section, NaN where there is none."""
        scores = np.full(len(positions), np.nan, np.float32)
        if label in self._rows:
            rows = self._rows[label][positions]
            there = rows >= 0
            scores[there] = self._matrix[label][rows[there]].astype(np.float32) @ vector
        return scores

    def all_cosines(self, label: str, vector: Array, n: int) -> Array:
        """`cosines` for all n trials, without copying the matrix."""
        scores = np.full(n, np.nan, np.float32)
        if label in self._rows:
            rows = self._rows[label]
            there = rows >= 0
            scores[there] = all_cosines(self._matrix[label], vector)[rows[there]]
        return scores
