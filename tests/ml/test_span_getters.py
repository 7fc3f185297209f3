from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Span

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.span_getters import section_spans
from tests.training.toys import make_examples


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def shown(spans) -> list[tuple[str, str]]:
    return [(span.label_, span.text.strip()) for span in spans]


def test_views_come_after_the_sections(nlp):
    doc = make_examples(nlp)[2].predicted
    (spans,) = section_spans()([doc])
    assert shown(spans) == [
        ("title", "Breathing lessons for children"),
        ("condition", "Asthma"),
        ("intervention", "Breathing lessons"),
        ("keyword", "wheeze"),
        ("summary", "Lessons at school, twice a week."),
        ("condition", "Bronchial asthma"),
        ("other", "Osteoarthritis"),
        ("other", "Joint wear"),
    ]


def test_sections_are_put_in_document_order_and_chosen_by_label(nlp):
    doc = nlp.make_doc("gout in adults ages")
    doc.spans["sections"] = [
        Span(doc, 2, 3, label="summary"),
        Span(doc, 3, 4, label="design"),
        Span(doc, 0, 1, label="title"),
    ]
    assert shown(section_spans()([doc])[0]) == [("title", "gout"), ("summary", "adults")]  # fmt: skip
    (spans,) = section_spans(labels=["title"])([doc])
    assert shown(spans) == [("title", "gout")]


def test_a_doc_without_sections_is_read_up_to_its_views(nlp):
    plain, empty = nlp.make_doc("gout in adults"), nlp.make_doc("")
    assert [shown(spans) for spans in section_spans()([plain, empty])] == [
        [("description", "gout in adults")],
        [],
    ]
    doc = make_examples(nlp)[1].predicted
    (spans,) = section_spans(labels=["exclusion"])([doc])
    label, text = shown(spans)[0]
    assert label == "description"
    assert text.startswith("Allopurinol to keep")
    assert text.endswith("for a year.")
    assert shown(spans)[1:] == [("title", "Zyloprim to keep urate low")]


def test_a_label_that_is_none_is_named():
    with pytest.raises(T2VError, match="T008.*headline"):
        section_spans(labels=["headline"])
