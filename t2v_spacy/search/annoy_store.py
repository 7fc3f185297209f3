"""Nearest unit vectors with Annoy, which is trusted with nothing.

Annoy keeps neither width nor metric in its file and can kill the process or answer
with nonsense on a file that is damaged or another's. So everything is verified before
Annoy opens a file, known vectors must find themselves, and NumPy answers otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..errors import Errors, error
from ..files import digest, writing
from .vectors import (
    Array,
    cosine_of_distance,
    defect,
    exact_nearest,
    rescore,
    unit,
)

VECTORS, TREES = "vectors.npy", "vectors.ann"
METRIC: Final = "angular"
EXACT_BELOW = 10_000
N_TREES = 50
# Nodes looked at per query: recall@10 above 0.95 on sentence vectors of real trials,
# as they are and enlarged with little noise (scripts/benchmark_index.py measures it).
SEARCH_K = 10_000
_HEAD = 12  # bytes of an angular node before its vector: 3 int32


class AnnoyStore:
    """n unit vectors and, where Annoy is installed and sound, its trees.

    vectors (ndarray): float32 (n, width), rows of length 1, may be memory-mapped.
    exact_below (int): Up to this many vectors NumPy answers unless told otherwise:
        as fast, and exact.
    """

    def __init__(
        self,
        vectors: Array,
        trees: Any | None = None,
        meta: Mapping[str, Any] | None = None,
        exact_below: int = EXACT_BELOW,
    ) -> None:
        self.vectors = vectors
        self.meta = dict(meta or {})
        self.exact_below = exact_below
        self._trees = trees

    @classmethod
    def build(
        cls,
        vectors: Array,
        *,
        n_trees: int = N_TREES,
        seed: int = 0,
        n_jobs: int = 1,
        exact_below: int = EXACT_BELOW,
    ) -> AnnoyStore:
        """Build the trees over float32 (n, width) vectors of any length but zero.

        The same seed gives the same file with n_jobs = 1. Annoy's file differs from
        run to run with more threads. RAISES (T044): zero or non-finite vector.
        """
        vectors = _unit_rows(vectors)
        meta = {
            "width": vectors.shape[1],
            "metric": METRIC,
            "n_items": len(vectors),
            "n_trees": n_trees,
            "seed": seed,
        }
        store = cls(vectors, None, meta, exact_below)
        trees = _new_annoy(vectors.shape[1])
        if trees is None:
            store._warn_if_slow("Annoy is not installed")
            return store
        trees.set_seed(seed)
        for position, row in enumerate(vectors):
            trees.add_item(position, row.tolist())
        trees.build(n_trees, n_jobs=n_jobs)
        store._trust(trees)
        return store

    @property
    def has_trees(self) -> bool:
        return self._trees is not None

    @property
    def method(self) -> str:
        """What answers by default: "annoy" or "exact"."""
        few = len(self.vectors) <= self.exact_below
        return "exact" if few or not self.has_trees else "annoy"

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(
        self,
        vector: Array,
        k: int,
        *,
        search_k: int | None = None,
        method: str = "auto",
        skip: Collection[int] = (),
        among: Array | None = None,
    ) -> tuple[Array, Array]:
        """(positions, cosines), both (k,), highest cosine first.

        vector (ndarray): (width,), of any length but zero.
        search_k (int): Nodes Annoy looks at; more is slower and finds more.
        method (str): "auto", "annoy" or "exact".
        skip (Collection[int]): Positions to leave out; k others are still returned.
        among (ndarray): bool (n,), True for the only positions to return, of which k
            are returned if there are so many.
        RAISES (T026): no such method.
        """
        if method not in ("auto", "annoy", "exact"):
            reason = "known methods are auto, annoy, exact"
            raise error(Errors.T026, setting="method", value=method, reason=reason)
        vector = unit(vector)
        if method == "auto":
            method = self.method
        ask = method == "annoy" and self.has_trees
        if among is not None:
            return self._nearest_among(vector, k, ask, search_k, skip, among)
        wanted = min(k, len(self) - len(skip))
        if wanted <= 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        if ask:
            nodes = search_k or max(SEARCH_K, 100 * wanted)
            found = self._ask_annoy(vector, wanted, nodes, skip)
            if found is not None:
                return rescore(self.vectors, vector, found)
        return exact_nearest(self.vectors, vector, wanted, skip)

    def _ask_annoy(
        self, vector: Array, wanted: int, search_k: int, skip: Collection[int]
    ) -> Array | None:
        """The positions, or None if Annoy cannot give as many as were asked for."""
        n = wanted
        while n <= len(self) // 2 and self._trees is not None:
            ask = max(search_k, 4 * n)
            found = self._trees.get_nns_by_vector(vector.tolist(), n, ask)
            kept = [position for position in found if position not in skip]
            if len(kept) >= wanted:
                return np.array(kept[:wanted], dtype=np.int64)
            n = 2 * n + min(len(skip), 2 * n)
        return None

    def _nearest_among(
        self,
        vector: Array,
        k: int,
        ask: bool,
        search_k: int | None,
        skip: Collection[int],
        among: Array,
    ) -> tuple[Array, Array]:
        among = among.copy()
        among[list(skip)] = False
        rows = np.flatnonzero(among)
        wanted = min(k, len(rows))
        if ask and wanted and self._trees is not None:
            # What passes may lie far from the query, where trees are less sure: for a
            # few results Annoy looks at four times as many nodes that pass as without a
            # filter, and at more where few near the query do. A node costs as much as
            # some rows.
            share = len(self) / len(rows)
            n = int(4 * wanted * share)
            nodes = int((search_k or max(4 * SEARCH_K, 100 * wanted)) * share)
            while 4 * max(n, nodes) < len(rows):
                found = self._trees.get_nns_by_vector(vector.tolist(), n, nodes)
                kept = np.array(found, np.int64)
                kept = kept[among[kept]]
                if len(kept) >= wanted:
                    places, cosines = rescore(self.vectors, vector, kept)
                    return places[:wanted], cosines[:wanted]
                n, nodes = 4 * n, 4 * nodes
        return exact_nearest(self.vectors, vector, wanted, rows=rows)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write vectors and trees into a folder; returns what `load` must be given.

        RAISES (T010): not writable.
        """
        matrix, trees = folder / VECTORS, folder / TREES
        meta = self.meta | {"size": None, "sha256": None, "annoy": None}
        with writing(folder):
            if str(getattr(self.vectors, "filename", "")) != str(matrix.resolve()):
                np.save(matrix, np.asarray(self.vectors))
            if self._trees is not None:
                self._trees.save(str(trees))
                meta["size"] = trees.stat().st_size
                meta["sha256"] = digest(trees)
                meta["annoy"] = version("annoy")
        self.meta = meta
        return meta

    @classmethod
    def load(
        cls, folder: Path, meta: Mapping[str, Any], *, exact_below: int = EXACT_BELOW
    ) -> AnnoyStore:
        """Open what `save` wrote, memory-mapped.

        RAISES (T041): a file is missing, cut, changed or another's. (T046): another
        metric than angular. Annoy sees the file only after all checks.
        """
        if meta.get("metric") != METRIC:
            raise error(Errors.T046, metric=meta.get("metric"))
        vectors = _open_vectors(folder, meta)
        store = cls(vectors, None, meta, exact_below)
        if meta.get("sha256") is None:
            store._warn_if_slow("the index was built without Annoy")
            return store
        verify_trees(folder / TREES, meta, vectors)
        trees = _new_annoy(vectors.shape[1])
        if trees is None:
            store._warn_if_slow("Annoy is not installed")
            return store
        trees.load(str(folder / TREES))
        store._trust(trees)
        return store

    def _trust(self, trees: Any) -> None:
        """Keep the trees if known vectors find themselves, else answer exactly."""
        reason = self_check(trees, self.vectors)
        if reason is None:
            self._trees = trees
            return
        warnings.warn(
            f"Annoy does not find what it should ({reason}). Exact search is used "
            "instead: right but slower. Either the installed Annoy is broken (install "
            "it again from source) or very many of the vectors are equal.",
            stacklevel=3,
        )

    def _warn_if_slow(self, reason: str) -> None:
        if len(self.vectors) > self.exact_below:
            warnings.warn(f"Exact search is used: {reason}.", stacklevel=3)


