"""How good the vectors are, while training and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..extensions import NCT_ID

KEY = "trial2vec"


def make_trial2vec_scorer(
    labels: Path | None = None, format: str = "trialsim-open"
) -> Callable[..., dict[str, Any]]:
    """Scorer `t2v.trial2vec_scorer.v1` for the vectors of evaluated Docs.

    Always, without labels:
        trial2vec_own_criteria: mean reciprocal rank at which the criteria of a trial
            find its own title and condition among all trials.
        trial2vec_mean_cosine: of all pairs of trials; near 1 the vectors are useless.
        trial2vec_rank: directions that carry variance (exp of the entropy of the
            spectrum).
    With labels of which the Docs have the trials:
        trial2vec_ndcg@5, trial2vec_map: means over the queries.

    labels (Path | None): File of judged trials.
    format (str): Its format, one of `t2v_spacy.evaluation.BENCHMARKS`.
    RETURNS (Callable): Examples to scores; None where there is nothing to score.
    """

    return partial(_score, path=labels, format=format)


def _score(
    examples: Iterable[Example], *, path: Path | None, format: str, **_: Any
) -> dict[str, Any]:
    # spaCy gives each scorer the `labels` of its pipe; ours has none.
    docs = [eg.predicted for eg in examples]
    docs = [doc for doc in docs if doc._.trial_vector is not None]
    vectors = np.stack([doc._.trial_vector for doc in docs]) if docs else None
    scores: dict[str, Any] = {
        f"{KEY}_own_criteria": own_criteria(docs),
        f"{KEY}_mean_cosine": None if vectors is None else mean_cosine(vectors),
        f"{KEY}_rank": None if vectors is None else effective_rank(vectors),
    }
    if path is not None and vectors is not None:
        scores |= _judged(path, format, [_nct_id(doc) for doc in docs], vectors)
    return scores


def _nct_id(doc: Doc) -> str:
    if NCT_ID in doc.user_data or doc._.trial is None:
        return str(doc.user_data.get(NCT_ID, ""))
    return doc._.trial.nct_id


def own_criteria(docs: Sequence[Doc]) -> float | None:
    """Mean reciprocal rank of a trial's title and condition for its criteria; ties
    count against it. None with fewer than two trials that have both."""
    queries, targets = [], []
    for doc in docs:
        found: Mapping[str, np.ndarray] = doc._.section_vectors or {}
        about = [found[label] for label in ("title", "condition") if label in found]
        if about and "eligibility" in found:
            total = np.sum(about, axis=0)
            queries.append(found["eligibility"])
            targets.append(total / max(float(np.linalg.norm(total)), 1e-9))
    if len(queries) < 2:
        return None
    scores = np.stack(queries) @ np.stack(targets).T
    # Not ">=": what is no number must not rank first.
    ranks = (~(scores < np.diagonal(scores)[:, None])).sum(axis=1)
    return float((1 / ranks).mean())


def mean_cosine(vectors: np.ndarray) -> float | None:
    """Mean cosine of all pairs of different rows (n, width) of unit length."""
    n = len(vectors)
    if n < 2:
        return None
    total = vectors.astype("float64").sum(axis=0)
    return float((total @ total - (vectors**2).sum()) / (n * (n - 1)))


def effective_rank(vectors: np.ndarray) -> float | None:
    """Exp of the entropy of the centred rows' spectrum, between 1 and their width."""
    if len(vectors) < 2:
        return None
    if not np.isfinite(vectors).all():
        return float("nan")
    centred = vectors - vectors.mean(axis=0)
    variance = np.linalg.svd(centred, compute_uv=False).astype("float64") ** 2
    if not variance.sum():
        return 1.0
    share = variance[variance > 0] / variance.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def _judged(
    labels: Path, format: str, ids: Sequence[str], vectors: np.ndarray
) -> dict[str, float | None]:
    from ..evaluation import evaluate, load_benchmark
    from ..evaluation.benchmark import normal
    from ..trial import Trial

    benchmark = load_benchmark(labels, format, trials=[Trial(nct_id=i) for i in ids])
    row = {normal(nct_id): i for i, nct_id in enumerate(ids)}
    scores = {}
    for query in benchmark.queries:
        if query not in row:  # a text that comes with the labels
            continue
        docs = benchmark.candidates[query] if benchmark.candidates else row
        known = [doc for doc in docs if doc in row and doc != query]
        cosines = vectors[[row[doc] for doc in known]] @ vectors[row[query]]
        scores[query] = dict(zip(known, cosines.tolist(), strict=True))
    found = evaluate(benchmark, scores, measures=["ndcg@5", "map"])
    return {f"{KEY}_{row.measure}": row.mean for row in found.rows}
