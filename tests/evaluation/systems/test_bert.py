from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel, BertTokenizerFast

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.bert import BertMean, BertWhitening, whitening
from t2v_spacy.evaluation.systems.text_encoder import TextEncoder
from t2v_spacy.trial import Trial

TEXTS = ["gout", "", "colchicine for gout flares", "asthma " * 30]


def plain(backbone: str, text: str, first_last: bool = False) -> np.ndarray:
    """Mean over the wordpieces by transformers alone."""
    tokenizer = BertTokenizerFast.from_pretrained(backbone)
    inputs = tokenizer(text, truncation=True, max_length=32, return_tensors="pt")
    model = BertModel.from_pretrained(backbone).eval()
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    states = (hidden[1] + hidden[-1]) / 2 if first_last else hidden[-1]
    return states[0].mean(0).numpy()


@pytest.mark.parametrize("layers", ["last", "first_last"])
def test_vectors_are_means_over_wordpieces(tiny_backbone, layers):
    encoder = TextEncoder(
        "test", tiny_backbone, window=32, layers=layers, precision="float32"
    )
    found = encoder.vectors(TEXTS)
    for i in (0, 2, 3):
        expected = plain(tiny_backbone, TEXTS[i], layers == "first_last")
        assert found[i] == pytest.approx(expected, abs=1e-5)
    assert not found[1].any()


def test_vectors_are_kept_by_backbone_and_settings(
    tiny_backbone, tmp_path, monkeypatch
):
    def make(window: int) -> TextEncoder:
        return TextEncoder("test", tiny_backbone, window=window, cache=tmp_path)

    first = make(32).vectors(TEXTS)
    again, other = make(32), make(16)
    for encoder in (again, other):
        monkeypatch.setattr(encoder, "_encode", None)
    assert np.array_equal(again.vectors(TEXTS), first)
    with pytest.raises(TypeError):
        other.vectors(TEXTS)


def test_what_is_wrong_with_a_backbone_is_said(tiny_backbone, tmp_path):
    with pytest.raises(T2VError, match="T110.*BERT mean.*no/such"):
        BertMean(backbone="no/such")
    for setting in ({"window": 65}, {"window": 2}, {"precision": "int8"}):
        with pytest.raises(T2VError, match="T026"):
            BertMean(**{"backbone": tiny_backbone, "window": 32} | setting)
    with pytest.raises(T2VError, match="T026.*layers"):
        TextEncoder("test", tiny_backbone, window=32, layers="middle")
    lacking = Path(shutil.copytree(tiny_backbone, tmp_path / "lacking"))
    weights = load_file(lacking / "model.safetensors")
    del weights["embeddings.LayerNorm.weight"]
    save_file(weights, lacking / "model.safetensors", {"format": "pt"})
    with pytest.raises(T2VError, match="T110.*lacks 1 weights"):
        BertMean(backbone=str(lacking), window=32)


def test_whitening_by_hand():
    # Variances 4 and 1 along the axes, means 1 and 0, nothing along the third.
    rows = np.array([[3, 0, 5], [-1, 0, 5], [1, 2**0.5, 5], [1, -(2**0.5), 5]])
    rows[:2, 0] = 1 + np.array([8**0.5, -(8**0.5)])
    mean, kernel = whitening(rows)
    assert mean == pytest.approx([1, 0, 5])
    assert np.abs(kernel) == pytest.approx(np.array([[0.5, 0], [0, 1], [0, 0]]))
    assert whitening(rows, 1)[1] == pytest.approx(kernel[:, :1])
    white = (rows - mean) @ kernel
    assert np.cov(white, rowvar=False, bias=True) == pytest.approx(np.eye(2))


def test_whitening_is_of_the_corpus_it_was_trained_on(tiny_backbone):
    words = ["gout", "asthma", "sepsis", "migraine", "anaemia", "psoriasis"]
    trials = [Trial(f"NCT9000000{i}", title=word) for i, word in enumerate(words)]
    system = BertWhitening(backbone=tiny_backbone, window=32, precision="float32")
    system.train(trials)
    system.fit(trials[:2])
    mean, kernel = whitening(system._encoder.vectors([f"## Title\n{w}" for w in words]))
    assert system._mean == pytest.approx(mean, abs=1e-5)
    assert system._kernel.shape == kernel.shape
    assert system._kernel.shape[1] <= len(words) - 1


def test_whitening_needs_trials_that_differ(tiny_backbone):
    twice = [Trial("NCT90000001", title="gout"), Trial("NCT90000002", title="gout")]
    system = BertWhitening(backbone=tiny_backbone, window=32)
    with pytest.raises(T2VError, match="T115"):
        system.fit(twice)
    with pytest.raises(T2VError, match="T026"):
        BertWhitening(backbone=tiny_backbone, window=32, k=0)
