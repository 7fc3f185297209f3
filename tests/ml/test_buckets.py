from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.ml.buckets import make_buckets


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), st.integers(8, 2000))
def test_buckets_hold_each_sequence_once_within_the_budget(lengths, max_tokens):
    buckets = make_buckets(numpy.array(lengths), max_tokens)
    assert sorted(numpy.concatenate(buckets)) == list(range(len(lengths)))
    for bucket in buckets:
        longest = max(lengths[i] for i in bucket)
        assert len(bucket) == 1 or longest * len(bucket) <= max_tokens


def test_buckets_are_sorted_longest_first():
    buckets = make_buckets(numpy.array([3, 9, 1, 8]), 16)
    assert [list(bucket) for bucket in buckets] == [[1], [3, 0], [2]]


@pytest.mark.parametrize("lengths", [[], [5]])
def test_buckets_of_few(lengths):
    assert sum(map(len, make_buckets(numpy.array(lengths), 8))) == len(lengths)
