"""Lines of JSON objects, with the place of each for messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import Errors, T2VError, error


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank.

    RAISES (T001): No such file. (T201): A line is no JSON object.
    """
    for number, line in read_lines(path):
        try:
            found = json.loads(line)
        except ValueError as err:
            raise bad(path, f"it is no JSON ({err})", number) from err
        if not isinstance(found, dict):
            raise bad(path, f"it holds no object but {type(found).__name__}", number)
        yield number, found


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number, line) of each line that is not blank. RAISES: T001, T201."""
    if not path.is_file():
        raise error(Errors.T001, path=path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as err:
        raise bad(path, f"it is no UTF-8 ({err.reason})") from err


def text_of(path: Path, number: int, found: dict[str, Any], key: str) -> str:
    """RAISES (T201): There is no text under this key."""
    value = found.get(key)
    if not isinstance(value, str):
        raise bad(path, f"it lacks the text '{key}'", number)
    return value


def bad(path: Path, reason: str, number: int | None = None) -> T2VError:
    where = "" if number is None else f", line {number},"
    return error(Errors.T201, path=path, where=where, reason=reason)
