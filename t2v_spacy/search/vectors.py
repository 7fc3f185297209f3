"""Vectors as unit rows: checks, appending to a file, exact nearest neighbours."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.lib import format as npy

Array = np.ndarray

_CHUNK = 16_384  # rows copied at a time
_SLACK = 1e-5  # of a cosine in float32


def defect(vector: Array) -> str | None:
    """Why a vector has no direction: "not finite", "zero vector", or None if it has."""
    if not np.isfinite(vector).all():
        return "not finite"
    return None if vector.any() else "zero vector"


def unit(vector: Array) -> Array:
    """float32 (width,) of length 1. The length is taken in float64: no overflow."""
    wide = np.asarray(vector, dtype=np.float64)
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def cosine_of_distance(distance: Array | float) -> Array:
    """Cosine of Annoy's angular distance: 1 - d²/2, within -1 to 1."""
    return np.clip(1 - np.square(distance, dtype=np.float64) / 2, -1, 1)


def rescore(matrix: Array, vector: Array, positions: Array) -> tuple[Array, Array]:
    """(positions, cosines) sorted: highest cosine first, then lowest position."""
    rows = np.asarray(matrix[positions], dtype=np.float64)
    cosines = np.clip(rows @ vector.astype(np.float64), -1, 1).astype(np.float32)
    order = np.lexsort((positions, -cosines))
    return positions[order], cosines[order]


def all_cosines(matrix: Array, vector: Array) -> Array:
    """float32 (n,): the cosine of every unit row with a unit vector."""
    if matrix.dtype == np.float32:
        return np.asarray(matrix @ vector)
    parts = [
        matrix[start : start + _CHUNK].astype(np.float32) @ vector
        for start in range(0, len(matrix), _CHUNK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def cosines_of(matrix: Array, vector: Array, rows: Array) -> Array:
    """float32 (len(rows),): the cosine of some unit rows of a float32 matrix."""
    parts = [
        matrix[rows[start : start + _CHUNK]] @ vector
        for start in range(0, len(rows), _CHUNK)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def highest(scores: Array, k: int, skip: Collection[int] = ()) -> Array:
    """Positions (up to k) of the highest scores, ties included by lowest position.

    Positions in `skip` and those that score -inf or NaN are left out.
    """
    scores = np.where(np.isnan(scores), -np.inf, scores)
    if skip:
        scores[np.fromiter(skip, np.int64, len(skip))] = -np.inf
    count = min(k, int(np.isfinite(scores).sum()))
    if not count:
        return np.zeros(0, np.int64)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    found = np.flatnonzero(scores >= least)
    return found[np.lexsort((found, -scores[found]))][:count]


def exact_nearest(
    matrix: Array,
    vector: Array,
    k: int,
    skip: Collection[int] = (),
    rows: Array | None = None,
) -> tuple[Array, Array]:
    """(positions, cosines) of the k nearest unit rows, compared with all of them, or
    with `rows` (their positions, ascending, which may not be in `skip`) only."""
    if rows is None:
        found = _candidates(all_cosines(matrix, vector), k, skip)
    else:
        found = rows[_candidates(cosines_of(matrix, vector, rows), k)]
    positions, cosines = rescore(matrix, vector, found)
    return positions[:k], cosines[:k]


def _candidates(scores: Array, k: int, skip: Collection[int] = ()) -> Array:
    """Positions of the k highest scores, and of all that float32 cannot tell from the
    last of them: which of these it puts first depends on what it is computed with."""
    best = highest(scores, k, skip)
    if not len(best):
        return best
    near = np.flatnonzero(scores >= scores[best[-1]] - _SLACK)
    return near[~np.isin(near, list(skip))] if skip else near


class RowWriter:
    """Append rows to a .npy file without holding them; a context manager.

    The file is a standard .npy of shape (number of rows, width) once closed.
    """

    def __init__(self, path: Path, width: int, dtype: str = "float32") -> None:
        self.width = width
        self.dtype = np.dtype(dtype)
        self.n_rows = 0
        self._file = path.open("wb")
        self._write_header()

    def _write_header(self) -> None:
        # NumPy pads the header for the largest row count, so it can be rewritten.
        header = {
            "descr": npy.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.n_rows, self.width),
        }
        npy.write_array_header_1_0(self._file, header)

    def append(self, row: Array) -> None:
        self._file.write(np.ascontiguousarray(row, dtype=self.dtype).tobytes())
        self.n_rows += 1

    def close(self) -> None:
        self._file.seek(0)
        self._write_header()
        self._file.close()

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def keep_rows(path: Path, rows: Array) -> None:
    """Rewrite a .npy file with some of its rows only, in the order given."""
    matrix = np.load(path, mmap_mode="r")
    part = path.with_name(f"{path.name}.part")
    with RowWriter(part, matrix.shape[1], str(matrix.dtype)) as writer:
        for row in rows:
            writer.append(matrix[row])
    part.replace(path)
