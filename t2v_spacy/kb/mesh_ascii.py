"""Records of NLM's MeSH ASCII (dYYYY.bin, cYYYY.bin): lines of `TAG = value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from .mesh import MeshRecord

_NEW = "*NEWRECORD"
# "MH" names a descriptor, "NM" a supplementary record; qualifiers have neither.
_NAME = ("MH", "NM")
_TERMS = ("PRINT ENTRY", "ENTRY", "SY")


def iter_ascii(file: BinaryIO) -> Iterator[MeshRecord]:
    """RAISES: ValueError for a line of another form, or a record without its id."""
    fields: dict[str, list[str]] = {}
    start = 0
    for number, data in enumerate(file, 1):
        line = data.decode().rstrip("\r\n")
        if line == _NEW:
            if fields:
                yield from _record(fields, start)
            fields, start = {}, number
        elif line.strip():
            tag, equals, value = line.partition(" = ")
            if not equals:
                raise ValueError(f"line {number} is not of the form TAG = value")
            fields.setdefault(tag.strip(), []).append(value.strip())
    if fields:
        yield from _record(fields, start)


def _record(fields: dict[str, list[str]], start: int) -> Iterator[MeshRecord]:
    names = [name for tag in _NAME for name in fields.get(tag, ())]
    if not names and "SH" in fields:
        return
    if not names or "UI" not in fields:
        raise ValueError(f"the record at line {start} has no name or no UI; is it cut?")
    entries = [value for tag in _TERMS for value in fields.get(tag, ())]
    notes = fields.get("MS") or fields.get("NO")
    yield MeshRecord(
        fields["UI"][0],
        names[0],
        # "term|T047|NON|EQV|…": what follows the term says where it comes from.
        terms=[entry.partition("|")[0] for entry in entries],
        trees=fields.get("MN", []),
        types=fields.get("ST", []),
        note=notes[0] if notes else None,
        mapped=[_heading(value) for value in fields.get("HM", ())],
        actions=[_heading(value) for value in fields.get("PA", ())],
    )


def _heading(value: str) -> str:
    """A heading without the star of a major one and without its qualifier."""
    return value.lstrip("*").partition("/")[0]
