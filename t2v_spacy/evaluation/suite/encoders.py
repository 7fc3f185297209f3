"""What is evaluated: texts in, one vector a text out, inputs cut at so many wordpieces.

Queries and documents are encoded alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from ...errors import Errors, T2VError, error
from ...plain import sound_text
from .libraries import library

Array = np.ndarray
MAX_LENGTH = 512
_PART = 1024  # texts encoded together


class Encoder(Protocol):
    """name (str): The column in a table. kind (str): "backbone", "pipeline" or
    "sentence-transformers". checksum (str): Of weights and settings. max_length (int):
    Wordpieces that are read, special ones included. width (int): Of a vector."""

    name: str
    kind: str
    checksum: str
    max_length: int
    width: int

    def encode(self, texts: list[str]) -> Array:
        """float32 (texts, width) of texts that are not blank."""


def vectors(encoder: Encoder, texts: Sequence[str]) -> Array:
    """float32 (texts, width), unit length or not; a zero row for a blank text. Equal
    texts are encoded once.

    RAISES (T207): A vector that is not numbers.
    """
    sound = [sound_text(text).strip() for text in texts]
    todo = [text for text in dict.fromkeys(sound) if text]
    place = {text: i for i, text in enumerate(todo)}
    rows = np.zeros((len(todo) + 1, encoder.width), dtype="float32")  # last: blank
    with tqdm(total=len(todo), desc=encoder.name, unit="text", disable=None) as bar:
        for start in range(0, len(todo), _PART):
            part = todo[start : start + _PART]
            found = np.asarray(encoder.encode(part), dtype="float32")
            broken = ~np.isfinite(found).all(axis=1)
            if broken.any():
                text = part[int(broken.argmax())][:60]
                raise error(Errors.T207, name=encoder.name, text=text)
            rows[start : start + len(part)] = found
            bar.update(len(part))
    return rows[[place.get(text, -1) for text in sound]]


def load_encoder(
    name: str,
    *,
    kind: str = "auto",
    max_length: int = MAX_LENGTH,
    precision: str = "auto",
) -> Encoder:
    """A backbone (folder, "all-MiniLM-L6-v2" or hub name), a folder that
    sentence-transformers saved, or a pipeline (folder, installed name or .cfg).

    kind (str): Which of them; "auto" tells by what lies there.
    max_length (int): Wordpieces; what reads fewer is cut there.
    precision (str): "auto", "float32" or "bf16".
    RAISES (T2VError): T202 without sentence-transformers, T203 for what cannot be
        evaluated, T026 and T022 for settings, T110 and T027 for broken models.
    """
    if max_length < 8:
        raise error(
            Errors.T026, setting="max_length", value=max_length, reason="at least 8"
        )
    found = _kind(name) if kind == "auto" else kind
    try:
        if found == "pipeline":
            from .pipeline_encoder import PipelineEncoder

            return PipelineEncoder(name, max_length=max_length, precision=precision)
        if found == "sentence-transformers":
            library("sentence_transformers", name)
            from .sentence_encoder import SentenceEncoder

            return SentenceEncoder(name, max_length=max_length, precision=precision)
        if found == "backbone":
            from .backbone_encoder import BackboneEncoder

            return BackboneEncoder(name, max_length=max_length, precision=precision)
    except T2VError:
        raise
    except (OSError, ValueError, KeyError) as err:
        reason = str(err).strip().split("\n")[0].rstrip(".")
        raise error(Errors.T203, name=name, reason=reason) from err
    raise error(Errors.T203, name=name, reason=f"'{kind}' is no kind of model")


def _kind(name: str) -> str:
    import spacy.util

    folder = Path(name).expanduser()
    if folder.suffix == ".cfg" or (folder / "config.cfg").is_file():
        return "pipeline"
    if (folder / "modules.json").is_file():
        return "sentence-transformers"
    return "pipeline" if spacy.util.is_package(name) else "backbone"


def public_name(name: str) -> str:
    """Last part of a path: the folder a model lies in is no one's business."""
    return Path(name).name or name


def reads(tokenizer: Any, model: Any, max_length: int) -> int:
    """The wordpieces that are read: max_length, or what the model can."""
    positions = getattr(model.config, "max_position_embeddings", max_length)
    return min(max_length, tokenizer.model_max_length, positions)
