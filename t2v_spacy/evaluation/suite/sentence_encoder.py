"""A model of sentence-transformers, with the pooling its folder names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from ...ml.precision import autocast
from ...ml.ultrabert import register_ultrabert
from ..systems.loading import fingerprint
from ..systems.text_encoder import checked_precision
from .encoders import Array, public_name, reads


class SentenceEncoder:
    """`Encoder` of a folder, see `load_encoder`.

    The length that the folder itself sets does not count, so that all are cut alike.
    """

    kind = "sentence-transformers"

    def __init__(self, folder: str, *, max_length: int, precision: str) -> None:
        register_ultrabert()
        self.name = public_name(folder)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._precision = checked_precision(precision, self._device)
        path = Path(folder).expanduser()
        self._model: Any = SentenceTransformer(
            str(path) if path.is_dir() else folder, device=str(self._device)
        )
        transformer = self._model[0].auto_model
        self.max_length = reads(self._model.tokenizer, transformer, max_length)
        self._model.max_seq_length = self.max_length
        self.width = self.encode(["trial"]).shape[1]
        self.checksum = fingerprint(
            self._model,
            self._model.tokenizer,
            self.max_length,
            self._precision,
            str(self._model),  # the pooling
        )

    def encode(self, texts: list[str]) -> Array:
        with autocast(self._precision, self._device):
            found = self._model.encode(
                texts, convert_to_tensor=True, show_progress_bar=False
            )
        return found.float().cpu().numpy()
