"""Medical concepts with names, types and hierarchy, compact in memory and on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors, error
from . import hierarchy
from .columns import HashIndex, Ragged, Strings
from .names import Names
from .normalise import fold, norm_folded
from .storage import BEST, pack, unpack

SIBLINGS_BELOW = 200


class Concept(NamedTuple):
    """One concept of a knowledge base, in plain values.

    concept_id (str): CURIE ("MESH:D006073") or UMLS CUI.
    aliases: Further names, without the canonical one.
    types: UMLS semantic types ("T047").
    parents: Ids of broader concepts.
    roles: Ids by kind of relation: "role" (what a drug does), "component" (what a
        combination is made of).
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str | None = None
    parents: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = {}


class KnowledgeBase:
    """Concepts by id and by name. Made by `open`, `from_concepts` or `load_builtin`.

    Walks along the hierarchy end even where a source has a cycle.
    """

    def __init__(self, header: dict[str, Any], columns: Mapping[str, Any]) -> None:
        """From what `storage.unpack` gives; use the class methods instead."""
        self._header = header
        self._ids = Strings(columns["ids"])
        self._names = Names(
            Strings(columns["names"]),
            columns["name_counts"],
            columns["curated"],
            self._ids,
        )
        self._definitions = Strings(columns["definitions"])
        self._type_sets = [tuple(types) for types in header["type_sets"]]
        self._types = columns["types"]
        self._parents = _ragged(columns, "parents")
        self._roles = {kind: _ragged(columns, f"role:{kind}") for kind in self._kinds}

    @classmethod
    def from_concepts(
        cls,
        concepts: Iterable[Concept],
        *,
        info: Mapping[str, Any] | None = None,
        curated: Mapping[str, Sequence[str]] | None = None,
    ) -> KnowledgeBase:
        """Base of some concepts, whose order decides between equals.

        Parents and roles that are not among them are left out and counted in `info()`.
        info: `name`, `version`, `sources` (dicts with name, version, notice).
        curated: Further names that a person chose, by concept id; they come first in
            look-ups.

        RAISES: T083 for a bad or repeated concept, T082 for an unknown id in `curated`.
        """
        from .assemble import assemble

        given = {} if curated is None else curated
        return cls(*assemble(concepts, dict(info or {}), given))

    @classmethod
    def open(cls, path: str | Path) -> KnowledgeBase:
        """From our file, or from JSON lines (also .gz, .xz) as in docs/api.md.

        RAISES: T001, T080, T081; T005 for a bad line."""
        from .jsonl import looks_like_jsonl, read_jsonl

        path = Path(path)
        if not path.is_file():
            raise error(Errors.T001, path=path)
        if looks_like_jsonl(path):
            curated: dict[str, list[str]] = {}
            concepts = read_jsonl(path, curated)
            info = {"name": path.name.split(".")[0]}
            return cls.from_concepts(concepts, info=info, curated=curated)
        return cls.from_disk(path)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and self._find(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """RAISES: T082 for an unknown id, as all look-ups by id do."""
        return self._concept(self._at(concept_id))

    def __iter__(self) -> Iterator[Concept]:
        return map(self._concept, range(len(self)))

    def ids(self) -> Iterator[str]:
        for chunk in self._ids.chunks():
            yield from chunk

    def name(self, concept_id: str) -> str:
        return self._names.canonical(self._at(concept_id))

    def types(self, concept_id: str) -> tuple[str, ...]:
        return self._type_sets[self._types[self._at(concept_id)]]

    def parents(self, concept_id: str) -> tuple[str, ...]:
        return self._all_ids(self._parents[self._at(concept_id)])

    def children(self, concept_id: str) -> tuple[str, ...]:
        return self._all_ids(self._children[self._at(concept_id)])

    def roles(self, concept_id: str) -> dict[str, tuple[str, ...]]:
        i = self._at(concept_id)
        found = {kind: self._all_ids(rows[i]) for kind, rows in self._roles.items()}
        return {kind: ids for kind, ids in found.items() if ids}

    def ancestors(
        self, concept_id: str, max_depth: int | None = None
    ) -> dict[str, int]:
        """Broader concepts by id, nearest first, with the number of steps to each."""
        found = hierarchy.ancestors(self._parents, self._at(concept_id), max_depth)
        return {self._ids[i]: steps for i, steps in found.items()}

    def siblings(
        self, concept_id: str, max_children: int = SIBLINGS_BELOW
    ) -> tuple[str, ...]:
        """The other children of the deepest parent that has fewer than `max_children`;
        none if every parent has more, since such a class says little."""
        i = self._at(concept_id)
        found = hierarchy.siblings(
            self._parents, self._children, self._depths, i, max_children
        )
        return tuple(self._ids[j] for j in found)

    def dissimilar(
        self, concept_id: str, n: int, rng: np.random.Generator
    ) -> list[str]:
        """Up to `n` random concepts of the same semantic group that share no ancestor
        within two steps, hierarchy roots aside. Equal generators give equal lists."""
        i = self._at(concept_id)
        pool = self._pool(int(self._types[i]))
        found = hierarchy.unrelated(self._parents, i, pool, n, rng)
        return [self._ids[j] for j in found]

    def lookup(self, name: str) -> tuple[str, ...]:
        """Ids of the concepts with this name but for case, punctuation and the like.

        Preferred first: curated, then by vocabulary (MeSH headings, MeSH supplementary,
        MONDO, UNII, others), canonical names before aliases, then order of the base.
        """
        return self.lookup_folded(fold(name))

    def lookup_folded(self, folded: str) -> tuple[str, ...]:
        """`lookup` of a name that `normalise.fold` has been applied to."""
        rows = self._names.find_folded(folded)
        return tuple([self._ids[row] for row in rows]) if rows else ()

    def lookup_norm(self, name: str) -> tuple[str, ...]:
        """As `lookup`, and any word order, plural and spelling (`normalise.norm`)."""
        return self.lookup_normed(norm_folded(fold(name)))

    def lookup_normed(self, key: str) -> tuple[str, ...]:
        """`lookup_norm` of a name that `normalise.norm` has been applied to."""
        return tuple(self._ids[row] for row in self._names.find_normed(key))

    def names(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each folded name once, with its ids in order of preference."""
        ids = list(self.ids())
        for folded, rows in self._names.each():
            yield folded, tuple(ids[row] for row in rows)

    @property
    def folded_names(self) -> Strings:
        """The folded names of all concepts, one after the other, to index them."""
        return self._names.folded

    def is_curated(self, folded: str) -> bool:
        """Whether a person chose this (folded) name for the concept it looks up."""
        return folded in self._names.curated_names

    def shared_concepts(self, a: Iterable[str], b: Iterable[str]) -> list[Any]:
        """What the concepts of two trials have in common; see `shared_concepts`."""
        from .shared import shared_concepts

        return shared_concepts(self, a, b)

    @property
    def version(self) -> str:
        """Name and date of the content, to show with what was found in it."""
        return str(self._header["info"]["version"])

    def info(self) -> dict[str, Any]:
        """Name, version, sources with their notices, and counts."""
        lengths = np.diff(self._definitions.ends.astype(np.int64), prepend=-1) - 1
        return {
            **self._header["info"],
            "concepts": len(self),
            "aliases": len(self._names) - len(self),
            "curated_aliases": len(self._names.curated),
            "with_parents": _filled(self._parents),
            "with_roles": {kind: _filled(rows) for kind, rows in self._roles.items()},
            "with_definition": int(np.count_nonzero(lengths)),
        }

    def to_bytes(self, *, preset: int = BEST) -> bytes:
        """preset: Effort of the LZMA packer, 0 to 9; the default is slow and small."""
        columns: dict[str, bytes | np.ndarray] = {
            "ids": self._ids.blob,
            "names": self._names.strings.blob,
            "definitions": self._definitions.blob,
            "types": self._types,
            "name_counts": self._names.counts,
            "curated": np.array(sorted(self._names.curated), np.int32),
        }
        relations = {f"role:{kind}": rows for kind, rows in self._roles.items()}
        for name, rows in {"parents": self._parents, **relations}.items():
            columns[f"{name}:counts"] = rows.counts.astype(np.int32)
            columns[f"{name}:values"] = rows.values
        return pack(self._header, columns, preset=preset)

    @classmethod
    def from_bytes(cls, data: bytes) -> KnowledgeBase:
        """RAISES: T080, T081."""
        return cls(*unpack(data, "in these bytes"))

    def to_disk(self, path: str | Path) -> None:
        """Write one file; an older one stays until it is whole. RAISES: T010."""
        from ..files import replaced_file, writing

        path = Path(path)
        with writing(path), replaced_file(path) as new:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(self.to_bytes())

    @classmethod
    def from_disk(cls, path: str | Path) -> KnowledgeBase:
        """RAISES: T001, T080, T081."""
        path = Path(path)
        if not path.is_file():
            raise error(Errors.T001, path=path)
        return cls(*unpack(path.read_bytes(), path))

    def __getstate__(self) -> dict[str, Any]:
        # The index holds hashes of this process; both are made again when needed.
        made_again = ("_id_index", "_pools")
        return {k: v for k, v in self.__dict__.items() if k not in made_again}

    @cached_property
    def _id_index(self) -> HashIndex:
        return HashIndex.of(self._ids.chunks())

    @cached_property
    def _children(self) -> Ragged:
        return self._parents.inverted()

    @cached_property
    def _depths(self) -> np.ndarray:
        return hierarchy.depths(self._parents, self._children)

    @cached_property
    def _pools(self) -> dict[int, np.ndarray]:
        return {}

    @property
    def _kinds(self) -> list[str]:
        return self._header["roles"]

    def _find(self, concept_id: str) -> int | None:
        for i in self._id_index.find(concept_id):
            if self._ids[i] == concept_id:
                return i
        return None

    def _at(self, concept_id: str) -> int:
        i = self._find(concept_id)
        if i is None:
            name = self._header["info"]["name"]
            raise error(Errors.T082, concept_id=concept_id, name=name)
        return i

    def _concept(self, i: int) -> Concept:
        name, *aliases = self._names.of(i)
        return Concept(
            self._ids[i],
            name,
            tuple(aliases),
            self._type_sets[self._types[i]],
            self._definitions[i] or None,
            self._all_ids(self._parents[i]),
            {
                kind: self._all_ids(rows[i])
                for kind, rows in self._roles.items()
                if len(rows[i])
            },
        )

    def _all_ids(self, rows: np.ndarray) -> tuple[str, ...]:
        return tuple(self._ids[i] for i in rows.tolist())

    def _pool(self, code: int) -> np.ndarray:
        """Rows of the semantic groups of a type set, kept for the next time."""
        if code not in self._pools:
            same = np.isin(self._types, self._types_like(code))
            self._pools[code] = np.flatnonzero(same)
        return self._pools[code]

    def _types_like(self, code: int) -> list[int]:
        """Codes of the type sets that share a semantic group with one."""
        from .semantic_groups import groups

        wanted = groups(self._type_sets[code])
        return [
            other
            for other, types in enumerate(self._type_sets)
            if groups(types) & wanted or other == code
        ]


def _ragged(columns: Mapping[str, Any], name: str) -> Ragged:
    return Ragged(columns[f"{name}:counts"], columns[f"{name}:values"])


def _filled(rows: Ragged) -> int:
    return int(np.count_nonzero(rows.counts))
