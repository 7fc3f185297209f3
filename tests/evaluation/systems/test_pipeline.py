from __future__ import annotations

import numpy as np
import pytest
import spacy

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.pipeline import SectionedMean, Trial2Vec
from t2v_spacy.trial import Trial


@pytest.fixture(scope="module")
def config(tiny_nlp, tiny_backbone, tmp_path_factory) -> str:
    """Of the untrained pipeline. (A made model forgets the folder of its backbone.)"""
    path = tmp_path_factory.mktemp("config") / "tiny.cfg"
    changed = tiny_nlp.config.copy()
    changed["components"]["transformer"]["model"]["name"] = tiny_backbone
    changed.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def folder(tiny_nlp, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("model") / "tiny"
    tiny_nlp.to_disk(path)
    return str(path)


def test_scores_are_cosines_of_trial_vectors(tiny_nlp, folder, config, trials):
    docs = list(tiny_nlp.pipe(make_trial_doc(tiny_nlp, trial) for trial in trials))
    vectors = np.stack([doc._.trial_vector for doc in docs])
    for system in (Trial2Vec(model=folder), SectionedMean(model=config)):
        system.fit(trials)
        assert system.scores(trials[:2]) == pytest.approx(
            vectors[:2] @ vectors.T, abs=1e-5
        )


def test_vectors_are_kept_from_run_to_run(config, trials, tmp_path, monkeypatch):
    first = SectionedMean(model=config, cache=tmp_path)
    first.fit([*trials, Trial("NCT90000009")])
    again = SectionedMean(model=config, cache=tmp_path)
    monkeypatch.setattr(again, "_encode", None)
    again.fit([*trials, Trial("NCT90000009")])
    assert np.array_equal(again.scores(trials), first.scores(trials))


def test_a_pipeline_that_cannot_be_used_is_named(tmp_path):
    with pytest.raises(T2VError, match="T027.*no_such"):
        Trial2Vec(model="no_such")
    with pytest.raises(T2VError, match="T027.*none.cfg"):
        SectionedMean(model=str(tmp_path / "none.cfg"))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(T2VError, match="T024"):
        Trial2Vec(model=str(tmp_path / "blank"))
