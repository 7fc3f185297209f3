"""An encoder as mteb takes it."""

from __future__ import annotations

from typing import Any

from .encoders import Encoder, vectors
from .libraries import library


def as_mteb(encoder: Encoder) -> Any:
    """A model for `mteb.evaluate`: the encoder, compared by cosine, without prompts.

    RAISES (T202): mteb is not installed.
    """
    library("mteb", encoder.name)
    from mteb.models.abs_encoder import AbsEncoder
    from mteb.models.model_meta import ModelMeta, ScoringFunction

    class MtebEncoder(AbsEncoder):
        mteb_model_meta = ModelMeta.create_empty(
            {
                "name": f"t2v_spacy/{encoder.name}",
                "revision": encoder.checksum[:16],
                "modalities": ["text"],
                "embed_dim": encoder.width,
                "max_tokens": encoder.max_length,
                "similarity_fn_name": ScoringFunction.COSINE,
            }
        )

        def encode(self, inputs: Any, **kwargs: Any) -> Any:
            """inputs: Batches {"text": [...]}; the other arguments name the task, of
            which a vector knows nothing."""
            return vectors(
                encoder, [text for batch in inputs for text in batch["text"]]
            )

    return MtebEncoder()
