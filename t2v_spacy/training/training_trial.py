"""What training reads of a trial: section texts and linked mentions, plain values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from ..doc import set_sections
from ..extensions import NCT_ID, SECTIONS, VIEWS, install_extensions
from ..ml.section_text import read_section
from ..plain import sound_text
from ..sections.headed import Section
from ..sections.labels import KEY_ATTRIBUTES, SECTION_LABELS
from .knowledge_views import Mention, View, is_readable, place

LEFT_OUT = ("design", "other")  # the encoder does not read them


@dataclass(frozen=True)
class TrainingTrial:
    """sections: label -> the text the encoder reads of it, cut to some words; mentions:
    linked mentions of these texts, in order of place."""

    nct_id: str
    sections: Mapping[str, str]
    mentions: tuple[Mention, ...]

    def to_dict(self) -> dict[str, Any]:
        mentions = [list(mention) for mention in self.mentions]
        return {
            "nct_id": self.nct_id,
            "sections": dict(self.sections),
            "mentions": mentions,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrainingTrial:
        """RAISES (ValueError): If it is not what `to_dict` gave."""
        try:
            mentions = tuple(Mention(*mention) for mention in data["mentions"])
            given = data["sections"]
            sections = {k: given[k] for k in SECTION_LABELS if k in given}
            texts = [data["nct_id"], *sections.values(), *chain(*mentions)]
        except (KeyError, TypeError, AttributeError) as err:
            raise ValueError("it is not a training trial") from err
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("it is not a training trial of texts alone")
        return cls(data["nct_id"], sections, mentions)

    def only(self, labels: Collection[str]) -> TrainingTrial:
        """With these sections, and the mentions in them."""
        sections = {lab: text for lab, text in self.sections.items() if lab in labels}
        mentions = tuple(m for m in self.mentions if m.section in sections)
        return TrainingTrial(self.nct_id, sections, mentions)

    def cut(self, max_words: int | None) -> TrainingTrial:
        """With at most so many words a section, and the mentions in them."""
        sections = {
            label: " ".join(text.split(" ")[:max_words])
            for label, text in self.sections.items()
        }
        mentions = tuple(
            m for m in self.mentions if place(m.text, sections.get(m.section, ""))
        )
        return TrainingTrial(self.nct_id, sections, mentions)


def from_doc(doc: Doc, nct_id: str, max_words: int | None) -> TrainingTrial:
    """The training trial of a Doc with sections and concepts. Sections of one label
    become one.

    max_words (int | None): Words kept of each section; a mention beyond them is left
        out. None keeps all.
    """
    headings = {h.start: h.end_char for h in doc.spans.get("headings", ())}
    sections: dict[str, str] = {}
    for span in doc.spans["sections"]:
        if span.label_ in LEFT_OUT:
            continue
        text = read_section(span, doc.text, headings.get(span.start, 0)).text
        if is_readable(text):
            joint = ", " if span.label_ in KEY_ATTRIBUTES else " "
            joined = sections.get(span.label_)
            sections[span.label_] = text if joined is None else joined + joint + text
    mentions = tuple(
        Mention(c["id"], c["section"], c["text"]) for c in doc._.concepts or ()
    )
    sections = {label: sections[label] for label in SECTION_LABELS if label in sections}
    return TrainingTrial(nct_id, sections, mentions).cut(max_words)


def make_training_doc(
    nlp: Language, trial: TrainingTrial, views: Iterable[View] = ()
) -> Doc:
    """A Doc of the sections, one a line, with `doc._.concepts`, and after them the
    views, which are `doc.spans["views"]`: label the attribute, id the kind, kb_id the
    concept."""
    install_extensions()
    views = list(views)
    parts = [*trial.sections.items(), *((view.label, view.text) for view in views)]
    # What has no letter or digit may have no token, and then no span.
    parts = [(label, sound_text(text)) for label, text in parts if is_readable(text)]
    shown = [view for view in views if is_readable(view.text)]
    sections = []
    start = 0
    for label, part in parts:
        sections.append(Section(label, start, start + len(part)))
        start += len(part) + 1
    doc = nlp.tokenizer("\n".join(part for _, part in parts))
    set_sections(doc, sections)
    spans = list(doc.spans[SECTIONS])
    n = len(spans) - len(shown)
    doc.spans[SECTIONS] = SpanGroup(doc, name=SECTIONS, spans=spans[:n])
    doc.spans[VIEWS] = SpanGroup(
        doc,
        name=VIEWS,
        spans=[
            Span(
                doc,
                span.start,
                span.end,
                label=view.label,
                kb_id=view.concept,
                span_id=view.kind,
            )
            for span, view in zip(spans[n:], shown, strict=True)
        ],
    )
    doc._.concepts = [
        {"id": mention.concept, "section": mention.section, "text": mention.text}
        for mention in trial.mentions
    ]
    doc.user_data[NCT_ID] = trial.nct_id
    return doc
