"""Where the trials of an index lie, in two dimensions: made once, in the background."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import T2VError
from ..files import replaced_file
from ..search import TrialIndex
from ..search.vectors import Array
from ..trial import Trial

MOST = 3000  # trials on a map
_GROUPS = 12
_PERPLEXITY = 30.0
_VERSION = 2  # of what is kept
_FEWEST = 10  # trials that t-SNE takes
_FEW = 300  # trials whose pairs are all computed as fast


class MapMaker:
    """The map of one index, with at most `MOST` of its trials, drawn by a seed.

    It is kept in `.NAME.map.json` beside the index where that can be written.
    """

    def __init__(self, index: TrialIndex, most: int = MOST, seed: int = 0) -> None:
        self._index = index
        self._most = most
        self._seed = seed
        self._starting = threading.Lock()
        self._begun = False
        self._found: dict[str, Any] = {"status": "computing"}

    def start(self) -> None:
        with self._starting:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._make, daemon=True).start()

    def get(self) -> dict[str, Any]:
        """{"status": "ready", "method", "total", "groups": [name], "points": [[x, y,
        number of the group, id, title, status, phases]]}; {"status": "computing"}; or
        {"status": "failed", "reason"}. x and y are from -1 to 1."""
        self.start()
        return self._found

    def _make(self) -> None:
        try:
            self._found = self._kept() or self._drawn()
        except Exception as err:  # a map must not stop the server, whatever it meets
            warnings.warn(f"There is no map of the trials: {err!r}", stacklevel=2)
            self._found = {"status": "failed", "reason": "it could not be computed"}

    def _key(self) -> str:
        meta = json.dumps(self._index.meta, sort_keys=True)
        about = f"{_VERSION} {self._most} {self._seed} {_method()} {meta}"
        return hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()

    @property
    def _file(self) -> Path:
        path = self._index.path.resolve()
        return path.with_name(f".{path.name}.map.json")

    def _kept(self) -> dict[str, Any] | None:
        try:
            kept = json.loads(self._file.read_text("utf8"))
            return kept["map"] if kept["key"] == self._key() else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _drawn(self) -> dict[str, Any]:
        ids = self._index.ids()
        if len(ids) > self._most:
            rng = np.random.default_rng(self._seed)
            chosen = rng.choice(len(ids), self._most, replace=False)
            ids = [ids[place] for place in sorted(chosen.tolist())]
        vectors = np.stack([self._index.vector(nct_id) for nct_id in ids])
        trials = [self._index[nct_id] for nct_id in ids]
        names, numbers = _groups(trials)
        xy = places(vectors, self._seed).astype(float).round(4).tolist()
        points = [
            [x, y, group, trial.nct_id, _title(trial), trial.status, _phases(trial)]
            for (x, y), group, trial in zip(xy, numbers, trials, strict=True)
        ]
        total = len(self._index)
        found = {"status": "ready", "method": _method(), "total": total}
        found |= {"groups": names, "points": points}
        self._keep(found)
        return found

    def _keep(self, found: dict[str, Any]) -> None:
        try:
            with replaced_file(self._file) as new:
                new.write_text(json.dumps({"key": self._key(), "map": found}), "utf8")
        except (OSError, T2VError):
            return  # it is made again at the next start


def places(vectors: Array, seed: int = 0) -> Array:
    """(n, 2), both axes from -1 to 1, of (n, width): by t-SNE where scikit-learn is
    installed, which keeps neighbours together, else the two principal components."""
    centred = vectors - vectors.mean(axis=0)
    found = np.zeros((len(vectors), 2), np.float32)
    if len(vectors) >= _FEWEST and _method() == "t-SNE":
        found = _by_t_sne(centred.astype(np.float32), seed)
    elif len(vectors) > 1:
        axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
        # The sign of an axis is free: its largest member is positive.
        signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
        found[:, : len(axes)] = centred @ (axes * signs[:, None]).T
    low, high = found.min(axis=0), found.max(axis=0)
    size = np.where(high > low, (high - low) / 2, 1)
    return (found - (low + high) / 2) / size


def _by_t_sne(vectors: Array, seed: int) -> Array:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    reduce = TSNE(
        perplexity=min(_PERPLEXITY, (len(vectors) - 1) / 3),
        init="pca",
        method="exact" if len(vectors) <= _FEW else "barnes_hut",
        random_state=seed,
    )
    # One thread: the others are for those who search meanwhile.
    with threadpool_limits(limits=1):
        return reduce.fit_transform(vectors)


def _method() -> str:
    return "t-SNE" if importlib.util.find_spec("sklearn") else "PCA"


def _groups(trials: list[Trial]) -> tuple[list[str], list[int]]:
    """Names, and the number of each trial's: groups of diseases, commonest first."""
    from ..evaluation.experiments.concepts import OTHER, disease_groups

    found = disease_groups(trials, _GROUPS)
    counts = Counter(found)
    names = sorted(counts, key=lambda name: (name == OTHER, -counts[name], name))
    return names, [names.index(name) for name in found]


def _title(trial: Trial) -> str:
    return trial.title or trial.official_title or ""


def _phases(trial: Trial) -> list[str]:
    return sorted(trial.phases)
