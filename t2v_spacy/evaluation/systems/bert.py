"""Systems of a transformer that is used as it comes: mean, and whitened mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import Errors, error
from ...ml.backbone import DEFAULT_BACKBONE
from ...trial import Trial
from .base import Array, VectorSystem, document_text
from .text_encoder import TextEncoder


class BertMean(VectorSystem):
    """Mean over the wordpieces of the last layer. Settings: see `TextEncoder`."""

    name = "BERT mean"
    long_text = "the first 256 wordpieces"
    _layers = "last"

    def __init__(
        self,
        *,
        backbone: str = DEFAULT_BACKBONE,
        window: int = 256,
        precision: str = "auto",
        max_tokens: int = 4096,
        cache: Path | None = None,
    ) -> None:
        super().__init__()
        self.long_text = f"the first {window} wordpieces"
        self._encoder = TextEncoder(
            self.name,
            backbone,
            window=window,
            layers=self._layers,
            precision=precision,
            max_tokens=max_tokens,
            cache=cache,
        )

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        return self._encoder.vectors([document_text(trial) for trial in trials])


class TrialBert(BertMean):
    """`BertMean` with a backbone whose pre-training went on with the text of trials."""

    name = "TrialBERT"

    def __init__(
        self,
        *,
        backbone: str = "models/trialbert",
        window: int = 256,
        precision: str = "auto",
        max_tokens: int = 4096,
        cache: Path | None = None,
    ) -> None:
        super().__init__(
            backbone=backbone,
            window=window,
            precision=precision,
            max_tokens=max_tokens,
            cache=cache,
        )


class BertWhitening(BertMean):
    """Average of the first and last layer, turned so that over the corpus all
    directions are independent and of variance 1 (Su et al. 2021).

    k (int | None): Directions kept, those of the highest variance. Defaults to None,
        all in which the corpus varies. Other settings: see `TextEncoder`.
    RAISES (T2VError): T026 for a k below 1; on training T115 for a corpus without two
        trials that differ.
    """

    name = "BERT-whitening"
    _layers = "first_last"

    def __init__(
        self,
        *,
        k: int | None = None,
        backbone: str = DEFAULT_BACKBONE,
        window: int = 256,
        precision: str = "auto",
        max_tokens: int = 4096,
        cache: Path | None = None,
    ) -> None:
        if k is not None and k < 1:
            raise error(Errors.T026, setting="k", value=k, reason="at least 1")
        super().__init__(
            backbone=backbone,
            window=window,
            precision=precision,
            max_tokens=max_tokens,
            cache=cache,
        )
        self._k = k

    def _learn(self, trials: Sequence[Trial]) -> None:
        rows = super()._vectors(trials).astype("float64")
        rows = rows[rows.any(axis=1)]
        if len(np.unique(rows, axis=0)) < 2:
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{len(trials)} trials",
                needed="two that differ",
            )
        self._mean, self._kernel = whitening(rows, self._k)

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        rows = super()._vectors(trials)
        found = (rows - self._mean) @ self._kernel
        found[~rows.any(axis=1)] = 0.0
        return found


def whitening(rows: Array, k: int | None = None) -> tuple[Array, Array]:
    """mean (width,) and kernel (width, at most k): `(rows - mean) @ kernel` has mean 0
    and the identity as covariance. Directions without variance are left out."""
    mean = rows.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(rows, rowvar=False, bias=True))
    order = np.argsort(-variances)[:k]
    order = order[variances[order] > 1e-9 * variances.max()]
    return mean, directions[:, order] / np.sqrt(variances[order])
