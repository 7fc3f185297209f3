from __future__ import annotations

from itertools import chain

import pytest

from t2v_spacy.training.contrastive.batches import plan_batches
from t2v_spacy.training.contrastive.pairs import Pair, Source

from .toys import make_pairs, make_source


def rows_of(plan):
    return sorted(chain.from_iterable(plan.batches))


def source(*pairs: Pair) -> Source:
    return Source("s", pairs, "")


def test_an_epoch_reads_each_pair_once_in_batches_of_one_source():
    sources = [make_source("a", 20), make_source("b", 12), make_source("c", 0)]
    plan = plan_batches(sources, 4, epochs=1, max_steps=None)
    assert rows_of(plan) == list(range(32))
    assert all(len({row < 20 for row in batch}) == 1 for batch in plan.batches)
    assert [len(batch) for batch in plan.batches] == [4] * 8
    assert plan.epochs == 1 and plan.left_out == 0


def test_sources_come_mixed_in_proportion_to_their_size():
    sources = [make_source("a", 160), make_source("b", 40)]
    plan = plan_batches(sources, 4, epochs=1, max_steps=None)
    firsts = [batch[0] < 160 for batch in plan.batches]
    assert firsts.count(True) == 40 and firsts.count(False) == 10
    assert firsts != sorted(firsts) and firsts != sorted(firsts, reverse=True)


def test_epochs_differ_and_the_seed_decides():
    sources = [make_source("a", 16)]
    plan = plan_batches(sources, 4, epochs=2, max_steps=None, seed=3)
    assert plan.batches[:4] != plan.batches[4:]
    assert sorted(chain.from_iterable(plan.batches[4:])) == list(range(16))
    assert plan == plan_batches(sources, 4, epochs=2, max_steps=None, seed=3)
    assert plan != plan_batches(sources, 4, epochs=2, max_steps=None, seed=4)


@pytest.mark.parametrize(
    ("epochs", "max_steps", "steps", "read"),
    [(2, 3, 3, 0.75), (1, 9, 4, 1), (None, 9, 9, 2.25)],
)
def test_what_comes_first_ends_it(epochs, max_steps, steps, read):
    plan = plan_batches([make_source("a", 16)], 4, epochs=epochs, max_steps=max_steps)
    assert len(plan.batches) == steps and plan.epochs == read


@pytest.mark.parametrize(
    "other",
    [
        Pair("ANCHOR!", "q"),
        Pair("q", "Anchor"),
        Pair("q", "positive"),
        Pair("q", "r", ("negative.",)),
        Pair("q", "r", ("the anchor", "x", "POSITIVE")),
        Pair("q", "r", groups=("G",)),
    ],
)
def test_pairs_that_share_a_text_or_a_group_are_never_together(other):
    first = Pair("anchor", "positive", ("negative",), ("G", "H"))
    fill = make_pairs(6)
    for seed in range(20):
        plan = plan_batches(
            [source(first, other, *fill)],
            4,
            epochs=1,
            max_steps=None,
            negatives=3,
            seed=seed,
        )
        assert not any({0, 1} <= set(batch) for batch in plan.batches)


def test_a_negative_that_is_about_what_another_pair_is_about_keeps_them_apart():
    pairs = [
        Pair("heart attack", "infarction", groups=("MI",)),
        Pair("a", "b", ("infarct",)),
        Pair("c", "infarct", groups=("MI",)),
    ]
    for seed in range(10):
        plan = plan_batches([source(*pairs)], 3, epochs=1, max_steps=None, seed=seed)
        assert not any({0, 1} <= set(batch) for batch in plan.batches)


def test_negatives_that_are_not_used_do_not_count():
    one, other = Pair("a", "b", ("x", "same")), Pair("c", "d", ("y", "same"))
    plan = plan_batches([source(one, other)], 2, epochs=1, max_steps=None, negatives=1)
    assert [len(batch) for batch in plan.batches] == [2]
    plan = plan_batches([source(one, other)], 2, epochs=1, max_steps=None, negatives=2)
    assert [len(batch) for batch in plan.batches] == [1]


def test_batches_less_than_half_full_are_left_out_but_for_the_first():
    same = [Pair(f"a {i}", "the same positive") for i in range(5)]
    plan = plan_batches([source(*same)], 4, epochs=3, max_steps=None)
    assert [len(batch) for batch in plan.batches] == [1, 1, 1]  # of the first alone
    assert plan.left_out == 4
    # 8 others, and one of these in each batch.
    plan = plan_batches([source(*same, *make_pairs(8))], 4, epochs=1, max_steps=None)
    assert all(len(batch) >= 2 for batch in plan.batches)
    assert rows_of(plan)[-8:] == list(range(5, 13))
    assert plan.left_out == 13 - len(rows_of(plan)) > 0
