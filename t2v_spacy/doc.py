"""Docs of trials: made from a record, with their sections."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from spacy.attrs import IDX
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from .extensions import HEADINGS, SECTIONS, install_extensions
from .plain import sound_text
from .sections.headed import Section
from .sections.parse import parse_sections
from .trial import Trial


def make_trial_doc(nlp: Language, trial: Trial) -> Doc:
    """Doc of a record, with sections and `doc._.trial` but not yet processed: pass it
    to `nlp(doc)`, or many of them to `nlp.pipe(docs)`.

    Its text is `trial.to_text()`. Only the tokenizer runs here, so a text longer than
    `nlp.max_length` is no error.
    """
    install_extensions()
    text = sound_text(trial.to_text())
    doc = nlp.tokenizer(text)
    set_sections(doc, parse_sections(text))
    doc._.trial = trial
    return doc


def set_sections(doc: Doc, sections: Iterable[Section]) -> None:
    """Write sections (in characters) as `doc.spans["sections"]` and their headings as
    `doc.spans["headings"]`, both labelled with the section's label.

    A token belongs to the section its first character is in: if the sections cover the
    text, each token is in exactly one span. A section without a token has no span.
    """
    starts = doc.to_array([IDX]).tolist() if len(doc) else []
    spans, headings = [], []
    for section in sections:
        first, last = (
            bisect_left(starts, section.start),
            bisect_left(starts, section.end),
        )
        if first == last:
            continue
        spans.append(Span(doc, first, last, label=section.label))
        body = min(bisect_left(starts, section.body_start), last)
        if section.heading and body > first:
            headings.append(Span(doc, first, body, label=section.label))
    doc.spans[SECTIONS] = SpanGroup(doc, name=SECTIONS, spans=spans)
    doc.spans[HEADINGS] = SpanGroup(doc, name=HEADINGS, spans=headings)
