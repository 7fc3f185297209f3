"""BERT-SimCSE: a backbone trained on the corpus by dropout alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import Errors, error
from ...files import replaced_folder
from ...ml.backbone import DEFAULT_BACKBONE
from ...trial import Trial
from .base import Array, VectorSystem, document_text
from .loading import fingerprint
from .simcse_training import SimcseSettings, train_simcse
from .text_encoder import TextEncoder


class BertSimcse(VectorSystem):
    """Mean over the wordpieces of a backbone trained as unsupervised SimCSE (Gao et
    al. 2021): two readings of a text under dropout are alike, other texts are not.

    lr, epochs, batch_size, temperature, seed: See `SimcseSettings`.
    dropout (float | None): None is what the backbone's config says.
    cache (Path | None): Keeps the trained backbone too, as `simcse-*`, which is itself
        a backbone; the same training is then not done again.
    backbone, window, precision, max_tokens: See `TextEncoder`.

    `losses` holds the loss of each step of the last training.
    RAISES (T2VError): T026 for a setting out of range; on training T115 for less than
        two different texts, T117 if it diverges.
    """

    name = "BERT-SimCSE"
    long_text = "the first 256 wordpieces"

    def __init__(
        self,
        *,
        backbone: str = DEFAULT_BACKBONE,
        window: int = 256,
        lr: float = 1e-5,
        epochs: int = 1,
        batch_size: int = 32,
        temperature: float = 0.05,
        dropout: float | None = None,
        seed: int = 0,
        precision: str = "auto",
        max_tokens: int = 4096,
        cache: Path | None = None,
    ) -> None:
        super().__init__()
        self._training = SimcseSettings(lr, epochs, batch_size, temperature, seed)
        self._backbone, self._dropout, self._cache = backbone, dropout, cache
        self._reading: dict[str, Any] = {
            "window": window,
            "precision": precision,
            "max_tokens": max_tokens,
            "cache": cache,
        }
        self.long_text = f"the first {window} wordpieces"
        self.losses: list[float] = []
        self._load(backbone)  # what is wrong with it shows before a corpus is read

    def _load(self, backbone: str) -> None:
        self._encoder = TextEncoder(
            self.name, backbone, dropout=self._dropout, **self._reading
        )

    def _learn(self, trials: Sequence[Trial]) -> None:
        self._load(self._backbone)
        texts = sorted({document_text(trial) for trial in trials})
        ids = [found for found in self._encoder.wordpieces(texts) if found]
        if len(ids) < 2:
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{len(trials)} trials",
                needed="two with different texts",
            )
        folder = self._folder(ids)
        if folder and folder.is_dir():
            self._load(str(folder))
            return
        self.losses = train_simcse(self._encoder, ids, self._training)
        if folder:
            with replaced_folder(folder) as new:
                self._encoder.model.save_pretrained(new)
                self._encoder.tokenizer.save_pretrained(new)

    def _folder(self, ids: list[list[int]]) -> Path | None:
        """Where this training of this backbone on these sequences is kept."""
        if self._cache is None:
            return None
        encoder = self._encoder
        made_by = fingerprint(
            encoder.model,
            encoder.tokenizer,
            self._training,
            self._dropout,
            encoder.precision,
        )
        key = hashlib.sha256(f"{made_by}{ids}".encode()).hexdigest()
        return self._cache / f"simcse-{key[:16]}"

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        return self._encoder.vectors([document_text(trial) for trial in trials])
