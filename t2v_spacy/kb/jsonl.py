"""JSON lines of concepts, one object a line, also as scispaCy writes them.

Fields: concept_id, canonical_name; aliases, types, definition, parents, roles and
curated_aliases may be missing. The file may be packed (.gz, .xz, by content).
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import Errors, error
from .knowledge_base import Concept, KnowledgeBase
from .normalise import fold

_LISTS = ("aliases", "types", "parents", "curated_aliases")


def looks_like_jsonl(path: Path) -> bool:
    try:
        with _open(path) as file:
            return file.read(64).lstrip().startswith(b"{")
    except (OSError, EOFError, lzma.LZMAError):
        return False


def read_jsonl(
    path: str | Path, curated: dict[str, list[str]] | None = None
) -> Iterator[Concept]:
    """Concepts of a file. RAISES: T001; T005 names the file and line of a bad one.

    curated: Takes the curated aliases by concept id, before the concept comes.
    """
    path = Path(path)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    number = 0
    try:
        with _open(path) as file:
            for line in file:
                number += 1
                if line.strip():
                    record = json.loads(line)
                    concept = _concept(record)
                    if curated is not None and record.get("curated_aliases"):
                        curated[concept.concept_id] = record["curated_aliases"]
                    yield concept
    except (OSError, EOFError, lzma.LZMAError) as err:
        where = f"after line {number}"
        raise error(Errors.T005, path=path, where=where, reason=err) from err
    except (ValueError, TypeError) as err:
        if hasattr(err, "code"):
            raise
        where = f"line {number}"
        raise error(Errors.T005, path=path, where=where, reason=err) from err


def write_jsonl(kb: KnowledgeBase, path: str | Path) -> None:
    """All concepts of a base, which `KnowledgeBase.open` reads back. RAISES: T010."""
    write_lines(path, _records(kb))


def write_lines(path: str | Path, records: Iterable[dict[str, Any]]) -> None:
    """One object a line; an older file stays until the new one is whole."""
    from ..files import replaced_file, writing

    path = Path(path)
    with (
        writing(path),
        replaced_file(path) as new,
        new.open("w", encoding="utf8") as file,
    ):
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _records(kb: KnowledgeBase) -> Iterator[dict[str, Any]]:
    for concept in kb:
        curated = [a for a in concept.aliases if kb.is_curated(fold(a))]
        extra = {"curated_aliases": curated} if curated else {}
        yield {**concept._asdict(), **extra}


def _concept(record: Any) -> Concept:
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    for name in ("concept_id", "canonical_name"):
        if not isinstance(record.get(name), str):
            raise ValueError(f"no text in the field {name}")
    for name in _LISTS:
        _check_list(name, record.get(name))
    roles = {} if record.get("roles") is None else record["roles"]
    if not isinstance(roles, dict):
        raise ValueError("the field roles is not an object")
    for name, targets in roles.items():
        _check_list(f"roles.{name}", targets)
    definition = record.get("definition")
    if not isinstance(definition, str | None):
        raise ValueError("the field definition is not a text")
    return Concept(
        record["concept_id"],
        record["canonical_name"],
        tuple(record.get("aliases") or ()),
        tuple(record.get("types") or ()),
        definition,
        tuple(record.get("parents") or ()),
        {kind: tuple(targets) for kind, targets in roles.items()},
    )


def _check_list(name: str, value: Any) -> None:
    if value is not None and not (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ):
        raise ValueError(f"the field {name} is not a list of texts")


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.open(path))
    if magic == b"\xfd7zXZ\x00":
        return cast(BinaryIO, lzma.open(path))
    return path.open("rb")
