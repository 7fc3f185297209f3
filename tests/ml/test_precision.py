from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from t2v_spacy import make_trial_doc, read_trials
from t2v_spacy.ml.precision import has_bf16

SAMPLE = Path(__file__).parent.parent.parent / "corpus" / "sample"


def encode(nlp, precision: str) -> np.ndarray:
    model = nlp.get_pipe("transformer").model
    run = model.attrs["run"]
    model.attrs["run"] = replace(run, precision=precision)
    try:
        trials = islice(read_trials(SAMPLE), 4)
        docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in trials)
        return np.stack([doc._.trial_vector for doc in docs])
    finally:
        model.attrs["run"] = run


def test_int8_stays_close_to_float32(shipped_nlp):
    pytest.importorskip("onnxruntime")
    exact, small = encode(shipped_nlp, "float32"), encode(shipped_nlp, "int8")
    cosine = (exact * small).sum(axis=1)
    assert cosine.min() > 0.98
    assert cosine.max() < 1 - 1e-6  # it is another model


@pytest.mark.skipif(not has_bf16(torch.device("cpu")), reason="no bfloat16 here")
def test_bf16_stays_close_to_float32(shipped_nlp):
    exact, half = encode(shipped_nlp, "float32"), encode(shipped_nlp, "bf16")
    assert (exact * half).sum(axis=1).min() > 0.999
