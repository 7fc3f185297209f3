"""Classification: a logistic regression on frozen vectors.

One set of settings for all encoders and tasks: columns standardised on the training
items, so that vectors of unit length and raw ones are shrunk alike; L2 penalty with
C = 1, lbfgs, at most 1,000 rounds. Several labels an item: one such regression a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import Errors, error
from ..significance import bootstrap_interval
from .encoders import Encoder, vectors
from .jsonl import bad, read_objects, text_of
from .libraries import library
from .score import ROUNDS, Score, resampled_interval

METRICS = ("accuracy", "macro_f1", "micro_f1")
Array = np.ndarray


@dataclass(frozen=True)
class Items:
    """labels: those of each text; exactly one where the task is not of many."""

    texts: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Probe:
    name: str
    train: Items
    test: Items


def score_probe(data: Probe, encoder: Encoder, metric: str, *, seed: int = 0) -> Score:
    """One of METRICS on the test items, and its interval over them.

    micro_f1 is of tasks of many labels, the others of one. RAISES (T202): sklearn is
    missing. (T205): No test item, or fewer than two labels to learn.
    """
    many = metric == "micro_f1"
    learnt, tested = (set(chain(*part.labels)) for part in (data.train, data.test))
    if not data.test.texts or len(learnt) < (1 if many else 2):
        reason = "it needs test items, and two labels in its training items"
        raise error(Errors.T205, task=data.name, reason=reason)
    library("sklearn", data.name)
    train, test = _standard(
        vectors(encoder, data.train.texts), vectors(encoder, data.test.texts)
    )
    place = {name: i for i, name in enumerate(sorted(learnt | tested))}
    shown, wanted = (_table(part.labels, place) for part in (data.train, data.test))
    if many:
        columns = [_predict_one(train, column, test, seed) for column in shown.T]
        return _micro_f1(wanted, np.stack(columns, axis=1), seed)
    true = wanted.argmax(axis=1)
    predicted = _regression(seed).fit(train, shown.argmax(axis=1)).predict(test)
    if metric == "accuracy":
        return _accuracy(true, predicted, seed)
    return _macro_f1(true, predicted, len(place), seed)


def read_probe(folder: Path, many: bool = False) -> Probe:
    """train.jsonl and test.jsonl, lines {"text", "label"}, or {"text", "labels": [...]}
    where an item has any number of them.

    RAISES (T001): A file is lacking. (T201): A line of another form.
    """
    parts = [read_items(folder / f"{part}.jsonl", many) for part in ("train", "test")]
    return Probe(folder.name, *parts)


def read_items(path: Path, many: bool = False) -> Items:
    """See `read_probe`."""
    texts, labels = [], []
    for number, row in read_objects(path):
        texts.append(text_of(path, number, row, "text"))
        if many:
            given = row.get("labels")
            if not isinstance(given, list):
                raise bad(path, "it lacks the list 'labels'", number)
            labels.append(tuple(map(str, given)))
        else:
            labels.append((label_of(path, number, row),))
    return Items(tuple(texts), tuple(labels))


def label_of(path: Path, number: int, row: dict[str, Any]) -> str:
    """RAISES (T201): The line has no label, which is a text or a whole number."""
    label = row.get("label")
    if isinstance(label, bool) or not isinstance(label, str | int) or label == "":
        raise bad(path, "it lacks a 'label'", number)
    return str(label)


def divide(items: Items, *, share: float = 0.2, seed: int = 0) -> tuple[Items, Items]:
    """Training and test items of a set of one label an item that has no such division:
    of each label this share, rounded down, is for the test."""
    rng = np.random.default_rng(seed)
    tested: list[int] = []
    labels = np.array([row[0] for row in items.labels])
    for label in np.unique(labels):
        own = rng.permutation(np.flatnonzero(labels == label))
        tested.extend(own[: int(share * len(own))].tolist())
    kept = sorted(set(range(len(labels))) - set(tested))
    return _choose(items, kept), _choose(items, sorted(tested))


def _choose(items: Items, which: Sequence[int]) -> Items:
    return Items(
        tuple(items.texts[i] for i in which), tuple(items.labels[i] for i in which)
    )


def _standard(train: Array, test: Array) -> tuple[Array, Array]:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)


def _regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=1000, random_state=seed)


def _predict_one(train: Array, column: Array, test: Array, seed: int) -> Array:
    if column.min() == column.max():  # nothing to tell apart
        return np.full(len(test), column[0])
    return _regression(seed).fit(train, column).predict(test)


def _table(labels: Sequence[Sequence[str]], place: dict[str, int]) -> Array:
    """(items, labels): 1 where an item has the label."""
    found = np.zeros((len(labels), len(place)), dtype="int64")
    for row, names in zip(found, labels, strict=True):
        row[[place[name] for name in names]] = 1
    return found


def _accuracy(true: Array, predicted: Array, seed: int) -> Score:
    hits = (true == predicted).astype("float64")
    low, high = bootstrap_interval(hits, rounds=ROUNDS, seed=seed)
    return Score(float(hits.mean()), low, high, len(hits), "test items")


def _macro_f1(true: Array, predicted: Array, size: int, seed: int) -> Score:
    cells = true * size + predicted

    def measure(counts: Array) -> Array:
        whole = np.zeros((len(counts), size * size))
        whole[:, : counts.shape[1]] = counts
        table = whole.reshape(-1, size, size)
        both = table.sum(axis=1) + table.sum(axis=2)
        hits = 2 * np.einsum("sii->si", table)
        # A label that is neither there nor predicted does not count.
        f1 = np.divide(hits, both, out=np.zeros_like(both), where=both > 0)
        return f1.sum(axis=1) / (both > 0).sum(axis=1)

    value = float(measure(np.bincount(cells)[None])[0])
    # Within the labels: a rare one that no sample draws would raise the mean.
    low, high = resampled_interval(cells, measure, strata=true, seed=seed)
    return Score(value, low, high, len(true), "test items")


def _micro_f1(true: Array, predicted: Array, seed: int) -> Score:
    counts = np.stack([(true & predicted).sum(1), true.sum(1) + predicted.sum(1)], 1)
    unique, kinds = np.unique(counts, axis=0, return_inverse=True)

    def measure(samples: Array) -> Array:
        hits, both = (samples @ unique).T
        return np.divide(2.0 * hits, both, out=np.zeros(len(hits)), where=both > 0)

    kinds = kinds.reshape(-1)
    value = float(measure(np.bincount(kinds)[None])[0])
    low, high = resampled_interval(kinds, measure, seed=seed)
    return Score(value, low, high, len(true), "test items")
