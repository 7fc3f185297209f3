from __future__ import annotations

import math

import numpy as np
import pytest

from t2v_spacy.evaluation.ranking import (
    average_precision,
    ndcg,
    precision,
    rank,
    recall,
    reciprocal_rank,
)


def test_precision_is_out_of_k():
    assert precision([1, 0, 2, 0], 2) == 0.5
    assert precision([1, 0, 2, 0], 3, relevant=2) == pytest.approx(1 / 3)
    assert precision([1], 5) == 0.2
    assert precision([], 5) == 0.0


def test_recall_is_out_of_what_was_judged_relevant():
    assert recall([1, 0, 1, 0], 1) == 0.5
    assert recall([1, 0, 2, 2], 3, relevant=2) == 0.5
    assert recall([1, 0], 2, missed=[1, 0, 2]) == pytest.approx(1 / 3)
    assert recall([0, 0], 2) is None
    assert recall([0, 0], 2, missed=[1]) == 0.0


def test_ndcg_by_hand():
    # gains 1, 3, 0: DCG = 1 + 3 / log2(3); ideal = 3 + 1 / log2(3)
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert ndcg([1, 2, 0], 5) == pytest.approx(expected)
    assert ndcg([2, 1, 0], 5) == 1.0
    assert ndcg([0, 0, 2], 2) == 0.0
    assert ndcg([0, 0], 5) is None


def test_linear_gain_is_the_grade():
    expected = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert ndcg([1, 2, 0], 5, gain="linear") == pytest.approx(expected)
    assert ndcg([0, 1], 5, gain="linear") == ndcg([0, 1], 5)


def test_ndcg_of_what_was_missed_is_lower():
    # DCG = 1; ideal = 3 + 1 / log2(3)
    expected = 1 / (3 + 1 / math.log2(3))
    assert ndcg([1, 0], 5, missed=[2]) == pytest.approx(expected)
    assert ndcg([], 5, missed=[2]) == 0.0


def test_average_precision_by_hand():
    assert average_precision([2, 0, 2], 2) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision([1, 1, 2], 2) == pytest.approx(1 / 3)
    assert average_precision([1, 0], 2) is None
    assert average_precision([2, 0, 2], 2, missed=[2, 1]) == pytest.approx(5 / 9)


def test_reciprocal_rank_by_hand():
    assert reciprocal_rank([0, 1, 2], 2) == pytest.approx(1 / 3)
    assert reciprocal_rank([0, 1, 2], 1) == 0.5
    assert reciprocal_rank([0, 0], 1, missed=[1]) == 0.0
    assert reciprocal_rank([0, 0], 1) is None


def test_ties_are_broken_at_random_under_a_seed():
    grades = list(range(8))
    first = rank([0.5] * 8, grades, np.random.default_rng(1))
    again = rank([0.5] * 8, grades, np.random.default_rng(1))
    other = rank([0.5] * 8, grades, np.random.default_rng(2))
    assert list(first) == list(again) != list(other)
    assert list(rank([0.1, 0.3, 0.2], [1, 2, 3], np.random.default_rng(0))) == [2, 3, 1]


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="number"):
        rank([0.1, float("nan")], [0, 1], np.random.default_rng(0))
