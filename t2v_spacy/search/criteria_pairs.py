"""Pairs of eligibility criteria of two trials that ask for the same thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from ..sections.eligibility import Item
from ..trial import Trial
from .numerals import numerals
from .trial_words import trial_words, weight
from .vectors import Array

MOST_ITEMS = 40
# The least likeness of a pair: of words, and of vectors of an encoder.
WORDS_ALIKE, VECTORS_ALIKE = 0.5, 0.75
Spans = tuple[tuple[int, int], ...]
Encode = Callable[[Sequence[str]], Array]  # texts -> unit vectors (n, width)

# No part of a name ("HbA1c", "COVID-19") or of a unit ("mm^3"). Of "100 x 10^9/L" the
# power is taken along.
_NUMBER = re.compile(
    r"(?<![^\W\d_])(?<![^\W\d_]-)(?<![\d.,^])"
    r"(\d+(?:,\d{3})*(?:\.\d+)?)(?!\d)(\s?[x×*]\s?10\s?(?:\^|e|\*\*)?\s?9(?:\s?/\s?L)?)?",
    re.I,
)
_UP = (
    r"not? (?:less than|below|under|younger than)|≥|>\s?=?|=>|(?:at )?least|"
    r"(?:greater|more|higher|older) than|(?:over|above|exceeding)\b"
)
_DOWN = (
    r"≤|<\s?=?|=<|(?:less|lower|younger) than|(?:below|under|within)\b|"
    r"up to|(?:at )?most|"
    r"not? (?:(?:more|greater|higher|older|later) than|exceed(?:ing)?|above|over)"
)
_SIGN = re.compile(
    rf"(?:(?P<down>{_DOWN})|(?P<up>{_UP}))(?:\s+(?:or\s+)?equal(?:\s+to)?)?\s*\Z", re.I
)
# Only near its start does a "no" turn a criterion round.
_NOT = re.compile(
    r"\b(?:non|never|without|cannot|neither|"
    r"(?:no|not)\b(?!\s+(?:less|more|greater|higher|older|younger|later|below|under|"
    r"above|over|exceed(?:ing)?)\b))\b",
    re.I,
)
_NOT_WITHIN = 30
_KEPT = 500  # characters of a criterion whose words are kept
_MOST_NUMBERS = 50  # compared of one criterion
# What counts as another word of a criterion; "" does not count: units and limits are
# alike in criteria of quite different things.
_AS_WORD = {
    "aged": "age",
    "old": "age",
    "older": "age",
    "breast-feeding": "lactating",
    "breastfeeding": "lactating",
    "breastfeed": "lactating",
    "nursing": "lactating",
    "lactation": "lactating",
    "lactate": "lactating",
    "pregnancy": "pregnant",
    "women": "female",
    "woman": "female",
    "men": "male",
    "man": "male",
    "patient": "participant",
    "subject": "participant",
    "hypersensitivity": "allergy",
    "allergic": "allergy",
    "hepatic": "liver",
    "renal": "kidney",
    "cardiac": "heart",
    "malignancy": "cancer",
    "tumor": "cancer",
    "carcinoma": "cancer",
    "neoplasm": "cancer",
    "haemoglobin": "hemoglobin",
    "hb": "hemoglobin",
    "hgb": "hemoglobin",
    "hba1c": "a1c",
    "medication": "drug",
    "trial": "study",
    "written": "informed",
    "uln": "",
    "upper": "",
    "limit": "",
    "normal": "",
    "institutional": "",
    "serum": "",
    "total": "",
    "mmol": "",
    "umol": "",
    "mcl": "",
    "ul": "",
    "dl": "",
    "mm": "",
    "mm3": "",
    "mg": "",
    "ml": "",
    "min": "",
    "day": "",
    "week": "",
    "month": "",
    "year": "",
    "within": "",
}


@dataclass(frozen=True)
class CriteriaPair:
    """kind: "inclusion", "exclusion" or "unspecified", of both. score: 0 to 1.
    query, hit: the criteria; *_index: their places in `Trial.criteria.items`.
    *_differences: characters of the numbers, and of a "no", that the other lacks."""

    kind: str
    score: float
    query: str
    hit: str
    query_index: int
    hit_index: int
    query_differences: Spans = ()
    hit_differences: Spans = ()

    @property
    def differs(self) -> bool:
        return bool(self.query_differences or self.hit_differences)

    def to_dict(self) -> dict[str, Any]:
        plain = {**vars(self), "score": round(self.score, 4), "differs": self.differs}
        for side in ("query_differences", "hit_differences"):
            plain[side] = [list(span) for span in plain[side]]
        return plain


@dataclass(frozen=True)
class CriteriaMatch:
    """method: "words" or "encoder". *_count: criteria that were compared.
    pairs: in the order of the query's criteria."""

    method: str
    query_count: int
    hit_count: int
    pairs: tuple[CriteriaPair, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "pairs": [pair.to_dict() for pair in self.pairs]}


def compared_items(trial: Trial) -> list[tuple[int, Item]]:
    """The first 40 criteria, with their places; no mere headings of others."""
    kept = [
        (i, item)
        for i, item in enumerate(trial.criteria.items)
        if not item.text.endswith(":") and _bag(item.text)
    ]
    return kept[:MOST_ITEMS]


