"""Continued pre-training of an UltraBERT on trials."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM

from t2v_spacy.training.masked_lm import train_masked_lm
from t2v_spacy.training.masked_lm_settings import MaskedLMSettings
from tests.conftest import make_tiny_nlp, make_trials

SMALL = MaskedLMSettings(
    max_steps=4, head_steps=0, batch_tokens=128, max_tokens=64, window=32,
    learn_rate=1e-2, warmup_steps=2, eval_every=2, precision="float32",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*T124")
def test_the_result_is_a_backbone(tmp_path, tiny_ultrabert):
    out = tmp_path / "trialbert"
    result = train_masked_lm(
        make_trials(), out, backbone=tiny_ultrabert, settings=SMALL
    )
    assert result.steps == 4
    start = load_file(f"{tiny_ultrabert}/model.safetensors")
    found = load_file(out / "model.safetensors")
    assert found.keys() == start.keys()
    assert not torch.equal(found["layers.0.mlp.up_proj.weight"], start["layers.0.mlp.up_proj.weight"])  # fmt: skip
    vector = make_tiny_nlp(str(out))("Gout in adults")._.trial_vector
    assert vector.shape == (24,)


def test_a_head_may_be_tied(tiny_ultrabert):
    model = AutoModelForMaskedLM.from_pretrained(tiny_ultrabert, tie_word_embeddings=True)  # fmt: skip
    assert model.cls.weight is model.ultrabert.embed_tokens.weight
    model = AutoModelForMaskedLM.from_pretrained(tiny_ultrabert)
    assert model.cls.weight is not model.ultrabert.embed_tokens.weight
