"""A bare backbone: the mean over the wordpieces, special ones included."""

from __future__ import annotations

from transformers import AutoConfig, AutoTokenizer

from ...ml.backbone import find_backbone
from ...ml.ultrabert import register_ultrabert
from ..systems.loading import fingerprint
from ..systems.text_encoder import TextEncoder
from .encoders import Array, public_name


class BackboneEncoder(TextEncoder):
    """`Encoder` of a backbone, see `load_encoder`. Vectors are raw."""

    kind = "backbone"

    def __init__(self, backbone: str, *, max_length: int, precision: str) -> None:
        self.name = public_name(backbone)
        self.max_length = min(max_length, _limit(backbone, max_length))
        super().__init__(
            self.name, backbone, window=self.max_length, precision=precision
        )
        self.width = int(self.model.config.hidden_size)
        self.checksum = fingerprint(
            self.model, self.tokenizer, self.max_length, self.precision
        )

    def encode(self, texts: list[str]) -> Array:
        return self._encode(texts)


def _limit(backbone: str, most: int) -> int:
    """What the backbone reads; `most` where it cannot be loaded, of which the loader
    itself will say why."""
    register_ultrabert()
    try:
        found = find_backbone(backbone)
        config = AutoConfig.from_pretrained(found)
        longest = AutoTokenizer.from_pretrained(found).model_max_length
    except (OSError, ValueError, ImportError):
        return most
    return min(longest, getattr(config, "max_position_embeddings", most))
