"""Evaluation: benchmarks, measures with intervals, and systems compared on them."""

from __future__ import annotations

from .benchmark import Benchmark, LoadReport
from .evaluation import MEASURES, Difference, Evaluation, Row, compare, evaluate
from .loaders import BENCHMARKS, load_benchmark
from .parts import by_parts, only
from .runs import Run, run_benchmark
from .sentence_pairs import SentencePairs, correlate, read_biosses
from .trec import read_run

__all__ = [
    "BENCHMARKS",
    "MEASURES",
    "Benchmark",
    "Difference",
    "Evaluation",
    "LoadReport",
    "Row",
    "Run",
    "SentencePairs",
    "by_parts",
    "compare",
    "correlate",
    "evaluate",
    "load_benchmark",
    "only",
    "read_biosses",
    "read_run",
    "run_benchmark",
]
