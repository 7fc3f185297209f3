"""The words of a text as the lexical index counts them."""

from __future__ import annotations

import re

from spacy.lang.en.stop_words import STOP_WORDS
from Stemmer import Stemmer

from ..kb.normalise import fold_word
from ..trial import Trial
from .codes import DASHES, whole_words

LONGEST = 24  # bytes of a word that are kept
_KEPT = 200_000  # forms of words held at a time
_KEY = frozenset(("Title", "Conditions", "Interventions"))
_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT = STOP_WORDS | {"s", "t"}  # the ends of "trial's", "don't"
_FOREIGN = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")


class Words:
    """Words in lower case, without diacritics, cut to their English stem, stop words
    left out. Codes, and numbers with their unit, come as parts and whole: "MK-3475" is
    "mk", "3475" and "mk3475".

    Other words than `evaluation.systems.words.Words` on purpose: those belong to
    baselines whose figures are published, and need scikit-learn.
    """

    def __init__(self) -> None:
        self._stem = Stemmer("english").stemWord
        self._forms: dict[str, str] = {}  # "" for a stop word

    def __call__(self, text: str, *, query: bool = False) -> list[str]:
        """query: Codes may be apart and in small letters ("mk 3475")."""
        folded = _fold(text)
        words = [form for word in _WORD.findall(folded) if (form := self._form(word))]
        return words + list(whole_words(folded, None if query else text))

    def _form(self, word: str) -> str:
        form = self._forms.get(word)
        if form is None:
            if len(self._forms) > _KEPT:
                self._forms.clear()
            # The stem of a code would no longer be its key.
            form = self._stem(word) if word.isalpha() else word
            form = self._forms[word] = "" if word in _LEFT_OUT else form
        return form


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return _FOREIGN.sub(_fold_match, text.translate(DASHES)).lower()


def _fold_match(match: re.Match[str]) -> str:
    word = match[0]
    return word if word.isascii() else fold_word(word)


def term(word: str) -> bytes:
    """A word as it is stored."""
    return word.encode()[:LONGEST]


def lexical_text(trial: Trial) -> str:
    """What is read of a record: the text of every section without its heading, and the
    ids it goes by. Title, conditions and interventions are there twice: they count
    double, as they do in a trial vector."""
    bodies = [
        "\n".join([body] * (2 if heading in _KEY else 1))
        for heading, body in trial.sections
    ]
    ids = (trial.nct_id, *trial.aliases, trial.org_study_id or "")
    return "\n".join([*bodies, *ids])
