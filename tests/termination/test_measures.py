from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.termination.measures import (
    CalibrationBin,
    average_precision,
    brier,
    calibration_table,
    log_loss,
    roc_auc,
    termination_scores,
)

GOLD = [1, 0, 1, 0, 0]
SCORES = [0.9, 0.8, 0.4, 0.4, 0.1]


def drawn(n: int = 400, levels: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities with many ties."""
    rng = np.random.default_rng(0)
    p = rng.integers(0, levels, n) / levels
    return rng.random(n) < 0.1 + 0.4 * p, p


def test_scores_by_hand():
    scores = termination_scores(GOLD, SCORES, 0.4)
    assert scores == {
        "n": 5,
        "prevalence": 0.4,
        "threshold": 0.4,
        "accuracy": 3 / 5,
        "majority_accuracy": 3 / 5,
        "precision_terminated": 2 / 4,
        "recall_terminated": 1.0,
        "f_terminated": pytest.approx(2 / 3),
        # 3 + 1.5 of 6 pairs are in order
        "roc_auc": pytest.approx(4.5 / 6),
        # precision 1 at the first, 2 / 4 at the tie
        "pr_auc": pytest.approx(0.5 * 1 + 0.5 * 0.5),
        "brier": pytest.approx((0.01 + 0.64 + 0.36 + 0.16 + 0.01) / 5),
        "prevalence_brier": pytest.approx(0.24),
        "log_loss": pytest.approx(-sum(map(math.log, (0.9, 0.2, 0.4, 0.6, 0.9))) / 5),
    }


def test_always_saying_completed_is_no_skill():
    scores = termination_scores([1] * 14 + [0] * 86, [0.1] * 100)
    assert scores["accuracy"] == scores["majority_accuracy"] == 0.86
    assert scores["f_terminated"] == scores["recall_terminated"] == 0.0
    assert scores["precision_terminated"] is None
    assert scores["roc_auc"] == 0.5
    assert scores["pr_auc"] == pytest.approx(0.14)


def test_where_one_class_is_all_there_is_the_areas_are_undefined():
    scores = termination_scores([0, 0, 0], [0.2, 0.3, 0.1])
    undefined = {name for name, value in scores.items() if value is None}
    assert undefined == {
        "roc_auc",
        "pr_auc",
        "precision_terminated",
        "recall_terminated",
        "f_terminated",
    }
    assert scores["accuracy"] == 1.0 and scores["prevalence"] == 0.0
    assert roc_auc([1, 1], [0.2, 0.3]) is None
    assert average_precision([1, 1], [0.2, 0.3]) == 1.0


def test_without_a_trial_nothing_is_defined():
    scores = termination_scores([], [])
    assert {name for name, value in scores.items() if value is not None} == {
        "n",
        "threshold",
    }


def test_ties_do_not_depend_on_the_order_of_the_trials():
    gold, p = drawn()
    order = np.random.default_rng(1).permutation(len(p))
    for measure in (roc_auc, average_precision, brier, log_loss):
        assert measure(gold, p) == pytest.approx(measure(gold[order], p[order]))


def test_scores_agree_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    gold, p = drawn()
    p = np.clip(p, 0.01, 0.99)
    assert roc_auc(gold, p) == pytest.approx(metrics.roc_auc_score(gold, p))
    expected = metrics.average_precision_score(gold, p)
    assert average_precision(gold, p) == pytest.approx(expected)
    assert brier(gold, p) == pytest.approx(metrics.brier_score_loss(gold, p))
    assert log_loss(gold, p) == pytest.approx(metrics.log_loss(gold, p))
    called = p >= 0.5
    assert termination_scores(gold, p)["f_terminated"] == pytest.approx(
        metrics.f1_score(gold, called)
    )


@pytest.mark.parametrize(
    ("gold", "p", "reason"),
    [
        ([1, 0], [0.5, math.nan], "trial 1 is nan"),
        ([1, 0], [0.5, 1.5], "trial 1 is 1.5"),
        ([1, 0], [-0.1, 0.5], "trial 0 is -0.1"),
        ([1, 0], [0.5], r"\(2,\) labels"),
        ([1, 2], [0.5, 0.5], "neither true nor false"),
        ([1, math.nan], [0.5, 0.5], "neither true nor false"),
    ],
)
def test_what_is_no_prediction_is_refused(gold, p, reason):
    for measure in (termination_scores, calibration_table, roc_auc, average_precision):
        with pytest.raises(T2VError, match=f"T145.*{reason}"):
            measure(gold, p)


def test_calibration_by_hand():
    table = calibration_table(GOLD, SCORES, bins=2)
    assert table.bins == (
        CalibrationBin(3, pytest.approx(0.3), pytest.approx(1 / 3)),
        CalibrationBin(2, pytest.approx(0.85), 0.5),
    )
    assert table.error == pytest.approx((3 * (1 / 3 - 0.3) + 2 * 0.35) / 5)


def test_bins_are_of_equal_number():
    gold, p = drawn(103)
    table = calibration_table(gold, p)
    assert sorted({row.n for row in table.bins}) == [10, 11]
    assert sum(row.n for row in table.bins) == 103
    assert len(calibration_table(GOLD, SCORES).bins) == 5
    assert calibration_table([], []).error is None
    with pytest.raises(T2VError, match="T026"):
        calibration_table(GOLD, SCORES, bins=0)


@pytest.mark.parametrize("name", ["c42_majority.csv", "c42_all_negative.csv"])
def test_the_shared_cases_of_imbalance(t2v_data, name):
    folder = t2v_data / "cases"
    with (folder / name).open(encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    expected = json.loads((folder / "c42.expected.json").read_text("utf8"))[name]
    scores = termination_scores(
        [int(row["gold"]) for row in rows], [float(row["p_terminated"]) for row in rows]
    )
    for measure in scores.keys() & expected.keys():
        right = expected[measure]
        if isinstance(right, str):
            assert right.startswith("not defined") and scores[measure] is None
        else:
            assert scores[measure] == pytest.approx(right)
    assert "roc_auc" in expected
