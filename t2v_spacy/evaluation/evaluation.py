"""A system's figures on a benchmark, with intervals, and two systems side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import Errors, error
from .benchmark import Benchmark
from .ranking import average_precision, ndcg, precision, rank, recall, reciprocal_rank
from .runs import Run, Scores
from .significance import bootstrap_interval, paired_bootstrap, sign_flip_test

MEASURES = (
    *("precision@1", "precision@2", "precision@5"),
    *("recall@1", "recall@2", "recall@5", "recall@10"),
    *("ndcg@5", "map", "mrr"),
)
_KNOWN = "precision@k, recall@k, ndcg@k, ndcg_linear@k, ndcg_binary@k, map, mrr"
_NAME = re.compile(r"(precision|recall|ndcg|ndcg_linear|ndcg_binary)@([1-9]\d*)")
Measure = Callable[[np.ndarray, np.ndarray], float | None]


@dataclass(frozen=True)
class Row:
    """One measure over the queries that it counts.

    values: float64 (queries,), in the order of `queries`. mean, low, high: None where
    no query counts. left_out: queries without a relevant document, for which the
    measure means nothing.
    """

    measure: str
    queries: tuple[str, ...]
    values: np.ndarray = field(repr=False, compare=False)
    mean: float | None
    low: float | None
    high: float | None
    left_out: int

    def __str__(self) -> str:
        if self.mean is None:
            return f"{self.measure} - (no query has a relevant trial)"
        cell = f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"
        left = f", {self.left_out} without a relevant trial" if self.left_out else ""
        return f"{self.measure} {cell}, {len(self.queries)} queries{left}"


@dataclass(frozen=True)
class Evaluation:
    """unscored: judged documents to which the system gave no score; they count as never
    found. ignored: queries with scores that the benchmark does not have."""

    benchmark: str
    system: str
    rows: tuple[Row, ...]
    clusters: dict[str, str] = field(default_factory=dict, repr=False)
    unscored: int = 0
    ignored: int = 0

    def __getitem__(self, measure: str) -> Row:
        return next(row for row in self.rows if row.measure == measure)


@dataclass(frozen=True)
class Difference:
    """first - second over the same queries: its 95 % interval, and two-sided p of the
    paired bootstrap and of the sign-flip permutation test."""

    measure: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_permutation: float
    queries: int


def find_measure(name: str, relevant: int) -> Measure:
    """(ranked grades, missed grades) -> value of one query. ndcg has the gain
    2**grade - 1, ndcg_linear the grade, ndcg_binary 1 from the grade `relevant` on.

    RAISES (T104): No such measure.
    """
    if name in ("map", "mrr"):
        function = average_precision if name == "map" else reciprocal_rank
        return lambda ranked, missed: function(ranked, relevant, missed=missed)
    found = _NAME.fullmatch(name)
    if not found:
        raise error(Errors.T104, value=name, known=_KNOWN)
    kind, k = found[1], int(found[2])
    if kind == "precision":
        return lambda ranked, missed: precision(ranked, k, relevant=relevant)
    if kind == "recall":
        return lambda ranked, missed: recall(
            ranked, k, relevant=relevant, missed=missed
        )
    if kind == "ndcg_binary":
        return lambda ranked, missed: ndcg(
            (ranked >= relevant).astype("int64"),
            k,
            missed=(missed >= relevant).astype("int64"),
        )
    gain = "linear" if kind == "ndcg_linear" else "exponential"
    return lambda ranked, missed: ndcg(ranked, k, gain=gain, missed=missed)


def evaluate(
    benchmark: Benchmark,
    run: Run | Scores,
    *,
    measures: Sequence[str] = MEASURES,
    rounds: int = 2000,
    seed: int = 0,
) -> Evaluation:
    """Measure the ranking that scores give.

    Ties are broken at random under the seed. The query itself is no result. Documents
    that are no candidates are passed over; where there are no candidates, those without
    a judgment count as not relevant. Intervals resample `benchmark.clusters`.
    RAISES (T102): A score that is no number. (T104): No such measure. (T105): No query
    of the benchmark has scores.
    """
    if not isinstance(run, Run):
        run = Run("", run)
    asked = [query for query in benchmark.queries if query in run.scores]
    if not asked:
        name = run.system or "The run"
        reason = "no query of the benchmark has scores"
        raise error(Errors.T105, system=name, benchmark=benchmark.name, reason=reason)
    ranked, missed = {}, {}
    for number, query in enumerate(benchmark.queries):
        rng = np.random.default_rng([seed, number])
        ranked[query], missed[query] = _ranked(benchmark, query, run, rng)
    rows = []
    for name in measures:
        measure = find_measure(name, benchmark.relevant)
        found = {q: measure(ranked[q], missed[q]) for q in benchmark.queries}
        rows.append(_row(name, found, benchmark.clusters, rounds, seed))
    return Evaluation(
        benchmark.name,
        run.system,
        tuple(rows),
        clusters=dict(benchmark.clusters),
        unscored=sum(map(len, missed.values())),
        ignored=len(set(run.scores) - set(benchmark.queries)),
    )


def _ranked(
    benchmark: Benchmark, query: str, run: Run, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Grades of the documents in ranked order, and of those judged but not ranked."""
    found = run.scores.get(query, {})
    docs, numbers = found if isinstance(found, tuple) else (list(found), found.values())
    scores = np.fromiter(numbers, dtype="float64")
    place = {doc: i for i, doc in enumerate(docs)}
    if not len(place) == len(docs) == len(scores):
        name, reason = run.system or "The run", f"query {query} needs one score each"
        raise error(Errors.T105, system=name, benchmark=benchmark.name, reason=reason)
    pool = benchmark.qrels[query]
    if benchmark.candidates is None:
        kept = [i for doc, i in place.items() if doc != query]
    else:
        pool = {doc: pool.get(doc, 0) for doc in benchmark.candidates[query]}
        kept = [place[doc] for doc in pool if doc in place]
    grades = np.zeros(len(docs), dtype="int64")
    for doc in pool.keys() & place.keys():
        grades[place[doc]] = pool[doc]
    if (bad := np.isnan(scores[kept])).any():
        doc = docs[kept[int(bad.argmax())]]
        source = run.system or "the run"
        raise error(Errors.T102, source=source, query=query, document=doc)
    lost = [grade for doc, grade in pool.items() if doc not in place]
    return rank(scores[kept], grades[kept], rng), np.array(lost, dtype="int64")


