"""Abbreviations a text defines: "chronic kidney disease (CKD)".

The method is Schwartz and Hearst's (2003), with one step before it: words whose first
letters spell the short form win, so that "metastatic melanoma (MM)" keeps both words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Abbreviation(NamedTuple):
    """short and long as the text has them; start and end of the long form, in
    characters of the text."""

    short: str
    long: str
    start: int
    end: int


_BRACKETS = re.compile(r"\(([^()\n]{2,120})\)|\[([^\[\]\n]{2,120})\]")
_SHORT = re.compile(r"[A-Za-z][\w+/.-]{1,9}(?: [\w+/.-]{1,9})?")
_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(r"([A-Za-z][\w+/.-]{1,9})[ ]?$")
# A long form does not reach across these.
_STOP = re.compile(r"[()\[\];:\n\t]|[.!?,] ")
_SMALL = frozenset(
    ("of", "the", "and", "in", "for", "with", "to", "a", "an", "by", "on")
)


def find_abbreviations(text: str) -> list[Abbreviation]:
    """Each short form with its first definition, in order of the definitions."""
    found: dict[str, Abbreviation] = {}
    for item in _definitions(text):
        found.setdefault(item.short, item)
    return list(found.values())


def _definitions(text: str) -> Iterator[Abbreviation]:
    for match in _BRACKETS.finditer(text):
        inner = match[1] or match[2]
        # "(CKD, stage 3)" and "(CKD; renal)" define CKD too.
        short = re.split(r"[,;] ", inner)[0].strip()
        if is_short_form(short):
            if item := _long_before(text, match.start(), short):
                yield item
        elif before := _BEFORE.search(text, max(0, match.start() - 12), match.start()):
            offset = match.start() + 1
            if is_short_form(before[1]) and _spells(inner, before[1]) == 0:
                yield Abbreviation(before[1], inner, offset, offset + len(inner))


def is_short_form(text: str) -> bool:
    """Whether a text looks like an abbreviation: short, mostly letters, and not just a
    word ("CKD", "PF1", "rTMS", "Vit D", not "Brown" or "daily")."""
    if not _SHORT.fullmatch(text):
        return False
    letters = sum(char.isalpha() for char in text)
    marks = sum(char.isupper() or char.isdigit() for char in text)
    return letters * 2 >= len(text) and (
        marks >= 2 or (marks == 1 and text[-1].isupper())
    )


def _long_before(text: str, end: int, short: str) -> Abbreviation | None:
    """The long form that ends just before a bracket at `end`."""
    size = sum(char.isalnum() for char in short)
    most = min(size + 5, size * 2)
    start = max(0, end - 200)
    for stop in _STOP.finditer(text, start, end):
        start = stop.end()
    starts = [word.start() for word in _WORD.finditer(text, start, end)][-most:]
    if not starts:
        return None
    window = text[starts[0] : end].rstrip()
    at = _spells(window, short)
    if at is None:
        return None
    begin = starts[0] + at
    long = window[at:]
    if len(long) <= len(short) or short in _WORD.findall(long):
        return None
    return Abbreviation(short, long, begin, begin + len(long))


def _spells(window: str, short: str) -> int | None:
    """Where in a window the long form begins that ends with it; None if none does."""
    letters = [char for char in short.lower() if char.isalnum()]
    first = _by_initials(window, letters)
    return first if first is not None else _by_letters(window.lower(), letters)


def _by_initials(window: str, letters: list[str]) -> int | None:
    words = list(_WORD.finditer(window))
    for skip in (False, True):
        left = len(letters)
        for word in reversed(words):
            if skip and word[0].lower() in _SMALL and left < len(letters):
                continue
            if word[0][0].lower() != letters[left - 1]:
                break
            left -= 1
            if not left:
                return word.start()
    return None


def _by_letters(window: str, letters: list[str]) -> int | None:
    """Schwartz and Hearst: each letter found from the right, the first at a word."""
    at = len(window)
    for i in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            window[at] != letters[i] or (i == 0 and at > 0 and window[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    return at
