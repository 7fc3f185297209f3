from __future__ import annotations

import json

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import fix_random_seed

from t2v_spacy.errors import T2VError
from t2v_spacy.termination.calibration import calibrated
from t2v_spacy.termination.labels import NEGATIVE, POSITIVE
from t2v_spacy.training.calibrate import calibrate
from tests.ml.test_trial_textcat import written


@pytest.fixture
def nlp():
    """A classifier whose log-odds of termination are 4 times the first number."""
    nlp = spacy.blank("en")
    config = {
        "model": {"@architectures": "t2v.TrialVectorTextCat.v1"},
        "threshold": 0.5,
    }
    pipe = nlp.add_pipe("textcat", config=config)
    fix_random_seed(0)
    nlp.initialize(lambda: examples(nlp, [(1.0, True), (-1.0, False)]))
    _, layer = pipe.model.layers
    rows = [[4.0 if label == POSITIVE else 0.0, 0.0] for label in pipe.labels]
    layer.set_param("W", np.array(rows, "f"))
    layer.set_param("b", np.zeros(2, "f"))
    return nlp


def examples(nlp, pairs) -> list[Example]:
    made = []
    for x, gold in pairs:
        doc = written(nlp.vocab, [x, 1.0])
        doc.cats = {POSITIVE: float(gold), NEGATIVE: float(not gold)}
        made.append(Example(doc, doc))
    return made


def overconfident(n=200) -> list[tuple[float, bool]]:
    """Log-odds are a quarter of what the classifier says, less 1."""
    rng = np.random.default_rng(0)
    xs = rng.uniform(-3, 3, n)
    return [(x, bool(rng.random() < 1 / (1 + np.exp(-(x - 1))))) for x in xs.tolist()]


def probabilities(nlp, made) -> np.ndarray:
    return np.array(
        [nlp.get_pipe("textcat")(eg.predicted.copy()).cats[POSITIVE] for eg in made]
    )


def test_overconfidence_is_taken_back(nlp):
    made = examples(nlp, overconfident())
    before = probabilities(nlp, made)
    gold = np.array([eg.reference.cats[POSITIVE] for eg in made])
    facts = calibrate(nlp, made)
    after = probabilities(nlp, made)
    assert facts["temperature"] == pytest.approx(4, rel=0.3)
    assert facts["bias"] == pytest.approx(-1, abs=0.4)
    assert facts["prior"] == pytest.approx(gold.mean())
    assert facts["trials"] == 200
    assert after.mean() == pytest.approx(gold.mean(), abs=0.01)
    assert ((after - gold) ** 2).mean() < ((before - gold) ** 2).mean() - 0.01
    assert (np.argsort(after) == np.argsort(before)).all()
    xs = np.array([x for x, _ in overconfident()])
    np.testing.assert_allclose(
        after, calibrated(4 * xs, facts["temperature"], facts["bias"]), atol=1e-5
    )
    # The gold labels of the corpus are still there.
    assert [eg.reference.cats[POSITIVE] for eg in made] == gold.tolist()


def test_the_threshold_has_the_best_f_and_is_kept_by_the_pipe(nlp):
    made = examples(nlp, overconfident())
    facts = calibrate(nlp, made)
    gold = np.array([eg.reference.cats[POSITIVE] > 0 for eg in made])
    p = probabilities(nlp, made)

    def f(threshold: float) -> float:
        called = p >= threshold
        return 2 * (called & gold).sum() / (called.sum() + gold.sum())

    assert f(facts["threshold"]) == pytest.approx(max(map(f, p.tolist())))
    assert nlp.get_pipe("textcat").cfg["threshold"] == facts["threshold"]
    assert nlp.meta["termination"] == facts
    json.dumps(nlp.meta)


def test_it_survives_saving_and_a_second_time_changes_nothing(nlp, tmp_path):
    made = examples(nlp, overconfident())
    facts = calibrate(nlp, made)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    np.testing.assert_array_equal(probabilities(again, made), probabilities(nlp, made))
    assert again.meta["termination"] == facts
    assert again.get_pipe("textcat").cfg["threshold"] == facts["threshold"]
    nothing = again.get_pipe("textcat")(written(again.vocab))
    assert nothing.cats[POSITIVE] == pytest.approx(facts["prior"])
    second = calibrate(again, made)
    assert second == pytest.approx(facts)


def test_the_performance_is_that_of_the_calibrated_pipe(nlp):
    nlp.meta["performance"] = {"termination_brier": 0.9, "cats_score": 0.5}
    made = examples(nlp, overconfident())
    calibrate(nlp, made)
    gold = np.array([eg.reference.cats[POSITIVE] for eg in made])
    brier = ((probabilities(nlp, made) - gold) ** 2).mean()
    performance = nlp.meta["performance"]
    assert performance == {
        "termination_brier": pytest.approx(brier, abs=1e-6),
        "cats_score": 0.5,
    }


@pytest.mark.parametrize(
    "pairs", [[], [(1.0, True), (0.5, True)]], ids=["none", "one kind"]
)
def test_it_needs_trials_of_both_kinds(nlp, pairs):
    with pytest.raises(T2VError, match="T151.*textcat.*dev_corpus"):
        calibrate(nlp, examples(nlp, pairs))
