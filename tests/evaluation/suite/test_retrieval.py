from __future__ import annotations

import json
import math

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite.retrieval import (
    Retrieval,
    read_birco,
    read_retrieval,
    score_retrieval,
)

from .toy import RETRIEVAL, Toy, write_retrieval

# q1: gains 1, 2 where 2, 1 is the best; q2: 1. q3 has nothing to find.
Q1 = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))


def test_ndcg_by_hand(tmp_path):
    found = score_retrieval(read_retrieval(write_retrieval(tmp_path)), Toy(RETRIEVAL))
    assert found.value == pytest.approx((Q1 + 1) / 2)
    assert (found.low, found.high) == pytest.approx((Q1, 1))
    assert found.items == 2
    assert found.note == "1 queries without a relevant document"


def test_a_judged_document_that_is_not_in_the_corpus_counts_as_missed(tmp_path):
    write_retrieval(tmp_path)
    with (tmp_path / "qrels.tsv").open("a") as file:
        file.write("q2\td9\t1\n")
    found = score_retrieval(read_retrieval(tmp_path), Toy(RETRIEVAL))
    q2 = 1 / (1 + 1 / math.log2(3))
    assert found.value == pytest.approx((Q1 + q2) / 2)


def test_a_grade_below_0_is_0(tmp_path):
    write_retrieval(tmp_path)
    with (tmp_path / "qrels.tsv").open("a") as file:
        file.write("q2\td3\t-1\n")
    assert read_retrieval(tmp_path).qrels["q2"] == {"d2": 1, "d3": 0}


def test_closed_ranks_only_what_is_judged():
    data = Retrieval(
        "toy",
        {"d1": "Gout colchicine", "d2": "asthma", "d3": "cough"},
        {"q": "pain"},
        {"q": {"d1": 1, "d3": 0}},
    )
    assert score_retrieval(data, Toy(RETRIEVAL)).value == pytest.approx(
        1 / math.log2(3)
    )
    closed = Retrieval(data.name, data.corpus, data.queries, data.qrels, closed=True)
    assert score_retrieval(closed, Toy(RETRIEVAL)).value == pytest.approx(1)


def test_an_empty_document_comes_last():
    data = Retrieval("toy", {"d1": "", "d2": "cough"}, {"q": "pain"}, {"q": {"d2": 1}})
    assert score_retrieval(data, Toy(RETRIEVAL)).value == 1


def test_ties_are_broken_by_the_seed_alone():
    corpus = {f"d{i}": "cough" for i in range(30)}
    data = Retrieval("toy", corpus, {"q": "nothing"}, {"q": {"d3": 1}})
    found = {
        score_retrieval(data, Toy(RETRIEVAL), seed=seed).value for seed in range(8)
    }
    again = {
        score_retrieval(data, Toy(RETRIEVAL), seed=seed).value for seed in range(8)
    }
    assert len(found) > 2
    assert found == again


def test_no_query_that_counts_is_refused():
    data = Retrieval("toy", {"d": "cough"}, {"q": "pain"}, {"q": {"d": 0}})
    with pytest.raises(T2VError, match="T205.*no query has a relevant document"):
        score_retrieval(data, Toy(RETRIEVAL))


def test_beirs_place_of_the_qrels_is_read_too(tmp_path):
    write_retrieval(tmp_path)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels.tsv").rename(tmp_path / "qrels" / "test.tsv")
    assert read_retrieval(tmp_path).qrels["q1"] == {"d1": 2, "d2": 1}


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("corpus.jsonl", '{"_id": "d1", "text": "again"}', r"corpus.jsonl, line 4, .*d1 comes twice"),
        ("corpus.jsonl", '{"_id": "d4"}', r"corpus.jsonl, line 4, .*lacks the text 'text'"),
        ("queries.jsonl", '{"_id": 7, "text": "x"}', r"queries.jsonl, line 4, .*lacks the text '_id'"),
        ("queries.jsonl", "{oops", r"queries.jsonl, line 4, .*it is no JSON"),
        ("queries.jsonl", "[1]", r"queries.jsonl, line 4, .*no object but list"),
        ("qrels.tsv", "q1 d1 2", r"qrels.tsv, line 6, .*with tabs"),
        ("qrels.tsv", "q1\td3\thigh", r"qrels.tsv, line 6, .*with tabs"),
        ("qrels.tsv", "q9\td3\t1", r"qrels.tsv, line 6, .*q9 is not in queries.jsonl"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path, file, line, reason):
    write_retrieval(tmp_path)
    with (tmp_path / file).open("a") as handle:
        handle.write(line + "\n")
    with pytest.raises(T2VError, match="T201.*" + reason):
        read_retrieval(tmp_path)


def test_bircos_own_file(tmp_path):
    path = tmp_path / "birco.json"
    data = {
        "query": {"q": "pain"},
        "corpus": {"d1": "Gout colchicine", "d2": "asthma"},
        "qrel": {"q": {"d1": 2, "d2": 0}},
    }
    path.write_text(json.dumps(data))
    found = read_birco(path)
    assert found.closed
    assert score_retrieval(found, Toy(RETRIEVAL)).value == pytest.approx(
        1 / math.log2(3)
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"qrel": None}, "lacks 'query', 'corpus' or 'qrel'"),
        ({"corpus": {"d1": 3}}, "d1 has no text"),
        ({"qrel": {"x": {"d1": 1}}}, "the query x has no text"),
        ({"qrel": {"q": {"d1": "2"}}}, "query q: the grade of d1"),
    ],
)
def test_another_form_of_birco_is_refused(tmp_path, change, reason):
    path = tmp_path / "birco.json"
    data = {"query": {"q": "a"}, "corpus": {"d1": "b"}, "qrel": {"q": {"d1": 1}}}
    path.write_text(json.dumps(data | change))
    with pytest.raises(T2VError, match=f"T201.*birco.json.*{reason}"):
        read_birco(path)
