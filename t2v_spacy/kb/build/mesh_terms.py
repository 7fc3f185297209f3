"""MeSH as the packages hold it: headings, entry terms, supplementary records."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..mesh_types import parents_by_tree, types_of
from ..normalise import fold
from .draft import Draft, Entry

Rows = Iterable[Sequence[str]]
# "Antineoplastic Combined Chemotherapy Protocols": the class of every protocol.
PROTOCOLS = "D000971"
# Records under diseases, techniques, mental health, vaccines and therapeutic antibodies
# are wanted whatever their name.
_WANTED_PLACES = ("C", "E", "F", "D20.215.894", "D12.776.124.486.485.114.224")
_WANTED_NAME = re.compile(r"\b(?:combination|vaccine)\b", re.IGNORECASE)


def curie(mesh_id: str) -> str:
    return f"MESH:{mesh_id}"


def add_headings(draft: Draft, rows: Rows) -> dict[str, list[str]]:
    """Headings from (id, name, aliases, tree numbers, …), lists parted by "|".

    Returns the tree numbers by MeSH id.
    """
    kept = [(row[0], row[1], _parts(row[2]), _parts(row[3])) for row in rows]
    trees: dict[str, list[str]] = {row[0]: row[3] for row in kept}
    parents = parents_by_tree(trees)
    for mesh_id, name, aliases, numbers in kept:
        above = [curie(parent) for parent in parents[mesh_id]]
        draft.add(
            Entry(curie(mesh_id), name, aliases, types_of(numbers), parents=above)
        )
    return trees


def add_disease_terms(draft: Draft, data: dict[str, Any]) -> int:
    """Entry terms of disease headings that the headings' own source leaves out.

    They are joined by heading name: the ids beside them are often those of a related
    heading. A term that another heading has is refused; returns how many were.
    """
    named = data["disease_canonical_to_data"]
    refused = 0
    for term, canonical in sorted(data["disease_variant_to_canonical"].items()):
        for name in canonical:
            heading = _heading(draft, named[name]["name"])
            if heading:
                refused += draft.add_names(heading, [term])
    return refused


def _heading(draft: Draft, name: str) -> str | None:
    """The concept whose canonical name this is; an alias is not good enough."""
    wanted = fold(name)
    return next((i for i in draft.find(name) if fold(draft[i].name) == wanted), None)


def add_scope_notes(draft: Draft, rows: Rows) -> None:
    """Definitions from (id, trees, name, note, …); the first row is a heading."""
    for mesh_id, _, _, note, *_ in rows:
        if curie(mesh_id) in draft and note:
            draft[curie(mesh_id)].definition = note


def add_supplementary(
    draft: Draft,
    rows: Rows,
    trees: dict[str, list[str]],
    substances: Collection[str],
) -> None:
    """Supplementary records from (id, name, aliases, mapped-to headings).

    Kept are those below a wanted place of the tree, vaccines, drug combinations, and
    those with a name among `substances` (folded). Mapped-to headings are parents, but
    those of a chemotherapy protocol are its components, except the protocols' class.
    """
    for mesh_id, name, alias_list, mapped_list in rows:
        aliases = _parts(alias_list)
        mapped = [i for i in mapped_list.split(",") if i in trees]
        numbers = [number for i in mapped for number in trees[i]]
        if not (
            any(number.startswith(_WANTED_PLACES) for number in numbers)
            or _WANTED_NAME.search(name)
            or any(fold(n) in substances for n in (name, *aliases))
        ):
            continue
        entry = Entry(curie(mesh_id), name, aliases)
        if PROTOCOLS in mapped:
            entry.parents = [curie(PROTOCOLS)]
            entry.types = types_of(trees[PROTOCOLS])
            components = [curie(i) for i in mapped if i != PROTOCOLS]
            entry.roles = {"component": components} if components else {}
        else:
            entry.parents = [curie(i) for i in mapped]
            entry.types = types_of(numbers)
        draft.add(entry)


def _parts(text: str) -> list[str]:
    return [part for part in text.split("|") if part]
