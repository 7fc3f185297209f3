"""Batches in which trials of one condition meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from spacy.training import Example

from ..errors import Errors, error

_POOL = 20  # batches' worth of trials among which partners are looked for


def batch_by_condition(
    size: int = 64, partners: int = 1, max_words: int = 0
) -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """Batcher `t2v.batch_by_condition.v1`: batches of `size` trials, where each trial
    drawn brings along others that share a condition concept, if there are any near in
    the stream. They are each other's hard negatives.

    Gradient accumulation divides a batch and with it the negatives: more negatives need
    a larger `size`. A rest of one trial, which could learn nothing, is left out.

    size (int): Trials of a batch, 2 or more.
    partners (int): Trials of the same condition brought along; 0 for plain batches.
    max_words (int): Most words of a batch, which bounds the memory of a step: all of it
        is kept until the backward pass. A batch of two may have more. 0 is no bound.
    RAISES (T2VError T026): If size is below 2 or another setting is negative.
    """
    if size < 2:
        reason = "2 or more: a trial alone has no negative (`training.batcher.size`)"
        raise error(Errors.T026, setting="size", value=size, reason=reason)
    for setting, value in (("partners", partners), ("max_words", max_words)):
        if value < 0:
            reason = "0 or more"
            raise error(Errors.T026, setting=setting, value=value, reason=reason)

    def batch(examples: Iterable[Example]) -> Iterator[list[Example]]:
        stream = iter(examples)
        while pool := list(islice(stream, _POOL * size)):
            found: list[Example] = []
            words = 0
            for i in _bring_together(pool, partners):
                length = len(pool[i].predicted)
                full = max_words and words + length > max_words and len(found) > 1
                if full or len(found) == size:
                    yield found
                    found, words = [], 0
                found.append(pool[i])
                words += length
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
