"""Words of a trial that the query also has, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..trial import Trial
from .trial_words import trial_codes, trial_words, weight

MOST_TERMS = 20
# What one trial in fourteen has, or more, is no reason; words of prose must be rarer.
_LEAST, _LEAST_IN_PROSE = 0.42, 0.8
_NUMERAL = re.compile(r"[iv]+[abc]?")


@dataclass(frozen=True)
class Place:
    """field: "title", "conditions", "interventions" or "summary"; item: number of the
    condition or intervention, else None. start, end: characters of that text."""

    field: str
    item: int | None
    start: int
    end: int


@dataclass(frozen=True)
class Term:
    """A word as the hit writes it. weight: 0 to 1, 1 for the rarest. code: whether it
    is an id or a code name."""

    term: str
    weight: float
    code: bool
    places: tuple[Place, ...]

    def to_dict(self) -> dict[str, Any]:
        places = [asdict(place) for place in self.places]
        return {**vars(self), "weight": round(self.weight, 4), "places": places}


class Field(NamedTuple):
    name: str
    item: int | None
    text: str


def fields(trial: Trial) -> Iterator[Field]:
    """The texts in which shared words are shown."""
    if title := trial.title or trial.official_title:
        yield Field("title", None, title)
    for i, condition in enumerate(trial.conditions):
        yield Field("conditions", i, condition)
    for i, intervention in enumerate(trial.interventions):
        yield Field("interventions", i, intervention.name)
    if trial.brief_summary:
        yield Field("summary", None, trial.brief_summary)


@dataclass(frozen=True)
class Keys:
    """What a query has: words of its heads (title, lists, keywords), those of its
    prose, and codes."""

    heads: frozenset[str]
    prose: frozenset[str]
    codes: frozenset[str]


def query_keys(trial: Trial) -> Keys:
    heads = [field.text for field in fields(trial) if field.name != "summary"]
    heads += [trial.official_title or "", trial.acronym or "", trial.nct_id]
    heads += trial.keywords
    heads += [name for item in trial.interventions for name in item.other_names]
    prose = [trial.brief_summary or ""]
    if trial.source == "text":
        prose.append(trial.detailed_description or "")
    return Keys(
        frozenset(word.key for text in heads for word in trial_words(text)),
        frozenset(word.key for text in prose for word in trial_words(text)),
        frozenset(c.key for text in (*heads, *prose) for c in trial_codes(text)),
    )


def shared_terms(query: Keys, hit: Trial) -> tuple[Term, ...]:
    """The rarest words of the hit that the query has too, codes first.

    A word that both have in prose alone has to be rare.
    """
    found: dict[tuple[bool, str], tuple[str, list[Place]]] = {}
    own = list(fields(hit))
    in_heads = query.heads | {
        word.key
        for field in own
        if field.name != "summary"
        for word in trial_words(field.text)
    }
    known = query.heads | query.prose
    for name, item, text in own:
        codes = [code for code in trial_codes(text) if code.key in query.codes]
        taken = {i for code in codes for i in range(code.start, code.end)}
        shown = [
            word
            for word in trial_words(text)
            if word.key in known
            and word.start not in taken
            and _says_something(word.key, word.key in in_heads)
        ]
        for is_code, group in ((True, codes), (False, shown)):
            for word in group:
                as_written = text[word.start : word.end]
                _, places = found.setdefault((is_code, word.key), (as_written, []))
                places.append(Place(name, item, word.start, word.end))
    terms = [
        Term(shown, 1.0 if code else weight(key), code, tuple(places))
        for (code, key), (shown, places) in found.items()
    ]
    terms.sort(key=lambda term: (not term.code, -term.weight))
    return tuple(terms[:MOST_TERMS])


@lru_cache(maxsize=1 << 14)
def _says_something(key: str, in_head: bool) -> bool:
    if len(key) < 3 or _NUMERAL.fullmatch(key):
        return False
    return weight(key) >= (_LEAST if in_head else _LEAST_IN_PROSE)
