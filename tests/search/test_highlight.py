from __future__ import annotations

from t2v_spacy.search.highlight import fields, query_keys, shared_terms
from t2v_spacy.search.trial_words import trial_codes, trial_words, weight

from .reasons_toys import ONE, TWO, trial


def test_places_are_where_the_word_stands():
    texts = {(f.name, f.item): f.text for f in fields(TWO)}
    found = shared_terms(query_keys(ONE), TWO)
    for term in found:
        for place in term.places:
            shown = texts[place.field, place.item][place.start : place.end]
            assert shown.casefold() in (term.term.casefold(), "xyz 1234")
    assert {
        (p.field, p.item) for t in found if t.term == "colchicine" for p in t.places
    } == {
        ("title", None),
        ("interventions", 0),
    }


def test_codes_come_first_however_they_are_written():
    first, *others = shared_terms(query_keys(ONE), TWO)
    assert (first.term, first.code, first.weight) == ("XYZ 1234", True, 1.0)
    assert not any(term.code for term in others)


def test_common_words_are_no_terms():
    one = trial(1, title="A study of patients with disease")
    assert shared_terms(query_keys(one), one) == ()


def test_words_of_prose_alone_have_to_be_rare():
    one = trial(1, brief_summary="Melanoma is killed by zyxwvut")
    (term,) = shared_terms(
        query_keys(one), trial(2, brief_summary="zyxwvut kills melanoma")
    )
    assert term.term == "zyxwvut"


def test_spans_are_characters_of_any_text():
    text = "Gout 😀 tophi’s"
    assert [text[w.start : w.end] for w in trial_words(text)] == ["Gout", "tophi’s"]


def test_weights():
    assert weight("patient") < weight("melanoma") < weight("zyxwvut") == 1.0
    assert weight("x") == 0.0


def test_codes():
    keys = [
        code.key
        for code in trial_codes("NCT90000001, AMG-145, amg145, COVID-19, AGE 65")
    ]
    assert keys == ["nct90000001", "amg145"]
