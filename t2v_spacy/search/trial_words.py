"""The words of a text that say something, and how much each of them says."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..kb.normalise import norm_word, words
from .numerals import numerals

_FILE = Path(__file__).parents[1] / "kb" / "data" / "trial_words.txt"
_UNLISTED = 18  # level of a word that is not in the file
# Registry ids, and names that sponsors give to what they develop: letters and digits.
_CODE = re.compile(
    r"(?<![^\W_])(?:NCT\d{8}|[A-Z]{2,6}[- ]?\d{3,}(?:[-/]?\d+)?[A-Z]?|"
    r"[A-Z]{2,5}\d{1,3}-\d{2,}|[A-Z]\d{5,})(?![^\W_])"
)


class TrialWord(NamedTuple):
    """key (str): what equal words have in common, whatever their number and spelling.
    start, end: its characters in the text."""

    key: str
    start: int
    end: int


def trial_words(text: str) -> list[TrialWord]:
    """The words of a text in order, numbers left out, also Roman ones that count."""
    counted = {numeral.start for numeral in numerals(text)}
    return [
        TrialWord(word_key(word.folded), word.start, word.end)
        for word in words(text)
        if not word.folded.isdigit() and word.start not in counted
    ]


def trial_codes(text: str) -> list[TrialWord]:
    """Ids and code names in a text: "NCT01234567", "AMG-145" and "AMG 145" as one."""
    return [
        TrialWord(re.sub(r"[- ]", "", match[0]).casefold(), *match.span())
        for match in _CODE.finditer(text)
    ]


@lru_cache(maxsize=1 << 16)
def word_key(folded: str) -> str:
    return norm_word(folded)


def weight(key: str) -> float:
    """0 for a word that every trial has and for a single letter, 1 for a rare word."""
    return _levels().get(key, _UNLISTED) / _UNLISTED if len(key) > 1 else 0.0


@lru_cache(maxsize=1)
def _levels() -> dict[str, int]:
    levels = {}
    for line in _FILE.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            level, *listed = line.split(" ")
            levels.update(dict.fromkeys(listed, int(level)))
    return levels
