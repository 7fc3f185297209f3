"""Walks along parents and children, by row number; none is caught in a cycle."""

from __future__ import annotations

import numpy as np

from .columns import Ragged

# Two concepts are near when they meet within so many steps upwards.
NEAR = 2
# A random pool may hold many relatives; so many draws a wanted concept are tried.
_DRAWS = 20


def ancestors(parents: Ragged, start: int, max_depth: int | None) -> dict[int, int]:
    """Row -> steps, nearest first, without `start` itself."""
    steps = {start: 0}
    level = [start]
    depth = 0
    while level and (max_depth is None or depth < max_depth):
        depth += 1
        above = (row for below in level for row in parents[below].tolist())
        level = [row for row in dict.fromkeys(above) if row not in steps]
        steps.update((row, depth) for row in level)
    del steps[start]
    return steps


def depths(parents: Ragged, children: Ragged) -> np.ndarray:
    """Steps down from the nearest root. What only a cycle leads to has 0."""
    depth = np.full(len(parents), -1, np.int32)
    level = np.flatnonzero(parents.counts == 0)
    step = 0
    while len(level):
        depth[level] = step
        step += 1
        below = np.unique(np.concatenate([children[row] for row in level.tolist()]))
        level = below[depth[below] < 0]
    return np.maximum(depth, 0)


def siblings(
    parents: Ragged, children: Ragged, depth: np.ndarray, row: int, max_children: int
) -> list[int]:
    """Children of the deepest small parent; of equally deep ones, of the smallest."""
    small = [p for p in parents[row].tolist() if len(children[p]) < max_children]
    if not small:
        return []
    best = max(small, key=lambda p: (depth[p], -len(children[p]), -p))
    return [child for child in children[best].tolist() if child != row]


def unrelated(
    parents: Ragged, row: int, pool: np.ndarray, n: int, rng: np.random.Generator
) -> list[int]:
    """Up to `n` rows of `pool`, drawn at random, that are not near `row`."""
    own = _near(parents, row)
    draws = min(len(pool), _DRAWS * (n + 1))
    found: list[int] = []
    for other in rng.choice(pool, draws, replace=False).tolist():
        if len(found) == n:
            break
        if own.isdisjoint(_near(parents, other)):
            found.append(other)
    return found


def _near(parents: Ragged, row: int) -> set[int]:
    """The row and what is close above it. A root is above everything: it says nothing
    of nearness, unless it is the row itself."""
    above = ancestors(parents, row, NEAR)
    return {row, *(other for other in above if len(parents[other]))}
