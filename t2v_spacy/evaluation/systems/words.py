"""Words of a text, as the systems that count words read them."""

from __future__ import annotations

import re

from .base import library

_WORD = re.compile(r"\w+")


class Words:
    """Lower-cased words and numbers.

    stop_words (bool): Leave out scikit-learn's English stop words.
    stem (bool): Cut words to Snowball's English stems, by PyStemmer.
    system (str): Named where a library is missing (T112).
    """

    def __init__(self, *, stop_words: bool, stem: bool, system: str) -> None:
        self._stem = library("Stemmer", system).Stemmer("english") if stem else None
        found = library("sklearn.feature_extraction.text", system)
        self._stop = found.ENGLISH_STOP_WORDS if stop_words else frozenset()
        self._forms: dict[str, str] = {}  # "" for a stop word

    def __call__(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower())
        return [form for word in words if (form := self._form(word))]

    def _form(self, word: str) -> str:
        form = self._forms.get(word)
        if form is None:
            form = self._stem.stemWord(word) if self._stem else word
            form = self._forms[word] = "" if word in self._stop else form
        return form
