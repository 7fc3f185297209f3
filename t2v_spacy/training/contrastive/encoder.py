"""A backbone with mean pooling, as sentence-transformers trains and saves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import torch
import transformers

from ...errors import Errors, error
from ...ml.backbone import find_backbone
from ...ml.precision import autocast, resolve_precision
from ...ml.ultrabert import register_ultrabert
from .mining import Encode
from .packages import need


def load_encoder(
    backbone: str,
    *,
    max_length: int,
    precision: str = "float32",
    dropout: bool = False,
) -> tuple[str, Any]:
    """RETURNS: where the backbone was found, and a SentenceTransformer of it on the
    machine's device, of the given precision, with vectors in float32.

    The format of numbers is set inside the model and not by the trainer's bf16 flag:
    with cached gradients the second pass runs in the backward pass, where the
    trainer's autocast has ended, and would run in float32.
    RAISES (T020): no such backbone. (T026): it reads less than `max_length`. (T192):
    sentence-transformers is missing. (T198): it is no encoder.
    """
    need("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    register_ultrabert()
    found = find_backbone(backbone)
    check_length(found, backbone, max_length)
    transformer, pooling = _modules(found, backbone)
    transformer.max_seq_length = max_length
    model = SentenceTransformer(
        modules=[transformer, pooling],
        device=_device(),
        local_files_only=True,
    )
    _run_as(transformer, precision, dropout)
    return found, model


def run_precision(setting: str) -> str:
    """A `precision` setting as what will run here. RAISES (T022), (T026)."""
    if setting == "int8":
        reason = "give 'auto', 'float32' or 'bf16'"
        raise error(Errors.T026, setting="precision", value=setting, reason=reason)
    return resolve_precision(setting, torch.device(_device()))


def make_encode(model: Any, batch_size: int = 64, progress: bool = False) -> Encode:
    """A function of texts for `mine_negatives`."""

    def encode(texts: list[str]) -> numpy.ndarray:
        return model.encode(
            texts,
            batch_size=batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=progress,
        )

    return encode


def encoder_of(model: Any) -> Any:
    """The transformers model inside."""
    return model[0].auto_model


def check_length(found: str, backbone: str, max_length: int) -> None:
    """RAISES (T020), (T026)."""
    try:
        config = transformers.AutoConfig.from_pretrained(found)
        tokenizer = transformers.AutoTokenizer.from_pretrained(found)
    except (OSError, ValueError) as err:
        if isinstance(err, OSError) and not Path(found).is_dir():
            raise error(Errors.T020, name=backbone) from err
        raise _unfit(backbone, err) from err
    positions = getattr(config, "max_position_embeddings", max_length)
    longest = min(tokenizer.model_max_length, positions)
    if max_length > longest:
        reason = f"the backbone reads at most {longest} wordpieces"
        raise error(Errors.T026, setting="max_length", value=max_length, reason=reason)


def save_sentence_modules(folder: Path, found: str, encoder: Any, name: str) -> None:
    """Write weights, tokenizer and the modules of sentence-transformers, anew from
    `found`: what has been used to train remembers how.

    name (str): What the backbone is called from now on.
    """
    from sentence_transformers import SentenceTransformer

    transformer, pooling = _modules(found, found)
    values = dict(encoder.named_parameters())
    with torch.no_grad():
        for key, parameter in transformer.auto_model.named_parameters():
            parameter.copy_(values[key].to(parameter.device))
    transformer.auto_model.config._name_or_path = name
    model = SentenceTransformer(modules=[transformer, pooling], local_files_only=True)
    model.save(str(folder), create_model_card=False)
    mode = (folder / "config.json").stat().st_mode
    for file in folder.glob("*.safetensors"):
        file.chmod(mode)  # the library lets only the owner read them


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _modules(found: str, backbone: str) -> tuple[Any, Any]:
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    try:
        transformer = Transformer(found)
        width = transformer.get_embedding_dimension()
    except (OSError, ValueError, AttributeError) as err:
        raise _unfit(backbone, err) from err
    return transformer, Pooling(width, "mean")


def _run_as(transformer: Any, precision: str, dropout: bool) -> None:
    forward, train = transformer.forward, transformer.train

    def in_precision(features: dict[str, Any], **settings: Any) -> dict[str, Any]:
        device = next(transformer.parameters()).device
        with autocast(precision, device):
            output = forward(features, **settings)
        output["token_embeddings"] = output["token_embeddings"].float()
        return output

    def with_dropout(mode: bool = True) -> Any:
        return train(mode and dropout)

    transformer.forward, transformer.train = in_precision, with_dropout


def _unfit(name: str, err: Exception) -> Exception:
    reason = str(err).split("\n")[0].rstrip(".")
    return error(Errors.T198, name=name, reason=reason)
