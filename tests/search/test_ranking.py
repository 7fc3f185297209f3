"""Search by several rankings, and codes first."""

from __future__ import annotations

import json
import math

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import Composed, TrialIndex, ranking
from t2v_spacy.search.build import META
from t2v_spacy.search.lexical import LEXICAL
from t2v_spacy.trial import Intervention, Trial

from .toys import make_entry, make_nlp, nct

TEXTS = {
    1: ("Gout with colchicine", "colchicine", "Flares are counted every week."),
    2: ("Gout with febuxostat", "febuxostat", "Uric acid falls under pegloticase."),
    3: ("Asthma with budesonide", "budesonide", "Adults with asthma."),
    4: ("Melanoma with MK 3475", "MK-3475", "V600E was asked for."),
    5: ("Lung cancer", "pembrolizumab", "Adults with lung cancer."),
    6: ("Gout, allopurinol", "allopurinol", "Doses rise."),
}


def trial(number: int) -> Trial:
    title, drug, summary = TEXTS[number]
    return Trial(
        nct(number),
        title=title,
        interventions=(Intervention(drug),),
        brief_summary=summary,
    )


def entries(*numbers: int):
    return [make_entry(trial(number)) for number in numbers or TEXTS]


@pytest.fixture
def index() -> TrialIndex:
    made = TrialIndex.build(entries())
    made.nlp = make_nlp()
    return made


def ids(hits) -> list[str]:
    return [hit.nct_id for hit in hits]


def test_words_rank_by_themselves_and_beside_vectors(index):
    (first, *_) = index.search("pegloticase in gout", hybrid={"words": 1})
    assert first.nct_id == nct(2)
    assert first.ranks == {"words": 1}
    hits = index.search("pegloticase in gout", hybrid=True)
    assert hits[0].ranks.keys() == {"vectors", "words"}
    assert hits[0].ranks["words"] == 1


def test_the_score_stays_the_cosine(index):
    plain = {hit.nct_id: hit.score for hit in index.search("pegloticase in gout")}
    for hit in index.search("pegloticase in gout", hybrid=True):
        assert hit.score == pytest.approx(plain[hit.nct_id], abs=1e-6)
        assert (
            hit.rank
            == ids(index.search("pegloticase in gout", hybrid=True)).index(hit.nct_id)
            + 1
        )


def test_vectors_alone_are_the_plain_search(index):
    plain = index.search("Adults with gout")
    assert ids(index.search("Adults with gout", hybrid={"vectors": 2})) == ids(plain)
    assert not plain[0].ranks


@pytest.mark.parametrize("query", ["MK-3475 in gout", "mk3475 gout", "gout, MK 3475"])
def test_a_code_of_a_short_query_goes_first(index, query):
    found = ids(index.search(query))
    # By text, and by the name that the base has for the same drug.
    assert found[0] == nct(4)
    assert set(found) == {nct(number) for number in TEXTS}


def test_a_code_of_a_long_query_is_a_word_among_others(index):
    found = ids(index.search("gout colchicine " * 20 + "MK-3475"))
    assert found[0] == nct(1)


def test_a_code_that_no_trial_has_changes_nothing(index):
    assert not index.search("ABC-98765 in gout")[0].ranks


def test_filters_and_the_query_itself_are_kept_out(index):
    hits = index.search(nct(1), hybrid=True)
    assert nct(1) not in ids(hits)
    assert len(hits) == 5
    assert index.search("MK-3475", filters={"statuses": ["COMPLETED"]}) == []
    assert len(index.search(nct(1), 2, hybrid=True)) == 2


def test_section_by_section(index):
    hits = index.search(
        "pegloticase in gout", parts=["title"], against="section", hybrid=True
    )
    assert hits[0].ranks["words"] == 1
    assert all(-1 <= hit.score <= 1 for hit in hits)


