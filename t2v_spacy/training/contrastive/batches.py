"""Batches of pairs of one source, in which no text stands for two things."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy

from .pairs import Pair, Source
from .texts import plain


class Plan(NamedTuple):
    """batches: rows of each step. epochs (float): how often the pairs are read.
    left_out (float): pairs that an epoch passes over, on average: those that share a
    text or a group with one of every batch, and those of a last, small batch."""

    batches: list[list[int]]
    epochs: float
    left_out: float


def plan_batches(
    sources: Sequence[Source],
    batch_size: int,
    *,
    epochs: int | None,
    max_steps: int | None,
    negatives: int = 1,
    seed: int = 0,
) -> Plan:
    """The batches of a whole training, each of pairs of one source.

    Rows count the pairs of all sources, one source after the other. In an epoch each
    pair comes at most once, and sources come in random order, as often as they have
    batches. No batch holds two pairs that share a text (anchor, positive or one of the
    first `negatives` negatives; in any role, but for case and punctuation) or a group:
    one would be a false negative of the other.
    epochs, max_steps: What comes first ends it; at least one must be given.
    """
    keys = [_keys(source.pairs, negatives) for source in sources]
    starts = numpy.cumsum([0, *(len(source.pairs) for source in sources)])
    batches: list[list[int]] = []
    passed = left_out = 0.0
    for epoch in count():
        if epoch == epochs or (max_steps is not None and len(batches) >= max_steps):
            break
        rng = numpy.random.default_rng([seed, epoch])
        found = [
            [
                [int(start) + row for row in batch]
                for batch in _batch(k, batch_size, rng)
            ]
            for start, k in zip(starts, keys, strict=False)
        ]
        dealt = [batch for of_source in found for batch in of_source]
        left_out += int(starts[-1]) - sum(map(len, dealt))
        order = rng.permutation(len(dealt))
        room = len(dealt) if max_steps is None else max_steps - len(batches)
        batches += [dealt[i] for i in order[:room]]
        passed += min(1.0, room / max(1, len(dealt)))
    return Plan(batches, passed, left_out / max(1, epoch))


def _batch(
    keys: Sequence[frozenset[int]], size: int, rng: numpy.random.Generator
) -> Iterator[list[int]]:
    """Rows in random order, each into the first batch that has room and holds nothing
    of it. There are as many batches as full ones would be; what finds no place waits
    for another epoch. Batches that stay less than half full have too few negatives to
    teach anything, but the first is given all the same."""
    number = -(-len(keys) // size)
    batches: list[list[int]] = [[] for _ in range(number)]
    held: list[set[int]] = [set() for _ in range(number)]
    first_open = 0
    for row in rng.permutation(len(keys)).tolist():
        for place in range(first_open, number):
            if len(batches[place]) < size and held[place].isdisjoint(keys[row]):
                batches[place].append(row)
                held[place] |= keys[row]
                break
        while first_open < number and len(batches[first_open]) == size:
            first_open += 1
    for i, batch in enumerate(batches):
        if 2 * len(batch) >= size or i == 0:
            yield batch


def _keys(pairs: Sequence[Pair], negatives: int) -> list[frozenset[int]]:
    """Numbers of what each pair holds: equal texts and groups have one number. A
    negative brings the groups of the pairs that it is the positive of."""
    numbers: dict[tuple[str, str], int] = {}
    about: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        about[plain(pair.positive)].update(pair.groups)
    found = []
    for pair in pairs:
        far = [plain(text) for text in pair.negatives[:negatives]]
        texts = {plain(pair.anchor), plain(pair.positive), *far}
        groups = {*pair.groups, *(g for text in far for g in about.get(text, ()))}
        held = [("text", text) for text in sorted(texts)]
        held += [("group", group) for group in sorted(groups)]
        found.append(frozenset(numbers.setdefault(key, len(numbers)) for key in held))
    return found
