"""What the losses know of a batch of Docs besides their vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy
from spacy.tokens import Doc

from ..extensions import SECTIONS, VIEWS
from ..sections.labels import KEY_ATTRIBUTES, SECTION_LABELS

_NUMBER = {label: number for number, label in enumerate(SECTION_LABELS)}


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
    each. attributes: Texts of the key attributes but the title. views: In the order of
    the rows of `SectionBatch.views`."""

    conditions: list[frozenset[str]]
    interventions: list[frozenset[str]]
    attributes: list[tuple[tuple[str, str], ...]]
    views: list[ViewInfo]

    def alike(self) -> numpy.ndarray:
        """(docs, docs) bool: pairs that share a condition and an intervention concept,
        or all attributes but the title. To call them negatives would be false."""
        n = len(self.conditions)
        found = numpy.eye(n, dtype=bool)
        for i in range(n):
            for j in range(i):
                found[i, j] = found[j, i] = self._are_alike(i, j)
        return found

    def same_condition(self) -> numpy.ndarray:
        """(docs, docs) bool: pairs of different trials with a condition concept in
        common."""
        n = len(self.conditions)
        found = numpy.zeros((n, n), dtype=bool)
        for i in range(n):
            for j in range(i):
                shared = not self.conditions[i].isdisjoint(self.conditions[j])
                found[i, j] = found[j, i] = shared
        return found

    def _are_alike(self, i: int, j: int) -> bool:
        if self.attributes[i] and self.attributes[i] == self.attributes[j]:
            return True
        return not self.conditions[i].isdisjoint(
            self.conditions[j]
        ) and not self.interventions[i].isdisjoint(self.interventions[j])


def read_batch(docs: Iterable[Doc]) -> BatchInfo:
    """What the sections, concepts and views of the Docs say."""
    conditions, interventions, attributes, views = [], [], [], []
    for row, doc in enumerate(docs):
        concepts = doc._.concepts or ()
        conditions.append(_ids(concepts, "condition"))
        interventions.append(_ids(concepts, "intervention"))
        attributes.append(
            tuple(
                (span.label_, span._.body.text.strip().casefold())
                for span in doc.spans.get(SECTIONS, ())
                if span.label_ in KEY_ATTRIBUTES and span.label_ != "title"
            )
        )
        views += [
            ViewInfo(row, _NUMBER[span.label_], span.id_, span.kb_id_)
            for span in doc.spans.get(VIEWS, ())
        ]
    return BatchInfo(conditions, interventions, attributes, views)


def _ids(concepts: Iterable[dict], section: str) -> frozenset[str]:
    return frozenset(c["id"] for c in concepts if c["section"] == section)
