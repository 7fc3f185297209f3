"""Checkpoints of transformers, whole or not at all: weights that are lacking would be
drawn at random without an error."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer, PreTrainedModel

from ...ml.ultrabert import register_ultrabert

_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
)


def load_checkpoint(
    name: str,
    auto_class: Any,
    *,
    tokenizer: str | None = None,
    types: tuple[str, ...] = (),
    dropout: float | None = None,
) -> tuple[PreTrainedModel, Any]:
    """A model, in evaluation mode, and its fast tokenizer.

    name (str): Folder or hub name. tokenizer (str | None): The same, if elsewhere.
    auto_class: The class of transformers that loads it.
    types (Tuple[str, ...]): Model types it may be of; any if empty.
    dropout (float | None): In place of what the checkpoint's config says.
    RAISES (ValueError, OSError): With the reason.
    """
    register_ultrabert()
    config = AutoConfig.from_pretrained(name)
    if types and config.model_type not in types:
        raise ValueError(f"it is of type {config.model_type}, not {' or '.join(types)}")
    if dropout is not None:
        for setting in _DROPOUTS:
            if hasattr(config, setting):
                setattr(config, setting, dropout)
    model, info = auto_class.from_pretrained(
        name, config=config, output_loading_info=True
    )
    # No system here reads the pooler, which masked-language models come without.
    missing = [key for key in info["missing_keys"] if "pooler" not in key]
    if missing:
        raise ValueError(f"it lacks {len(missing)} weights, such as {missing[0]}")
    found = AutoTokenizer.from_pretrained(tokenizer or name, use_fast=True)
    if not found.is_fast:
        raise ValueError("it has no fast tokenizer")
    return model.eval(), found


def reason(err: Exception) -> str:
    """First line of what went wrong, to stand inside a message."""
    return str(err).strip().split("\n")[0].rstrip(".:")


def fingerprint(model: PreTrainedModel, tokenizer: Any, *settings: object) -> str:
    """Hash of what decides a model's output, the same in every process."""
    found = hashlib.sha256(repr(settings).encode())
    for key, tensor in sorted(model.state_dict().items()):
        found.update(key.encode())
        found.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy())
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    # Set by whoever called the tokenizer last.
    rules.update(truncation=None, padding=None)
    found.update(json.dumps(rules, sort_keys=True).encode())
    return found.hexdigest()


def pad(
    ids: list[list[int]], pad_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """input_ids and attention_mask, both int64 (sequences, longest)."""
    shape = (len(ids), max(map(len, ids)))
    input_ids = torch.full(shape, pad_id)
    mask = torch.zeros(shape, dtype=torch.int64)
    for i, sequence in enumerate(ids):
        input_ids[i, : len(sequence)] = torch.tensor(sequence)
        mask[i, : len(sequence)] = 1
    return input_ids.to(device), mask.to(device)
