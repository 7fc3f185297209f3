"""Diseases of the Mondo Disease Ontology, merged into the MeSH headings they equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..normalise import fold
from ..semantic_groups import CONDITION_TYPES
from .draft import Draft, Entry

# Branches that name no disease of people: of other animals, and "acute", "rare", ….
_LEFT_OUT = ("MONDO:0005583", "MONDO:0021125")
# The first branch a disease is in gives its semantic type.
_TYPES = {"MONDO:0005070": "T191", "MONDO:0002025": "T048", "MONDO:0021178": "T037"}


def mesh_references(records: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """Mondo id -> MeSH ids, of an export with cross-references."""
    found = {}
    for record in records:
        xrefs = record.get("xrefs", ())
        mesh = [f"MESH:{x['id']}" for x in xrefs if x["namespace"] == "MESH"]
        if mesh:
            found[f"MONDO:{record['id']}"] = mesh
    return found


def add_mondo(
    draft: Draft, terms: dict[str, dict[str, Any]], references: dict[str, list[str]]
) -> int:
    """Add the live human diseases of `terms` (id -> label, synonyms, description,
    ancestors with distance); returns how many were merged into a MeSH concept.

    A heading takes in one disease at most: the one that has its name, else the one
    that refers to it. A merged disease gives names and definition, no parents.
    """
    live = {i: term for i, term in terms.items() if _is_wanted(i, term)}
    merged = _matches(draft, live, references)
    for i, term in live.items():
        names = [term["label"], *term.get("synonyms", ())]
        above = [a for a, steps in term["ancestors"].items() if steps == 1]
        if target := merged.get(i):
            entry = draft[target]
            draft.add_names(target, names)
            entry.definition = entry.definition or term.get("description")
        else:
            parents = [merged.get(a, a) for a in above]
            found = (t for root, t in _TYPES.items() if root in (i, *term["ancestors"]))
            types = (next(found, "T047"),)
            description = term.get("description")
            draft.add(Entry(i, names[0], names[1:], types, description, parents))
    return len(merged)


def _is_wanted(i: str, term: dict[str, Any]) -> bool:
    if term.get("deprecated"):
        return False
    return not any(root == i or root in term["ancestors"] for root in _LEFT_OUT)


def _matches(
    draft: Draft, live: dict[str, dict[str, Any]], references: dict[str, list[str]]
) -> dict[str, str]:
    """Mondo id -> id of the concept it equals, in order of how sure that is."""
    found: dict[str, str] = {}
    used: set[str] = set()

    def match(i: str, candidates: Iterable[str]) -> None:
        target = next((c for c in candidates if c in draft and c not in used), None)
        if target is not None and i not in found:
            found[i] = target
            used.add(target)

    for heading_only in (True, False):
        for i, term in live.items():
            diseases = [
                c
                for c in draft.find(term["label"])
                if CONDITION_TYPES & set(draft[c].types)
                and (not heading_only or fold(draft[c].name) == fold(term["label"]))
            ]
            refers = references.get(i)
            match(i, [c for c in diseases if not refers or c in refers])
    for i in live:
        match(i, references.get(i, ()))
    for i, term in live.items():
        diseases = draft.find(term["label"])
        match(i, [c for c in diseases if CONDITION_TYPES & set(draft[c].types)])
    return found
