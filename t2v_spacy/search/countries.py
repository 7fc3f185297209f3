"""One key for the names of a country.

The registry has renamed countries over the years ("Korea, Republic of" is now "South
Korea"), so that records of different age name the same one differently; and people
write USA and UK. Only such pairs are here: a part (England) is not the country, and
what may mean two (Korea, Congo, America) is left as it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SAME: dict[str, tuple[str, ...]] = {
    "united states": ("us", "usa", "united states of america"),
    "united kingdom": ("uk", "great britain"),
    "south korea": ("korea republic of", "republic of korea"),
    "north korea": ("korea democratic peoples republic of",),
    "turkey": ("turkey turkiye", "turkiye"),
    "russia": ("russian federation",),
    "czechia": ("czech republic",),
    "iran": ("iran islamic republic of", "islamic republic of iran"),
    "vietnam": ("viet nam",),
    "moldova": ("moldova republic of", "republic of moldova"),
    "north macedonia": ("macedonia", "macedonia the former yugoslav republic of"),
    "syria": ("syrian arab republic",),
    "laos": ("lao peoples democratic republic",),
    "libya": ("libyan arab jamahiriya",),
    "brunei": ("brunei darussalam",),
    "eswatini": ("swaziland",),
    "myanmar": ("burma",),
    "cote divoire": ("ivory coast",),
    "democratic republic of the congo": ("congo the democratic republic of the", "drc"),
    "palestine": ("palestinian territory occupied", "palestinian territories occupied"),
    "united arab emirates": ("uae",),
    "netherlands": ("holland",),
}
_KEY = {other: name for name, others in _SAME.items() for other in others}
_SILENT = re.compile(r"[.'’]")
_NOT_WORD = re.compile(r"[^\w]+")


@lru_cache(maxsize=4096)
def country_key(name: str) -> str:
    """Key that the names of one country share: "U.S.A." and "United States" alike."""
    text = unicodedata.normalize("NFKD", name.casefold())
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = _NOT_WORD.sub(" ", _SILENT.sub("", text)).strip().removeprefix("the ")
    return _KEY.get(text, text)
