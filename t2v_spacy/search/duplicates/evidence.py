"""In what two records agree, and in what they differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from .card import Bag, Card
from .words import Words

_ROMAN = frozenset(("i", "ii", "iii", "iv", "v", "vi", "x"))
_NOBODY = ("WITHDRAWN", "WITHHELD")


@dataclass(frozen=True)
class Evidence:
    """Two records compared; None is what one of them does not say.

    first (Card): The one registered earlier.
    text (float | None): Share of the words of summary and criteria that both have.
    """

    first: Card
    second: Card
    text: float | None = None

    @cached_property
    def title(self) -> float:
        """Of their titles, the two most alike: 1 if they have the same words."""
        return self._titles[0]

    @cached_property
    def only(self) -> tuple[Words, Words]:
        """Words of these titles that the other does not have."""
        _, left, right = self._titles
        return left - right, right - left

    @cached_property
    def _titles(self) -> tuple[float, Words, Words]:
        pairs = [(a, b) for a in self.first.titles for b in self.second.titles]
        scored = [(dice(a, b), frozenset(a), frozenset(b)) for a, b in pairs]
        return max(scored, key=lambda one: one[0])

    @cached_property
    def numbered(self) -> bool:
        """Whether titles differ in a number: "Part 1", "Study II"."""
        titles = zip(self.first.titles, self.second.titles, strict=True)
        return any(_numbers(a) != _numbers(b) for a, b in titles if a and b)

    @cached_property
    def sponsor(self) -> bool | None:
        left, right = self.first.sponsor, self.second.sponsor
        if not left or not right:
            return None
        return left == right

    @property
    def partners(self) -> bool:
        """Whether the sponsor of one collaborates in the other."""
        first, second = self.first, self.second
        return first.sponsor in second.collaborators or (
            second.sponsor in first.collaborators
        )

    @cached_property
    def interventions(self) -> float | None:
        return _shared(self.first.interventions, self.second.interventions)

    @cached_property
    def conditions(self) -> float | None:
        left, right = self.first.conditions, self.second.conditions
        least = min(len(left), len(right))
        return _common(left, right) / least if least else None

    @property
    def phases(self) -> bool | None:
        left, right = self.first.phases, self.second.phases
        return bool(_common(left, right)) if left and right else None

    @property
    def enrollment(self) -> bool | None:
        left, right = self.first.enrollment, self.second.enrollment
        return left == right if left and right else None

    @property
    def start(self) -> bool | None:
        return _same_month(self.first.start, self.second.start)

    @property
    def completion(self) -> bool | None:
        return _same_month(self.first.completion, self.second.completion)

    @property
    def org_id(self) -> bool:
        """Whether both have one id of their organisation."""
        return bool(self.first.org_id) and self.first.org_id == self.second.org_id

    @property
    def empty(self) -> tuple[bool, bool]:
        """Of which it is known that nobody took part."""
        return _empty(self.first), _empty(self.second)

    @property
    def two_counts(self) -> bool:
        """Whether both have counted their participants, and differently."""
        both = self.first.actual and self.second.actual
        return bool(both) and self.enrollment is False

    @property
    def together(self) -> bool:
        """Whether both were registered on one day: nobody does so by mistake."""
        left, right = self.first.posted, self.second.posted
        return left == right and bool(left and len(left) == 10)

    @property
    def score(self) -> float:
        """0 to 1: how far they agree in what both say, less if that is little."""
        values = (
            self.title,
            self.sponsor,
            self.interventions,
            self.conditions,
            self.phases,
            self.enrollment,
            self.start,
            self.completion,
            self.text,
        )
        known = [float(value) for value in values if value is not None]
        return sum(known) / (len(known) + 1)


def dice(left: Collection[str], right: Collection[str]) -> float:
    """How alike two sets are, 0 to 1; 0 if one is empty."""
    total = len(left) + len(right)
    return 2 * _common(left, right) / total if left and right else 0.0


def months_between(left: str | None, right: str | None) -> int | None:
    """From the first to the second; None if one is not known."""
    if not left or not right:
        return None
    first, second = (12 * int(day[:4]) + int(day[5:7]) for day in (left, right))
    return second - first


def _numbers(words: Bag) -> Words:
    return frozenset(w for w in words if w in _ROMAN or any(map(str.isdigit, w)))


def _same_month(left: str | None, right: str | None) -> bool | None:
    months = months_between(left, right)
    return None if months is None else not months


def _shared(left: Bag, right: Bag) -> float | None:
    common = _common(left, right)
    return common / (len(left) + len(right) - common) if left and right else None


def _common(left: Iterable[str], right: Iterable[str]) -> int:
    return len(set(left).intersection(right))


def _empty(card: Card) -> bool:
    return card.status in _NOBODY or card.enrollment == 0
