"""Records and benchmarks of the settings, read when first asked for.

What decides a result is known by hashes of files and settings before anything is read,
so that a run in which nothing changed reads nothing.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...errors import Errors, error
from ...files import describe, digest
from ...readers import read_trials
from ...trial import Trial
from ..benchmark import Benchmark, normal
from ..loaders import load_benchmark
from .settings import Settings


class Inputs:
    """RAISES (T001): In any method, a file that is not there."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._records: dict[str, list[Trial]] = {}
        self._benchmarks: dict[str, Benchmark] = {}
        self._hashes: dict[Path, str] = {}

    def check(self) -> None:
        """Look for every file of the settings, before hours of work."""
        for records in self.settings.records.values():
            self.fingerprint(records.path)
        for benchmark in self.settings.benchmarks.values():
            self.fingerprint(benchmark.path)
        if self.settings.pairs:
            self.fingerprint(self.settings.pairs.path)

    def records(self, name: str) -> list[Trial]:
        """The trials, the first record of each id, at most `most`."""
        if name not in self._records:
            first: dict[str, Trial] = {}
            for trial in self._read(name):
                first.setdefault(normal(trial.nct_id), trial)
            trials = list(first.values())
            most = self.settings.records[name].most
            if most and most < len(trials):
                rng = random.Random(self.settings.seed)
                kept = sorted(rng.sample(range(len(trials)), most))
                trials = [trials[i] for i in kept]
            self._records[name] = trials
        return self._records[name]

    def benchmark(self, name: str) -> Benchmark:
        if name not in self._benchmarks:
            given = self.settings.benchmarks[name]
            self._benchmarks[name] = load_benchmark(
                self.settings.expand(given.path),
                given.format,
                trials=None if given.trials is None else self._read(given.trials),
                name=name,
                relevant=given.relevant,
                closed=given.closed,
                labelled_by=given.labelled_by,
                keep_partial=given.keep_partial,
                seed=self.settings.seed,
            )
        return self._benchmarks[name]

    def distractors(self, name: str) -> list[Trial]:
        """Trials that are ranked beside the judged ones of a benchmark."""
        given = self.settings.benchmarks[name].distractors
        return [] if given is None else self.records(given)

    def about_records(self, name: str | None) -> dict[str, Any] | None:
        """Plain values that decide `records`."""
        if name is None:
            return None
        given = self.settings.records[name]
        seed = self.settings.seed if given.most else 0
        return {**asdict(given), "seed": seed, "sha256": self.fingerprint(given.path)}

    def about_benchmark(self, name: str) -> dict[str, Any]:
        """Plain values that decide `benchmark` and `distractors`."""
        given = self.settings.benchmarks[name]
        return {
            **asdict(given),
            "seed": self.settings.seed,
            "sha256": self.fingerprint(given.path),
            "trials": self.about_records(given.trials),
            "distractors": self.about_records(given.distractors),
        }

    def fingerprint(self, path: str) -> str:
        """sha256 of a file, or of the files of a folder; taken once."""
        found = Path(self.settings.expand(path))
        if found not in self._hashes:
            self._hashes[found] = content_hash(found)
        return self._hashes[found]

    def _read(self, name: str) -> Iterator[Trial]:
        given = self.settings.records[name]
        for trial in read_trials(self.settings.expand(given.path)):
            if all(getattr(trial, field) for field in given.require):
                yield trial


def content_hash(path: Path) -> str:
    """sha256 of a file, or of names and contents of the files of a folder."""
    if path.is_file():
        return digest(path)
    if not path.is_dir():
        raise error(Errors.T001, path=path)
    return plain_hash(describe(path))


def plain_hash(values: Any) -> str:
    """sha256 of plain values."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
