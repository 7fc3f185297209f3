"""What a run of `train_masked_lm` leaves: checkpoints to go on from, and the result."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import srsly
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from ..errors import Errors, error
from ..files import replaced_file, writing
from .masked_lm_model import HEAD, load_start, set_weights, weights

REPORT = "trialbert.json"
LOG = "log.jsonl"


def save_weights(path: Path, model: torch.nn.Module) -> None:
    _save(path, weights(model), {})


def load_weights(path: Path, model: torch.nn.Module) -> None:
    set_weights(model, load_file(path))


def save_checkpoint(
    path: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    state: Mapping[str, Any],
) -> None:
    """One file, so that weights, optimiser and state always belong together.

    state: plain JSON values. The generators of random numbers need no place in it:
    they are seeded anew at each step, from the seed and the number of the step.
    """
    tensors = {f"model.{name}": value for name, value in weights(model).items()}
    for i, values in optimizer.state_dict()["state"].items():
        for name, value in values.items():
            tensors[f"optimizer.{i}.{name}"] = value
    _save(path, tensors, {"state": json.dumps(state)})


def read_state(path: Path) -> dict[str, Any]:
    """The state of a checkpoint. RAISES (T122): it is damaged."""
    try:
        with safe_open(path, "pt") as file:
            return json.loads(file.metadata()["state"])
    except (SafetensorError, KeyError, TypeError, ValueError) as err:
        reason = f"{path.name} is damaged"
        raise error(Errors.T122, path=path.parent, reason=reason) from err


def load_checkpoint(
    path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Inverse of `save_checkpoint`, but for the state."""
    moments: dict[int, dict[str, torch.Tensor]] = defaultdict(dict)
    parameters = {}
    for name, value in load_file(path).items():
        kind, _, rest = name.partition(".")
        if kind == "model":
            parameters[rest] = value
        else:
            i, _, moment = rest.partition(".")
            moments[int(i)][moment] = value
    set_weights(model, parameters)
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": dict(moments), "param_groups": groups})


def write_log(folder: Path, history: list[dict[str, Any]]) -> None:
    """One line of JSON for each evaluation."""
    path = folder / LOG
    with writing(path), replaced_file(path) as new:
        srsly.write_jsonl(new, history)


def write_backbone(
    folder: Path, name: str, found: str, model: Any, report: Mapping[str, Any]
) -> None:
    """Write a folder that transformers, and so the pipe `transformer`, can load.

    name (str): What the backbone is called from now on.
    found (str): Where the training started from: the source of the tokenizer, and of
        the weights that were not trained.
    model: The masked language model. Its encoder becomes `model.safetensors`; its
        head lies beside it in `head.safetensors`, for those who train on.
    """
    encoder = load_start(found)
    set_weights(encoder, weights(model.base_model))
    encoder.config._name_or_path = name
    encoder.save_pretrained(folder)
    # Loaded again: a tokenizer that was used remembers how.
    AutoTokenizer.from_pretrained(found).save_pretrained(folder)
    prefix = f"{model.base_model_prefix}."
    head = {k: v for k, v in weights(model).items() if not k.startswith(prefix)}
    _save(folder / HEAD, head, {})
    mode = (folder / "config.json").stat().st_mode
    for file in folder.glob("*.safetensors"):
        file.chmod(mode)  # the library lets only the owner read them
    srsly.write_json(folder / REPORT, report)


def _save(
    path: Path, tensors: Mapping[str, torch.Tensor], metadata: dict[str, str]
) -> None:
    plain = {name: value.cpu().contiguous() for name, value in tensors.items()}
    with writing(path), replaced_file(path) as new:
        # "format" lets transformers, too, read the file.
        save_file(plain, new, {"format": "pt", **metadata})
