"""The masked language model: a backbone with a head over its vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from ..errors import Errors, error
from ..ml.backbone import find_backbone
from ..ml.precision import autocast
from ..ml.ultrabert import register_ultrabert
from .masked_lm_data import MaskedBatch

HEAD = "head.safetensors"
register_ultrabert()


def load_masked_lm(backbone: str, window: int, seed: int) -> tuple[str, Any, Any, bool]:
    """RETURNS: where the backbone was found, its tokenizer, the model on its device,
    and whether its head is new."""
    found = find_backbone(backbone)
    torch.manual_seed(seed)  # for the weights of a new head
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(found)
            model, info = AutoModelForMaskedLM.from_pretrained(
                found, output_loading_info=True
            )
    except (OSError, ValueError) as err:
        if isinstance(err, OSError) and not Path(found).is_dir():
            raise error(Errors.T020, name=backbone) from err
        raise _unfit(backbone, str(err).split("\n")[0].rstrip(".")) from err
    if not tokenizer.is_fast or tokenizer.mask_token_id is None:
        raise _unfit(backbone, "its tokenizer is not a fast one with a mask token")
    positions = getattr(model.config, "max_position_embeddings", window)
    longest = min(tokenizer.model_max_length, positions)
    if window > longest:
        reason = f"the backbone reads at most {longest} wordpieces"
        raise error(Errors.T026, setting="window", value=window, reason=reason)
    prefix = f"{model.base_model_prefix}."
    missing = info["missing_keys"]
    if lacking := [name for name in missing if name.startswith(prefix)]:
        reason = f"its checkpoint lacks {len(lacking)} weights, such as {lacking[0]}"
        raise _unfit(backbone, reason)
    if missing:
        model.config.tie_word_embeddings = True
        model.tie_weights()
        if (head := Path(found) / HEAD).is_file():
            set_weights(model, load_file(head))
            missing = []
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return found, tokenizer, model, bool(missing)


def masked_loss(model: Any, batch: MaskedBatch, precision: str) -> torch.Tensor:
    """Sum of the cross-entropies of the hidden wordpieces of a batch.

    The head, which is as wide as the vocabulary and costs as much as a small encoder,
    sees only the states of the hidden wordpieces.
    """
    device = model.device
    masked = torch.from_numpy(batch.masked).to(device)

    def keep_masked(module: Any, args: Any, output: Any) -> Any:
        output["last_hidden_state"] = output["last_hidden_state"][masked][None]
        return output

    handle = model.base_model.register_forward_hook(keep_masked)
    try:
        with autocast(precision, device):
            logits = model(
                input_ids=torch.from_numpy(batch.input_ids).to(device),
                attention_mask=torch.from_numpy(batch.attention_mask).to(device),
                return_dict=True,
            ).logits[0]
    finally:
        handle.remove()
    labels = torch.from_numpy(batch.labels).to(device)
    return cross_entropy(logits.float(), labels, reduction="sum")


def load_start(found: str) -> Any:
    """The encoder as it was before training, with what masked words do not train,
    such as a pooler."""
    with _quiet():
        return AutoModel.from_pretrained(found)


def weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters by name, tied ones once."""
    return {name: p.detach() for name, p in model.named_parameters()}


def set_weights(model: torch.nn.Module, values: Mapping[str, torch.Tensor]) -> None:
    """Set the parameters that `values` names; each must be there."""
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in values.items():
            parameters[name].copy_(value)


def average_weights(
    model: torch.nn.Module, other: torch.nn.Module, share: float
) -> None:
    """Move the parameters of `model` to those of `other` of the same name by a share of
    the way, 0 to 1."""
    theirs = weights(other)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.lerp_(theirs[name].to(parameter.device), share)


def weights_digest(model: torch.nn.Module) -> str:
    """Which weights these are."""
    found = hashlib.sha256()
    for value in weights(model).values():
        found.update(value.cpu().numpy().tobytes())
    return found.hexdigest()


def _unfit(name: str, reason: str) -> Exception:
    return error(Errors.T120, name=name, reason=reason)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' own warning about a new head; ours says what to do."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
