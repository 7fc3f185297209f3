"""Changes to an index that is on disk: trials added beside it, positions taken away."""

from __future__ import annotations

import numpy as np

from .build import IndexEntry
from .facets import Facets, FacetWriter
from .records import alias_ids, normal_id
from .vectors import Array, defect, unit


class Pending:
    """Added entries by main id, in order, and removed positions of the files."""

    def __init__(self) -> None:
        self.added: dict[str, IndexEntry] = {}
        self.removed: set[int] = set()
        self._aliases: dict[str, str] = {}
        self._matrix: Array | None = None
        self._sections: dict[str, Array] = {}
        self._facets: Facets | None = None

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def entries(self) -> list[IndexEntry]:
        return list(self.added.values())

    @property
    def matrix(self) -> Array:
        """float32 (added, width), unit rows."""
        if self._matrix is None:
            vectors = [entry.vector for entry in self.entries]
            self._matrix = np.stack([unit(v) for v in vectors if v is not None])
        return self._matrix

    @property
    def facets(self) -> Facets:
        """What filters ask of the added trials."""
        if self._facets is None:
            writer = FacetWriter()
            for entry in self.entries:
                writer.append(entry.trial, entry.concepts)
            self._facets = Facets(writer.columns())
        return self._facets

    def cosines(self, label: str, vector: Array) -> Array:
        """float32 (added,): cosine of a section, NaN where there is none."""
        if label not in self._sections:
            matrix = np.full((len(self.added), len(vector)), np.nan, np.float32)
            for row, entry in zip(matrix, self.entries, strict=True):
                own = entry.section_vectors.get(label)
                if own is not None and not defect(own):
                    row[:] = unit(own)
            self._sections[label] = matrix
        return self._sections[label] @ vector

    def find(self, nct_id: str) -> int | None:
        """Number of an id or alias among the added, or None."""
        main = nct_id if nct_id in self.added else self._aliases.get(nct_id)
        return None if main is None else list(self.added).index(main)

    def put(self, entry: IndexEntry) -> None:
        nct_id = normal_id(entry.trial.nct_id)
        self.discard(nct_id)
        self.added[nct_id] = entry
        self._aliases.update(dict.fromkeys(alias_ids(entry.trial), nct_id))

    def discard(self, nct_id: str) -> bool:
        """Take an added trial away by its main id; says whether it was there."""
        self._matrix, self._sections, self._facets = None, {}, None
        if self.added.pop(nct_id, None) is None:
            return False
        self._aliases = {a: m for a, m in self._aliases.items() if m != nct_id}
        return True
