from __future__ import annotations

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.ultrabert.new import make_ultrabert

SHAPE = {
    "hidden_size": 12,
    "intermediate_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "sliding_window": 4,
}
TEXTS = ["Gout in adults, treated with allopurinol"] * 5


def test_it_is_read_by_the_auto_classes_and_is_as_large_as_said(tmp_path):
    said = make_ultrabert(TEXTS, tmp_path / "new", vocabulary=300, **SHAPE)
    model = AutoModel.from_pretrained(tmp_path / "new")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "new")
    assert said == sum(part.numel() for part in model.parameters())
    assert model.config.vocab_size == len(tokenizer) <= 300
    assert model.config.pad_token_id == tokenizer.pad_token_id
    assert tokenizer.decode(tokenizer("Gout in Øl 5µg")["input_ids"]) == (
        "<s>Gout in Øl 5µg</s>"
    )
    # "allopurinol" was seen and is short; other letters are spelled in bytes.
    assert len(tokenizer.tokenize(" allopurinol")) < len(tokenizer.tokenize(" xqzxqzxqzxq"))  # fmt: skip


def test_the_seed_decides_the_weights_and_leaves_the_generator_alone(tmp_path):
    before = torch.random.get_rng_state()
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_ultrabert(TEXTS, tmp_path / name, vocabulary=300, seed=seed, **SHAPE)
    assert torch.equal(before, torch.random.get_rng_state())
    a, b, c = (
        AutoModel.from_pretrained(tmp_path / name).embed_tokens.weight for name in "abc"
    )
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_what_cannot_be_made_leaves_the_older_folder(tmp_path):
    make_ultrabert(TEXTS, tmp_path / "new", vocabulary=300, **SHAPE)
    kept = (tmp_path / "new" / "model.safetensors").read_bytes()
    with pytest.raises(T2VError, match="T026.*vocabulary"):
        make_ultrabert(TEXTS, tmp_path / "new", vocabulary=100, **SHAPE)
    with pytest.raises(T2VError, match="T190.*head_dim"):
        make_ultrabert(TEXTS, tmp_path / "new", **{**SHAPE, "hidden_size": 6})
    assert (tmp_path / "new" / "model.safetensors").read_bytes() == kept