def _row(
    name: str,
    found: Mapping[str, float | None],
    clusters: Mapping[str, str],
    rounds: int,
    seed: int,
) -> Row:
    counted = {query: value for query, value in found.items() if value is not None}
    values = np.array(list(counted.values()), dtype="float64")
    left_out = len(found) - len(counted)
    if not counted:
        return Row(name, (), values, None, None, None, left_out)
    low, high = bootstrap_interval(
        values, rounds=rounds, seed=seed, clusters=_names(counted, clusters)
    )
    return Row(name, tuple(counted), values, float(values.mean()), low, high, left_out)


def _names(queries: Iterable[str], clusters: Mapping[str, str]) -> list[str]:
    """The cluster of each query; one without stands for itself."""
    return [clusters.get(query, query) for query in queries]


def compare(
    first: Evaluation, second: Evaluation, *, rounds: int = 10_000, seed: int = 0
) -> tuple[Difference, ...]:
    """Two systems on one benchmark, for each measure that counts any query.

    RAISES (T106): Other measures or other queries.
    """
    if [row.measure for row in first.rows] != [row.measure for row in second.rows]:
        raise _incomparable(first, second, "they have other measures")
    found = []
    for one, other in zip(first.rows, second.rows, strict=True):
        if one.queries != other.queries:
            reason = f"{one.measure} counts other queries"
            raise _incomparable(first, second, reason)
        if one.mean is not None and other.mean is not None:
            names = _names(one.queries, first.clusters)
            pair = one.values, other.values
            test = paired_bootstrap(*pair, rounds=rounds, seed=seed, clusters=names)
            p = sign_flip_test(*pair, rounds=rounds, seed=seed, clusters=names)
            found.append(
                Difference(
                    one.measure,
                    one.mean,
                    other.mean,
                    test.difference,
                    test.low,
                    test.high,
                    test.p,
                    p,
                    len(one.queries),
                )
            )
    return tuple(found)


def _incomparable(first: Evaluation, second: Evaluation, reason: str) -> Exception:
    names = {"first": first.system or "a", "second": second.system or "b"}
    return error(Errors.T106, reason=reason, **names)
