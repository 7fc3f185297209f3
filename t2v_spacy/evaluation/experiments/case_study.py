"""Chosen queries, and what each system ranks first for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ...errors import Errors, error
from ...trial import Trial
from ..benchmark import Benchmark, normal
from ..runs import run_benchmark
from ..systems import System
from .concepts import shared_names
from .inputs import Inputs
from .results import Result
from .settings import CaseSettings


@dataclass(frozen=True)
class CaseJob:
    system: str
    title = "cases"

    def about(self, inputs: Inputs) -> Any:
        given = inputs.settings.cases
        assert given is not None
        return [asdict(given), inputs.about_benchmark(given.benchmark)]

    def run(self, system: System, inputs: Inputs) -> Result:
        """RAISES (T143): A query that the benchmark does not have."""
        given = inputs.settings.cases
        assert given is not None
        benchmark = inputs.benchmark(given.benchmark)
        asked = chosen_queries(benchmark, given, inputs.settings.seed)
        some = replace(benchmark, queries={q: benchmark.queries[q] for q in asked})
        further = inputs.distractors(given.benchmark)
        run = run_benchmark(system, some, further)
        trials = {normal(trial.nct_id): trial for trial in further}
        trials |= benchmark.documents
        cases = []
        for query in asked:
            docs, scores = run.scores[query]
            pairs = dict(zip(docs, scores, strict=True))
            pairs.pop(query, None)
            first = sorted(pairs, key=lambda doc: (-pairs[doc], doc))[: given.k]
            record = benchmark.queries[query]
            grades = benchmark.qrels[query]
            hits = [_hit(record, trials[doc], grades.get(doc)) for doc in first]
            cases.append({"query": query, "title": record.title, "hits": hits})
        return {"benchmark": given.benchmark, "cases": cases}


def _hit(query: Trial, trial: Trial, grade: int | None) -> dict[str, Any]:
    return {
        "id": trial.nct_id,
        "title": trial.title,
        "grade": grade,
        "shared": shared_names(query, trial),
    }


def chosen_queries(
    benchmark: Benchmark, given: CaseSettings, seed: int
) -> Sequence[str]:
    if not given.queries:
        ids = list(benchmark.queries)
        drawn = np.random.default_rng(seed).permutation(len(ids))[: given.drawn]
        return [ids[i] for i in sorted(drawn)]
    for query in map(normal, given.queries):
        if query not in benchmark.queries:
            raise error(Errors.T143, query=query, benchmark=benchmark.name)
    return [normal(query) for query in given.queries]


def case_jobs(given: CaseSettings) -> Iterator[CaseJob]:
    for system in given.systems:
        yield CaseJob(system)


def case_result(given: CaseSettings, results: Mapping[Any, Result]) -> dict[str, Any]:
    asked = [results[job] for job in case_jobs(given)]
    return {
        "benchmark": given.benchmark,
        "rows": [row for row in asked if "failed" not in row],
        "failed": [row for row in asked if "failed" in row],
    }