def self_check(trees: Any, vectors: Array, samples: int = 10) -> str | None:
    """What is wrong with the trees, or None: items must be all there, n results come
    for n asked, and each of a few stored vectors is its own nearest neighbour."""
    n_items = len(vectors)
    if trees.get_n_items() != n_items:
        return f"{trees.get_n_items()} items instead of {n_items}"
    asked = min(5, n_items)
    for position in np.linspace(0, n_items - 1, min(samples, n_items)).astype(int):
        row = vectors[position].tolist()
        found, distances = trees.get_nns_by_vector(
            row, asked, 10_000, include_distances=True
        )
        if len(found) != asked:
            return f"{len(found)} results for {asked} asked"
        # An equal vector may come first in its place: compare cosines, not positions.
        cosines = vectors[found] @ vectors[position]
        if cosines[0] < 0.999:
            return "a stored vector does not find itself"
        if np.abs(cosine_of_distance(np.array(distances)) - cosines).max() > 1e-3:
            return "wrong distances"
    return None


def verify_trees(path: Path, meta: Mapping[str, Any], vectors: Array) -> None:
    """Check an Annoy file against its description and its vectors without Annoy.

    RAISES (T041): missing, cut, changed, or not made of these vectors.
    """
    reason = _file_defect(path, meta) or _layout_defect(path, vectors)
    if reason:
        raise error(Errors.T041, path=path.parent, reason=f"{path.name} {reason}")


