from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import TrialIndex
from t2v_spacy.search.query import is_id, read_query
from t2v_spacy.search.query_ids import read_ids
from t2v_spacy.trial import Trial

from .toys import entry, make_index, make_nlp, make_trial, nct, text_vector


@pytest.fixture(scope="module")
def index():
    return make_index(20)


@pytest.fixture(scope="module")
def nlp():
    return make_nlp()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (f" {nct(1).lower()}\n", [nct(1)]),
        ("NCT 90000001", [nct(1)]),
        ("nct-9000-0001", [nct(1)]),
        ("NCT: 90000001", [nct(1)]),
        (f"{nct(1)}, {nct(2)}", [nct(1), nct(2)]),
        (f"{nct(1)};NCT 90000002;", [nct(1), nct(2)]),
        (f"{nct(1)} {nct(2)}\n{nct(3)}", [nct(1), nct(2), nct(3)]),
        (f"{nct(1)} and {nct(2)}", [nct(1), nct(2)]),
        ("NCT99999999, nct 90000002", ["NCT99999999", nct(2)]),
        ("90000001", ["90000001"]),
        ("NCT123", ["NCT123"]),
        ("gout", []),
        (f"{nct(1)} gout", []),
        (f"gout, {nct(1)}", []),
        ("12 34", []),
        ("", []),
        (" , ", []),
    ],
)
def test_ids_however_they_are_written(index, given, found):
    assert read_ids(index, given) == found


def test_hyphens_of_other_registries():
    index = TrialIndex.build(
        [
            entry("2004-000001-12", [1, 0]),
            entry("JPRN-UMIN000012345", [0, 1]),
            entry("RBR-2abcde", [1, 1]),
        ]
    )
    for given, found in [
        ("200400000112", "2004-000001-12"),
        ("2004 000001 12", "2004-000001-12"),
        ("jprn umin000012345", "JPRN-UMIN000012345"),
        ("rbr-2ABCDE", "RBR-2ABCDE"),
    ]:
        ids = read_ids(index, given)
        assert ids == [found] or index[ids[0]].nct_id == found


def test_an_unknown_id_is_named(index, nlp):
    for given in ("NCT 99999999", f"{nct(1)}, NCT99999999", "12345678"):
        with pytest.raises(T2VError, match=r"T043.*(99999999|12345678) is not"):
            index.search(given, nlp=nlp)
    assert is_id("nct-9000 0001")
    assert not is_id("covid-19")


def test_several_ids_are_several_likes(index):
    hits = index.search(f"{nct(1)}, {nct(7)}", 18)
    assert {hit.nct_id for hit in hits}.isdisjoint({nct(1), nct(7)})
    assert hits[0].trial.conditions == ("gout",)


def test_text_and_trial_of_each_kind_of_query(index, nlp):
    trial = make_trial(2)
    words = "Study 2 of sepsis\n\n- sepsis\n\n- drug2"
    by_id = read_query(index, nct(2), None, None)
    assert (by_id.text, by_id.trial) == (words, trial)
    by_trial = read_query(index, trial, None, nlp)
    assert (by_trial.text, by_trial.trial) == (words, trial)
    by_doc = read_query(index, nlp(trial.to_text()), None, None)
    assert by_doc.text == words
    by_text = read_query(index, "sepsis in children", None, nlp)
    assert (by_text.text, by_text.trial) == ("sepsis in children", None)
    by_vector = read_query(index, text_vector("sepsis"), None, None)
    assert (by_vector.text, by_vector.trial) == ("", None)


def test_text_of_the_parts_searched_by(index, nlp):
    assert read_query(index, nct(2), ["condition"], None).text == "- sepsis"
    bare = read_query(index, "sepsis in children", ["condition"], nlp)
    assert bare.text == "sepsis in children"
    trial = Trial("", title="T", eligibility="Inclusion Criteria:\n\n- adults\n\nExclusion Criteria:\n\n- gout")  # fmt: skip
    query = read_query(index, trial, ["title"], nlp)
    assert query.text == "T"


def test_criteria_are_all_of_them(tiny_nlp, trials):
    from t2v_spacy import make_trial_doc

    doc = tiny_nlp(make_trial_doc(tiny_nlp, trials[0]))
    index = TrialIndex.build([entry(nct(1), np.eye(24)[0])])
    by_all = read_query(index, doc, ["eligibility"], None)
    assert by_all.text == "- Adults with gout\n\n- Renal failure"
    assert read_query(index, doc, ["exclusion"], None).text == "- Renal failure"
    assert by_all.trial == trials[0]


def test_weights_of_parts(index, nlp):
    query = read_query(index, nct(2), {"title": 3, "condition": 1}, None)
    sections = index.section_vectors(nct(2))
    mean = 3 * sections["title"] + sections["condition"]
    assert query.vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert query.weights == {"title": 3, "condition": 1}
    even = read_query(index, nct(2), {"title": 5, "condition": 5}, None)
    listed = read_query(index, nct(2), ["title", "condition"], None)
    assert even.vector == pytest.approx(listed.vector)
    lacking = read_query(index, nct(2), {"title": 1, "outcome": 7}, None)
    assert lacking.vector == pytest.approx(sections["title"], abs=1e-6)
    for parts, code in [({"title": 0}, "T174"), ({"titles": 1}, "T008"), ({"outcome": 1}, "T049")]:  # fmt: skip
        with pytest.raises(T2VError, match=code):
            read_query(index, nct(2), parts, nlp)


def test_a_long_text_is_no_error(index, nlp):
    assert len(index.search("gout " * 250_000, 3, nlp=nlp)) == 3
