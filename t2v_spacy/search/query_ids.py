"""Ids that a query consists of, however they are written."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from ..values import parse_id
from .records import normal_id

_DIGITS = re.compile(r"(NCT)?[\s-]*\d+", re.IGNORECASE)
_BETWEEN = (r"[,;\n]+", r"(?:[,;&\s]|\b(?:and|or)\b)+")


def is_id(text: str) -> bool:
    """Whether a text can only be meant as an id: of a registry, or mere digits."""
    return any(_spellings(text)) or bool(_DIGITS.fullmatch(text.strip()))


def read_ids(index: Container[str], text: str) -> list[str]:
    """The ids that a text consists of: one that is in the index, or one or several that
    can only be meant as such; [] for any other text."""
    if found := _stored(index, text):
        return [found]
    if is_id(text):
        return [text]
    for between in _BETWEEN:
        given = [part for part in re.split(between, text.strip()) if part.strip()]
        if len(given) > 1 and all(any(_spellings(part)) for part in given):
            return [_stored(index, part) or part for part in given]
    return []


def _stored(index: Container[str], text: str) -> str | None:
    """The spelling under which an id is in the index."""
    given = (normal_id(text), *_spellings(text))
    return next((spelling for spelling in given if spelling in index), None)


def _spellings(text: str) -> Iterator[str]:
    """Ids of registries that a text may mean, whatever its blanks and hyphens."""
    given = normal_id(text)
    bare = re.sub(r"[\s:_.–-]+", "", given)
    candidates = [given, bare, re.sub(r"\s+", "-", given)]
    if match := re.fullmatch(r"([A-Z]+)(\d\w*)", bare):
        candidates.append(f"{match[1]}-{match[2]}")
    if match := re.fullmatch(r"(\d{4})(\d{6})(\d{2})", bare):
        candidates.append("-".join(match.groups()))
    yield from (one for one in candidates if parse_id(one)[1] != "invalid")