def _file_defect(path: Path, meta: Mapping[str, Any]) -> str | None:
    if not path.is_file():
        return "is missing"
    size = path.stat().st_size
    if size != meta["size"]:
        return f"has {size} bytes instead of {meta['size']}"
    return None if digest(path) == meta["sha256"] else "has a wrong checksum"


def _layout_defect(path: Path, vectors: Array) -> str | None:
    """Compare some item nodes (count 1, norm, vector) with the vectors they hold."""
    n_items, width = vectors.shape
    node = _HEAD + 4 * width
    other = f"is not an angular index of {n_items} vectors of width {width}"
    if path.stat().st_size % node or path.stat().st_size < n_items * node:
        return other
    nodes = np.memmap(path, np.uint8, "r", shape=(path.stat().st_size // node, node))
    for position in np.linspace(0, n_items - 1, min(100, n_items)).astype(int):
        content = nodes[position].tobytes()
        count = int.from_bytes(content[:4], "little")
        row = np.frombuffer(content, np.float32, offset=_HEAD)
        if count != 1 or not np.array_equal(row, vectors[position]):
            return other
    return None


def _open_vectors(folder: Path, meta: Mapping[str, Any]) -> Array:
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as err:
        reason = f"{VECTORS} cannot be read ({err})"
        raise error(Errors.T041, path=folder, reason=reason) from err
    shape = (meta.get("n_items"), meta.get("width"))
    if vectors.shape != shape or vectors.dtype != np.float32:
        reason = f"{VECTORS} has shape {vectors.shape} instead of {shape}"
        raise error(Errors.T041, path=folder, reason=reason)
    return vectors


def _unit_rows(vectors: Array) -> Array:
    if not len(vectors):
        raise error(Errors.T048, reason="no vectors")
    norms = np.empty(len(vectors))
    for position, row in enumerate(vectors):
        if reason := defect(row):
            raise error(Errors.T044, nct_id=f"row {position}", reason=reason)
        norms[position] = np.linalg.norm(row.astype(np.float64))
    if vectors.dtype == np.float32 and np.abs(norms - 1).max() < 1e-4:
        return vectors
    return (vectors / norms[:, None]).astype(np.float32)


def _new_annoy(width: int) -> Any | None:
    try:
        import annoy
    except ImportError:
        return None
    return annoy.AnnoyIndex(width, METRIC)
