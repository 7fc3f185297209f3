from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import Benchmark, by_parts, evaluate, run_benchmark
from t2v_spacy.trial import Trial

from .toy import Fixed

DOCUMENTS = {name: Trial(name, title=f"Trial {name}") for name in "ABCD"}
QRELS = {"A": {"B": 1, "C": 0}, "B": {"C": 1, "D": 0}}
CLOSED = Benchmark(
    "toy",
    {"A": DOCUMENTS["A"], "B": DOCUMENTS["B"]},
    QRELS,
    candidates={"A": ("C", "B"), "B": ("D", "C")},
    documents=DOCUMENTS,
)
SCORES = {("A", "B"): 0.9, ("A", "C"): 0.1, ("B", "D"): 0.8, ("B", "C"): 0.2}


def test_candidates_alone_are_ranked_and_named_to_the_system():
    system = Fixed(SCORES)
    run = run_benchmark(system, CLOSED, [Trial("X")])
    assert system.fitted == ["B", "C", "D"] and run.corpus == 3
    assert system.among.tolist() == [[True, True, False], [False, True, True]]
    assert list(run.scores["A"][0]) == ["B", "C"]
    assert evaluate(CLOSED, run)["mrr"].values.tolist() == [1.0, 0.5]
    assert run.system == "Fixed"


def test_without_candidates_the_whole_corpus_is_ranked():
    system = Fixed({**SCORES, ("A", "X"): 1.0, ("A", "A"): 5.0})
    benchmark = replace(CLOSED, candidates=None)
    run = run_benchmark(system, benchmark, [Trial("X"), Trial(" a "), Trial("b")])
    assert system.fitted == ["A", "B", "C", "D", "X"] and system.among is None
    assert evaluate(benchmark, run)["mrr"].values[0] == 0.5


def test_a_record_found_by_its_alias_is_ranked_once():
    documents = {"OLD": Trial("NEW", aliases=("OLD",)), "A": Trial("A")}
    benchmark = Benchmark(
        "toy", {"A": documents["A"]}, {"A": {"OLD": 1}}, documents=documents
    )
    system = Fixed({})
    run_benchmark(system, benchmark, [Trial("NEW"), Trial("X")])
    assert system.fitted == ["NEW", "A", "X"]


def test_queries_left_out_are_not_asked():
    queries = {**CLOSED.queries, "A": replace(DOCUMENTS["A"], title=None)}
    partial = by_parts(replace(CLOSED, queries=queries), ["title"])
    run = run_benchmark(Fixed(SCORES), partial)
    assert list(run.scores) == ["B"] and list(run.scores["B"][0]) == ["C", "D"]


class Broken(Fixed):
    def __init__(self, answer):
        super().__init__({})
        self.answer = answer

    def scores(self, queries, among=None):
        return self.answer


def test_scores_that_do_not_fit_are_refused_by_name():
    with pytest.raises(T2VError, match=r"T105.*Fixed.*\(2, 2\).*\(2, 3\)"):
        run_benchmark(Broken(np.zeros((2, 2))), CLOSED)
    answer = np.zeros((2, 3))
    answer[1, 2] = np.nan
    with pytest.raises(T2VError, match="T102.*Fixed.*D for query B"):
        run_benchmark(Broken(answer), CLOSED)
    with pytest.raises(T2VError, match="T105.*no documents"):
        run_benchmark(Fixed({}), replace(CLOSED, documents={}))
