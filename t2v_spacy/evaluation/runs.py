"""`Run`: what a system makes of a benchmark, and how it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import Errors, error
from ..trial import Trial
from .benchmark import Benchmark, normal
from .systems.base import System

# Query id -> {document id: score}, or (document ids, scores (documents,)).
Scores = Mapping[str, Mapping[str, float] | tuple[Sequence[str], np.ndarray]]


@dataclass(frozen=True)
class Run:
    """Scores of a system, by query. corpus: how many trials it ranked among."""

    system: str
    scores: Scores
    corpus: int = 0


def run_benchmark(
    system: System, benchmark: Benchmark, trials: Iterable[Trial] = ()
) -> Run:
    """Ask a system all queries of a benchmark.

    The system is fitted on what is to be ranked: the candidates or, in a benchmark
    without, its documents and `trials`. To have it learn from more than that, call
    `system.train` before.
    trials: Further trials to rank; not used where the benchmark has candidates.
    RAISES (T102): A score that is no number. (T105): The benchmark has no documents, or
    the scores have another shape.
    """
    corpus = _corpus(benchmark, trials)
    if not corpus:
        reason = "it has no documents; load it with `trials`"
        raise _misfit(system.name, benchmark, reason)
    system.fit(list(corpus.values()))
    ids = np.array(list(corpus))
    among = None
    if benchmark.candidates is not None:
        lists = [set(benchmark.candidates[query]) for query in benchmark.queries]
        among = np.array([[doc in wanted for doc in corpus] for wanted in lists])
    table = np.asarray(system.scores(list(benchmark.queries.values()), among))
    shape = (len(benchmark.queries), len(corpus))
    if table.shape != shape:
        reason = f"scores of the shape {table.shape} where {shape} was asked for"
        raise _misfit(system.name, benchmark, reason)
    scores = {}
    for number, query in enumerate(benchmark.queries):
        kept = slice(None) if among is None else among[number]
        docs, row = ids[kept], table[number, kept]
        if np.isnan(row).any():
            doc = docs[np.isnan(row).argmax()]
            raise error(Errors.T102, source=system.name, query=query, document=doc)
        scores[query] = (docs.tolist(), row)
    return Run(system.name, scores, len(corpus))


def _corpus(benchmark: Benchmark, trials: Iterable[Trial]) -> dict[str, Trial]:
    documents = benchmark.documents
    if benchmark.candidates is None:
        known = {normal(trial.nct_id) for trial in documents.values()}
        further = {normal(trial.nct_id): trial for trial in trials}
        rest = {doc: trial for doc, trial in further.items() if doc not in known}
        return {**documents, **rest}
    wanted = {doc for docs in benchmark.candidates.values() for doc in docs}
    return {doc: trial for doc, trial in documents.items() if doc in wanted}


def _misfit(system: str, benchmark: Benchmark, reason: str) -> Exception:
    return error(Errors.T105, system=system, benchmark=benchmark.name, reason=reason)
