"""Batches in which trials of one condition meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from spacy.training import Example

from ..errors import Errors, error

_POOL = 20  # batches' worth of trials among which partners are looked for


def batch_by_condition(
    size: int = 64, partners: int = 1
) -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """Batcher `t2v.batch_by_condition.v1`: batches of `size` trials, where each trial
    drawn brings along others that share a condition concept, if there are any near in
    the stream. They are each other's hard negatives.

    Gradient accumulation divides a batch and with it the negatives: more negatives need
    a larger `size`. A rest of one trial, which could learn nothing, is left out.

    size (int): Trials of a batch, 2 or more.
    partners (int): Trials of the same condition brought along; 0 for plain batches.
    RAISES (T2VError T026): If size is below 2 or partners is negative.
    """
    if size < 2:
        reason = "2 or more: a trial alone has no negative (`training.batcher.size`)"
        raise error(Errors.T026, setting="size", value=size, reason=reason)
    if partners < 0:
        reason = "0 or more"
        raise error(Errors.T026, setting="partners", value=partners, reason=reason)

    def batch(examples: Iterable[Example]) -> Iterator[list[Example]]:
        stream = iter(examples)
        while pool := list(islice(stream, _POOL * size)):
            order = _bring_together(pool, partners)
            for start in range(0, len(pool), size):
                found = [pool[i] for i in order[start : start + size]]
                if len(found) > 1:
                    yield found

    return batch


def _bring_together(pool: list[Example], partners: int) -> list[int]:
    """Positions in the pool, partners directly after the trial that brought them."""
    conditions = [_conditions(eg) for eg in pool]
    by_condition: dict[str, list[int]] = defaultdict(list)
    for i, ids in enumerate(conditions):
        for concept in ids:
            by_condition[concept].append(i)
    order: dict[int, None] = {}
    for i, ids in enumerate(conditions):
        if i in order:
            continue
        order[i] = None
        beside = (j for concept in ids for j in by_condition[concept] if j not in order)
        order.update(dict.fromkeys(islice(beside, partners)))
    return list(order)


def _conditions(example: Example) -> list[str]:
    concepts = example.predicted._.concepts or ()
    return list(dict.fromkeys(c["id"] for c in concepts if c["section"] == "condition"))
