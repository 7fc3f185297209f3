from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.termination.resampling import (
    MEASURES,
    bootstrap,
    paired_difference,
)
from t2v_spacy.termination.measures import average_precision, brier, roc_auc

VALUES = {"roc_auc": roc_auc, "pr_auc": average_precision, "brier": brier}


def drawn(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n) < p, p


def test_intervals_hold_the_value_and_narrow_with_more_trials():
    few, many = drawn(60), drawn(3000)
    wide, narrow = (bootstrap(*data, rounds=300) for data in (few, many))
    for name in MEASURES:
        low, high = wide[name]
        assert low < VALUES[name](*few) < high
        assert np.subtract(*narrow[name][::-1]) < (high - low) / 3


def test_the_interval_of_the_brier_score_is_that_of_a_mean():
    gold, p = drawn(500)
    low, high = bootstrap(gold, p, rounds=4000)["brier"]
    error = ((p - gold) ** 2).std() / np.sqrt(len(p))
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.1)


def test_memory_does_not_change_the_result(monkeypatch):
    gold, p = drawn(50)
    whole = bootstrap(gold, p, rounds=100)
    monkeypatch.setattr("t2v_spacy.evaluation.termination.resampling._CELLS", 500)
    assert bootstrap(gold, p, rounds=100) == whole


def test_a_system_does_not_differ_from_itself():
    gold, p = drawn(80)
    for test in paired_difference(gold, p, p, rounds=50).values():
        assert (test.difference, test.low, test.high, test.p) == (0, 0, 0, 1)


def test_a_better_system_is_told_from_a_worse_one():
    gold, p = drawn(400)
    noise = np.random.default_rng(1).random(400)
    found = paired_difference(gold, p, noise, rounds=400)
    for name, test in found.items():
        difference = VALUES[name](gold, p) - VALUES[name](gold, noise)
        assert test.difference == pytest.approx(difference)
        assert test.low < difference < test.high
        assert test.p == pytest.approx(2 / 401)
    assert found["roc_auc"].low > 0 > found["brier"].high
    back = paired_difference(gold, noise, p, rounds=400)
    assert back["roc_auc"].high == pytest.approx(-found["roc_auc"].low)


def test_draws_without_both_classes_are_left_out():
    found = bootstrap([1, 0, 0], [0.9, 0.1, 0.2], rounds=200)
    assert found["roc_auc"] == (1.0, 1.0)


def test_what_is_undefined_has_no_interval():
    found = bootstrap([0, 0, 0], [0.2, 0.3, 0.1], rounds=20)
    assert found["roc_auc"] is None and found["pr_auc"] is None
    assert found["brier"] is not None
    tests = paired_difference([0, 0], [0.2, 0.3], [0.1, 0.1], rounds=20)
    assert tests["roc_auc"] is None and tests["brier"] is not None
    assert set(bootstrap([], [], rounds=5).values()) == {None}


def test_what_is_no_prediction_is_refused():
    with pytest.raises(T2VError, match="T145"):
        bootstrap([1, 0], [0.5, float("nan")])
    with pytest.raises(T2VError, match="T145"):
        paired_difference([1, 0], [0.5, 0.5], [0.5])
    with pytest.raises(T2VError, match="T026"):
        bootstrap([1, 0], [0.5, 0.5], rounds=0)
