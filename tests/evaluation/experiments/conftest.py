"""Settings on a few trials of the built-in sample, and a system that counts its work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from t2v_spacy.evaluation.experiments.settings import read_settings
from t2v_spacy.evaluation.systems import SYSTEMS
from t2v_spacy.evaluation.systems.base import VectorSystem

ROOT = Path(__file__).parents[3]


class Counting(VectorSystem):
    """Vectors by the area of the sample's ids; says how often it learned and ranked."""

    name = "Counting"
    long_text = "not read"
    learned: list[int] = []
    ranked: list[int] = []

    def __init__(self, *, model: str = "", noise: float = 0.1):
        super().__init__()
        self._noise = noise

    def _learn(self, trials):
        Counting.learned.append(len(trials))

    def _index(self, trials):
        Counting.ranked.append(len(trials))
        super()._index(trials)

    def _vectors(self, trials):
        rows = np.zeros((len(trials), 41))
        for row, trial in zip(rows, trials, strict=True):
            if trial.nct_id.startswith("NCT91"):
                row[int(trial.nct_id[5:7])] = 1
                row[0] = self._noise * int(trial.nct_id[-1])
        return rows


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setitem(SYSTEMS, "counting", Counting)
    Counting.learned, Counting.ranked = [], []
    return Counting


@pytest.fixture
def sample(tmp_path) -> Path:
    """Folder with records.jsonl, 24 trials of four areas, and labels.json."""
    lines = (ROOT / "corpus/sample/areas_11_20.jsonl").read_text("utf8").splitlines()
    text = "\n".join(lines[:24]) + "\n"
    (tmp_path / "records.jsonl").write_text(text, "utf8")
    ids = [json.loads(line)["nct_id"] for line in lines[:24]]
    labels = [
        {
            "query": ids[i],
            "candidates": ids[i + 1 : i + 6] + ids[-3:],
            "grades": [2, 1, 1, 1, 1, 0, 0, 0],
        }
        for i in (0, 6, 12)
    ]
    (tmp_path / "labels.json").write_text(json.dumps(labels), "utf8")
    return tmp_path


BASE = {
    "rounds": 50,
    "records": {"toy": {"path": "${TOY_DATA}/records.jsonl"}},
    "benchmarks": {
        "toy": {
            "path": "${TOY_DATA}/labels.json",
            "format": "trialsim-open",
            "trials": "toy",
        }
    },
    "systems": {
        "BM25": {"system": "bm25", "train": "toy"},
        "Counting": {"system": "counting", "train": "toy"},
    },
    "complete": {
        "benchmarks": ["toy"],
        "systems": ["BM25", "Counting"],
        "against": ["BM25"],
    },
}


@pytest.fixture
def make_settings(sample, monkeypatch, counting):
    """Settings of BASE with changes: a member replaces the base's, None removes it."""
    monkeypatch.setenv("TOY_DATA", str(sample))

    def make(**changes):
        path = sample / "settings.json"
        path.write_text(json.dumps(BASE | {"quick": changes}), "utf8")
        return read_settings(path, quick=True)

    return make
