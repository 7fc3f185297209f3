"""What the losses know of a batch of Docs besides their vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy
from spacy.tokens import Doc

from ..extensions import SECTIONS, VIEWS
from ..sections.labels import KEY_ATTRIBUTES, SECTION_LABELS

_NUMBER = {label: number for number, label in enumerate(SECTION_LABELS)}
_BUT_TITLE = frozenset(KEY_ATTRIBUTES) - {"title"}


@dataclass(frozen=True)
class ViewInfo:
    """One text of `doc.spans["views"]`. doc: row of its Doc; label: position of the
    attribute in SECTION_LABELS; kind: "positive", "negative" or "name"; concept: what
    it names now, or "" if the mention was deleted."""

    doc: int
    label: int
    kind: str
    concept: str


@dataclass(frozen=True)
class BatchInfo:
    """conditions, interventions: Ids of the concepts linked in these sections, a Doc
    each. attributes: Texts of the key attributes but the title; without such, of all
    sections. views: In the order of the rows of `SectionBatch.views`."""

    conditions: list[frozenset[str]]
    interventions: list[frozenset[str]]
    attributes: list[tuple[tuple[str, str], ...]]
    views: list[ViewInfo]

    def share_concepts(self) -> numpy.ndarray:
        """(docs, docs) bool: pairs of different trials that share a condition and an
        intervention concept."""
        return _shared(self.conditions) & _shared(self.interventions)

    def same_condition(self) -> numpy.ndarray:
        """(docs, docs) bool: pairs of different trials with a condition concept in
        common."""
        return _shared(self.conditions)

    def alike(self) -> numpy.ndarray:
        """(docs, docs) bool: pairs that share a condition and an intervention concept,
        or all attributes but the title, and each trial with itself. To call them
        negatives would be false."""
        texts = _shared([frozenset([t] if t else ()) for t in self.attributes])
        return self.share_concepts() | texts | numpy.eye(len(texts), dtype=bool)


def read_batch(docs: Iterable[Doc]) -> BatchInfo:
    """What the sections, concepts and views of the Docs say."""
    conditions, interventions, attributes, views = [], [], [], []
    for row, doc in enumerate(docs):
        concepts = doc._.concepts or ()
        conditions.append(_ids(concepts, "condition"))
        interventions.append(_ids(concepts, "intervention"))
        texts = [
            (span.label_, span._.body.text.strip().casefold())
            for span in doc.spans.get(SECTIONS, ())
        ]
        besides = tuple(text for text in texts if text[0] in _BUT_TITLE)
        attributes.append(besides or tuple(texts))
        views += [
            ViewInfo(row, _NUMBER[span.label_], span.id_, span.kb_id_)
            for span in doc.spans.get(VIEWS, ())
        ]
    return BatchInfo(conditions, interventions, attributes, views)


def _ids(concepts: Iterable[dict], section: str) -> frozenset[str]:
    return frozenset(c["id"] for c in concepts if c["section"] == section)


def _shared(sets: list[frozenset]) -> numpy.ndarray:
    """(n, n) bool: pairs of different sets with a member in common."""
    found = numpy.zeros((len(sets), len(sets)), dtype=bool)
    owners: dict[object, list[int]] = defaultdict(list)
    for row, members in enumerate(sets):
        for member in members:
            owners[member].append(row)
    for rows in owners.values():
        found[numpy.ix_(rows, rows)] = True
    numpy.fill_diagonal(found, False)
    return found
