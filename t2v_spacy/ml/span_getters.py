"""Which spans of a Doc the transformer encodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from spacy.tokens import Doc, Span

from ..errors import Errors, error
from ..extensions import VIEWS
from ..sections.labels import SECTION_LABELS

ENCODED_LABELS = tuple(lab for lab in SECTION_LABELS if lab not in ("design", "other"))


def section_spans(
    spans_key: str = "sections", labels: Iterable[str] = ENCODED_LABELS
) -> Callable[[list[Doc]], list[list[Span]]]:
    """Span getter `t2v.section_spans.v1`: the sections of each Doc, in document order,
    and after them the texts in `doc.spans["views"]`, which only training Docs have.

    spans_key (str): Where the sections are. Defaults to "sections".
    labels (Iterable[str]): Labels to encode. Defaults to all but "design" and "other".
    RETURNS (Callable): Docs to one list of spans per Doc. A Doc without such sections
        gives the whole Doc as one "description", so the list is never empty unless
        the Doc is.
    RAISES (T2VError T008): If a label is not a section label.
    """
    for label in labels:
        if label not in SECTION_LABELS:
            known = ", ".join(SECTION_LABELS)
            raise error(Errors.T008, value=label, labels=known)
    return partial(_get_spans, spans_key=spans_key, labels=frozenset(labels))


def _get_spans(
    docs: list[Doc], *, spans_key: str, labels: frozenset[str]
) -> list[list[Span]]:
    return [_sections_of(doc, spans_key, labels) for doc in docs]


def _sections_of(doc: Doc, spans_key: str, labels: frozenset[str]) -> list[Span]:
    group = doc.spans.get(spans_key, ())
    spans = [span for span in group if span.label_ in labels]
    views = list(doc.spans.get(VIEWS, ()))
    end = views[0].start if views else len(doc)
    if not spans and end:
        spans = [Span(doc, 0, end, label="description")]
    spans.sort(key=lambda span: span.start)
    return spans + views
