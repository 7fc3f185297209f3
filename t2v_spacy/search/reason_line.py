"""The main reasons for a hit in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .criteria_pairs import CriteriaMatch
from .highlight import Term
from .shared_concepts import SECTIONS, ConceptMatch

LONGEST = 100
_LONGEST_NAME = 32
_LEAST = 0.6  # weight of a word that is a reason by itself


def reason_line(
    concepts: Sequence[ConceptMatch],
    criteria: CriteriaMatch,
    terms: Sequence[Term],
    sections: Mapping[str, float],
) -> str:
    """Such as "same condition (Heart Failure), 5 criteria alike"; "" for no reason.

    Words are named where no concept is, the closest sections where no word is.
    """
    for most in (2, 1):
        parts = [*_codes(terms), *_concepts(concepts, most), *_criteria(criteria)]
        if not concepts:
            parts += _words(terms) or _sections(sections)
        if len(", ".join(parts)) <= LONGEST:
            break
    line = ""
    for part in parts:
        longer = f"{line}, {part}" if line else part
        if len(longer) <= LONGEST:
            line = longer
    return line


def _codes(terms: Sequence[Term]) -> Iterator[str]:
    codes = [term.term for term in terms if term.code]
    if codes:
        yield f"both name {codes[0]}"


def _concepts(concepts: Sequence[ConceptMatch], most: int) -> Iterator[str]:
    """Of each section its closest relation, with no more names than `most`; with one,
    without the parent of siblings."""
    for section in SECTIONS:
        found = [match for match in concepts if match.section == section]
        if not found:
            continue
        first = found[0]
        like = [match for match in found if match.relation == first.relation]
        if first.relation == "same":
            names = [_short(match.query.text) for match in like]
            yield f"same {section}{'s' * (len(names) > 1)} ({_join(names, most)})"
        elif first.relation == "sibling":
            pair = f"{_short(first.hit.text)}, {_short(first.query.text)}"
            own = first.id in (first.hit.id, first.query.id)
            parent = "" if own or most == 1 else f": both {_short(first.name)}"
            yield f"related {section} ({pair}{parent})"
        else:
            sign = "<" if first.relation == "narrower" else ">"
            pair = f"{_short(first.hit.text)} {sign} {_short(first.query.text)}"
            yield f"{first.relation} {section} ({pair})"


def _criteria(criteria: CriteriaMatch) -> Iterator[str]:
    n = len(criteria.pairs)
    if n:
        yield f"{n} {'criterion' if n == 1 else 'criteria'} alike"


def _words(terms: Sequence[Term]) -> list[str]:
    words = [
        term.term.lower()
        for term in terms
        if term.weight >= _LEAST
        and not term.code
        and any(place.field != "summary" for place in term.places)
    ][:3]
    return [f"same words ({', '.join(words)})"] if words else []


def _sections(sections: Mapping[str, float]) -> list[str]:
    return [f"{label} {cosine:.2f}" for label, cosine in list(sections.items())[:2]]


def _join(names: Sequence[str], most: int) -> str:
    shown = list(dict.fromkeys(names))
    more = f" +{len(shown) - most}" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
