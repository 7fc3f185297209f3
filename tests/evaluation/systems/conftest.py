"""A tiny random T5, laid out as the published checkpoints are."""

from __future__ import annotations

import io

import pytest


@pytest.fixture(scope="session")
def tiny_monot5(tmp_path_factory) -> str:
    """Path of config.json, pytorch_model.bin and spiece.model."""
    import sentencepiece
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("monot5")
    model = io.BytesIO()
    lines = ["true false gout asthma query document relevant title colchicine"] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*lines, "abcdefghijklmnopqrstuvwxyz :#0123456789"]),
        model_writer=model,
        vocab_size=60,
        user_defined_symbols=["\u2581true", "\u2581false"],
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "spiece.model").write_bytes(model.getvalue())
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=64,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
    )
    t5 = T5ForConditionalGeneration(config)
    t5.config.save_pretrained(folder)
    torch.save(t5.state_dict(), folder / "pytorch_model.bin")
    return str(folder)
