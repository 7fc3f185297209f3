from __future__ import annotations

import numpy
import pytest
import spacy
from spacy.tokens import Span

from t2v_spacy.ml.section_text import read_section

CASES = [
    ("condition", "- Gout\n- Hand, Foot and Mouth Disease", "Gout, Hand, Foot and Mouth Disease"),
    ("intervention", "- Drug: Tablet A\n  * A-123\n- Dietary Supplement: Oat", "Tablet A, A-123, Oat"),
    ("intervention", "- Ratio 1:1 kit", "Ratio 1:1 kit"),
    ("summary", "One line\nand   another.\n\nA paragraph.", "One line and another. A paragraph."),
    ("inclusion", "* Adults\n  * over 50", "Adults over 50"),
    ("title", "\n  A title  \n", "A title"),
    ("title", " \n\t ", ""),
]  # fmt: skip


@pytest.mark.parametrize(("label", "body", "expected"), CASES)
def test_section_text_is_free_of_marks(label, body, expected):
    doc = spacy.blank("en").make_doc(f"Heading\n{body}")
    span = Span(doc, 0, len(doc), label=label)
    assert read_section(span, doc.text, len("Heading")).text == expected


@pytest.mark.parametrize(("label", "body", "_"), CASES)
def test_offsets_lead_back_to_the_same_characters(label, body, _):
    text = f"Heading\n{body}"
    doc = spacy.blank("en").make_doc(text)
    section = read_section(Span(doc, 0, len(doc), label=label), text, len("Heading"))
    places = numpy.array([i for i, c in enumerate(section.text) if c.isalnum()], "i")
    found = [text[i] for i in section.doc_offsets(places)]
    assert found == [c for c in section.text if c.isalnum()]
