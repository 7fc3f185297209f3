"""Likeness of pairs of sentences (BIOSSES)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...trial import Trial
from ..sentence_pairs import correlate, read_biosses
from ..systems import System
from .inputs import Inputs
from .results import Result
from .settings import PairsSettings


@dataclass(frozen=True)
class PairsJob:
    """A system that reads each sentence as the title of a trial without more."""

    system: str
    path: str
    title = "pairs"

    def about(self, inputs: Inputs) -> Any:
        return inputs.fingerprint(self.path)

    def run(self, system: System, inputs: Inputs) -> Result:
        given = inputs.settings
        pairs = read_biosses(given.expand(self.path))
        first = [Trial(f"A{i}", title=text) for i, text in enumerate(pairs.first)]
        second = [Trial(f"B{i}", title=text) for i, text in enumerate(pairs.second)]
        system.fit(second)
        scores = system.scores(first, np.eye(len(first), dtype=bool)).diagonal()
        found = correlate(pairs, scores, rounds=given.rounds, seed=given.seed)
        return {
            "labelled_by": pairs.labelled_by,
            "sha256": inputs.fingerprint(self.path),
            "spearman": asdict(found),
        }


def pairs_jobs(settings: PairsSettings) -> Iterator[PairsJob]:
    for system in settings.systems:
        yield PairsJob(system, settings.path)


def pairs_result(
    settings: PairsSettings, results: Mapping[Any, Result]
) -> dict[str, Any]:
    asked = [results[job] for job in pairs_jobs(settings)]
    return {
        "rows": [row for row in asked if "failed" not in row],
        "failed": [row for row in asked if "failed" in row],
    }
