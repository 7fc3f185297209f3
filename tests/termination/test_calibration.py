from __future__ import annotations

import itertools

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.termination.calibration import (
    calibrated,
    choose_threshold,
    fit_temperature,
)
from t2v_spacy.termination.measures import brier, termination_scores


def drawn(n: int = 4000, slope: float = 1.0, bias: float = 0.0, seed: int = 0):
    """Logits, and labels that come with the odds exp(slope * logit + bias)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n) * 2
    return logits, rng.random(n) < calibrated(logits, 1 / slope, bias)


def test_probabilities_of_logits():
    assert calibrated([0.0, np.log(3), -2000.0, 2000.0]) == pytest.approx(
        [0.5, 0.75, 0, 1]
    )
    assert calibrated([2.0], 2.0, -1.0) == pytest.approx([0.5])


def test_temperature_and_bias_are_found_again():
    logits, gold = drawn(20_000, slope=0.25, bias=-1.0)
    temperature, bias = fit_temperature(logits, gold)
    assert temperature == pytest.approx(4.0, rel=0.1)
    assert bias == pytest.approx(-1.0, abs=0.06)


def test_the_fit_is_that_of_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    logits, gold = drawn(20_000, slope=0.5, bias=0.5)
    model = linear.LogisticRegression(C=1e9, tol=1e-9).fit(logits[:, None], gold)
    temperature, bias = fit_temperature(logits, gold)
    assert 1 / temperature == pytest.approx(model.coef_[0, 0], abs=1e-3)
    assert bias == pytest.approx(model.intercept_[0], abs=1e-3)


@pytest.mark.parametrize(
    ("slope", "bias"),
    list(itertools.product((0.05, 0.5, 1.0, 3.0), (-2.0, 0.0, 1.0))),
)
def test_a_calibrated_model_is_no_worse_and_keeps_the_order(slope, bias):
    logits, gold = drawn(150, slope, bias)
    temperature, shift = fit_temperature(logits, gold)
    p = calibrated(logits, temperature, shift)
    assert temperature > 0
    assert brier(gold, p) <= brier(gold, calibrated(logits))
    before = termination_scores(gold, calibrated(logits))
    assert termination_scores(gold, p)["roc_auc"] == pytest.approx(before["roc_auc"])


def test_logits_that_point_the_wrong_way_become_the_prevalence():
    logits, gold = drawn(300)
    temperature, bias = fit_temperature(-logits, gold)
    assert temperature == pytest.approx(100)
    assert calibrated(-logits, temperature, bias) == pytest.approx(
        gold.mean(), abs=0.03
    )


def test_classes_that_can_be_told_apart_do_not_make_it_certain():
    temperature, bias = fit_temperature([-3.0, -2.0, 2.0, 3.0] * 2, [0, 0, 1, 1] * 2)
    p = calibrated([-3.0, 3.0], temperature, bias)
    assert np.isfinite([temperature, bias]).all() and temperature > 0
    assert 0.001 < p[0] < p[1] < 0.999


def test_equal_logits_become_the_prevalence():
    temperature, bias = fit_temperature([2.0] * 100, [1] * 20 + [0] * 80)
    assert calibrated([2.0], temperature, bias) == pytest.approx([0.2], abs=0.01)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 50.0, 1e4])
def test_logits_of_any_size(scale):
    logits, gold = drawn(400)
    temperature, bias = fit_temperature(logits * scale, gold)
    assert np.isfinite([temperature, bias]).all() and temperature > 0
    p = calibrated(logits * scale, temperature, bias)
    assert brier(gold, p) <= brier(gold, calibrated(logits * scale))


@pytest.mark.parametrize("scale", [0.1, 10.0, 30.0])
def test_saturated_logits_are_fitted_as_small_ones(scale):
    rng = np.random.default_rng(0)
    gold = rng.random(400) < 0.3
    logits = np.where(rng.random(400) < 0.8, gold, ~gold) * 2.0 - 1  # at both ends
    temperature, bias = fit_temperature(logits, gold)
    scaled = fit_temperature(logits * scale, gold)
    assert scaled == pytest.approx((temperature * scale, bias), rel=1e-6)


def test_one_class_cannot_be_calibrated():
    with pytest.warns(UserWarning, match="T148.*temperature of 1"):
        assert fit_temperature([1.0, 2.0], [0, 0]) == (1.0, 0.0)
    with pytest.warns(UserWarning, match="T148.*threshold of 0.5"):
        assert choose_threshold([1, 1], [0.2, 0.3]) == 0.5
    with pytest.warns(UserWarning, match="T148"):
        assert choose_threshold([], []) == 0.5


def test_what_is_no_number_is_refused():
    with pytest.raises(T2VError, match="T145"):
        fit_temperature([1.0, np.nan], [0, 1])
    with pytest.raises(T2VError, match="T145"):
        fit_temperature([1.0], [0, 1])


def test_the_threshold_with_the_highest_f():
    # From the top: F 2/3, 1/2, 4/5, 2/3.
    gold, p = [1, 0, 1, 0], [0.9, 0.8, 0.6, 0.2]
    assert choose_threshold(gold, p) == pytest.approx(0.4)
    assert termination_scores(gold, p, 0.4)["f_terminated"] == pytest.approx(0.8)


def test_of_equal_thresholds_the_highest_is_taken():
    # F is 2/3 for the first alone and for the first four.
    assert choose_threshold([1, 0, 0, 1], [0.9, 0.5, 0.4, 0.3]) == pytest.approx(0.7)


def test_equal_probabilities_are_called_together():
    gold, p = [1, 0, 0, 1], [0.6, 0.6, 0.1, 0.6]
    assert choose_threshold(gold, p) == pytest.approx(0.35)
    assert choose_threshold([1, 0], [0.5, 0.5]) == 0.25


def test_no_threshold_does_better():
    rng = np.random.default_rng(0)
    gold, p = rng.random(60) < 0.3, rng.integers(0, 20, 60) / 20
    best = termination_scores(gold, p, choose_threshold(gold, p))["f_terminated"]
    every = [termination_scores(gold, p, t)["f_terminated"] for t in np.unique(p)]
    assert best == max(every)


def test_neighbouring_floats_are_told_apart():
    high = 0.3
    low = np.nextafter(high, 0)
    assert low < choose_threshold([1, 0], [high, low]) <= high
