"""Turn a stream of concepts into the columns of a knowledge base."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Errors, error
from .columns import HashIndex, Ragged, Strings
from .normalise import fold

if TYPE_CHECKING:
    from .knowledge_base import Concept


class _Texts:
    """Growing `Strings`, one byte a character."""

    def __init__(self) -> None:
        self._blob = bytearray()

    def add(self, text: str) -> None:
        self._blob += " ".join(text.split()).encode() + b"\n"

    def strings(self) -> Strings:
        return Strings(bytes(self._blob))


class _Relation:
    """Growing pairs of a row and the id it points to."""

    def __init__(self) -> None:
        self._rows = array("i")
        self._targets = _Texts()

    def add(self, row: int, targets: Iterable[str]) -> None:
        for target in dict.fromkeys(targets):
            self._rows.append(row)
            self._targets.add(target)

    def resolve(self, ids: Strings, index: HashIndex) -> tuple[Ragged, int]:
        """Lists of rows, and how many targets are not among the ids."""
        chunks = self._targets.strings().chunks()
        targets = (target for chunk in chunks for target in chunk)
        found = np.fromiter((_row_of(t, ids, index) for t in targets), np.int32)
        rows = np.frombuffer(self._rows, np.int32) if self._rows else found
        kept = (found >= 0) & (found != rows)
        missing = int((found < 0).sum())
        return Ragged.of(rows[kept], found[kept], len(ids)), missing


def assemble(
    concepts: Iterable[Concept],
    info: dict[str, Any],
    curated: Mapping[str, Sequence[str]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and columns for `KnowledgeBase(…)`. RAISES: T083, T082.

    curated: May still be growing while the concepts come; it is asked for each of them.
    """
    ids, names, definitions = _Texts(), _Texts(), _Texts()
    types, name_counts, marked = array("H"), array("i"), array("i")
    type_sets: dict[tuple[str, ...], int] = {}
    parents, roles = _Relation(), dict[str, _Relation]()
    seen: set[int] = set()
    n_names = 0
    for row, concept in enumerate(concepts):
        concept_id = concept.concept_id
        _check(concept, seen)
        ids.add(concept_id)
        own = _distinct((concept.canonical_name, *concept.aliases))
        given = _distinct(curated.get(concept_id, ()))
        for folded in given:
            own.setdefault(folded, given[folded])
        for at, (folded, name) in enumerate(own.items()):
            names.add(name)
            if folded in given:
                marked.append(n_names + at)
        n_names += len(own)
        name_counts.append(len(own))
        types.append(type_sets.setdefault(tuple(concept.types), len(type_sets)))
        definitions.add(concept.definition or "")
        parents.add(row, concept.parents)
        for kind, targets in concept.roles.items():
            roles.setdefault(kind, _Relation()).add(row, targets)
    name = info.setdefault("name", "unnamed")
    info.setdefault("version", name)
    info.setdefault("sources", [])
    all_ids = ids.strings()
    index = HashIndex.of(all_ids.chunks())
    for concept_id in curated:
        if _row_of(concept_id, all_ids, index) < 0:
            raise error(Errors.T082, concept_id=concept_id, name=name)
    columns: dict[str, Any] = {
        "ids": all_ids.blob,
        "names": names.strings().blob,
        "definitions": definitions.strings().blob,
        "types": np.array(types, np.uint16),
        "name_counts": np.array(name_counts, np.int32),
        "curated": np.array(marked, np.int32),
    }
    missing = {}
    relations = {f"role:{kind}": roles[kind] for kind in sorted(roles)}
    for kind, relation in {"parents": parents, **relations}.items():
        rows, missing[kind] = relation.resolve(all_ids, index)
        columns[f"{kind}:counts"], columns[f"{kind}:values"] = rows.counts, rows.values
    info["not_in_base"] = {kind: n for kind, n in missing.items() if n}
    return {
        "info": info,
        "type_sets": [list(types) for types in type_sets],
        "roles": sorted(roles),
    }, columns


def _check(concept: Concept, seen: set[int]) -> None:
    concept_id = concept.concept_id
    reason = ""
    if not concept_id or concept_id.split() != [concept_id]:
        reason = "its id is empty or has blanks"
    elif not fold(concept.canonical_name):
        reason = "its canonical name is empty or has no letters"
    # The hash alone costs a quarter of the id; equal hashes of two ids do not occur.
    elif hash(concept_id) in seen:
        reason = "it is there twice"
    if reason:
        raise error(Errors.T083, concept_id=concept_id, reason=reason)
    seen.add(hash(concept_id))


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """Folded name -> name, the first of each; names without letters are left out."""
    found: dict[str, str] = {}
    for name in names:
        if folded := fold(name):
            found.setdefault(folded, name)
    return found


def _row_of(concept_id: str, ids: Strings, index: HashIndex) -> int:
    return next((i for i in index.find(concept_id) if ids[i] == concept_id), -1)
