from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite import Row, Score, find_tasks, markdown, read_published

TASKS = find_tasks(["SciFact", "HoC", "BIOSSES"])


def ran(task: str, value: float, note: str = "") -> Row:
    score = Score(value, value - 0.1, value + 0.1, 9, "pairs", note)
    return Row(task, "sts", "spearman", "ran", score)


def none(task: str, why: str) -> Row:
    return Row(task, "sts", "spearman", "no data", why=why)


def test_systems_stand_beside_published_figures():
    systems = {
        "one": [
            ran("SciFact", 0.5, "a part"),
            none("HoC", "nothing there"),
            ran("BIOSSES", 0.7),
        ],
        "two": [
            none("SciFact", "nothing there"),
            none("HoC", "nothing there"),
            ran("BIOSSES", 0.6),
        ],
    }
    text = markdown(TASKS, systems, {"Card": {"HoC": 0.81, "BIOSSES": 0.9}})
    assert text.splitlines() == [
        "| task | metric | one | two | Card (published) |",
        "|---|---|---:|---:|---:|",
        "| SciFact | ndcg@10 | 0.500 (0.400 to 0.600, note 1) | no data (note 2) | – |",
        "| HoC | micro_f1 | no data (note 2) | no data (note 2) | 0.810 |",
        "| BIOSSES | spearman | 0.700 (0.600 to 0.800) | 0.600 (0.500 to 0.700) | 0.900 |",
        "| mean of the 1 that ran, of 3 | | 0.700 | 0.600 |  |",
        "",
        "1. SciFact, 9 items: a part",
        "2. no data: nothing there",
    ]  # fmt: skip


def test_what_mteb_evaluated_is_told_apart():
    row = Row(
        "HoC", "probe", "micro_f1", "ran", Score(0.5, None, None, 0), protocol="mteb"
    )
    lines = markdown(TASKS, {"one": [row]}).splitlines()
    assert "| HoC | micro_f1 | 0.500 (note 1) |" in lines
    assert lines[-1] == "1. as mteb evaluates it, which gives no interval"


def test_there_is_no_mean_of_nothing():
    text = markdown(TASKS, {"one": [none(task.name, "x") for task in TASKS]})
    assert "mean" not in text


def test_published_figures_are_read(tmp_path):
    path = tmp_path / "card.csv"
    path.write_text("task,Clinical UltraBERT,Other\nscifact,0.71,\nBIOSSES,.9,-0.2\n")
    assert read_published(path) == {
        "Clinical UltraBERT": {"SciFact": 0.71, "BIOSSES": 0.9},
        "Other": {"BIOSSES": -0.2},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name,x\nHoC,1\n", "T204.*card.csv, line 1, .*first column is not 'task'"),
        ("task,x\nHoC,71.2\n", "T204.*card.csv, line 2, .*71.2 is no fraction of 1"),
        ("task,x\nHoC,good\n", "T204.*line 2, .*'good' is no number"),
        ("task,x\nHoC\n", "T204.*line 2, .*1 cells where the header has 2"),
        ("task,x\nAverage,0.7\n", "T200.*'Average'"),
    ],
)
def test_a_bad_table_is_refused(tmp_path, text, reason):
    (tmp_path / "card.csv").write_text(text)
    with pytest.raises(T2VError, match=reason):
        read_published(tmp_path / "card.csv")
