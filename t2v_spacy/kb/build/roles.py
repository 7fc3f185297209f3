"""What drugs do: pharmacological roles from ChEBI, as MeSH headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .draft import Draft
from .mesh_terms import curie

# "Chemical Actions and Uses", the part of the MeSH tree that names roles.
_ACTIONS = "D27."


def add_roles(
    draft: Draft,
    trees: dict[str, list[str]],
    chebi: Iterable[dict[str, Any]],
    mappings: Iterable[Sequence[str]],
) -> int:
    """Give MeSH concepts `roles["role"]`; returns how many have got any.

    chebi: Records with id, name, relations (is_a, has_role).
    mappings: Rows (namespace, id, name, namespace, id, name) of equal concepts.
    A role that is no heading of chemical actions stands for the nearest broader ones
    that are, so "human metabolite" gives nothing and "antibacterial drug" gives
    "Anti-Bacterial Agents".
    """
    records = {record["id"]: record for record in chebi}
    actions = {
        curie(i) for i, numbers in trees.items() if any(map(_is_action, numbers))
    }
    equal = [(curie(row[1]), row[4]) for row in mappings if row[3] == "CHEBI"]
    by_chebi = {chebi_id: i for i, chebi_id in equal if i in actions}
    headings: dict[str, list[str]] = {}
    for record in records.values():
        name = record.get("name") or ""
        for spelling in (name, f"{name}s", f"{name} agents"):
            found = by_chebi.get(record["id"]) or _first(draft, spelling, actions)
            if found:
                headings[record["id"]] = [found]
                break
    count = 0
    for concept_id, chebi_id in equal:
        if concept_id not in draft or chebi_id not in records:
            continue
        roles = _related(records[chebi_id], "has_role")
        found_roles = [h for role in roles for h in _nearest(role, records, headings)]
        if found_roles:
            own = draft[concept_id].roles.setdefault("role", [])
            count += not own
            own.extend(h for h in dict.fromkeys(found_roles) if h not in own)
    return count


def _nearest(
    role: str, records: dict[str, dict[str, Any]], headings: dict[str, list[str]]
) -> list[str]:
    level, seen = [role], {role}
    while level:
        found = [h for i in level for h in headings.get(i, ())]
        if found:
            return found
        above = [p for i in level for p in _related(records.get(i, {}), "is_a")]
        level = [i for i in dict.fromkeys(above) if i not in seen]
        seen.update(level)
    return []


def _related(record: dict[str, Any], kind: str) -> list[str]:
    return record.get("relations", {}).get(kind, [])


def _first(draft: Draft, name: str, allowed: set[str]) -> str | None:
    return next((i for i in draft.find(name) if i in allowed), None)


def _is_action(number: str) -> bool:
    return number.startswith(_ACTIONS)
