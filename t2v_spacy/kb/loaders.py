"""Loaders of knowledge bases for configs: `@misc = "t2v.KBFromDisk.v1"` and others.

A loader is a small value that says where the base is, so that a pipeline can keep it
instead of the base itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.util import registry

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase


class KBLoader:
    """Call it for the base. name is that of the registered function, settings are its
    arguments: plain values, kept with a pipeline that stores no base."""

    # Not a dataclass: spaCy hands the settings of `initialize` through pydantic, which
    # turns those into dicts.

    def __init__(self, name: str, settings: dict[str, Any] | None = None) -> None:
        self.name = name
        self.settings = dict(settings or {})

    def __call__(self) -> KnowledgeBase:
        return _OPENERS[self.name](**self.settings)


@registry.misc("t2v.BuiltinKB.v1")
def builtin_kb() -> KBLoader:
    """The base that comes with the package."""
    return KBLoader("t2v.BuiltinKB.v1")


@registry.misc("t2v.KBFromDisk.v1")
def kb_from_disk(path: str) -> KBLoader:
    """A base made by `t2v kb build`, or JSON lines."""
    return KBLoader("t2v.KBFromDisk.v1", {"path": str(path)})


@registry.misc("t2v.KBFromUMLS.v1")
def kb_from_umls(path: str) -> KBLoader:
    """A META folder of the user's UMLS. That takes minutes for a whole one: rather
    make a base of it once with `t2v kb build --umls`."""
    return KBLoader("t2v.KBFromUMLS.v1", {"path": str(path)})


@registry.misc("t2v.KBFromMeSH.v1")
def kb_from_mesh(paths: list[str]) -> KBLoader:
    """NLM's own files of MeSH, XML or ASCII: descriptors, supplementary records."""
    return KBLoader("t2v.KBFromMeSH.v1", {"paths": [str(path) for path in paths]})


def open_kb(path: str | Path | None = None) -> KnowledgeBase:
    """The base of a file; the built-in one if there is none."""
    return _from_disk(path) if path else _builtin()


def _builtin() -> KnowledgeBase:
    from .builtin import load_builtin

    return load_builtin()


def _from_disk(path: str | Path) -> KnowledgeBase:
    from .knowledge_base import KnowledgeBase

    return KnowledgeBase.open(path)


def _from_umls(path: str | Path) -> KnowledgeBase:
    from .umls import read_umls

    return read_umls(path)


def _from_mesh(paths: list[str]) -> KnowledgeBase:
    from .mesh import read_mesh

    return read_mesh(paths)


_OPENERS: dict[str, Callable[..., KnowledgeBase]] = {
    "t2v.BuiltinKB.v1": _builtin,
    "t2v.KBFromDisk.v1": _from_disk,
    "t2v.KBFromUMLS.v1": _from_umls,
    "t2v.KBFromMeSH.v1": _from_mesh,
}
