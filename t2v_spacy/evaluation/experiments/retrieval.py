"""Ranking benchmarks: complete and partial retrieval, ablations, widths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..benchmark import Benchmark
from ..evaluation import MEASURES, Evaluation, Row, compare, evaluate
from ..parts import by_parts
from ..runs import run_benchmark
from ..systems import System
from .inputs import Inputs
from .results import Result
from .settings import TableSettings


@dataclass(frozen=True)
class RankJob:
    """A system on a benchmark. parts: Sections, joined by "+", that queries are cut to;
    "" leaves them whole."""

    system: str
    benchmark: str
    parts: str = ""

    @property
    def title(self) -> str:
        return f"{self.benchmark} {self.parts}"

    def about(self, inputs: Inputs) -> Any:
        return [inputs.about_benchmark(self.benchmark), self.parts, MEASURES]

    def run(self, system: System, inputs: Inputs) -> Result:
        benchmark = inputs.benchmark(self.benchmark)
        if self.parts:
            labels = [part.strip() for part in self.parts.split("+")]
            benchmark = by_parts(benchmark, labels)
        run = run_benchmark(system, benchmark, inputs.distractors(self.benchmark))
        given = inputs.settings
        found = evaluate(benchmark, run, rounds=given.rounds, seed=given.seed)
        return {
            "benchmark": self.benchmark,
            "parts": self.parts,
            "ranked_among": run.corpus,
            "facts": _facts(benchmark, self.benchmark, inputs),
            **to_plain(found),
        }


def _facts(benchmark: Benchmark, name: str, inputs: Inputs) -> dict[str, Any]:
    """What a reader must know of a benchmark."""
    about = inputs.about_benchmark(name)
    hashes = {"labels": about["sha256"]}
    for key in ("trials", "distractors"):
        if about[key]:
            hashes[key] = about[key]["sha256"]
    return {
        "queries": len(benchmark.queries),
        "clusters": len(set(benchmark.clusters.values())),
        "judged": sum(map(len, benchmark.qrels.values())),
        "relevant_from": benchmark.relevant,
        "labelled_by": benchmark.labelled_by,
        "seen": about["seen"],
        "closed": benchmark.candidates is not None,
        "left_out": list(benchmark.left_out),
        "report": [inputs.settings.hide(line) for line in benchmark.report.lines()],
        "sha256": hashes,
    }


def table_jobs(table: TableSettings) -> Iterator[RankJob]:
    for benchmark in table.benchmarks:
        for system in dict.fromkeys((*table.systems, *table.against)):
            for parts in table.parts or ("",):
                yield RankJob(system, benchmark, parts)


def table_result(
    table: TableSettings, results: Mapping[Any, Result], *, seed: int
) -> dict[str, Any]:
    """Rows of each benchmark (and part), and each system against some others."""
    found: dict[str, Any] = {"shown": list(table.shown), "tables": []}
    for benchmark in table.benchmarks:
        for parts in table.parts or ("",):
            asked = [
                results[RankJob(name, benchmark, parts)]
                for name in dict.fromkeys((*table.systems, *table.against))
            ]
            rows = [row for row in asked if "failed" not in row]
            found["tables"].append(
                {
                    "benchmark": benchmark,
                    "parts": parts,
                    "facts": rows[0]["facts"] if rows else None,
                    "rows": [_without_values(row) for row in rows],
                    "failed": [row for row in asked if "failed" in row],
                    "differences": list(_differences(rows, table.against, seed)),
                }
            )
    return found


def _differences(
    rows: Sequence[Result], against: Sequence[str], seed: int
) -> Iterator[dict[str, Any]]:
    evaluations = {row["system"]: from_plain(row) for row in rows}
    for other in against:
        for name in evaluations:
            if other in evaluations and name != other:
                pair = evaluations[name], evaluations[other]
                for difference in compare(*pair, seed=seed):
                    yield {"system": name, "against": other, **asdict(difference)}


def to_plain(found: Evaluation) -> dict[str, Any]:
    """An evaluation as plain values."""
    rows = [
        {
            "measure": row.measure,
            "mean": row.mean,
            "low": row.low,
            "high": row.high,
            "left_out": row.left_out,
            "queries": list(row.queries),
            "values": row.values.tolist(),
        }
        for row in found.rows
    ]
    return {"measures": rows, "clusters": found.clusters, "unscored": found.unscored}


def from_plain(data: Mapping[str, Any]) -> Evaluation:
    """Inverse of `to_plain`, of a result."""
    rows = [
        Row(
            row["measure"],
            tuple(row["queries"]),
            np.array(row["values"], dtype="float64"),
            row["mean"],
            row["low"],
            row["high"],
            row["left_out"],
        )
        for row in data["measures"]
    ]
    return Evaluation(
        data["benchmark"],
        data["system"],
        tuple(rows),
        clusters=data["clusters"],
        unscored=data["unscored"],
    )


def _without_values(result: Result) -> Result:
    """A result without what is of single queries; that stays in the job's own file."""
    measures = [
        {
            **{k: v for k, v in row.items() if k not in ("queries", "values")},
            "queries": len(row["queries"]),
        }
        for row in result["measures"]
    ]
    rest = {k: v for k, v in result.items() if k not in ("clusters", "facts")}
    return {**rest, "measures": measures}
