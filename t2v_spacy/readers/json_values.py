"""JSON files of any shape: one value, or one value a line; plus tolerant look-ups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .report import ReadReport
from .source import Source, decode, is_wide


def iter_json(source: Source, report: ReadReport) -> Iterator[tuple[str, Any]]:
    """(where, value) of each value: of each line in JSON lines, which are streamed, or
    one for a file that is a single value. What is no JSON is refused in the report."""
    with source.open() as file:
        first = file.readline()
        while first and not first.strip():
            first = file.readline()
        if not is_wide(first):
            try:
                value = _loads(first)
            except (ValueError, RecursionError):
                pass
            else:
                yield "line 1", value
                yield from _each_line(file, 2, source, report)
                return
        text = decode(first + file.read())
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as err:
        # No single value; it may be lines of which the first is broken.
        lines = text.split("\n")
        if any(_is_object(line) for line in lines):
            yield from _each_line(lines, 1, source, report)
        else:
            report.refuse(source.name, "file", f"not valid JSON ({err})")
    else:
        yield "file", value


def _each_line(
    lines: Any, start: int, source: Source, report: ReadReport
) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start):
        if not line.strip():
            continue
        try:
            value = _loads(line)
        except (ValueError, RecursionError) as err:
            report.refuse(source.name, f"line {number}", f"not valid JSON ({err})")
            continue
        yield f"line {number}", value


def _loads(line: bytes | str) -> Any:
    # Not srsly's parser: it is a fifth faster, but its floats differ in the last digit.
    try:
        return json.loads(line)
    except UnicodeDecodeError:
        return json.loads(decode(line))  # type: ignore[arg-type]


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def as_dict(value: Any) -> dict[str, Any]:
    """The object, or an empty one for null and whatever else stands in its place."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The members that say something; a lone value counts as a list of one."""
    members = value if isinstance(value, list) else [value]
    return [member for member in members if member or member == 0]


def as_text(value: Any) -> str | None:
    """Text of a value; numbers become text, null, "" and containers are absent."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None
