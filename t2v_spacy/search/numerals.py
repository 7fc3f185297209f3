"""Numerals that name a kind or degree: "type II" is "type 2", "stage IIIB" "stage 3B".

Only after words that are followed by such a number: elsewhere I is a person, V a
vein, C a vitamin and IV a way to give a drug.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_COUNTED = r"(?:sub)?type|phase|stage|grade|class|factor|arbor|nyha"
_ROMAN = r"(?=[ivx])x?(?:ix|iv|v?i{0,3})"  # 1 to 18
_ONE = rf"(?:\d{{1,2}}|{_ROMAN})[abc]?(?![^\W_]|\.\d)"
_BETWEEN = r"(?:\s?[-–,/]\s?(?:(?:or|and)\s)?|\s(?:or|and|to|through)\s)"
_LIST = re.compile(
    rf"(?<![^\W_])(?:{_COUNTED})s?(?::?\s|-)(?:(?:cs|stage|class)\s)?"
    rf"({_ONE}(?:{_BETWEEN}{_ONE})*)",
    re.I,
)
_PARTS = re.compile(r"(\d+|[ivx]+)([abc]?)", re.I)
_VALUES = {"i": 1, "v": 5, "x": 10}


class Numeral(NamedTuple):
    """value: in Arabic digits and small letters, such as "2" or "3b". start, end: its
    characters in the text."""

    value: str
    start: int
    end: int


def numerals(text: str) -> Iterator[Numeral]:
    """Those of a text that count something, Roman and Arabic ones, in order."""
    for found in _LIST.finditer(text):
        for one in _PARTS.finditer(text, *found.span(1)):
            yield Numeral(_number(one[1]) + one[2].lower(), *one.span())


def _number(numeral: str) -> str:
    if numeral.isdigit():
        return str(int(numeral))
    values = [_VALUES[sign] for sign in numeral.lower()]
    following = [*values[1:], 0]
    # A smaller one before a larger one is taken from it.
    return str(sum(v if v >= w else -v for v, w in zip(values, following, strict=True)))
