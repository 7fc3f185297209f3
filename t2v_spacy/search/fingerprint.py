"""Which pipeline made a vector, and which base a concept is of: hashes."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..about import __version__
from ..errors import Errors, error

if TYPE_CHECKING:
    from spacy.language import Language

    from ..kb.knowledge_base import KnowledgeBase

_MAKES = frozenset(("doc._.trf_data", "doc._.trial_vector"))
# Where the weights came from, and how they are run: not what a vector means.
_NO_MATTER = frozenset(("name", "precision", "max_tokens"))
_found: WeakKeyDictionary[Language, str | None] = WeakKeyDictionary()
_warned: WeakKeyDictionary[Language, set[str]] = WeakKeyDictionary()


def pipeline_fingerprint(nlp: Language) -> str:
    """Hash of a pipeline's settings and weights, the same in every process.

    (The bytes a pipeline is saved as are not: they hold files in any order.)
    """
    found = hashlib.sha256(f"{__version__}\n{nlp.config.to_str()}".encode())
    for name, pipe in nlp.pipeline:
        found.update(name.encode())
        _add_weights(found, pipe)
    return found.hexdigest()


def vector_fingerprint(nlp: Language) -> str | None:
    """Hash of the pipes that make the vectors, None if none says that it does.

    Two pipelines with the same make vectors that compare: other pipes, the version of
    the package, the precision and the place of the weights do not count.
    """
    found, there = hashlib.sha256(), False
    for name, pipe in nlp.pipeline:
        if _MAKES.isdisjoint(nlp.get_pipe_meta(name).assigns):
            continue
        there = True
        config = nlp.config.interpolate()["components"][name]
        model = config.get("model", config)
        settings = {k: v for k, v in model.items() if k not in _NO_MATTER}
        found.update(json.dumps(settings, sort_keys=True, default=str).encode())
        _add_weights(found, pipe)
    return found.hexdigest() if there else None


def kb_fingerprint(kb: KnowledgeBase) -> str:
    """Hash of a knowledge base's content, which may change under the same version."""
    return hashlib.sha256(kb.to_bytes(preset=0)).hexdigest()


def backbone_name(nlp: Language) -> str | None:
    """Name of the backbone, None for a pipeline without a transformer."""
    if "transformer" not in nlp.pipe_names:
        return None
    model = getattr(nlp.get_pipe("transformer"), "model", None)
    return None if model is None else model.attrs.get("name")


def warn_if_other(nlp: Language, meta: Mapping[str, Any]) -> None:
    """Warn (T052), once per pipeline and index, if another pipeline made an index.

    meta: of the index. The fingerprint of `nlp` is taken once.
    """
    stored = meta.get("fingerprint")
    if stored is None:
        return
    if nlp not in _found:
        _found[nlp] = vector_fingerprint(nlp)
    own = _found[nlp]
    warned = _warned.setdefault(nlp, set())
    if own in (None, stored) or stored in warned:
        return
    warned.add(stored)
    name = f"{nlp.meta['lang']}_{nlp.meta['name']}"
    message = error(
        Errors.T052,
        theirs=_named(meta.get("pipeline"), meta.get("backbone"), stored),
        ours=_named(name, backbone_name(nlp), own),
    )
    warnings.warn(str(message), stacklevel=7)  # at the call of TrialIndex.search


def _named(pipeline: str | None, backbone: str | None, fingerprint: str | None) -> str:
    facts = [backbone or "backbone unknown", str(fingerprint)[:8]]
    return f"{pipeline or 'a pipeline not recorded'} ({', '.join(facts)})"


def _add_weights(found: Any, pipe: Any) -> None:
    for node in pipe.model.walk() if hasattr(pipe, "model") else ():
        for param in node.param_names:
            if node.has_param(param):
                found.update(node.ops.to_numpy(node.get_param(param)).tobytes())
        for shim in node.shims:
            for key, tensor in shim._model.state_dict().items():
                found.update(key.encode())
                found.update(tensor.cpu().numpy().tobytes())
