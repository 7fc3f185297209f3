"""The encoder with a head over its vocabulary, for continued pre-training."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu
from transformers.modeling_outputs import MaskedLMOutput

from .configuration import UltrabertConfig
from .model import UltrabertModel, UltrabertPreTrainedModel


class PredictionHead(nn.Module):
    """States (..., width) -> states of the same width, through a narrow layer."""

    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.prediction_head_size
        self.linear1 = nn.Linear(width, inner, bias=False)
        self.linear2 = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for linear in (self.linear1, self.linear2):
            x = gelu(linear(x), approximate="tanh")
        return x


class UltrabertForMaskedLM(UltrabertPreTrainedModel):
    """UltraBERT that guesses hidden wordpieces; `cls` may be tied to the embeddings."""

    _tied_weights_keys = ["cls.weight"]  # type: ignore[assignment]

    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__(config)
        self.ultrabert = UltrabertModel(config)
        self.head = PredictionHead(config)
        self.cls = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self) -> nn.Module:
        return self.cls

    def set_output_embeddings(self, new_embeddings: nn.Linear) -> None:
        self.cls = new_embeddings

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> MaskedLMOutput | tuple[Any, ...]:
        """Guess wordpieces.

        labels (Tensor | None): (rows, length), -100 where nothing is to be guessed.
        kwargs: As for `UltrabertModel`.
        RETURNS: `logits` (rows, length, vocabulary) and, with labels, `loss`, their
            mean cross-entropy.
        """
        states = self.ultrabert(input_ids, attention_mask, return_dict=True, **kwargs)
        logits = self.cls(self.head(states.last_hidden_state))
        loss: Any = None
        if labels is not None:
            loss = cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        found = MaskedLMOutput(
            loss=loss, logits=logits, hidden_states=states.hidden_states
        )
        if return_dict is None:
            return_dict = self.config.use_return_dict
        return found if return_dict else found.to_tuple()
