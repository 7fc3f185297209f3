"""Tokenizers as transformers 5 saves them."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedTokenizerFast


class TokenizersBackend(PreTrainedTokenizerFast):
    """The class that transformers 5 names in the `tokenizer_config.json` of every
    tokenizer that is fully described by its `tokenizer.json`."""

    model_input_names = ["input_ids", "attention_mask"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        extra = kwargs.get("extra_special_tokens")
        if isinstance(extra, list):  # transformers 4 wants names with them
            kwargs.pop("extra_special_tokens")
            kwargs.setdefault("additional_special_tokens", extra)
        super().__init__(*args, **kwargs)
