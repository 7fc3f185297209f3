"""A transformer that reads one text a trial, cut at the window, as a mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel

from ...errors import Errors, T2VError, error
from ...ml.backbone import find_backbone
from ...ml.buckets import make_buckets
from ...ml.precision import autocast, resolve_precision
from .base import Array
from .loading import fingerprint, load_checkpoint, pad, reason
from .vector_cache import VectorCache

LAYERS = ("last", "first_last")
PRECISIONS = ("auto", "float32", "bf16")


class TextEncoder:
    """Vectors of texts from a backbone: the mean over the wordpieces, special ones
    included.

    system (str): Named in messages.
    backbone (str): A folder, the default's name or a hub name, see `find_backbone`.
    window (int): Wordpieces that are read, special ones included; the rest is cut.
    layers (str): "last", or "first_last", the average of the first and last layer.
    precision (str): "auto", "float32" or "bf16", see `resolve_precision`.
    max_tokens (int): Padded wordpieces of one forward pass; bounds the memory.
    dropout (float | None): For training; None is what the backbone's config says.
    cache (Path | None): Folder that keeps the vectors, see `VectorCache`.
    RAISES (T2VError): T110 if the backbone cannot be loaded, T026 for a setting out of
        range, T022 for a precision this machine cannot run.
    """

    def __init__(
        self,
        system: str,
        backbone: str,
        *,
        window: int = 256,
        layers: str = "last",
        precision: str = "auto",
        max_tokens: int = 4096,
        dropout: float | None = None,
        cache: Path | None = None,
    ) -> None:
        self.system, self.window, self.cache = system, window, cache
        self._layers, self._max_tokens = layers, max_tokens
        check_one_of("layers", layers, LAYERS)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.precision = checked_precision(precision, self.device)
        try:
            self.model, self.tokenizer = load_checkpoint(
                find_backbone(backbone), AutoModel, dropout=dropout
            )
        except T2VError:
            raise
        except (OSError, ValueError, ImportError) as err:
            raise error(
                Errors.T110, system=system, name=backbone, reason=reason(err)
            ) from err
        self.model.to(self.device)  # type: ignore[arg-type]
        self._special = self.tokenizer.num_special_tokens_to_add()
        positions = getattr(self.model.config, "max_position_embeddings", window)
        longest = min(self.tokenizer.model_max_length, positions)
        if not self._special < window <= longest:
            limits = f"{self._special + 1} to {longest} wordpieces, as it reads"
            raise error(Errors.T026, setting="window", value=window, reason=limits)
        self._store: VectorCache | None = None

    def vectors(self, texts: Sequence[str]) -> Array:
        """(texts, width) float32; a zero row for a text without wordpieces."""
        if self._store is None:
            settings = (self.window, self._layers, self.precision)
            made_by = fingerprint(self.model, self.tokenizer, *settings)
            self._store = VectorCache(self.cache, made_by)
        return self._store.vectors(texts, self._encode, name=self.system)

    def wordpieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, cut at the window; [] for a text without wordpieces."""
        if not len(texts):
            return []
        encoded = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.window,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return [ids if len(ids) > self._special else [] for ids in encoded["input_ids"]]

    def pool(self, ids: list[list[int]]) -> torch.Tensor:
        """(sequences, width) float32 of sequences that have wordpieces, with gradient
        if torch records one."""
        input_ids, mask = pad(ids, self.tokenizer.pad_token_id or 0, self.device)
        with autocast(self.precision, self.device):
            output = self.model(
                input_ids=input_ids,
                attention_mask=mask,
                output_hidden_states=self._layers == "first_last",
            )
        states = output.last_hidden_state.float()
        if self._layers == "first_last":
            states = (states + output.hidden_states[1].float()) / 2
        share = mask / mask.sum(1, keepdim=True)
        return torch.einsum("bth,bt->bh", states, share)

    def _encode(self, texts: list[str]) -> Array:
        ids = self.wordpieces(texts)
        rows = np.zeros((len(ids), self.model.config.hidden_size), dtype="float32")
        present = np.array([i for i, sequence in enumerate(ids) if sequence], "int64")
        lengths = np.array([len(ids[i]) for i in present], "int64")
        self.model.eval()
        with torch.inference_mode():
            for bucket in make_buckets(lengths, self._max_tokens):
                where = present[bucket]
                rows[where] = self.pool([ids[i] for i in where]).cpu().numpy()
        return rows


def checked_precision(value: str, device: torch.device) -> str:
    """ "float32" or "bf16". RAISES (T2VError): T026 or T022."""
    check_one_of("precision", value, PRECISIONS)
    return resolve_precision(value, device)


def check_one_of(setting: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        listed = "one of " + ", ".join(known)
        raise error(Errors.T026, setting=setting, value=value, reason=listed)
