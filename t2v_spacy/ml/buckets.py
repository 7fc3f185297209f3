"""Sequences of like length together, so that padding costs next to nothing."""

from __future__ import annotations

import numpy


def make_buckets(lengths: numpy.ndarray, max_tokens: int) -> list[numpy.ndarray]:
    """Group sequences by length under a budget of padded tokens.

    lengths (ndarray): Wordpieces of each sequence.
    max_tokens (int): Most rows times longest row of one bucket; a single sequence
        longer than this is a bucket of its own.
    RETURNS (List[ndarray]): Positions in `lengths`, longest bucket first (so that a
        run out of memory shows at once), each position once.
    """
    order = numpy.argsort(-lengths, kind="stable")
    buckets = []
    start = 0
    while start < len(order):
        rows = max(1, max_tokens // max(1, int(lengths[order[start]])))
        buckets.append(order[start : start + rows])
        start += rows
    return buckets
