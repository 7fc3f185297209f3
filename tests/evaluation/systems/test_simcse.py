from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.simcse import BertSimcse
from t2v_spacy.evaluation.systems.simcse_training import SimcseSettings, _batches, _loss
from t2v_spacy.trial import Trial

ILLNESSES = ("asthma", "gout", "sepsis", "migraine", "psoriasis", "anaemia")
TRIALS = [Trial(f"NCT9000000{i}", title=name) for i, name in enumerate(ILLNESSES)]


@pytest.fixture
def simcse(tiny_backbone):
    def make(**settings):
        usual = {"window": 32, "batch_size": 3, "dropout": 0.1, "precision": "float32"}
        return BertSimcse(backbone=tiny_backbone, **usual | settings)

    return make


def test_loss_by_hand():
    class Fixed:
        def pool(self, ids):
            return torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 1.0]])

    # Cosine 1 to the own second reading, 0 to the other's.
    expected = math.log(1 + math.exp(-1 / 0.5))
    assert _loss(Fixed(), [[1], [2]], 0.5).item() == pytest.approx(expected)


def test_no_text_is_alone_in_a_batch():
    batches = list(_batches(7, SimcseSettings(batch_size=3, epochs=2)))
    assert [len(batch) for batch in batches] == [3, 3] * 2
    assert len(set(np.concatenate(batches[:2]))) == 6


def test_training_tells_texts_apart(simcse):
    system = simcse(lr=3e-3, epochs=15)
    system.train(TRIALS)
    assert len(system.losses) == 30
    assert np.mean(system.losses[-4:]) < np.mean(system.losses[:4]) / 2


def test_each_training_starts_from_the_backbone(simcse):
    system = simcse(lr=1e-3)
    system.fit(TRIALS)
    first, losses = system.scores(TRIALS), system.losses
    system.fit(TRIALS)
    assert system.losses == losses
    assert np.array_equal(system.scores(TRIALS), first)
    other = simcse(lr=1e-3, seed=1)
    other.fit(TRIALS)
    assert not np.allclose(other.scores(TRIALS), first)


def test_a_finished_training_is_kept(simcse, tmp_path):
    first = simcse(cache=tmp_path)
    first.fit(TRIALS)
    again = simcse(cache=tmp_path)
    again.fit(TRIALS)
    assert first.losses
    assert not again.losses
    assert np.array_equal(first.scores(TRIALS), again.scores(TRIALS))
    longer = simcse(cache=tmp_path, epochs=2)
    longer.fit(TRIALS)
    assert longer.losses


def test_what_cannot_be_trained_is_refused(simcse):
    with pytest.raises(T2VError, match="T026.*dropout"):
        simcse(dropout=0.0).train(TRIALS)
    with pytest.raises(T2VError, match="T115"):
        simcse().train([TRIALS[0], TRIALS[0], Trial("NCT90000009")])
    with pytest.raises(T2VError, match="T117.*step"):
        simcse(lr=1e30, epochs=20).train(TRIALS)


@pytest.mark.parametrize("setting", ["lr", "epochs", "batch_size", "temperature"])
def test_settings_out_of_range(simcse, setting):
    with pytest.raises(T2VError, match=f"T026.*{setting}"):
        simcse(**{setting: 0})
