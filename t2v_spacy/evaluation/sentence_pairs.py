"""Pairs of sentences with a graded likeness: BIOSSES."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import Errors, error
from ..readers.report import ReadReport
from ..readers.rows import read_rows
from ..readers.source import Source
from .benchmark import LoadReport

_COLUMNS = ("sentence1", "sentence2", "score_mean")


@dataclass(frozen=True)
class SentencePairs:
    """first, second: sentences; scores: mean of the annotators (pairs,)."""

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...]
    labelled_by: str = "0 to 4 by five annotators (BIOSSES, 2017)"
    report: LoadReport | None = None


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation and its 95 % interval."""

    value: float
    low: float
    high: float
    pairs: int


def read_biosses(path: str | Path) -> SentencePairs:
    """Pairs of a TSV file with the columns sentence1, sentence2 and score_mean.

    RAISES (T001): No such file. (T100): A column is lacking. (T101): No pair is left.
    """
    path = Path(path)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    report, read = LoadReport(), ReadReport()
    pairs = []
    for where, row in read_rows(Source(str(path), lambda: path.open("rb")), read):
        if any(name not in row for name in _COLUMNS):
            reason = f"it needs the columns {', '.join(_COLUMNS)}"
            raise error(Errors.T100, path=path, format="BIOSSES", reason=reason)
        one, other, score = (row[name].strip() for name in _COLUMNS)
        if one and other and _is_number(score):
            pairs.append((one, other, float(score)))
        else:
            report.refuse(path, where, "a sentence or its score is lacking")
    report.refused += read.refused
    if not pairs:
        reason = "; ".join(map(str, report.refused[:3]))
        raise error(Errors.T101, path=path, reason=reason)
    report.complete = len(pairs)
    first, second, scores = zip(*pairs, strict=True)
    return SentencePairs(path.stem, first, second, scores, report=report)


def correlate(
    pairs: SentencePairs,
    similarities: Sequence[float] | np.ndarray,
    *,
    rounds: int = 2000,
    seed: int = 0,
) -> Correlation:
    """Spearman's correlation of similarities with the annotators.

    RAISES (T105): Not one number for each pair.
    """
    given = np.asarray(similarities, dtype="float64")
    wanted = np.asarray(pairs.scores)
    if given.shape != wanted.shape or np.isnan(given).any():
        reason = f"there must be one number for each of {len(wanted)} pairs"
        raise error(
            Errors.T105, system="The system", benchmark=pairs.name, reason=reason
        )
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(wanted), (rounds, len(wanted)))
    samples = [spearman(given[i], wanted[i]) for i in drawn]
    low, high = np.quantile(samples, (0.025, 0.975))
    return Correlation(spearman(given, wanted), float(low), float(high), len(wanted))


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Correlation of ranks, ties at their mean rank; 0 if all of one side are equal."""
    one, other = _ranks(first), _ranks(second)
    spread = one.std() * other.std()
    return (
        float(((one - one.mean()) * (other - other.mean())).mean() / spread)
        if spread
        else 0.0
    )


def _ranks(values: np.ndarray) -> np.ndarray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
