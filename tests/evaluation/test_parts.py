from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import Benchmark, by_parts, only
from t2v_spacy.sections.labels import HEADINGS, KEY_ATTRIBUTES, SECTION_LABELS
from t2v_spacy.trial import Trial


def test_only_the_given_sections_are_kept(trials):
    gout = trials[0]
    found = only(gout, ["title", "condition"])
    assert found == Trial(gout.nct_id, title=gout.title, conditions=gout.conditions)
    assert only(gout, ["intervention"]).sections == [
        ("Interventions", "- Drug: Colchicine\n  * Colcrys")
    ]


@pytest.mark.parametrize("label", [*KEY_ATTRIBUTES, "summary", "description", "design"])
def test_a_section_is_kept_whole_and_alone(trials, label):
    for trial in trials:
        expected = [part for part in trial.sections if HEADINGS[part[0]] == label]
        assert only(trial, [label]).sections == expected


def test_criteria_of_one_kind(trials):
    assert only(trials[0], ["inclusion"]).criteria.inclusion == ("Adults with gout",)
    assert only(trials[0], ["inclusion"]).criteria.exclusion == ()
    assert only(trials[0], ["exclusion"]).criteria.exclusion == ("Renal failure",)
    both = only(trials[0], ["eligibility", "inclusion"])
    assert both.eligibility == trials[0].eligibility
    assert only(trials[2], ["inclusion"]).eligibility is None


def test_all_sections_are_the_whole_text(trials):
    for trial in trials:
        assert only(trial, SECTION_LABELS).to_text() == trial.to_text()


def test_an_unknown_part_is_refused(trials):
    with pytest.raises(T2VError, match="T008.*'disease'"):
        only(trials[0], ["disease"])


def test_queries_without_the_part_are_left_out_and_named(trials):
    queries = {trial.nct_id: trial for trial in trials}
    qrels = {name: {"D": 1} for name in queries}
    found = by_parts(Benchmark("toy", queries, qrels), ["condition"])
    assert found.left_out == ("NCT90000004",)
    assert list(found.queries) == [trial.nct_id for trial in trials[:3]]
    assert found.queries["NCT90000001"].sections == [("Conditions", "- Gout")]
    assert found.name == "toy, by condition"
