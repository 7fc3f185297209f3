from __future__ import annotations

import pytest

from t2v_spacy.search.drug_classes import drug_class
from t2v_spacy.search.reasons import explain
from t2v_spacy.trial_text import parse_trial

from .reasons_toys import toy_kb, trial


def relations(query, hit):
    found = explain(query, hit, kb=toy_kb()).concepts
    return [(m.section, m.relation, m.query.text, m.hit.text, m.name) for m in found]


@pytest.mark.parametrize(
    ("one", "other", "relation", "name"),
    [
        ("Gout", "gouty arthritis", "same", "Gout"),
        ("Gout", "Tophaceous Gout", "narrower", "Gout"),
        ("Tophaceous Gout", "Gout", "broader", "Gout"),
        ("Gout", "Arthrosis", "sibling", "Joint Diseases"),
    ],
)
def test_the_relation_of_two_conditions(one, other, relation, name):
    found = relations(trial(1, [one]), trial(2, [other]))
    assert found == [("condition", relation, one, other, name)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Gout", "Asthma"), ("Long Cough", "Long Itch"), ("Chronic disease",) * 2],
)
def test_conditions_without_a_relation_that_says_something(one, other):
    assert relations(trial(1, [one]), trial(2, [other])) == []


def test_a_placebo_is_no_reason():
    assert relations(trial(1, drugs=["Placebo"]), trial(2, drugs=["Placebo"])) == []


@pytest.mark.parametrize(
    ("one", "other", "relation", "name"),
    [
        ("SGLT2 inhibitors", "Dapagliflozin 10 mg", "narrower", "SGLT2 inhibitors"),
        ("Dapagliflozin", "SGLT2 inhibitors", "broader", "SGLT2 inhibitors"),
        ("Dapagliflozin", "Empagliflozin", "sibling", "SGLT2 inhibitors"),
        # a drug made of another is not a kind of it
        ("Simvastatin", "Lovastatin", "sibling", "Lovastatin"),
        # one concept, two drugs
        ("interferon alfa-2a", "interferon alfa-2b", "sibling", "Interferon-alpha"),
    ],
)
def test_drugs_of_a_class(one, other, relation, name):
    ((_, found, *_, shared),) = relations(
        trial(1, drugs=[one]), trial(2, drugs=[other])
    )
    assert (found, shared) == (relation, name)


def test_each_concept_is_in_one_pair_and_the_closest_first():
    query = trial(1, ["Gout", "Arthrosis"])
    hit = trial(2, ["Arthrosis", "Tophaceous Gout"])
    found = [(relation, text) for _, relation, text, *_ in relations(query, hit)]
    assert found == [("same", "Arthrosis"), ("narrower", "Gout")]


def test_a_draft_without_lists_is_read_in_its_title():
    draft = parse_trial("Colchicine for gout")
    found = relations(draft, trial(2, ["Gout"], ["Colchicine"]))
    assert [m[:2] for m in found] == [("condition", "same"), ("intervention", "same")]


def test_a_record_without_interventions_is_not():
    record = trial(1, ["Gout"], title="Colchicine for gout")
    found = relations(record, trial(2, ["Gout"], ["Colchicine"]))
    assert [m[0] for m in found] == ["condition"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Rosuvastatin Calcium", "statins"),
        ("Omeprazole", "proton pump inhibitors"),
        ("Aripiprazole", None),
        ("Cocaine", None),
        ("Pril", None),
        ("", None),
    ],
)
def test_the_class_of_a_name(name, known):
    assert drug_class(name) == known
