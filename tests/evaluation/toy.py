"""A toy benchmark and systems whose scores are known."""

from __future__ import annotations

import numpy as np

from t2v_spacy.evaluation import Benchmark
from t2v_spacy.trial import Trial


class Fixed:
    """A system with a given score for each (query id, trial id), 0 for others."""

    name = "Fixed"
    long_text = "none"

    def __init__(self, table):
        self.table = table
        self.fitted: list[str] = []
        self.among = None

    def train(self, trials):
        raise AssertionError("nobody asked for training")

    def fit(self, trials):
        self.fitted = [trial.nct_id for trial in trials]

    def scores(self, queries, among=None):
        self.among = among
        return np.array(
            [[self.table.get((q.nct_id, i), 0.0) for i in self.fitted] for q in queries]
        )


def ranked_as(labels):
    """(benchmark, scores) of queries whose documents rank in the order of labels."""
    qrels = {
        f"Q{n}": {f"D{i}": grade for i, grade in enumerate(row)}
        for n, row in enumerate(labels)
    }
    scores = {
        query: {doc: -float(i) for i, doc in enumerate(docs)}
        for query, docs in qrels.items()
    }
    candidates = {query: tuple(docs) for query, docs in qrels.items()}
    queries = {query: Trial(query) for query in qrels}
    return Benchmark("toy", queries, qrels, candidates), scores
