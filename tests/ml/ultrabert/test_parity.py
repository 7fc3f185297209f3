"""Checkpoints written by transformers 5.24, and what its own class made of them.

`scripts/check_ultrabert.py parity` makes them, and checks more and longer ones.
"""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from .conftest import FIXTURES

HEADS = ("tied", "untied")


def run(folder, case: str, **settings):
    """What comes out of our class and of theirs, at the real tokens."""
    kind = AutoModelForMaskedLM if case in HEADS else AutoModel
    model, info = kind.from_pretrained(folder, output_loading_info=True, **settings)
    assert not info["missing_keys"] and not info["unexpected_keys"]
    expected = load_file(FIXTURES / case / "expected.safetensors")
    mask = expected["attention_mask"]
    with torch.no_grad():
        found = model.eval()(expected["input_ids"], mask)[0]
    assert found.isfinite().all()
    return found[mask > 0], {
        key: value[mask > 0] for key, value in expected.items() if value.dim() == 3
    }


@pytest.mark.parametrize("case", ["right", "left", "biases", "bfloat16", *HEADS])
def test_states_are_those_of_transformers(case):
    weights = "right" if case == "left" else case  # the same
    found, expected = run(FIXTURES / weights, case)
    assert found.dtype == torch.float32
    assert expected["output"].abs().max() > 1
    torch.testing.assert_close(found, expected["output"], atol=1e-4, rtol=0)


def test_bfloat16_is_as_near_as_theirs():
    found, expected = run(FIXTURES / "bfloat16", "bfloat16", torch_dtype=torch.bfloat16)
    ours, theirs = (
        torch.cosine_similarity(states, expected["output"], dim=-1).mean()
        for states in (found.float(), expected["half"])
    )
    assert found.dtype == torch.bfloat16
    assert ours > 0.999
    assert ours > theirs - 1e-3


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("sliding_window", 9),
        ("layer_types", ["sliding_attention"] * 3),
        ("rms_norm_eps", 1e-2),
        (
            "rope_parameters",
            {
                "full_attention": {"rope_theta": 1e4},
                "sliding_attention": {"rope_theta": 1e4},
            },
        ),
    ],
)
def test_each_setting_counts(tmp_path, setting, value):
    """So that the test of equal states can fail."""
    shutil.copytree(FIXTURES / "right", tmp_path / "other")
    path = tmp_path / "other" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {setting: value}))
    found, expected = run(path.parent, "right")
    assert (found - expected["output"]).abs().max() > 1e-2


@pytest.mark.parametrize("prefix", ["model.", "ultrabert."])
def test_an_encoder_under_a_name_is_found(tmp_path, prefix):
    shutil.copytree(FIXTURES / "right", tmp_path / "other")
    path = tmp_path / "other" / "model.safetensors"
    named = {f"{prefix}{name}": value for name, value in load_file(path).items()}
    save_file(named, path, {"format": "pt"})
    found, expected = run(path.parent, "right")
    torch.testing.assert_close(found, expected["output"], atol=1e-4, rtol=0)
    _, info = AutoModelForMaskedLM.from_pretrained(
        path.parent, output_loading_info=True
    )
    assert {name.split(".")[0] for name in info["missing_keys"]} == {"head", "cls"}


def test_the_tokenizer_reads_files_of_transformers_5():
    written = json.loads((FIXTURES / "right" / "expected.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "right")
    assert tokenizer(written["text"])["input_ids"] == written["ids"]
    assert tokenizer.is_fast
    assert tokenizer.model_max_length == 32_768
    assert tokenizer.additional_special_tokens == ["<trial>"]
    assert set(tokenizer("gout")) == {"input_ids", "attention_mask"}


def test_what_is_saved_reads_back(tmp_path):
    model = AutoModel.from_pretrained(FIXTURES / "right").eval()
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "right")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    found, expected = run(tmp_path, "right")
    torch.testing.assert_close(found, expected["output"], atol=1e-4, rtol=0)
    written = json.loads((FIXTURES / "right" / "expected.json").read_text())
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again(written["text"])["input_ids"] == written["ids"]
    theirs = json.loads((FIXTURES / "right" / "config.json").read_text())
    ours = json.loads((tmp_path / "config.json").read_text())
    assert ours["architectures"] == theirs["architectures"]
    assert set(load_file(tmp_path / "model.safetensors")) == set(
        load_file(FIXTURES / "right" / "model.safetensors")
    )
