"""What training reads of a trial: section texts and linked mentions, plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from ..doc import set_sections
from ..extensions import NCT_ID, VIEWS, install_extensions
from ..ml.section_text import read_section
from ..plain import sound_text
from ..sections.headed import Section
from ..sections.labels import SECTION_LABELS
from .knowledge_views import Mention, View

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
        """RAISES (KeyError, TypeError): If it is not what `to_dict` gave."""
        mentions = tuple(Mention(*mention) for mention in data["mentions"])
        sections = {
            k: data["sections"][k] for k in SECTION_LABELS if k in data["sections"]
        }
        return cls(data["nct_id"], sections, mentions)


def from_doc(doc: Doc, nct_id: str, max_words: int | None) -> TrainingTrial:
    """The training trial of a Doc with sections and concepts.

    max_words (int | None): Words kept of each section; a mention beyond them is left
        out. None keeps all.
    """
    headings = {h.start: h.end_char for h in doc.spans.get("headings", ())}
    sections: dict[str, str] = {}
    for span in doc.spans["sections"]:
        if span.label_ in LEFT_OUT:
            continue
        text = read_section(span, doc.text, headings.get(span.start, 0)).text
        words = text.split(" ")
        kept = " ".join(words[:max_words]) if max_words else text
        if any(map(str.isalnum, kept)):
            joined = sections.get(span.label_)
            sections[span.label_] = kept if joined is None else f"{joined} {kept}"
    mentions = tuple(
        Mention(c["id"], c["section"], c["text"])
        for c in doc._.concepts or ()
        if c["text"] in sections.get(c["section"], "")
    )
    return TrainingTrial(nct_id, sections, mentions)


def make_training_doc(
    nlp: Language, trial: TrainingTrial, views: Iterable[View] = ()
) -> Doc:
    """A Doc of the sections, one a line, with `doc._.concepts`, and after them the
    views, which are `doc.spans["views"]`: label the attribute, id the kind, kb_id the
    concept."""
    install_extensions()
    texts = [(label, sound_text(text)) for label, text in trial.sections.items()]
    shown = [view._replace(text=sound_text(view.text)) for view in views]
    parts = [*texts, *((view.label, view.text) for view in shown)]
    sections = []
    start = 0
    for label, part in parts:
        sections.append(Section(label, start, start + len(part)))
        start += len(part) + 1
    doc = nlp.tokenizer("\n".join(part for _, part in parts))
    set_sections(doc, sections)
    spans = list(doc.spans["sections"])
    n = len(spans) - len(shown)
    doc.spans["sections"] = SpanGroup(doc, name="sections", spans=spans[:n])
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
