from __future__ import annotations

import re
from html.parser import HTMLParser

import spacy

from t2v_spacy.displacy import COLORS, concept_url, render
from t2v_spacy.doc import make_trial_doc
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.trial import Trial

EVIL = "<script>alert('x')</script>"
TRIAL = Trial("NCT90000012", title=f"Gout & {EVIL}", conditions=("Gout",))


def pipeline():
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    concepts = [Concept("MESH:D006073", f"Gout {EVIL}", ("gout",), ("T047",))]
    kb = KnowledgeBase.from_concepts(concepts)
    nlp.add_pipe("umls_linker").set_kb(kb)
    return nlp


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)

    def handle_data(self, data):
        self.text += data


def test_sections_and_concepts_are_shown():
    nlp = pipeline()
    html = render(nlp(make_trial_doc(nlp, TRIAL)))
    assert html.startswith("<!DOCTYPE html>")
    assert re.findall(r"<h2[^>]*>(\w+)</h2>", html) == ["title", "condition"]
    assert html.count("<mark") == 2
    assert COLORS["DISO"] in html
    assert "https://meshb.nlm.nih.gov/record/ui?ui=D006073" in html


def test_text_of_the_record_brings_no_markup():
    nlp = pipeline()
    html = render(nlp(make_trial_doc(nlp, TRIAL)), page=False)
    parser = Tags()
    parser.feed(html)
    assert "script" not in parser.found
    assert EVIL in parser.text


def test_without_concepts_and_without_sections():
    nlp = pipeline()
    doc = nlp(make_trial_doc(nlp, TRIAL))
    assert "<mark" not in render(doc, concepts=False)
    assert "gout" in render(spacy.blank("en")("no gout"), page=False)
    assert render(nlp(""), page=False)


def test_urls():
    assert concept_url("MONDO:0005393").endswith("MONDO_0005393")
    assert concept_url("C0018099").endswith("/C0018099")
    assert concept_url("X:1") == ""
