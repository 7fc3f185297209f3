from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import srsly

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import Run, compare, evaluate

from .toy import ranked_as

ZERO_RELEVANT = [
    [1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
]


def test_queries_without_a_relevant_trial_are_counted_not_divided_by():
    benchmark, scores = ranked_as(ZERO_RELEVANT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(benchmark, scores)
    means = {row.measure: row.mean for row in found.rows}
    assert means["recall@1"] == 0.25
    assert means["recall@2"] == 0.5
    assert means["recall@5"] == 1.0
    assert means["precision@1"] == pytest.approx(1 / 3)
    assert means["precision@2"] == pytest.approx(1 / 3)
    assert means["precision@5"] == pytest.approx(4 / 15)
    # AP: (1 + 2/4) / 2 and (1/2 + 2/3) / 2
    assert means["map"] == pytest.approx((0.75 + 7 / 12) / 2)
    assert means["mrr"] == 0.75
    second = (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))
    first = (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert means["ndcg@5"] == pytest.approx((first + second) / 2)
    assert found["recall@1"].queries == ("Q0", "Q2")
    assert found["recall@1"].left_out == 1 and found["precision@1"].left_out == 0
    assert "2 queries, 1 without a relevant trial" in str(found["map"])
    assert all(np.isfinite(row.values).all() for row in found.rows)


def test_the_shared_case_of_queries_without_relevant_trials(t2v_data):
    case = srsly.read_json(t2v_data / "cases" / "c35_zero_relevant.json")
    right = srsly.read_json(t2v_data / "cases" / "c35_zero_relevant.expected.json")
    found = evaluate(*ranked_as(case["ranked_labels"]))
    for name in [key for key in right if "@" in key]:
        assert found[name].mean == pytest.approx(right[name], abs=5e-5)
    assert found["ndcg@5"].left_out == right["queries_with_no_relevant"]


def test_no_relevant_trial_at_all_gives_no_figure():
    row = evaluate(*ranked_as([[0, 0], [0, 0]]))["recall@1"]
    assert (row.mean, row.low, row.high, row.left_out) == (None, None, None, 2)
    assert "no query" in str(row)


def test_relevance_and_gain():
    benchmark, scores = ranked_as([[1, 2, 0]])
    names = ["precision@1", "ndcg@2", "ndcg_linear@2", "ndcg_binary@2", "map"]
    log3 = math.log2(3)
    found = evaluate(replace(benchmark, relevant=2), scores, measures=names)
    assert [row.mean for row in found.rows] == pytest.approx(
        [
            0.0,
            (1 + 3 / log3) / (3 + 1 / log3),
            (1 + 2 / log3) / (2 + 1 / log3),
            1 / log3,
            0.5,
        ]
    )
    assert evaluate(benchmark, scores, measures=["map"])["map"].mean == 1.0


def test_ties_depend_on_the_seed_alone():
    benchmark, _ = ranked_as([[1, 0, 0, 0, 0, 0, 0, 0]] * 30)
    level = {query: dict.fromkeys(docs, 0.0) for query, docs in benchmark.qrels.items()}
    turned = {
        query: dict(reversed(docs.items())) for query, docs in reversed(level.items())
    }
    means = [evaluate(benchmark, level, seed=s)["mrr"].mean for s in (0, 0, 1)]
    assert means[0] == means[1] != means[2]
    # Expected reciprocal rank of one of eight at random: 0.34
    assert 0.2 < means[0] < 0.5
    assert evaluate(benchmark, turned)["mrr"].mean < 0.5


def test_scores_as_arrays_and_documents_that_do_not_count():
    benchmark, _ = ranked_as([[0, 1]])
    ids = ["D0", "D1", "D9"]
    scores = {"Q0": (ids, np.array([0.1, 0.2, 0.9])), "Q7": {"D0": 1.0}}
    closed = evaluate(benchmark, scores)
    assert closed["mrr"].mean == 1.0 and closed.ignored == 1
    whole = evaluate(replace(benchmark, candidates=None), scores)
    assert whole["mrr"].mean == 0.5


def test_the_query_is_no_result_of_its_own():
    benchmark, _ = ranked_as([[0, 1]])
    scores = {"Q0": {"Q0": 9.0, "D1": 1.0, "D0": 0.5}}
    whole = evaluate(replace(benchmark, candidates=None), scores)
    assert whole["mrr"].mean == 1.0


def test_documents_and_queries_without_a_score_are_never_found():
    benchmark, scores = ranked_as([[1, 1, 0], [1, 0, 0]])
    del scores["Q0"]["D1"], scores["Q1"]
    found = evaluate(benchmark, scores)
    assert found["recall@5"].values.tolist() == [0.5, 0.0]
    assert found["map"].values.tolist() == [0.5, 0.0]
    assert found.unscored == 4


@pytest.mark.parametrize(
    ("scores", "code", "named"),
    [
        ({"Q0": {"D0": float("nan"), "D1": 1.0}}, "T102", "D0 for query Q0"),
        ({"Q5": {"D0": 1.0}}, "T105", "no query"),
        ({"Q0": (["D0", "D0"], np.ones(2))}, "T105", "Q0"),
        ({"Q0": (["D0", "D1"], np.ones(3))}, "T105", "Q0"),
    ],
)
def test_scores_that_cannot_be_used_are_refused_by_name(scores, code, named):
    benchmark, _ = ranked_as([[0, 1]])
    with pytest.raises(T2VError, match=named) as caught:
        evaluate(benchmark, Run("Odd", scores))
    assert caught.value.code == code and "Odd" in str(caught.value)


@pytest.mark.parametrize("name", ["ndcg", "recall@0", "precision@x", "f1@5"])
def test_an_unknown_measure_is_refused(name):
    with pytest.raises(T2VError, match="T104"):
        evaluate(*ranked_as([[1]]), measures=[name])


def test_systems_are_compared_query_by_query():
    benchmark, good = ranked_as([[1, 0]] * 8)
    bad = {query: {"D0": 0.0, "D1": 1.0} for query in good}
    first = evaluate(benchmark, Run("Good", good), measures=["mrr", "recall@2"])
    second = evaluate(benchmark, Run("Bad", bad), measures=["mrr", "recall@2"])
    gain, level = compare(first, second)
    assert (gain.first, gain.second, gain.difference, gain.queries) == (1, 0.5, 0.5, 8)
    assert (gain.low, gain.high) == (0.5, 0.5)
    assert gain.p_permutation == 2 / 2**8 and gain.p_bootstrap < 0.001
    assert (level.difference, level.p_bootstrap, level.p_permutation) == (0, 1, 1)


def test_clusters_make_the_evidence_weaker():
    benchmark, good = ranked_as([[1, 0]] * 8)
    # Worse for the first four queries alone, which are of one review.
    bad = {q: {"D0": 0.0, "D1": 1.0} if q < "Q4" else good[q] for q in good}

    def difference(benchmark):
        pair = [evaluate(benchmark, run, measures=["mrr"]) for run in (good, bad)]
        return compare(*pair)[0]

    alone = difference(benchmark)
    assert 0 < alone.low < alone.difference == 0.25 < alone.high < 0.5
    assert alone.p_permutation == 2 / 2**4
    reviews = {f"Q{n}": f"review {n // 4}" for n in range(8)}
    together = difference(replace(benchmark, clusters=reviews))
    assert (together.low, together.difference, together.high) == (0, 0.25, 0.5)
    assert together.p_permutation == 1


def test_other_queries_or_measures_cannot_be_compared():
    first = evaluate(*ranked_as([[1, 0], [0, 1]]))
    with pytest.raises(T2VError, match=r"T106.*precision@1 counts other queries"):
        compare(first, evaluate(*ranked_as([[1, 0]])))
    with pytest.raises(T2VError, match=r"T106.*other measures"):
        compare(first, evaluate(*ranked_as([[1, 0], [0, 1]]), measures=["map"]))
