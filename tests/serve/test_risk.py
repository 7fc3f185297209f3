from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.cli_predict import predict_trials
from t2v_spacy.ml.trial_textcat import set_calibration
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.serve.answers import Models
from t2v_spacy.serve.library import Library
from tests.conftest import make_trials
from tests.ml.test_trial_textcat import FULL, pipeline

from .conftest import make_client


@pytest.fixture(scope="module")
def risk_nlp(tiny_backbone):
    nlp = pipeline(tiny_backbone, **FULL)
    pipe = nlp.get_pipe("textcat")
    set_calibration(pipe.model, 0.5, [0.2, 0.0], [0.3, 0.7])
    pipe.cfg["threshold"] = 0.45
    return nlp


@pytest.fixture(scope="module")
def index(risk_nlp, tmp_path_factory):
    from t2v_spacy.doc import make_trial_doc

    trials = make_trials()
    docs = risk_nlp.pipe(make_trial_doc(risk_nlp, trial) for trial in trials)
    folder = tmp_path_factory.mktemp("risk") / "index"
    TrialIndex.build(
        IndexEntry(trial, doc._.trial_vector, doc._.section_vectors)
        for trial, doc in zip(trials, docs, strict=True)
    ).to_disk(folder)
    return folder


def test_the_risk_of_a_trial_is_that_of_predict(risk_nlp, index):
    models = Models(risk_nlp, risk_nlp)
    trial = make_trials()[1]
    opened = TrialIndex.from_disk(index)
    expected = next(predict_trials(risk_nlp, [trial], opened)).to_dict()
    with make_client(Library(index), models) as client:
        assert client.get("/api/v1/health").json()["can"]["risk"]
        found = client.post("/api/v1/risk", json={"id": trial.nct_id}).json()
        assert found["nct_id"] == trial.nct_id
        assert found["probability"] == pytest.approx(expected["probability"], abs=1e-5)
        assert found["decision"] == expected["decision"]
        assert found["neighbours"] == expected["neighbours"]
        assert set(found["sections"]) == set(expected["sections"])


def test_the_risk_of_a_draft(risk_nlp, index):
    with make_client(Library(index), Models(None, risk_nlp)) as client:
        found = client.post("/api/v1/risk", json={"text": "Colchicine for gout"}).json()
        assert found["nct_id"] is None
        assert 0 < found["probability"] < 1
        for body in ({}, {"id": "NCT90000001", "text": "gout"}, {"text": " "}):
            answer = client.post("/api/v1/risk", json=body)
            assert answer.status_code == 422


@pytest.mark.parametrize("made", ["width", "fingerprint"])
def test_vectors_of_another_pipeline_are_not_compared(risk_nlp, index, tmp_path, made):
    entries = TrialIndex.from_disk(index).entries()
    if made == "width":
        entries = [IndexEntry(e.trial, np.ones(3, np.float32)) for e in entries]
    meta = {"fingerprint": "another" if made == "fingerprint" else None}
    TrialIndex.build(entries, meta=meta).to_disk(tmp_path / "index")
    with make_client(Library(tmp_path / "index"), Models(None, risk_nlp)) as client:
        found = client.post("/api/v1/risk", json={"id": "NCT90000001"}).json()
        assert found["neighbours"] is None
        assert 0 < found["probability"] < 1
