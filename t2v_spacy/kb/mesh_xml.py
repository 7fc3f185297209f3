"""Records of NLM's MeSH XML (descYYYY.xml, suppYYYY.xml), read as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, iterparse

from .mesh import MeshRecord

# Kind of record -> start of the names of its own fields.
_KINDS = {"DescriptorRecord": "Descriptor", "SupplementalRecord": "SupplementalRecord"}


def iter_xml(file: BinaryIO) -> Iterator[MeshRecord]:
    """RAISES: ParseError for a cut file, ValueError for a record without id or name."""
    root: Element | None = None
    for event, element in iterparse(file, ("start", "end")):
        if root is None:
            root = element
        elif event == "end" and element.tag in _KINDS:
            yield _record(element, _KINDS[element.tag])
            root.clear()


def _record(element: Element, kind: str) -> MeshRecord:
    # Only direct children: related headings inside have the same names of fields.
    mesh_id = element.findtext(f"{kind}UI", "").strip()
    name = element.findtext(f"{kind}Name/String", "").strip()
    if not mesh_id or not name:
        raise ValueError(f"a {element.tag} without id or name (id '{mesh_id}')")
    concepts = element.findall("ConceptList/Concept")
    preferred = [c for c in concepts if c.get("PreferredConceptYN") == "Y"]
    note = next((c.findtext("ScopeNote") for c in preferred), None)
    note = note or element.findtext("Note")
    terms = [
        text
        for concept in (*preferred, *(c for c in concepts if c not in preferred))
        for term in concept.findall("TermList/Term")
        if term.get("IsPermutedTermYN") != "Y"
        and (text := term.findtext("String", "").strip())
    ]
    return MeshRecord(
        mesh_id,
        name,
        terms=terms,
        trees=_texts(element, "TreeNumberList/TreeNumber"),
        note=" ".join(note.split()) if note else None,
        mapped=_texts(element, f"HeadingMappedToList/HeadingMappedTo/{_REFERRED}"),
        actions=_texts(
            element, f"PharmacologicalActionList/PharmacologicalAction/{_REFERRED}"
        ),
    )


_REFERRED = "DescriptorReferredTo/DescriptorUI"


def _texts(element: Element, path: str) -> list[str]:
    # A star marks the major one of several headings.
    found = (item.text or "" for item in element.findall(path))
    return [text for item in found if (text := item.strip().lstrip("*"))]
