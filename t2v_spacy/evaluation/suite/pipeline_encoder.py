"""A spaCy pipeline: `doc._.trial_vector` of a text."""

from __future__ import annotations

import hashlib

import numpy as np
import torch

from ...search.fingerprint import pipeline_fingerprint
from ..systems.pipeline import load_pipeline
from ..systems.text_encoder import checked_precision
from .encoders import Array, public_name, reads

_BATCH = 128  # docs


class PipelineEncoder:
    """`Encoder` of a pipeline, see `load_encoder`. Vectors are of unit length.

    The text is cut as a whole, then read as the pipeline reads text: with its sections,
    if it has headings, and in the pipeline's own windows.
    """

    kind = "pipeline"

    def __init__(self, model: str, *, max_length: int, precision: str) -> None:
        self.name = public_name(model)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        resolved = checked_precision(precision, device)
        given = None if precision == "auto" else precision  # what the pipeline says
        self._nlp = load_pipeline(model, given, seed=0)
        transformer = self._nlp.get_pipe("transformer").model  # type: ignore[attr-defined]
        self._tokenizer = transformer.tokenizer
        self.max_length = reads(self._tokenizer, transformer.transformer, max_length)
        self.width = len(self._nlp("trial")._.trial_vector)
        made_by = f"{pipeline_fingerprint(self._nlp)} {self.max_length} {resolved}"
        self.checksum = hashlib.sha256(made_by.encode()).hexdigest()

    def encode(self, texts: list[str]) -> Array:
        rows = np.zeros((len(texts), self.width), dtype="float32")
        # An error handler may drop Docs: each says itself which row it is.
        pairs = zip(self._cut(texts), range(len(texts)), strict=True)
        for doc, i in self._nlp.pipe(pairs, as_tuples=True, batch_size=_BATCH):
            if doc._.trial_vector is not None:
                rows[i] = doc._.trial_vector
        return rows

    def _cut(self, texts: list[str]) -> list[str]:
        """Texts up to the end of the last wordpiece that is read."""
        encoded = self._tokenizer(
            texts,
            truncation=True,
            max_length=self.max_length,
            return_offsets_mapping=True,
        )
        kept = []
        for text, ids, offsets in zip(
            texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
        ):
            whole = len(ids) < self.max_length
            end = len(text) if whole else max(end for _, end in offsets)
            kept.append(text[: min(end, self._nlp.max_length)])
        return kept
