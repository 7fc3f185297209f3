from __future__ import annotations

import json

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb.knowledge_base import Concept, KnowledgeBase
from t2v_spacy.search.composed import Composed
from t2v_spacy.search.criteria_pairs import CriteriaMatch
from t2v_spacy.search.item_encoder import ItemEncoder
from t2v_spacy.search.reason_line import LONGEST
from t2v_spacy.search.reasons import Explainer, Reasons, explain, explain_hits
from t2v_spacy.stopping import Stopped, stopping_when
from t2v_spacy.trial import Trial

from .reasons_toys import ONE, TWO, toy_kb, trial
from .toys import ILLNESSES, make_index, make_nlp, make_trial, nct


@pytest.fixture(scope="module")
def reasons() -> Reasons:
    return explain(
        ONE, TWO, kb=toy_kb(), section_cosines={"title": 0.5, "condition": 0.9}
    )


def test_the_line(reasons):
    assert reasons.line() == (
        "both name XYZ 1234, narrower condition (Tophaceous gout < Gout), "
        "same intervention (Colchicine)"
    )


def test_a_line_leaves_out_what_has_no_room():
    names = [f"Very Long Name Of A Disease {letter}" for letter in "abc"]
    found = explain(
        trial(1, names), trial(2, names), kb=toy_kb(), section_cosines={"title": 1.0}
    )
    assert len(found.line()) <= LONGEST
    assert Reasons("NCT90000001").line() == ""


def test_sections_where_nothing_else_is_known():
    found = Reasons("NCT90000001", sections={"title": 0.512, "condition": 0.3})
    assert found.line() == "title 0.51, condition 0.30"


def test_criteria_are_counted(reasons):
    only = Reasons("NCT90000001", criteria=reasons.criteria)
    assert only.line() == "3 criteria alike"
    one = CriteriaMatch("words", 1, 1, reasons.criteria.pairs[:1])
    assert Reasons("NCT90000001", criteria=one).line() == "1 criterion alike"


def test_plain_json_with_all_detail(reasons):
    plain = reasons.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == [
        "nct_id", "query_id", "line", "sections", "concepts", "criteria", "terms", "facts",
    ]  # fmt: skip
    assert list(plain["sections"]) == ["condition", "title"]
    assert plain["concepts"][0]["query"] == {
        "id": "X:2",
        "name": "Gout",
        "text": "Gout",
    }
    assert plain["criteria"]["pairs"][0]["query_differences"] == [[4, 6]]


def test_facts(reasons):
    found = {fact.name: (fact.query, fact.hit, fact.agree) for fact in reasons.facts}
    assert found == {
        "phase": ("Phase 3", "Phase 2/Phase 3", False),
        "study type": ("Interventional", "Interventional", True),
        "allocation": ("Randomized", None, None),
        "masking": ("Double", None, None),
        "enrolment": ("100 (planned)", "120 (actual)", True),
        "status": ("Recruiting", None, None),
        "sex": ("All", "All", True),
        "ages": ("18 years and older", "21 years to 80 years", False),
        "sponsor class": ("Industry", None, None),
        "start year": ("2020", "2020", True),
        "countries": ("France, Chile", "Chile", True),
        "primary outcomes": ("Pain at day 3", "Pain score at day 7", True),
    }


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.5, 2.0, "6 months to 2 years"),
        (None, 1.0, "up to 1 year"),
        (None, None, "any"),
    ],
)
def test_ages(low, high, shown):
    one = trial(1, sex="ALL", min_age=low, max_age=high)
    found = {fact.name: fact.hit for fact in explain(ONE, one, kb=toy_kb()).facts}
    assert found["ages"] == shown


def test_empty_records():
    found = explain(Trial(""), Trial("NCT90000001"), kb=toy_kb())
    assert (found.query_id, found.line(), found.concepts, found.facts) == (
        None,
        "",
        (),
        (),
    )


def test_a_query_is_a_record_a_doc_or_a_text():
    doc = make_nlp()("Colchicine for gout")
    for query in ("Colchicine for gout", doc):
        assert explain(query, TWO, kb=toy_kb()).concepts[0].relation == "narrower"
    doc._.trial = ONE
    assert explain(doc, TWO, kb=toy_kb()).query_id == ONE.nct_id


def test_hits_are_explained_in_their_order():
    index = make_index(12)
    hits = index.search(nct(0), 3)
    found = explain_hits(index, nct(0), hits, kb=toy_kb())
    assert [r.nct_id for r in found] == [hit.nct_id for hit in hits]
    assert [r.sections for r in found] == [dict(hit.why) for hit in hits]
    assert {r.query_id for r in found} == {nct(0)}


def test_hits_of_a_text_a_record_and_a_vector():
    index = make_index(12)
    nlp = make_nlp()
    vector = index.vector(nct(0))
    hits = index.search(vector, 2)
    of_vector = explain_hits(index, np.array(vector), hits, kb=toy_kb())
    assert [r.facts for r in of_vector] == [(), ()]
    for query in ("A study of asthma", make_trial(0), nlp("A study of asthma")):
        found = explain_hits(index, query, hits, kb=toy_kb())
        assert [r.nct_id for r in found] == [hit.nct_id for hit in hits]
    assert explain_hits(index, "A study of asthma", []) == []


def test_of_several_trials_the_one_that_says_most_explains():
    index = make_index(12)
    hits = [index.search(nct(0), 1)[0], index.search(nct(2), 1)[0]]  # asthma, sepsis
    likes = Composed(like=[nct(0), index[nct(2)]], unlike=[nct(1)])
    kb = KnowledgeBase.from_concepts(
        [Concept(f"Y:{name}", name, types=("T047",)) for name in ILLNESSES],
        info={"name": "toy", "version": "1"},
    )
    found = explain_hits(index, likes, hits, kb=kb)
    assert [r.query_id for r in found] == [nct(0), nct(2)]


def test_parts_are_read_as_a_draft():
    index = make_index(12)
    query = Composed(parts={"condition": "Gout", "title": " "})
    (found,) = explain_hits(index, query, index.search(nct(1), 1), kb=toy_kb())
    assert found.query_id is None
    assert [m.relation for m in found.concepts] == ["same"]


def test_an_unknown_id_is_an_error():
    index = make_index(3)
    with pytest.raises(T2VError, match="T043"):
        explain_hits(index, "NCT99999999", index.search(nct(0), 1))


def test_a_pipeline_compares_criteria_by_its_vectors(tiny_nlp):
    explainer = Explainer(ONE, kb=toy_kb(), nlp=tiny_nlp)
    explainer.encode([ONE])
    found = explainer(ONE).criteria
    assert found.method == "encoder"
    assert [(p.query_index, p.hit_index) for p in found.pairs] == [
        (i, i) for i in range(4)
    ]
    assert all(pair.score == pytest.approx(1.0, abs=1e-3) for pair in found.pairs)


def test_a_pipeline_without_vectors_does_not():
    import spacy

    assert (
        Explainer(ONE, kb=toy_kb(), nlp=spacy.blank("en"))(TWO).criteria.method
        == "words"
    )


def test_nothing_more_is_explained_for_one_who_gave_up():
    index, asked = make_index(12), []
    hits = index.search(nct(1), 5)

    def given_up() -> bool:
        asked.append(1)
        return len(asked) > 2

    with stopping_when(given_up), pytest.raises(Stopped):
        explain_hits(index, nct(1), hits)
    assert len(asked) == 3
    with stopping_when(lambda: True), pytest.raises(Stopped):
        ItemEncoder(make_nlp())(["gout"])
    assert len(explain_hits(index, nct(1), hits)) == 5
    assert len(asked) == 3
