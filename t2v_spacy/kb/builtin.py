"""The base that comes with the package: nothing to download, no licence to sign."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from ..errors import Errors, error
from .knowledge_base import KnowledgeBase

NAME = "t2v-open"
DATA = Path(__file__).parent / "data"
FILE = DATA / "open.t2vkb"
CURATED = DATA / "curated_aliases.tsv"
NOTICE = DATA / "NOTICE.txt"


@lru_cache(maxsize=1)
def load_builtin() -> KnowledgeBase:
    """The built-in base; one object, however often it is asked for.

    RAISES: T001 if its file is missing, T081 if it is not the one that was shipped.
    """
    return read_checked(FILE)


def read_checked(path: Path) -> KnowledgeBase:
    """Base of a file that has its sha256 beside it, as `sha256sum` writes it."""
    beside = path.with_name(f"{path.name}.sha256")
    for file in (path, beside):
        if not file.is_file():
            raise error(Errors.T001, path=file)
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    expected = beside.read_text(encoding="ascii").split()[0]
    if found != expected:
        reason = f"its sha256 is {found}, expected {expected}"
        remedy = "Reinstall t2v_spacy, or make it again with scripts/build_kb.py."
        raise error(Errors.T081, path=path, reason=reason, remedy=remedy)
    return KnowledgeBase.from_bytes(data)


def write_checked(kb: KnowledgeBase, path: Path) -> str:
    """Write a base and its sha256 beside it; returns the sha256."""
    kb.to_disk(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    line = f"{digest}  {path.name}\n"
    path.with_name(f"{path.name}.sha256").write_text(line, encoding="ascii")
    return digest
