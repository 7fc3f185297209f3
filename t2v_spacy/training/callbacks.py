"""Callbacks for spaCy's training loop: a leash to the starting weights; resuming."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language

from ..errors import Errors, error

Named = tuple[tuple[str, str], torch.nn.Parameter]


def pull_to_start(rate: float = 0.01) -> Callable[[Language, dict[str, Any]], None]:
    """Callback `t2v.pull_to_start.v1` for `training.before_update`: before each step
    all trained parameters move back to where they started by a share of the way.

    A sentence encoder knows more than a short training can teach; without a leash the
    training destroys more than it adds (docs/results/training.md). After `resume_from`
    the start is what was resumed from.

    rate (float): Share of the way per step, 0 to 1. 0 does nothing. Defaults to 0.01.
    RAISES (T2VError T026): If the rate is out of range.
    """
    if not 0 <= rate <= 1:
        reason = "0 to 1"
        raise error(Errors.T026, setting="rate", value=rate, reason=reason)
    start: dict[tuple[str, str], torch.Tensor] = {}

    def before_update(nlp: Language, args: dict[str, Any]) -> None:
        if not rate:
            return
        for key, parameter in _parameters(nlp):
            if not parameter.requires_grad:
                continue
            if key not in start:
                start[key] = parameter.detach().clone()
            parameter.data.lerp_(start[key].to(parameter.device), rate)

    return before_update


def hide_paths() -> Callable[[Language], Language]:
    """Callback `t2v.hide_paths.v1` for `training.before_to_disk`: a saved pipeline does
    not name folders of the machine it was trained on. The backbone keeps its name; the
    other `paths`, which only training needs, become null."""

    def before_to_disk(nlp: Language) -> Language:
        paths = nlp.config.get("paths", {})
        for name, value in paths.items():
            if name != "backbone" or value is None:
                paths[name] = None
            elif Path(value).expanduser().is_dir():
                paths[name] = Path(value).name
        return nlp

    return before_to_disk


def resume_from(
    path: Path | None = None, pipes: Sequence[str] | None = None
) -> Callable[[Language], Language]:
    """Callback `t2v.resume_from.v1` for `initialize.after_init`: takes the weights of
    the trainable pipes from a saved pipeline, such as the `model-last` of a stopped
    training. The optimizer starts anew; set `training.max_steps` to what is left.

    path (Path | None): The pipeline; None starts from the config alone.
    pipes (Sequence[str] | None): Names of the pipes; None for all that are trainable.
    RAISES (T2VError): T001 if there is nothing at the path, T135 if it has other pipes
        or weights of another shape.
    """

    def after_init(nlp: Language) -> Language:
        if path is None:
            return nlp
        if not Path(path).is_dir():
            raise error(Errors.T001, path=path)
        for name in nlp.pipe_names:
            pipe: Any = nlp.get_pipe(name)
            if not getattr(pipe, "is_trainable", False):
                continue
            if pipes is not None and name not in pipes:
                continue
            try:
                pipe.from_disk(Path(path) / name, exclude=["vocab"])
            except (OSError, RuntimeError, ValueError) as err:
                raise error(Errors.T135, path=path, name=name) from err
        return nlp

    return after_init


def _parameters(nlp: Language) -> Iterator[Named]:
    """The torch parameters of all pipes, by pipe and name."""
    for pipe_name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for number, node in enumerate(model.walk() if model is not None else ()):
            for shim in node.shims:
                module = getattr(shim, "_model", None)
                if isinstance(module, torch.nn.Module):
                    for name, parameter in module.named_parameters():
                        yield (pipe_name, f"{number}.{name}"), parameter
