"""The shape of an UltraBERT, in the keys that transformers 5 writes."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig

from ...errors import Errors, error

SLIDING, FULL = "sliding_attention", "full_attention"
_BASES = {SLIDING: 10_000.0, FULL: 2_560_000.0}


class UltrabertConfig(PretrainedConfig):
    """Settings of an UltraBERT; defaults are those of transformers' own class.

    num_key_value_heads (int | None): Heads of keys and values, a divisor of
        num_attention_heads. Defaults to None, as many as those.
    head_dim (int | None): Width of a head. Defaults to None, hidden_size over heads.
    sliding_window (int): How many tokens a sliding layer sees on either side.
    layer_types (List[str] | None): "sliding_attention" or "full_attention" for each
        layer. Defaults to None, every third is full.
    rope_parameters (dict | None): For each type of layer its `rope_theta`. Defaults to
        None, 10,000 on sliding and 2,560,000 on full layers.
    RAISES (T2VError T190): For a value that this implementation cannot run.
    """

    model_type = "ultrabert"

    def __init__(
        self,
        vocab_size: int = 32_000,
        hidden_size: int = 4096,
        intermediate_size: int = 11_008,
        num_hidden_layers: int = 32,
        num_attention_heads: int = 32,
        num_key_value_heads: int | None = None,
        head_dim: int | None = None,
        hidden_act: str = "silu",
        max_position_embeddings: int = 32_768,
        initializer_range: float = 0.02,
        rms_norm_eps: float = 1e-6,
        use_cache: bool = False,
        pad_token_id: int | None = 0,
        bos_token_id: int | None = 0,
        eos_token_id: int | list[int] | None = 0,
        tie_word_embeddings: bool = False,
        rope_parameters: dict[str, dict[str, Any]] | None = None,
        attention_bias: bool = False,
        attention_dropout: float = 0.0,
        mlp_bias: bool = False,
        sliding_window: int = 128,
        layer_types: list[str] | None = None,
        prediction_head_size: int = 768,
        **kwargs: Any,
    ) -> None:
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads or num_attention_heads
        self.head_dim = head_dim or hidden_size // num_attention_heads
        self.hidden_act = hidden_act
        self.max_position_embeddings = max_position_embeddings
        self.initializer_range = initializer_range
        self.rms_norm_eps = rms_norm_eps
        self.use_cache = use_cache
        self.attention_bias = attention_bias
        self.attention_dropout = attention_dropout
        self.mlp_bias = mlp_bias
        self.sliding_window = sliding_window
        self.prediction_head_size = prediction_head_size
        self.layer_types = layer_types or [
            SLIDING if (layer + 1) % 3 else FULL for layer in range(num_hidden_layers)
        ]
        self.rope_parameters = rope_parameters or {
            kind: {"rope_type": "default", "rope_theta": base}
            for kind, base in _BASES.items()
        }
        # transformers 5 calls it `dtype`.
        kwargs.setdefault("torch_dtype", kwargs.pop("dtype", None))
        super().__init__(
            pad_token_id=pad_token_id,
            bos_token_id=bos_token_id,
            eos_token_id=eos_token_id,
            tie_word_embeddings=tie_word_embeddings,
            **kwargs,
        )
        self.check()

    def check(self) -> None:
        """RAISES (T2VError T190): For a value that this implementation cannot run."""
        layers, heads = self.num_hidden_layers, self.num_attention_heads
        if len(self.layer_types) != layers or set(self.layer_types) - set(_BASES):
            known = " or ".join(_BASES)
            _refuse("layer_types", f"{layers} times {known} is expected")
        if heads % self.num_key_value_heads:
            _refuse("num_key_value_heads", f"it does not divide {heads} heads")
        if self.head_dim % 2:
            _refuse("head_dim", "rotary positions need an even one")
        if self.sliding_window < 1:
            _refuse("sliding_window", "at least 1 is expected")
        for kind in sorted(set(self.layer_types)):
            rope = self.rope_parameters.get(kind)
            if not isinstance(rope, dict) or "rope_theta" not in rope:
                _refuse("rope_parameters", f"{kind} has no rope_theta")
            elif (scaling := rope.get("rope_type", "default")) != "default":
                _refuse("rope_parameters", f"'{scaling}' scaling is not known")

    def rope_theta(self, kind: str) -> float:
        return float(self.rope_parameters[kind]["rope_theta"])


def _refuse(setting: str, reason: str) -> None:
    raise error(Errors.T190, setting=setting, reason=reason)
