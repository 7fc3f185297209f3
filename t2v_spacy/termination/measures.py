"""How good probabilities of termination are. TERMINATED is the positive class.

Most trials are completed: always saying so is right for 86 of 100 and finds none that
ends early. Accuracy therefore never stands without that of the majority, nor the area
under the precision-recall curve without the prevalence, which is what chance gives.
What has no value (an area where there is one class) is None, never 0.

In NumPy alone, since it runs within `spacy train`; over the same numbers scikit-learn
gives the same (there is a test of it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import Errors, error

Gold = Sequence[bool] | Sequence[int] | np.ndarray
Probabilities = Sequence[float] | np.ndarray
_LEAST = 1e-15  # a probability of 0 or 1 that is wrong costs -log of this


@dataclass(frozen=True)
class CalibrationBin:
    """n trials of like probability: what was predicted and what came, on average."""

    n: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class Calibration:
    """bins by rising probability; error: mean distance of predicted and observed over
    the bins, by trials (expected calibration error), None without a trial."""

    bins: tuple[CalibrationBin, ...]
    error: float | None


def termination_scores(
    gold: Gold, probabilities: Probabilities, threshold: float = 0.5
) -> dict[str, float | int | None]:
    """All measures of one system.

    gold: Whether each trial was terminated. probabilities: Of that, from 0 to 1.
    threshold: A trial with at least this probability is called terminated.
    RETURNS: n, prevalence, threshold, accuracy, majority_accuracy,
        precision_terminated, recall_terminated, f_terminated, roc_auc, pr_auc (average
        precision), brier, prevalence_brier (of always saying the prevalence), log_loss.
        None is undefined: precision if none is called terminated; recall, F and pr_auc
        if none is; roc_auc if there is but one class; all but n and threshold if there
        is no trial.
    RAISES (T2VError): T145 for other lengths, labels but 0 and 1, and what is no
        probability.
    """
    labels, p = checked(gold, probabilities)
    n = len(labels)
    share = float(labels.mean()) if n else None
    called = p >= threshold
    hits = int((called & labels).sum())
    there, said = int(labels.sum()), int(called.sum())
    return {
        "n": n,
        "prevalence": share,
        "threshold": float(threshold),
        "accuracy": float((called == labels).mean()) if n else None,
        "majority_accuracy": None if share is None else max(share, 1 - share),
        "precision_terminated": hits / said if said else None,
        "recall_terminated": hits / there if there else None,
        "f_terminated": 2 * hits / (there + said) if there else None,
        "roc_auc": roc_auc(labels, p),
        "pr_auc": average_precision(labels, p),
        "brier": brier(labels, p),
        "prevalence_brier": None if share is None else share * (1 - share),
        "log_loss": log_loss(labels, p),
    }


def roc_auc(gold: Gold, probabilities: Probabilities) -> float | None:
    """Chance that a terminated trial scores above a completed one, a tie counting half;
    None if there is but one class."""
    labels, p = checked(gold, probabilities)
    return _number(areas(labels, p, np.ones((1, len(p))))[0])


def average_precision(gold: Gold, probabilities: Probabilities) -> float | None:
    """Mean of the precision at each terminated trial, those of one probability taken
    together: a constant prediction gets the prevalence. None without such a trial."""
    labels, p = checked(gold, probabilities)
    return _number(areas(labels, p, np.ones((1, len(p))))[1])


def brier(gold: Gold, probabilities: Probabilities) -> float | None:
    """Mean squared distance of probability and truth."""
    labels, p = checked(gold, probabilities)
    return float(((p - labels) ** 2).mean()) if len(p) else None


def log_loss(gold: Gold, probabilities: Probabilities) -> float | None:
    labels, p = checked(gold, probabilities)
    truth = np.clip(np.where(labels, p, 1 - p), _LEAST, 1)
    return float(-np.log(truth).mean()) if len(p) else None


def calibration_table(
    gold: Gold, probabilities: Probabilities, bins: int = 10
) -> Calibration:
    """Trials by rising probability in bins of equal number (one more or less). Fewer
    trials than bins give fewer bins. Equal probabilities may lie in two bins; of these
    the order of the trials decides.
    RAISES (T2VError): T026 for no bin; T145 as `termination_scores`."""
    if bins < 1:
        raise error(Errors.T026, setting="bins", value=bins, reason="at least one")
    labels, p = checked(gold, probabilities)
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    table = tuple(
        CalibrationBin(len(part), float(p[part].mean()), float(labels[part].mean()))
        for part in parts
    )
    gaps = sum(row.n * abs(row.predicted - row.observed) for row in table)
    return Calibration(table, gaps / len(p) if len(p) else None)


def areas(
    labels: np.ndarray, p: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """ROC-AUC and average precision (samples,) of the trials as often as each sample
    has them; NaN where undefined.

    labels (ndarray): bool (trials,). p (ndarray): (trials,).
    weights (ndarray): (samples, trials), how many times each sample has a trial.
    """
    if not len(p):
        return np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    order = np.argsort(-p, kind="stable")
    # A cut lies only between different probabilities.
    cuts = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)
    counts = weights[:, order]
    hits = np.cumsum(counts * labels[order], axis=1)[:, cuts]
    false = np.cumsum(counts * ~labels[order], axis=1)[:, cuts]
    new_hits = np.diff(hits, axis=1, prepend=0)
    new_false = np.diff(false, axis=1, prepend=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = (new_false * (hits - new_hits / 2)).sum(axis=1)
        roc = above / (hits[:, -1] * false[:, -1])
        precision = np.where(hits > 0, hits / (hits + false), 0.0)
        found = (new_hits * precision).sum(axis=1) / hits[:, -1]
    return roc, found


def checked(gold: Gold, probabilities: Probabilities) -> tuple[np.ndarray, np.ndarray]:
    """bool labels and float64 probabilities. RAISES (T2VError): T145."""
    labels = np.asarray(gold)
    p = np.asarray(probabilities, dtype="float64")
    if labels.ndim != 1 or labels.shape != p.shape:
        reason = f"{labels.shape} labels and {p.shape} probabilities"
        raise error(Errors.T145, reason=reason)
    if len(labels) and not np.isin(labels, (0, 1)).all():
        raise error(Errors.T145, reason="a label is neither true nor false")
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))  # NaN is neither
    if len(bad):
        raise error(Errors.T145, reason=f"that of trial {bad[0]} is {p[bad[0]]}")
    return labels.astype(bool), p


def _number(values: np.ndarray) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])
