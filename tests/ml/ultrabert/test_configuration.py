from __future__ import annotations

import json

import pytest
import torch
from transformers import AutoConfig, AutoModel

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.ultrabert.configuration import FULL, SLIDING, UltrabertConfig
from t2v_spacy.ml.ultrabert.model import UltrabertModel

from .conftest import FIXTURES


def test_defaults_are_those_of_transformers():
    config = UltrabertConfig(num_hidden_layers=7)
    assert config.layer_types == [SLIDING, SLIDING, FULL] * 2 + [SLIDING]
    assert config.rope_theta(SLIDING) == 10_000
    assert config.rope_theta(FULL) == 2_560_000
    assert config.num_key_value_heads == 32
    assert config.head_dim == 128
    assert config.max_position_embeddings == 32_768


def test_the_published_size():
    """24 layers of width 768: 151,032,576 parameters."""
    config = UltrabertConfig(
        vocab_size=49_152,
        hidden_size=768,
        intermediate_size=1024,
        num_hidden_layers=24,
        num_attention_heads=12,
    )
    with torch.device("meta"):
        model = UltrabertModel(config)
    assert sum(p.numel() for p in model.parameters()) == 151_032_576


def test_keys_of_transformers_5_are_read():
    config = AutoConfig.from_pretrained(FIXTURES / "bfloat16")
    written = json.loads((FIXTURES / "bfloat16" / "config.json").read_text())
    assert written["dtype"] == "bfloat16"
    assert config.torch_dtype == torch.bfloat16
    for key in ("layer_types", "rope_parameters", "num_key_value_heads", "head_dim"):
        assert getattr(config, key) == written[key]


def test_weights_are_read_in_float32_and_stay_so():
    """As for every backbone; a saved pipeline then makes its model in the same type."""
    model = AutoModel.from_pretrained(FIXTURES / "bfloat16")
    again = AutoModel.from_config(UltrabertConfig(**model.config.to_dict()))
    for made in (model, again):
        assert {p.dtype for p in made.parameters()} == {torch.float32}


def test_a_config_saved_here_reads_back(tmp_path):
    config = UltrabertConfig(num_hidden_layers=2, sliding_window=16)
    config.save_pretrained(tmp_path)
    again = AutoConfig.from_pretrained(tmp_path)
    assert isinstance(again, UltrabertConfig)
    keys = ("layer_types", "sliding_window", "rope_parameters", "num_hidden_layers")
    assert all(getattr(again, key) == getattr(config, key) for key in keys)


@pytest.mark.parametrize(
    "settings",
    [
        {"layer_types": [FULL]},
        {"layer_types": ["chunked_attention"] * 32},
        {"num_key_value_heads": 5},
        {"head_dim": 7},
        {"sliding_window": 0},
        {"rope_parameters": {FULL: {"rope_theta": 1e4}}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
        {
            "rope_parameters": {
                FULL: {"rope_theta": 1e4},
                SLIDING: {"rope_type": "yarn", "rope_theta": 1e4},
            }
        },
    ],
)
def test_what_cannot_be_run_is_named(settings):
    with pytest.raises(T2VError, match=f"T190.*{next(iter(settings))}"):
        UltrabertConfig(**settings)


def test_a_change_that_leaves_the_layers_behind_is_named():
    """As by transformer_config, which is set after the config is made."""
    config = AutoConfig.from_pretrained(FIXTURES / "right", num_hidden_layers=2)
    with pytest.raises(T2VError, match="T190.*layer_types"):
        AutoModel.from_config(config)
