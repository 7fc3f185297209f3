"""Candidates among the neighbours of a trial and the ids it names; pairs of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...errors import Errors, error
from ...trial import Trial
from ..neighbors import neighbors
from ..records import normal_id
from .card import Card, make_card
from .classes import DUPLICATE, KINDS, REREGISTRATION, classify, promising
from .evidence import Evidence, dice
from .wording import in_words
from .words import words

if TYPE_CHECKING:
    from ..trial_index import TrialIndex

_MOST = 10  # records of one title or id that are compared with one another
_READ = 2048  # records kept in memory


@dataclass(frozen=True)
class Pair:
    """Two records that belong together.

    first, second (str): Ids, the one registered earlier first.
    kind (str): One of KINDS. score (float): 0 to 1, how far the records agree in what
        both say. evidence: What speaks for it, and what differs, in words.
    """

    first: str
    second: str
    kind: str
    score: float
    evidence: tuple[str, ...]
    titles: tuple[str | None, str | None]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "first": self.first,
            "second": self.second,
            "kind": self.kind,
            "score": round(self.score, 3),
            "evidence": list(self.evidence),
            "titles": list(self.titles),
        }


def find_duplicates(
    index: TrialIndex,
    *,
    k: int = 10,
    kinds: Collection[str] = KINDS,
    progress: Callable[[int, int], None] | None = None,
) -> list[Pair]:
    """Pairs of records that are probably one study, or one study after another: by
    kind, then the highest score first.

    Compared are each trial and its k nearest, and records of one title, of one id of
    their organisation, or of which one names the other. A pair is found only where
    several facts agree: some are missed rather than many wrong.

    It holds about 3 KB a trial in memory.
    kinds: "duplicate" (one study, registered twice), "re-registration" (the same, and
        nobody took part under one record, or one says so), "extension" (or follow-up,
        continuation, rollover of the other), "sister" (of one sponsor, intervention and
        condition).
    progress: called with (trials done, all trials).
    RAISES (T026): no such kind. (T047): k below 1.
    """
    for kind in kinds:
        if kind not in KINDS:
            reason = f"known are {', '.join(KINDS)}"
            raise error(Errors.T026, setting="kinds", value=kind, reason=reason)
    ids = index.ids()
    cards = {nct_id: make_card(index[nct_id]) for nct_id in ids}
    read = lru_cache(_READ)(index.__getitem__)
    seen: set[tuple[str, str]] = set()
    pairs = []
    for left, right in _candidates(index, cards, k, progress):
        # The registry numbers records as they come.
        first, second = sorted((left, right))
        evidence = Evidence(cards[first], cards[second])
        if (first, second) in seen or not promising(evidence):
            continue
        seen.add((first, second))
        if pair := _compare(evidence, read(first), read(second)):
            pairs.append(pair)
    chosen = [pair for pair in pairs if pair.kind in kinds]
    return sorted(chosen, key=lambda p: (KINDS.index(p.kind), -p.score, p.first))


def same_study_groups(pairs: Iterable[Pair]) -> list[tuple[str, ...]]:
    """Ids of records of one study, two or more each, by what duplicates and
    re-registrations connect."""
    group: dict[str, set[str]] = {}
    for pair in pairs:
        if pair.kind in (DUPLICATE, REREGISTRATION):
            ends = (pair.first, pair.second)
            joined = set().union(*(group.get(end, {end}) for end in ends))
            group.update(dict.fromkeys(joined, joined))
    unique = {id(members): members for members in group.values()}
    return sorted(tuple(sorted(members)) for members in unique.values())


def _candidates(
    index: TrialIndex,
    cards: Mapping[str, Card],
    k: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[str, str]]:
    yield from _by_ids(cards)
    for done, near in enumerate(neighbors(index, k), start=1):
        if progress:
            progress(done, len(cards))
        yield from ((near.nct_id, other) for other in near.ids)


def _by_ids(cards: Mapping[str, Card]) -> Iterator[tuple[str, str]]:
    """Pairs of one title or organisation's id, and those of which one names another."""
    main = {one: nct_id for nct_id, card in cards.items() for one in card.ids}
    alike: dict[Any, list[str]] = defaultdict(list)
    for nct_id, card in cards.items():
        for key in {*card.titles, card.org_id} - {None, ()}:
            alike[key].append(nct_id)
        for named in main.keys() & card.named:
            yield nct_id, main[named]
    for nct_id, card in cards.items():
        for code in alike.keys() & card.codes:
            yield from ((nct_id, one) for one in alike[code][:_MOST] if one != nct_id)
    for members in alike.values():
        if len(members) <= _MOST:
            yield from combinations(members, 2)


def _compare(evidence: Evidence, first: Trial, second: Trial) -> Pair | None:
    evidence = replace(evidence, text=_text(first, second))
    known = classify(evidence, first, second)
    if known is None:
        return None
    kind, reasons = known
    ids = [normal_id(trial.nct_id) for trial in (first, second)]
    return Pair(
        first=ids[0],
        second=ids[1],
        kind=kind,
        score=evidence.score,
        evidence=(*reasons, *in_words(evidence, first, second)),
        titles=(_title(first), _title(second)),
    )


def _text(first: Trial, second: Trial) -> float | None:
    """Of the parts that both have, the share of words in both."""
    shares = [
        dice(words(left), words(right))
        for left, right in (
            (first.brief_summary, second.brief_summary),
            (first.eligibility, second.eligibility),
        )
        if left and right
    ]
    return sum(shares) / len(shares) if shares else None


def _title(trial: Trial) -> str | None:
    return trial.title or trial.official_title
