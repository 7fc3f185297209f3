from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.evaluation.significance import (
    bootstrap_interval,
    paired_bootstrap,
    sign_flip_test,
)


def test_interval_holds_the_mean_and_narrows_with_more_queries():
    rng = np.random.default_rng(0)
    few, many = rng.random(20), rng.random(2000)
    low, high = bootstrap_interval(few)
    assert low < few.mean() < high
    assert np.subtract(*bootstrap_interval(many)[::-1]) < (high - low) / 3


def test_interval_is_that_of_the_standard_error():
    values = np.random.default_rng(0).normal(size=1000)
    low, high = bootstrap_interval(values, rounds=5000)
    error = values.std() / np.sqrt(len(values))
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert bootstrap_interval([0.3] * 4) == pytest.approx((0.3, 0.3))


def test_queries_of_one_cluster_count_as_one():
    # Ten copies of each of four values say no more than the four values do.
    values = [0.0, 0.2, 0.6, 1.0]
    copies = np.repeat(values, 10)
    clusters = np.repeat(list("abcd"), 10).tolist()
    expected = bootstrap_interval(values)
    assert bootstrap_interval(copies, clusters=clusters) == pytest.approx(expected)
    low, high = bootstrap_interval(copies)
    assert high - low < (expected[1] - expected[0]) / 2


def test_cluster_means_are_weighted_by_queries():
    values, clusters = [1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]
    assert bootstrap_interval(values, clusters=clusters) == (0.0, 1.0)
    drawn = paired_bootstrap(values, [0.0] * 4, clusters=clusters)
    assert drawn.difference == 0.75


def test_memory_does_not_change_the_result(monkeypatch):
    values = np.random.default_rng(0).random(50)
    whole = sign_flip_test(values, values[::-1])
    monkeypatch.setattr("t2v_spacy.evaluation.significance._CELLS", 500)
    assert sign_flip_test(values, values[::-1]) == whole


def test_sign_flips_by_hand():
    # |sum| of (+-1, +-2, +-3) is 6 in 2 of 8 ways, at least 4 in 4 of them
    assert sign_flip_test([1, 2, 3], [0, 0, 0]) == 0.25
    assert sign_flip_test([-1, 2, 3], [0, 0, 0]) == 0.5
    assert sign_flip_test([0.1, 0.2], [0.1, 0.2]) == 1.0
    assert sign_flip_test([1, 2, 3], [0, 0, 0], clusters=["a", "a", "b"]) == 0.5


def test_random_sign_flips_agree_with_all_of_them():
    rng = np.random.default_rng(1)
    first, second = rng.random(12), rng.random(12) - 0.2
    exact = sign_flip_test(first, second)
    assert sign_flip_test(first, second, rounds=4000) == pytest.approx(exact, abs=0.02)


def test_paired_tests_see_a_steady_small_gain():
    rng = np.random.default_rng(2)
    first = rng.random(60)
    second = first - 0.02 + rng.normal(scale=0.02, size=60)
    found = paired_bootstrap(first, second)
    assert 0 < found.low < found.difference < found.high
    assert found.p == pytest.approx(2 / 10_001)
    assert sign_flip_test(first, second) == pytest.approx(1 / 10_001)
    back = paired_bootstrap(second, first)
    assert (back.difference, back.high) == pytest.approx(
        (-found.difference, -found.low)
    )


def test_equal_systems_do_not_differ():
    found = paired_bootstrap([0.1, 0.5], [0.1, 0.5])
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_p_of_no_effect_is_small_as_often_as_it_says():
    rng = np.random.default_rng(3)
    found = [
        (paired_bootstrap(*pair, rounds=400).p, sign_flip_test(*pair, rounds=400))
        for pair in rng.normal(size=(200, 2, 40))
    ]
    rates = (np.array(found) < 0.1).mean(axis=0)
    assert ((rates > 0.04) & (rates < 0.18)).all()


def test_unpaired_or_no_values_are_refused():
    with pytest.raises(ValueError, match="same queries"):
        paired_bootstrap([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="no query"):
        bootstrap_interval([])
    with pytest.raises(ValueError, match="one cluster"):
        bootstrap_interval([1.0, 2.0], clusters=["a"])
