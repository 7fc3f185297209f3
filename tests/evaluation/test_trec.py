from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import evaluate, load_benchmark, read_run

QRELS = "q1 0 d1 2\nq1 0 d2 0\n\nq2\t0\td3\t-1\nq2 0 d4 1\n"
RUN = "q1 Q0 d2 1 0.9 bm25\nq1 Q0 d1 2 0.5 bm25\nq2 Q0 d4 1 -3 bm25\n"


@pytest.fixture
def write(tmp_path):
    def to(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf8")
        return path

    return to


def test_qrels_and_run_are_evaluated_without_records(write):
    benchmark = load_benchmark(write("x.qrels", QRELS), "trec")
    run = read_run(write("x.run", RUN))
    assert run.system == "bm25" and run.scores["Q1"] == {"D2": 0.9, "D1": 0.5}
    found = evaluate(benchmark, run)
    assert found["mrr"].values.tolist() == [0.5, 1.0]
    assert found.unscored == 1  # d3, judged below 0


def test_a_grade_below_zero_is_not_relevant(write):
    benchmark = load_benchmark(write("x.qrels", QRELS), "trec")
    assert benchmark.qrels["Q2"] == {"D3": 0, "D4": 1}


def test_odd_lines_of_qrels_are_refused_by_name(write):
    text = "q1 0 d1 1\nq1 0 d1 0\nq1 0 d2 high\nq1 d2 1\n"
    benchmark = load_benchmark(write("x.qrels", text), "trec")
    assert benchmark.qrels == {"Q1": {"D1": 1}}
    refused = benchmark.report.refused
    assert [refusal.where for refusal in refused] == ["line 2", "line 3", "line 4"]
    assert "judged twice" in refused[0].reason


@pytest.mark.parametrize(
    ("line", "code", "named"),
    [
        ("q1 Q0 d3 3 nan bm25", "T102", "D3 for query Q1"),
        ("q1 Q0 d3 3 high bm25", "T100", "line 4"),
        ("q1 Q0 d3 3", "T100", "line 4"),
        ("q1 Q0 D1 3 0.1 bm25", "T100", "line 4 ranks D1 twice"),
    ],
)
def test_a_run_that_cannot_be_trusted_is_refused_by_name(write, line, code, named):
    path = write("x.run", RUN + line + "\n")
    with pytest.raises(T2VError, match=named) as caught:
        read_run(path)
    assert caught.value.code == code and "x.run" in str(caught.value)


def test_no_run(write, tmp_path):
    with pytest.raises(T2VError, match="T100.*empty"):
        read_run(write("x.run", "\n"))
    with pytest.raises(T2VError, match="T001"):
        read_run(tmp_path / "none.run")
