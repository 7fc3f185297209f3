"""The encoder: layers of attention and a gated feed-forward, each behind a norm."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.activations import ACT2FN
from transformers.modeling_outputs import BaseModelOutput

from ...errors import Errors, error
from .attention import Sight, attend, see_all, see_band
from .configuration import FULL, SLIDING, UltrabertConfig
from .rotary import Angles, make_angles, rotate


class RMSNorm(nn.Module):
    """torch's own, in operations that ONNX Runtime has too."""

    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__()
        self.eps = config.rms_norm_eps
        self.weight = nn.Parameter(torch.ones(config.hidden_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * (wide * scale).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.dropout = config.attention_dropout
        width, bias = config.hidden_size, config.attention_bias
        own = config.num_attention_heads * config.head_dim
        shared = config.num_key_value_heads * config.head_dim
        self.copies = config.num_attention_heads // config.num_key_value_heads
        self.q_proj = nn.Linear(width, own, bias=bias)
        self.k_proj = nn.Linear(width, shared, bias=bias)
        self.v_proj = nn.Linear(width, shared, bias=bias)
        self.o_proj = nn.Linear(own, width, bias=bias)

    def forward(self, x: torch.Tensor, sight: Sight, angles: Angles) -> torch.Tensor:
        heads = (*x.shape[:2], -1, self.head_dim)
        queries = rotate(self.q_proj(x).view(heads), angles)
        keys = rotate(self.k_proj(x).view(heads), angles)
        values = self.v_proj(x).view(heads)
        if self.copies > 1:
            keys = keys.repeat_interleave(self.copies, dim=2)
            values = values.repeat_interleave(self.copies, dim=2)
        dropout = self.dropout if self.training else 0.0
        found = attend(queries, keys, values, sight, dropout)
        return self.o_proj(found.flatten(2))


class FeedForward(nn.Module):
    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = nn.Linear(width, inner, bias=config.mlp_bias)
        self.up_proj = nn.Linear(width, inner, bias=config.mlp_bias)
        self.down_proj = nn.Linear(inner, width, bias=config.mlp_bias)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(self.activation(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = FeedForward(config)
        self.input_layernorm = RMSNorm(config)
        self.post_attention_layernorm = RMSNorm(config)

    def forward(self, x: torch.Tensor, sight: Sight, angles: Angles) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x), sight, angles)
        return x + self.mlp(self.post_attention_layernorm(x))


class UltrabertPreTrainedModel(PreTrainedModel):
    """What the encoder and its heads have in common."""

    config_class = UltrabertConfig  # type: ignore[assignment]
    # The prefix of the encoder's weights in a checkpoint with a head.
    base_model_prefix = "ultrabert"
    supports_gradient_checkpointing = True
    _no_split_modules = ["Layer"]
    _supports_sdpa = True

    @staticmethod
    def _fix_state_dict_key_on_load(key: str) -> tuple[str, bool]:
        # transformers 5 takes this name of the encoder too, its own in memory.
        bare = key.removeprefix("model.")
        return bare, bare != key

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(0.0, self.config.initializer_range)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.data.zero_()
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            module.weight.data[module.padding_idx].zero_()
        if isinstance(module, RMSNorm):
            module.weight.data.fill_(1.0)


class UltrabertModel(UltrabertPreTrainedModel):
    """UltraBERT without a head.

    config (UltrabertConfig): Its shape.
    RAISES (T2VError T190): For a setting that this implementation cannot run.
    """

    def __init__(self, config: UltrabertConfig) -> None:
        super().__init__(config)
        config.check()
        self.embed_tokens = nn.Embedding(
            config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id
        )
        self.layers = nn.ModuleList(
            Layer(config) for _ in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(config)
        self.gradient_checkpointing = False
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.embed_tokens

    def set_input_embeddings(self, value: Any) -> None:
        self.embed_tokens = value

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
        return_dict: bool | None = None,
    ) -> BaseModelOutput | tuple[Any, ...]:
        """Encode a batch.

        input_ids (Tensor): (rows, length). Or inputs_embeds (rows, length, width).
        attention_mask (Tensor | None): (rows, length), 0 at padding, which may be on
            either side. Defaults to None, no padding. States of padding mean nothing.
        token_type_ids: Ignored; for tokenizers that make them.
        RETURNS: `last_hidden_state` (rows, length, width) and, on request,
            `hidden_states`: the embeddings and what each layer gives, the last normed.
        RAISES (T2VError T191): If the attention weights are asked for.
        """
        if output_attentions or self.config.output_attentions:
            raise error(Errors.T191)
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        if attention_mask is None:
            real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        else:
            real = attention_mask > 0
        config = self.config
        sights = {
            FULL: see_all(real),
            SLIDING: see_band(real, config.sliding_window),
        }
        angles = {
            kind: make_angles(x.shape[1], config.head_dim, config.rope_theta(kind), x)
            for kind in set(config.layer_types)
        }
        if output_hidden_states is None:
            output_hidden_states = config.output_hidden_states
        states: list[Any] = []
        for layer, kind in zip(self.layers, config.layer_types, strict=True):
            if output_hidden_states:
                states.append(x)
            if self.gradient_checkpointing and self.training:
                x = self._gradient_checkpointing_func(
                    layer.__call__, x, sights[kind], angles[kind]
                )
            else:
                x = layer(x, sights[kind], angles[kind])
        x = self.norm(x)
        found = BaseModelOutput(
            last_hidden_state=x,
            hidden_states=(*states, x) if output_hidden_states else None,
        )
        if return_dict is None:
            return_dict = config.use_return_dict
        return found if return_dict else found.to_tuple()
