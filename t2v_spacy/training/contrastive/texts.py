"""When two texts are the same text."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_WORD = re.compile(r"\w+")


def text_words(text: str) -> list[str]:
    """Words of a text without case, punctuation and forms of characters."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def plain(text: str) -> str:
    """What equal texts have in common: their words; of a text without any, itself."""
    return " ".join(text_words(text)) or text.strip().casefold()


def rank(seed: int, text: str) -> int:
    """A number that depends on the seed and the text alone, to draw by."""
    found = hashlib.blake2b(f"{seed}:{text}".encode(), digest_size=8).digest()
    return int.from_bytes(found, "big")
