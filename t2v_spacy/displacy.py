"""Sections and concepts of a trial as HTML, by spaCy's displaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from spacy.tokens import Doc

from .extensions import SECTIONS
from .sections.labels import SECTION_LABELS

# Colours of semantic groups; black text is readable on all of them.
COLORS = {
    "DISO": "#ffb3a7",
    "CHEM": "#a8d8ff",
    "PROC": "#b8e6b0",
    "DEVI": "#d9c7f0",
    "ACTI": "#ffe08a",
    "PHYS": "#f7cde3",
    "PHEN": "#f7cde3",
    "LIVB": "#d6e8b8",
    "ANAT": "#e6d3bb",
    "OBJC": "#dddddd",
    "CONC": "#dddddd",
    "CONCEPT": "#dddddd",
}
_URLS = (
    ("MESH:", "https://meshb.nlm.nih.gov/record/ui?ui={}"),
    ("MONDO:", "http://purl.obolibrary.org/obo/MONDO_{}"),
    ("UNII:", "https://precision.fda.gov/uniisearch/srs/unii/{}"),
)
_UMLS_URL = "https://uts.nlm.nih.gov/uts/umls/concept/{}"


def render(
    docs: Doc | Iterable[Doc], *, page: bool = True, concepts: bool = True
) -> str:
    """HTML of one Doc or several: each section under its label, its concepts marked.

    page (bool): A whole page, or only its markup. Defaults to True.
    concepts (bool): Mark the concepts. Defaults to True.

    Text of the Doc is escaped, so a record cannot bring its own markup.
    """
    from spacy import displacy

    several = [docs] if isinstance(docs, Doc) else list(docs)
    parts = [part for doc in several for part in _parts(doc, concepts)]
    options = {"colors": COLORS}
    if not parts:
        text = "\n".join(doc.text for doc in several)
        parts = [{"text": text, "ents": [], "title": None}]
    return displacy.render(
        parts, style="ent", page=page, manual=True, options=options, jupyter=False
    )


def concept_url(concept_id: str) -> str:
    """Page of a concept at its vocabulary; "" if that is not known."""
    for start, url in _URLS:
        if concept_id.startswith(start):
            return url.format(concept_id.removeprefix(start))
    if concept_id[:1] == "C" and concept_id[1:].isdigit():
        return _UMLS_URL.format(concept_id)
    return ""


def _parts(doc: Doc, concepts: bool) -> Iterator[dict[str, Any]]:
    found = (
        list(doc._.concepts or ()) if concepts and doc.has_extension("concepts") else []
    )
    text = doc.text
    spans = doc.spans[SECTIONS] if SECTIONS in doc.spans else [doc[:]]
    for span in spans:
        if not len(span):
            continue
        start, end = span.start_char, span.end_char
        inside = [c for c in found if start <= c["start"] and c["end"] <= end]
        label = span.label_ if span.label_ in SECTION_LABELS else ""
        yield {
            "text": text[start:end],
            "ents": list(_ents(inside, start)),
            "title": escape(label) or None,
        }


def _ents(found: list[dict[str, Any]], offset: int) -> Iterator[dict[str, Any]]:
    """Concepts that do not overlap; displaCy does not nest."""
    from .kb.semantic_groups import group

    last = -1
    for concept in sorted(found, key=lambda c: (c["start"], -c["end"])):
        if concept["start"] < last:
            continue
        last = concept["end"]
        label = next(filter(None, map(group, concept["types"])), "CONCEPT")
        yield {
            "start": concept["start"] - offset,
            "end": concept["end"] - offset,
            "label": label,
            "kb_id": escape(f"{concept['name']} ({concept['how']})"),
            "kb_url": escape(concept_url(concept["id"])) or "#",
        }
