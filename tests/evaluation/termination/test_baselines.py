from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.termination.baselines import (
    Majority,
    TfidfRegression,
    VectorRegression,
    facts_regression,
    fill_regression,
    word2vec_regression,
)
from t2v_spacy.termination.measures import roc_auc
from t2v_spacy.termination.registration import registration_view
from t2v_spacy.trial import Enrollment, Intervention, Trial

pytest.importorskip("sklearn")


def make(n: int, first: int = 0) -> tuple[list[Trial], np.ndarray]:
    """Every third trial is terminated: those of a rare disease in phase 2."""
    gold = np.arange(n) % 3 == 0
    trials = [
        Trial(  # as its registration view, but for the status
            f"NCT{first + i:08}",
            title=f"Tablet {i % 7} in {'a rare cough' if ended else 'common gout'}",
            conditions=("Rare cough",) if ended else ("Gout",),
            interventions=(Intervention(f"Tablet {i % 7}", "DRUG"),),
            brief_summary=f"Does it ease {'cough' if ended else 'gout'} at all?",
            eligibility="Adults",
            phases=frozenset(("PHASE2",) if ended else ("PHASE3",)),
            status="TERMINATED" if ended else "COMPLETED",
        )
        for i, ended in enumerate(gold)
    ]
    return trials, gold


def test_a_view_is_not_made_again(monkeypatch):
    """Reading all texts for what tells the end takes longer than most systems."""
    monkeypatch.setattr("t2v_spacy.termination.registration.without_outcome", None)
    for system in (*systems(), fill_regression()):
        system.fit(TRAIN, GOLD)
        assert len(system.predict(TEST)) == 15


TRAIN, GOLD = make(45)
DEV, DEV_GOLD = make(15, first=100)
TEST, TEST_GOLD = make(15, first=200)


def systems():
    return [
        TfidfRegression(min_count=2),
        facts_regression(),
        VectorRegression(
            "Length", lambda views: np.array([[len(v.title)] for v in views])
        ),
    ]


@pytest.mark.parametrize("system", systems(), ids=lambda s: s.name)
def test_what_can_be_told_is_told(system):
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    p = system.predict(TEST)
    assert p.shape == (15,) and p.dtype == np.float64
    assert roc_auc(TEST_GOLD, p) == 1.0
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    assert (system.predict(TEST) == p).all()
    assert system.predict([]).shape == (0,)


def test_the_majority_says_the_prevalence():
    system = Majority()
    system.fit(TRAIN, GOLD)
    assert system.predict(TEST).tolist() == [1 / 3] * 15
    assert roc_auc(TEST_GOLD, system.predict(TEST)) == 0.5


@pytest.mark.parametrize("system", [*systems(), Majority()], ids=lambda s: s.name)
def test_the_end_of_a_trial_alters_no_prediction(system):
    told = [
        replace(
            trial,
            status="WITHDRAWN",
            why_stopped="Sponsor decision",
            enrollment=Enrollment(0, True),
            title=f"{trial.title} (WITHDRAWN)",
            brief_summary=f"{trial.brief_summary} The study was terminated early.",
        )
        for trial in TEST
    ]
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    views = [registration_view(trial) for trial in told]
    assert (system.predict(views) == system.predict(TEST)).all()


def test_word2vec():
    pytest.importorskip("gensim")
    system = word2vec_regression(width=8, min_count=1, epochs=20)
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    assert system.name == "Word2Vec, regression"
    assert roc_auc(TEST_GOLD, system.predict(TEST)) > 0.9


def test_filled_fields_tell_which_copy_a_record_is_from():
    system = fill_regression()
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    assert roc_auc(TEST_GOLD, system.predict(TEST)) == 0.5
    cut = [
        replace(t, conditions=()) if e else t for t, e in zip(TRAIN, GOLD, strict=True)
    ]
    system.fit(cut, GOLD)
    p = system.predict([TEST[1], replace(TEST[1], conditions=())])
    assert p[0] < 0.5 < p[1]


def test_development_trials_choose_the_strength():
    vectors = np.random.default_rng(0).normal(size=(60, 30))
    rows = {trial.nct_id: row for trial, row in zip(TRAIN + DEV, vectors, strict=True)}
    system = VectorRegression(
        "Noise",
        lambda views: np.array([rows[view.nct_id] for view in views]),
        strengths=(100.0, 1e-4),
    )
    system.fit(TRAIN, GOLD, DEV, DEV_GOLD)
    held = system.predict(DEV)
    assert held == pytest.approx(1 / 3, abs=0.02)  # noise is held to the prevalence
    system.fit(TRAIN, GOLD)
    assert np.ptp(system.predict(DEV)) > 0.5


def test_a_system_learns_from_both_classes_and_before_it_predicts():
    system = facts_regression()
    with pytest.raises(T2VError, match="T146.*Facts"):
        system.predict(TEST)
    with pytest.raises(T2VError, match="T115"):
        system.fit(TRAIN, np.zeros(45))
    with pytest.raises(T2VError, match="T115"):
        system.fit([], [])
    with pytest.raises(T2VError, match="T145"):
        system.fit(TRAIN, GOLD[1:])
    with pytest.raises(T2VError, match="T115.*min_count"):
        TfidfRegression(min_count=50).fit(TRAIN, GOLD)
