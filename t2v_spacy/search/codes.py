"""Codes in a text: of drugs, gene variants and registries, however they are written.

Each has one key, the same for "MK-3475", "MK 3475" and "mk3475". The lexical index
keeps keys as words of their own, so that a code is found whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .vectors import Array

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase
    from .facets import Facets
    from .lexical import Lexical

SHORT = 40  # words of a query in which codes decide
DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")

_START, _END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
_MEASURES = (
    r"mg|mcg|ug|ng|g|kg|ml|dl|l|iu|u|units?|mmol|umol|nmol|mol|meq|gy|cgy|mbq|mci|mmhg|"
    r"kcal|cfu|pfu|ppm|cm|mm|hz|w|%"
)
_TIMES = r"h|hours?|d|days?|weeks?|months?|years?|min|minutes?|doses?"
_AMOUNT = rf"\d+(?:[.,]\d+)* ?(?:{_MEASURES})(?:/(?:{_MEASURES}|{_TIMES}|m2))*"
_EUROPEAN = r"\d{4}-\d{6}-\d{2}(?:-\d{2})?"  # EudraCT, CTIS
_NUMBER = r"\d+(?:,\d{3})*"
_HYPHENED = rf"[a-z]{{1,10}}-?{_NUMBER}[a-z]{{0,2}}(?:-\d+)*[a-z]{{0,2}}"  # CP-690,550
_NUMBER_FIRST = r"\d{1,2}-[a-z]{2,3}(?!-)"  # 5-FU
_CHANGE = (  # c.35delG, 1521_1523delCTT, c.35G>A
    r"(?:c\.|(?=[\d_]+(?:del|ins|dup)))\d+(?:[+-]\d+)?(?:_\d+(?:[+-]\d+)?)?"
    r"(?:(?:del|ins|dup)[acgt]*|[acgt]+>[acgt]+)+"
)
_THREE = (
    "ala arg asn asp cys gln glu gly his ile leu lys met phe pro ser thr trp tyr val"
)
_ACIDS = dict(zip(_THREE.split(), "arndcqeghilkmfpstwyv", strict=True))
_ACID = f"(?:{'|'.join(_ACIDS)})"
_LONG_VARIANT = rf"(?:p\.)?{_ACID}\d{{2,4}}{_ACID}"  # p.Val600Glu
_VARIANT = r"(?:p\.)?[ac-ik-np-tvwy]\d{2,4}(?:[ac-ik-np-tvwy]|del|fs|ins)"  # V600E
_GENES = "braf|kras|nras|egfr|jak2|idh[12]|pik3ca|lrrk2|cftr"
_GENE_VARIANT = rf"(?:{_GENES}){_VARIANT}"  # BRAFV600E
_DRUG = re.compile(
    rf"{_START}(?P<letters>[a-z]{{1,7}})(?P<gap>[- ]?)"
    rf"(?P<digits>{_NUMBER}[a-z]{{0,2}}(?:-\d+)*)[a-z]{{0,2}}{_END}"
    rf"(?! ?(?:{_MEASURES}|{_TIMES})(?![a-z0-9]))"
)
_WHOLE = re.compile(
    rf"{_START}(?:(?P<change>{_CHANGE})|(?P<variant>{_LONG_VARIANT}|{_GENE_VARIANT})"
    rf"|(?P<amount>{_AMOUNT})|(?P<other>{_EUROPEAN}|{_HYPHENED}|{_NUMBER_FIRST})){_END}"
)
_EXACT = re.compile(
    rf"{_START}(?:(?P<change>{_CHANGE})"
    rf"|(?P<variant>{_LONG_VARIANT}|{_GENE_VARIANT}|{_VARIANT})"
    rf"|(?P<other>{_EUROPEAN})){_END}"
)
# Where a blank parts letters and digits, a document tells a code by its capitals; what
# people type need not.
_CAPITALS = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2,5} \d{2,}(?:-\d+)*[A-Za-z]?(?![A-Za-z0-9])"
)
_APART = re.compile(rf"{_START}[a-z]{{2,5}} \d{{2,}}(?:-\d+)*[a-z]?{_END}")
# What these number is no drug: "day 100", "SF-36".
_COUNTED = """
about above after age aged ages all among an and are arm at below by cd class
cohort covid cycle day days dose for from grade group hour hours if il in into
is last least level max min month months more most no number of on or over part
per phase post score stage step study than the time to total trial type under
until up vs week weeks with within year years
"""
_NO_DRUG = frozenset(_COUNTED.split())
_MARKER = "ca125"
_STUDY = re.compile(r"([a-z]{1,10}[- ]?\d{3,}[a-z]{0,2})-\d{1,4}")  # of MK-8835: 004
_AMOUNT_TAIL = re.compile(rf"\d(?:{_MEASURES}|{_TIMES})$")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Code(NamedTuple):
    """A code as it is written, and its key; of a drug told by a study, that of this."""

    text: str
    key: str


def whole_words(folded: str, document: str | None = None) -> Iterator[str]:
    """Keys of all that is one word though signs or blanks part it: codes, and numbers
    with their unit.

    document: The text before it was folded; None for a query.
    """
    for match in _WHOLE.finditer(folded):
        if not match[0].isalnum() or match.lastgroup == "variant":
            yield from _keys(match[0], match.lastgroup)
    apart = (
        _APART.finditer(folded) if document is None else _CAPITALS.finditer(document)
    )
    for match in apart:
        yield from _keys(match[0].lower(), "drug")


def _keys(written: str, kind: str | None) -> Iterator[str]:
    yield _key(written, kind)
    if study := _STUDY.fullmatch(written):
        yield _key(study[1], "drug")


def exact_terms(text: str) -> tuple[Code, ...]:
    """The codes of a query, each once: of drugs ("BMS-936558"), gene variants ("V600E",
    "p.Val600Glu", "c.35delG") and registries ("NCT01234567"). The code of a sponsor's
    study ("MK-8835-004") is one, and that of its drug another.

    Not doses, ages, days and years, names with one or two digits ("PD-1", "COVID-19"),
    nor what a common word numbers.
    """
    lower = text.translate(DASHES).lower()
    matches = list(_EXACT.finditer(lower))
    rest = _EXACT.sub(lambda match: " " * len(match[0]), lower)
    matches += [match for match in _DRUG.finditer(rest) if _is_drug(match)]
    found: dict[str, Code] = {}
    for match in sorted(matches, key=re.Match.start):
        for key in _keys(match[0], match.lastgroup):
            found.setdefault(key, Code(text[match.start() : match.end()], key))
    return tuple(found.values())


def _is_drug(match: re.Match[str]) -> bool:
    """Whether letters and digits are a name, rather than a count of something."""
    letters, gap, digits = match["letters"], match["gap"], match["digits"]
    if letters in _NO_DRUG or (gap and _YEAR.fullmatch(digits)):
        return False
    if letters + digits == _MARKER:
        return False
    if gap == " " and not 2 <= len(letters) <= 5:
        return False
    if gap == " " and _AMOUNT_TAIL.search(match[0]):
        return False
    longest = max(map(len, re.findall(r"\d+", digits.replace(",", ""))))
    return longest > (3 if len(letters) == 1 else 2)


def _key(written: str, kind: str | None) -> str:
    if kind == "amount":
        plain = re.sub(r",(?=\d{3}(?!\d))", "", written)
        return plain.replace(",", ".").replace(" ", "")
    if kind in ("change", "variant"):
        written = written.removeprefix("c.").removeprefix("p.")
    if kind == "variant":
        written = re.sub(rf"^(?:{_GENES})(?=.+\d)", "", written)
        written = re.sub(_ACID, lambda match: _ACIDS[match[0]], written)
    return re.sub(r"[^a-z0-9]+", "", written)


def is_short(text: str) -> bool:
    """Whether codes decide: a draft of a trial mentions many in passing, of earlier
    drugs and of what is excluded; who types a line with a code wants that code."""
    return len(text.split()) <= SHORT


def code_counts(
    codes: Sequence[Code],
    lexical: Lexical,
    facets: Facets | None = None,
    kb: KnowledgeBase | None = None,
) -> Array:
    """int32 (n,): how many of the codes each trial has.

    It has a code that its text holds, in any spelling, or, with facets and the base
    they come from, whose drug is linked in its interventions by any of its names.
    """
    counts = np.zeros(lexical.n, np.int32)
    for code in codes:
        held = lexical.holds(code.key)
        if facets is not None and kb is not None and (ids := _drugs(code, kb)):
            held = held | facets.concept("intervention_concept", ids)[0]
        counts += held
    return counts


def _drugs(code: Code, kb: KnowledgeBase) -> tuple[str, ...]:
    # Bases have some codes in one piece only, others in two only.
    apart = re.sub(r"(?<=[a-z])(?=\d)", " ", code.key, count=1)
    found = [kb.lookup(name) for name in (code.text, code.key, apart)]
    return tuple(dict.fromkeys(i for ids in found for i in ids))
