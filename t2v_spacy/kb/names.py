"""The names of a knowledge base, and which concepts a name means."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .columns import HashIndex, Strings
from .folded import fold_all, fold_hashes, norm_hash, norm_hashes
from .normalise import fold, norm_folded

# Vocabularies in order of trust: an ambiguous name means the first of them.
VOCABULARIES = ("MESH:D", "MESH:C", "MONDO:", "UNII:")


class Names:
    """Names concept after concept, the canonical first; concepts are row numbers."""

    def __init__(
        self, names: Strings, counts: np.ndarray, curated: np.ndarray, ids: Strings
    ) -> None:
        """counts: Number of names by concept. curated: Places of names that a person
        chose."""
        self.strings = names
        self.counts = counts
        self.curated = frozenset(curated.tolist())
        self._ids = ids
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self._owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    def __len__(self) -> int:
        return len(self.strings)

    def canonical(self, row: int) -> str:
        return self.strings[int(self._first[row])]

    def of(self, row: int) -> list[str]:
        return self.strings.slice(int(self._first[row]), int(self._first[row + 1]))

    def find_folded(self, folded: str) -> list[int]:
        """Concepts with this folded name, the preferred one first."""
        places = self._fold_index.find_hash(hash(folded))
        if not places:
            return places
        known = self.folded
        if len(places) == 1:
            return [self._owners[places[0]]] if known[places[0]] == folded else []
        return self._preferred([i for i in places if known[i] == folded])

    def find_normed(self, key: str) -> list[int]:
        """Concepts with a name of this `normalise.norm`, the preferred one first."""
        places = self._norm_index.find_hash(norm_hash(key)) if key else []
        if not places:
            return places
        known = self.folded
        return self._preferred([i for i in places if norm_folded(known[i]) == key])

    def each(self) -> Iterator[tuple[str, list[int]]]:
        """Each folded name once, with its concepts."""
        hashes = fold_hashes(self.folded)
        _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        is_shared = counts[inverse] > 1
        rows = zip(self._owner.tolist(), is_shared.tolist(), strict=True)
        seen: set[str] = set()
        for chunk in self.folded.chunks():
            for folded in chunk:
                owner, shared = next(rows)
                if not shared:
                    yield folded, [owner]
                elif folded not in seen:
                    seen.add(folded)
                    yield folded, self.find_folded(folded)

    @cached_property
    def folded(self) -> Strings:
        """`normalise.fold` of each name."""
        return fold_all(self.strings)

    @cached_property
    def curated_names(self) -> frozenset[str]:
        return frozenset(fold(self.strings[i]) for i in self.curated)

    def __getstate__(self) -> dict[str, Any]:
        # The indices hold hashes of this process; they are made again when needed.
        made = ("folded", "_fold_index", "_norm_index", "_owners")
        return {name: v for name, v in self.__dict__.items() if name not in made}

    @cached_property
    def _fold_index(self) -> HashIndex:
        return HashIndex(fold_hashes(self.folded))

    @cached_property
    def _norm_index(self) -> HashIndex:
        return HashIndex(norm_hashes(self.folded))

    @cached_property
    def _owners(self) -> memoryview:
        # It gives one number several times faster than an array.
        return self._owner.data

    def _preferred(self, places: list[int]) -> list[int]:
        owners = [self._owners[i] for i in places]
        if len(places) < 2:
            return owners
        ranked = [
            (i not in self.curated, self._rank(owner), i != self._first[owner], owner)
            for i, owner in zip(places, owners, strict=True)
        ]
        return list(dict.fromkeys(entry[-1] for entry in sorted(ranked)))

    def _rank(self, row: int) -> int:
        concept_id = self._ids[row]
        for rank, start in enumerate(VOCABULARIES):
            if concept_id.startswith(start):
                return rank
        return len(VOCABULARIES)
