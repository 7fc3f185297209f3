"""Names of concepts in two plain forms: folded (`fold`) and order-free (`norm`).

Both are keys to compare names by, not spellings to show. The knowledge base and the
linker use the same two, so a name matches if and only if its key is the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "ζ": "zeta",
    "η": "eta",
    "θ": "theta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "u",  # mostly the sign of a millionth
    "π": "pi",
    "σ": "sigma",
    "ς": "sigma",
    "τ": "tau",
    "φ": "phi",
    "χ": "chi",
    "ψ": "psi",
    "ω": "omega",
}
_OTHER = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"}
_SPELLED = str.maketrans(_GREEK | _OTHER)
# A word is letters and digits with the marks set on them; a possessive goes with it.
_LETTER = r"[^\W_]"
# A capital one ("CROHN'S") follows a letter: after a digit it is a chemist's "4'S".
_WORD = re.compile(
    rf"{_LETTER}(?:{_LETTER}|[\u0300-\u036f])*"
    rf"(?:['’](?:s|(?<=[^\W\d_]['’])S)(?!{_LETTER}))?"
)
_POSSESSIVE = ("'s", "’s", "'S", "’S")
# Of plain ASCII, all this is a matter of single characters.
_ASCII_POSSESSIVE = re.compile(
    r"'(?:s(?<=[A-Za-z0-9]'s)|S(?<=[A-Za-z]'S))(?![A-Za-z0-9])"
)
_ASCII = {
    code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)
}
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
SMALL_WORDS = frozenset(("of", "and", "in", "for", "with", "to", "the", "nos"))
ARTICLES = frozenset(("a", "an", "the"))
# British and American forms of a word get one key.
FORMS = (("ae", "e"), ("oe", "e"), ("our", "or"), ("sulph", "sulf"), ("isat", "izat"))


class Word(NamedTuple):
    """A word of a text: its folded form, and its place in characters."""

    folded: str
    start: int
    end: int


def fold(name: str) -> str:
    """Lower case, without punctuation, possessive or diacritics, Greek letters spelled:
    "Crohn's β-Disease" -> "crohn beta disease"."""
    if name.isascii():
        if "'" in name:
            name = _ASCII_POSSESSIVE.sub("", name)
        return " ".join(name.translate(_ASCII).split())
    return " ".join(filter(None, map(fold_word, _WORD.findall(name))))


def words(text: str) -> Iterator[Word]:
    """The words of a text; their folded forms joined by blanks are `fold(text)`."""
    for match in _WORD.finditer(text):
        if folded := fold_word(match[0]):
            yield Word(folded, match.start(), match.end())


def norm(name: str) -> str:
    """`fold` without word order, plural, small words and British spelling: "Tumours of
    the Lung" and "Lung Tumor" have one key. It may be "" for a name of small words."""
    return norm_folded(fold(name))


def norm_folded(folded: str) -> str:
    """`norm` of a name that is folded already."""
    parts = folded.split(" ")
    if parts[0] in ARTICLES and len(parts) > 1:
        parts = parts[1:]  # elsewhere an "a" says which: "hepatitis a"
    return " ".join(sorted(norm_word(p) for p in parts if p not in SMALL_WORDS))


@lru_cache(maxsize=1 << 17)
def fold_word(word: str) -> str:
    if word.endswith(_POSSESSIVE):
        word = word[:-2]
    word = word.lower()
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKD", word).translate(_SPELLED)
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return _NOT_PLAIN.sub(" ", plain).strip()


@lru_cache(maxsize=1 << 17)
def norm_word(word: str) -> str:
    """Singular of a folded word, in one spelling; only good as a key."""
    if len(word) > 5:
        for form, key in FORMS:
            word = word.replace(form, key)
    if len(word) <= 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sis"):
        return word[:-2] + "e"  # "metastasis" and "metastases"
    if word.endswith(("uses", "sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
