"""Where trials lie: two dimensions by t-SNE, and how well disease groups hold together
in the vectors themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...errors import Errors, error
from ..significance import bootstrap_interval
from ..systems import System
from ..systems.base import Array, VectorSystem, library, unit
from .concepts import OTHER, disease_groups
from .inputs import Inputs
from .results import Result

FEWEST = 10
_FEW = 500  # points whose pairs are all computed as fast
_BLOCK = 1024  # rows compared at a time


@dataclass(frozen=True)
class MapJob:
    """The vectors of a system, on records."""

    system: str
    title = "map"

    def about(self, inputs: Inputs) -> Any:
        given = inputs.settings.map
        assert given is not None
        return [asdict(given), inputs.about_records(given.records)]

    def run(self, system: System, inputs: Inputs) -> Result:
        """RAISES (T142): The system has no vectors, or there are too few trials."""
        given = inputs.settings.map
        assert given is not None
        if not isinstance(system, VectorSystem):
            reason = f"{system.name} makes no vectors of trials"
            raise error(Errors.T142, reason=reason)
        trials = inputs.records(given.records)
        system.fit(trials)  # learns, if it has to
        vectors = unit(system._vectors(trials))
        present = vectors.any(axis=1)
        trials = [t for t, there in zip(trials, present, strict=True) if there]
        vectors = vectors[present]
        if len(trials) < FEWEST:
            reason = f"{len(trials)} trials have a vector, and {FEWEST} are needed"
            raise error(Errors.T142, reason=reason)
        seed = inputs.settings.seed
        groups = disease_groups(trials, given.groups)
        about = inputs.about_records(given.records)
        assert about is not None
        return {
            "records": {"path": about["path"], "sha256": about["sha256"]},
            "without_vector": int((~present).sum()),
            "perplexity": _perplexity(given.perplexity, len(trials)),
            "agreement": agreement(
                vectors,
                groups,
                neighbours=given.neighbours,
                repeats=given.repeats,
                seed=seed,
                rounds=inputs.settings.rounds,
            ),
            "ids": [trial.nct_id for trial in trials],
            "titles": [trial.title or "" for trial in trials],
            "groups": groups,
            "places": places(vectors, given.perplexity, seed).round(2).tolist(),
        }


def places(vectors: Array, perplexity: float, seed: int) -> Array:
    """(trials, 2) by t-SNE, which keeps neighbours together; distances between far
    groups and the axes mean nothing."""
    manifold = library("sklearn.manifold", "The map")
    reduce = manifold.TSNE(
        perplexity=_perplexity(perplexity, len(vectors)),
        init="pca",
        method="exact" if len(vectors) <= _FEW else "barnes_hut",
        random_state=seed,
    )
    return reduce.fit_transform(vectors.astype("float32"))


def _perplexity(wanted: float, n: int) -> float:
    return min(wanted, (n - 1) / 3)


def agreement(
    vectors: Array,
    groups: Sequence[str],
    *,
    neighbours: int,
    repeats: int,
    seed: int,
    rounds: int,
) -> dict[str, Any] | None:
    """How far the vectors agree with the groups, OTHER left out; None where fewer than
    two groups are left.

    purity: Share of a trial's nearest neighbours (cosine) that are in its own group,
        mean over trials, with a 95 % interval by resampling trials. chance: the same
        for neighbours drawn at random.
    nmi: Normalised mutual information of k-means (as many clusters as groups) with the
        groups, mean over seeds and the range that holds 95 % of them.
    """
    named = np.array([group != OTHER for group in groups])
    kept, labels = vectors[named], np.array(groups)[named]
    sizes = Counter(labels.tolist())
    if len(sizes) < 2:
        return None
    shares = purity(kept, labels, neighbours)
    low, high = bootstrap_interval(shares, rounds=rounds, seed=seed)
    n = len(labels)
    nmi = cluster_agreement(kept, labels, repeats, seed)
    nmi_low, nmi_high = np.quantile(nmi, (0.025, 0.975))
    return {
        "trials": n,
        "groups": dict(sizes.most_common()),
        "neighbours": min(neighbours, n - 1),
        "purity": {"mean": float(shares.mean()), "low": low, "high": high},
        "chance": sum(s * (s - 1) for s in sizes.values()) / (n * (n - 1)),
        "nmi": {
            "mean": float(np.mean(nmi)),
            "low": float(nmi_low),
            "high": float(nmi_high),
            "seeds": repeats,
        },
    }


def purity(vectors: Array, labels: Array, neighbours: int) -> Array:
    """Of each trial (trials,) the share of its nearest neighbours with its label."""
    k = min(neighbours, len(labels) - 1)
    shares = []
    for start in range(0, len(labels), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(labels)))
        cosines = vectors[block] @ vectors.T
        cosines[np.arange(len(block)), block] = -np.inf
        nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        shares.append((labels[nearest] == labels[block, None]).mean(axis=1))
    return np.concatenate(shares)


def cluster_agreement(
    vectors: Array, labels: Array, repeats: int, seed: int
) -> list[float]:
    """NMI of k-means with the labels, for each of some seeds."""
    cluster = library("sklearn.cluster", "The map")
    metrics = library("sklearn.metrics", "The map")
    found = []
    for number in range(repeats):
        means = cluster.KMeans(
            n_clusters=len(set(labels)), n_init=1, random_state=seed + number
        )
        score = metrics.normalized_mutual_info_score(labels, means.fit_predict(vectors))
        found.append(float(score))
    return found