def match_criteria(
    query: Trial, hit: Trial, encode: Encode | None = None
) -> CriteriaMatch:
    """The closest pairs of criteria of one kind, each criterion in one pair only.

    encode: What makes vectors of the criteria; by default their words are compared,
        a rare one counting more.
    """
    ours, theirs = compared_items(query), compared_items(hit)
    method = "words" if encode is None else "encoder"
    pairs: list[CriteriaPair] = []
    for kind in ("inclusion", "exclusion", "unspecified"):
        ones = [(i, item.text) for i, item in ours if item.kind == kind]
        others = [(i, item.text) for i, item in theirs if item.kind == kind]
        if ones and others:
            texts = [text for _, text in ones], [text for _, text in others]
            scores = _likeness(*texts, encode)
            least = WORDS_ALIKE if encode is None else VECTORS_ALIKE
            for row, column in _assign(scores, least):
                (i, one), (j, other) = ones[row], others[column]
                score = float(min(scores[row, column], 1.0))
                differ = differences(one, other)
                pairs.append(CriteriaPair(kind, score, one, other, i, j, *differ))
    pairs.sort(key=lambda pair: pair.query_index)
    return CriteriaMatch(method, len(ours), len(theirs), tuple(pairs))


def words_alike(ones: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of these texts and one of those have much the same words."""
    return bool((_likeness(ones, others, None) >= WORDS_ALIKE).any())


def _likeness(
    ones: Sequence[str], others: Sequence[str], encode: Encode | None
) -> Array:
    """float (n, m)."""
    if encode is not None:
        vectors = encode([*ones, *others])
        return vectors[: len(ones)] @ vectors[len(ones) :].T
    bags = [_bag(text) for text in ones], [_bag(text) for text in others]
    keys = {key: i for i, key in enumerate({key for bag in bags[0] for key in bag})}
    first = np.zeros((len(ones), len(keys) + 1))
    second = np.zeros((len(others), len(keys) + 1))
    for table, side in zip((first, second), bags, strict=True):
        for row, bag in zip(table, side, strict=True):
            for key, value in bag.items():
                row[keys.get(key, -1)] = value if key in keys else 0
    lengths = [
        np.array([sum(v * v for v in bag.values()) ** 0.5 or 1.0 for bag in side])
        for side in bags
    ]
    return first @ second.T / np.outer(lengths[0], lengths[1])


def _bag(text: str) -> dict[str, float]:
    """Weight of each word. Words of every trial count a little: some criteria have
    no others."""
    return _kept_bag(text) if len(text) <= _KEPT else _kept_bag.__wrapped__(text)


@lru_cache(maxsize=1 << 14)
def _kept_bag(text: str) -> dict[str, float]:
    keys = (_AS_WORD.get(word.key, word.key) for word in trial_words(text))
    return {key: 0.1 + weight(key) for key in keys if key and weight(key) > 0.12}


def _assign(scores: Array, least: float) -> Iterator[tuple[int, int]]:
    """The best pairs from the highest down."""
    rows, columns = set(), set()
    order = np.argsort(-scores, axis=None, kind="stable")
    for row, column in zip(*np.unravel_index(order, scores.shape), strict=True):
        if scores[row, column] < least:
            return
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            yield int(row), int(column)


def differences(one: str, other: str) -> tuple[Spans, Spans]:
    """Spans of the numbers of each text that the other lacks, and of a "no" or "not"
    that only one has.

    The same number with opposite signs (> 7 and < 7) is none the other has.
    """
    left = list(islice(_numbers(other), _MOST_NUMBERS))
    alone = []
    for number in islice(_numbers(one), _MOST_NUMBERS):
        twin = next((o for o in left if _same(number, o)), None)
        if twin is None:
            alone.append(number)
        else:
            left.remove(twin)
    nots = _nots(one), _nots(other)
    if all(nots):
        nots = [], []
    spans = [
        tuple(sorted([*(number[2] for number in numbers), *denied]))
        for numbers, denied in zip((alone, left), nots, strict=True)
    ]
    return spans[0], spans[1]


def _nots(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _NOT.finditer(text, 0, _NOT_WITHIN)]


def _numbers(text: str) -> Iterator[tuple[float | str, int, tuple[int, int]]]:
    """(value, sign, span); sign: 1 for "at least", -1 for "at most", else 0."""
    counted = [n for n in numerals(text) if not text[n.start : n.end].isdigit()]
    taken = {numeral.start for numeral in counted}
    for match in _NUMBER.finditer(text):
        if match.start() in taken:
            continue
        sign = _SIGN.search(text, max(match.start() - 30, 0), match.start())
        way = 0 if sign is None else 1 if sign["up"] else -1
        # Cells in a litre and in a microlitre.
        value = float(match[1].replace(",", "")) * (1000 if match[2] else 1)
        yield value, way, match.span()
    for degree, start, end in counted:
        yield float(degree) if degree.isdigit() else degree, 0, (start, end)


def _same(
    one: tuple[float | str, int, Any], other: tuple[float | str, int, Any]
) -> bool:
    return one[0] == other[0] and one[1] * other[1] >= 0