@pytest.mark.parametrize("saved", [False, True])
def test_what_was_added_ranks_as_in_a_fresh_index(tmp_path, saved):
    TrialIndex.build(entries(1, 2, 3, 6)).to_disk(tmp_path / "index")
    changed = TrialIndex.from_disk(tmp_path / "index")
    changed.add(entries(4, 5))
    changed.remove([nct(6)])
    if saved:
        changed.save_changes(rebuild_above=10)
        changed = TrialIndex.from_disk(tmp_path / "index")
    fresh = TrialIndex.build(entries(1, 2, 3, 4, 5))
    for made in (changed, fresh):
        made.nlp = make_nlp()
    for query in ("MK-3475 in gout", "pegloticase", "Adults with lung cancer"):
        for hybrid in (False, True, {"words": 1, "concepts": 1}):
            one, other = (
                made.search(query, hybrid=hybrid) for made in (changed, fresh)
            )
            assert ids(one)[:2] == ids(other)[:2]
            assert nct(6) not in ids(one)


def test_concepts_rank_too(index):
    hits = index.search(nct(1), hybrid={"concepts": 1, "vectors": 1})
    assert hits[0].ranks.keys() == {"concepts", "vectors"}


@pytest.mark.parametrize(
    "weights",
    [{"bm25": 1}, {"words": -1}, {"words": 0}, {"words": math.nan}, {"words": "x"}],
)
def test_weights_that_cannot_be_used(index, weights):
    with pytest.raises(T2VError, match="T149"):
        index.search("gout", hybrid=weights)


def test_the_weights_are_those_of_the_index(tmp_path):
    made = TrialIndex.build(entries(), meta={"hybrid": {"words": 1}})
    made.nlp = make_nlp()
    assert made.search("gout", hybrid=True)[0].ranks.keys() == {"words"}


def test_an_index_without_words(tmp_path, index):
    index.to_disk(tmp_path / "old")
    meta = json.loads((tmp_path / "old" / META).read_text("utf8"))
    meta["files"] = {k: v for k, v in meta["files"].items() if "lexical" not in k}
    (tmp_path / "old" / META).write_text(json.dumps(meta), "utf8")
    (tmp_path / "old" / LEXICAL).unlink()
    old = TrialIndex.from_disk(tmp_path / "old")
    old.nlp = make_nlp()
    assert ids(old.search("Adults with gout")) == ids(index.search("Adults with gout"))
    with pytest.raises(T2VError, match="T158.*hybrid"):
        old.search("gout", hybrid=True)


def test_what_is_unlike_lends_no_concepts(index):
    """Its id is among those that are no results."""
    away = Composed({"condition": "gout"}, unlike=[nct(3)])
    (first, *_) = index.search(away, hybrid={"concepts": 1, "vectors": 0.01})
    assert "asthma" not in (first.title or "").lower()


def test_all_that_hold_a_code_are_compared(monkeypatch):
    """Though more hold it than any ranking puts forward."""
    monkeypatch.setattr(ranking, "DEPTH", 2)
    made = TrialIndex.build(
        make_entry(Trial(nct(i), title=f"Trial {i} of MK-3475 in illness{i}"))
        for i in range(30)
    )
    made.nlp = make_nlp()
    query = "MK-3475 in illness25"
    best = made.search(query, 3)
    assert best[0].nct_id == nct(25)
    assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)


def test_section_by_section_nothing_has_no_score():
    bare = make_entry(Trial(nct(9), brief_summary="Pegloticase in gout."))
    made = TrialIndex.build([*entries(), bare])
    made.nlp = make_nlp()
    hits = made.search("gout", 9, parts=["title"], against="section", hybrid=True)
    assert nct(9) not in ids(hits)
    assert not any(math.isnan(hit.score) for hit in hits)


def test_a_vector_has_no_words(index):
    with pytest.raises(T2VError, match=r"T149.*vector"):
        index.search(index.vector(nct(1)), hybrid={"words": 1})
    assert index.search(index.vector(nct(1)), hybrid=True)
