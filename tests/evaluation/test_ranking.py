from __future__ import annotations

import math

import numpy as np
import pytest

from t2v_spacy.evaluation.ranking import (
    average_precision,
    bootstrap_interval,
    ndcg,
    rank,
)


def test_ndcg_by_hand():
    # gains 1, 3, 0: DCG = 1 + 3 / log2(3); ideal = 3 + 1 / log2(3)
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert ndcg([1, 2, 0], 5) == pytest.approx(expected)
    assert ndcg([2, 1, 0], 5) == 1.0
    assert ndcg([0, 0, 2], 2) == 0.0
    assert ndcg([0, 0], 5) is None


def test_average_precision_by_hand():
    assert average_precision([2, 0, 2], 2) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision([1, 1, 2], 2) == pytest.approx(1 / 3)
    assert average_precision([1, 0], 2) is None


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


def test_interval_holds_the_mean_and_narrows_with_more_queries():
    rng = np.random.default_rng(0)
    few, many = rng.random(20), rng.random(2000)
    low, high = bootstrap_interval(few)
    assert low < few.mean() < high
    assert np.subtract(*bootstrap_interval(many)[::-1]) < (high - low) / 3
