"""Clustering: V-measure of MiniBatchKMeans with as many clusters as labels.

A set of texts is clustered RUNS times, each from another seed; its value is the mean,
that of the task the mean over sets. The settings of a run are those with which mteb
clusters tasks of sets (MedrxivClusteringS2S), and the first run of each set is the one
that mteb makes. The interval is by resampling sets, or the runs of the only set: texts
cannot be resampled, since copies of a text raise the V-measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import Errors, error
from ..significance import bootstrap_interval
from .encoders import Encoder, vectors
from .jsonl import read_objects, text_of
from .libraries import library
from .probe import label_of
from .score import ROUNDS, Score

RUNS = 10
_FIRST_SEED = 42  # mteb's


@dataclass(frozen=True)
class Clustering:
    """sets: of which set each text is; each is clustered by itself."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    sets: tuple[str, ...]


def score_clustering(
    data: Clustering, encoder: Encoder, *, seed: int = 0, runs: int = RUNS
) -> Score:
    """V-measure. seed: of the interval alone.

    RAISES (T202): sklearn is missing. (T205): There is no text.
    """
    if not data.texts:
        raise error(Errors.T205, task=data.name, reason="there is no text")
    library("sklearn", data.name)
    rows = vectors(encoder, data.texts)
    labels, sets = np.array(data.labels), np.array(data.sets)
    names = list(dict.fromkeys(data.sets))
    values, clusters = [], []
    for name in names:
        own = sets == name
        for run in range(runs):
            values.append(_v_measure(rows[own], labels[own], _FIRST_SEED + run))
            clusters.append(name)
    several = len(names) > 1
    low, high = bootstrap_interval(
        values, rounds=ROUNDS, seed=seed, clusters=clusters if several else None
    )
    over = f"{len(names)} sets" if several else "runs of k-means"
    return Score(float(np.mean(values)), low, high, len(data.texts), over)


def read_clustering(folder: Path) -> Clustering:
    """test.jsonl, lines {"text", "label"}, with "set" where there are several.

    RAISES (T001): No such file. (T201): A line of another form.
    """
    path = folder / "test.jsonl"
    rows = [
        (text_of(path, n, row, "text"), label_of(path, n, row), str(row.get("set", "")))
        for n, row in read_objects(path)
    ]
    texts, labels, sets = zip(*rows, strict=True) if rows else ((), (), ())
    return Clustering(folder.name, texts, labels, sets)


def _v_measure(rows: np.ndarray, labels: np.ndarray, seed: int) -> float:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import v_measure_score

    clusters = len(np.unique(labels))
    if clusters == 1:
        return 1.0
    model = MiniBatchKMeans(clusters, batch_size=500, n_init="auto", random_state=seed)
    return float(v_measure_score(labels, model.fit(rows).labels_))
