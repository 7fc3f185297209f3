"""What a user expects of the shipped pipeline, on the built-in trials."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from t2v_spacy import make_trial_doc, read_trials

SAMPLE = Path(__file__).parent.parent / "corpus" / "sample"


def test_the_nearest_trial_is_of_the_same_disease(shipped_nlp):
    trials = [t for t in read_trials(SAMPLE) if int(t.nct_id[4:7]) % 4 == 1]
    docs = shipped_nlp.pipe(make_trial_doc(shipped_nlp, trial) for trial in trials)
    vectors = np.stack([doc._.trial_vector for doc in docs])
    areas = np.array([trial.nct_id[4:7] for trial in trials])
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -1)
    assert len(set(areas)) == 10
    assert (areas[cosine.argmax(axis=1)] == areas).mean() >= 0.95
