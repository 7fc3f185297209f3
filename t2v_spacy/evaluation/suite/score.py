"""What an evaluation gives, and how far it can be trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

ROUNDS = 2000


@dataclass(frozen=True)
class Score:
    """value: 0 to 1, or -1 to 1 for a correlation. (low, high): its 95 % interval, None
    where none is known. items: queries, test items, pairs or texts. over: what was
    drawn for the interval. note: what a reader must know."""

    value: float
    low: float | None
    high: float | None
    items: int
    over: str = ""
    note: str = ""


class NoData(Exception):
    """A task that has no data here; the text says why."""


def checksum(data: Any) -> str:
    """sha256 of the content of a dataclass of plain values."""
    plain = json.dumps(asdict(data), sort_keys=True, default=str)
    return hashlib.sha256(plain.encode("utf8", "surrogatepass")).hexdigest()


def resampled_interval(
    kinds: np.ndarray,
    measure: Callable[[np.ndarray], np.ndarray],
    *,
    strata: np.ndarray | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> tuple[float, float]:
    """95 % interval of a measure that is no mean, by resampling items.

    kinds (ndarray): int (items,), from 0 on: all that the measure knows of an item.
    measure: int (samples, kinds), how many items of each kind -> (samples,).
    strata (ndarray | None): (items,); of each as many are drawn as there are.
    """
    rng = np.random.default_rng(seed)
    if strata is None:
        strata = np.zeros(len(kinds), "int64")
    samples = np.zeros((rounds, int(kinds.max()) + 1), "int64")
    for stratum in np.unique(strata):
        own = kinds[strata == stratum]
        shares = np.bincount(own, minlength=samples.shape[1]) / len(own)
        # How many of each kind are drawn, which is all of a sample that counts.
        samples += rng.multinomial(len(own), shares, size=rounds)
    low, high = np.quantile(measure(samples), (0.025, 0.975))
    return float(low), float(high)
