from __future__ import annotations

import sys

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import load_benchmark
from t2v_spacy.trial import Trial

ROWS = [
    ["NCT90000001", "NCT90000002", "NCT90000003", 1, 0],
    ["NCT90000002", "NCT90000001", "NCT90000009", 1, 0],
    ["NCT90000003", "NCT90000001", "NCT90000002", 0, 0],
]
QRELS = {
    "NCT90000001": {"NCT90000002": 1, "NCT90000003": 0},
    "NCT90000002": {"NCT90000001": 1, "NCT90000009": 0},
    "NCT90000003": {"NCT90000001": 0, "NCT90000002": 0},
}
RECORDS = [Trial(f"NCT9000000{n}", title="Gout") for n in (1, 2, 3)]


def table(path, header, rows=ROWS, mark=","):
    lines = [mark.join(map(str, row)) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.mark.parametrize(
    ("format", "header", "mark"),
    [
        ("trialsim", ["target", "rank_1", "rank_2", "1", "2"], "\t"),
        ("trialsim", ["target_trial", "Rank_1", "Rank_2", "label_1", "label_2"], ","),
        ("secret", ["nct_id", "rank_1", "rank_2", "truth_1", "truth_2"], ","),
    ],
)
def test_text_tables(tmp_path, format, header, mark):
    path = table(tmp_path / "t.txt", header, mark=mark)
    found = load_benchmark(path, format, trials=RECORDS)
    assert found.report.complete == 2 and found.report.partial == 1
    assert found.qrels["NCT90000001"] == QRELS["NCT90000001"]
    assert found.report.missing == {"NCT90000009": 1}
    assert load_benchmark(path, format).qrels == QRELS


def workbook(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_workbook(tmp_path):
    header = [None, "target_trial", "rank_1", "rank_2", 1, 2]
    rows = [[n, *row[:3], float(row[3]), row[4]] for n, row in enumerate(ROWS)]
    path = workbook(tmp_path / "TrialSim.xlsx", [header, *rows, [None] * 6])
    assert load_benchmark(path, "trialsim").qrels == QRELS


def test_workbook_without_openpyxl_names_what_to_install(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", [["target", "rank_1", 1], ["A", "B", 1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(T2VError, match=r"T103.*t2v_spacy\[evaluation\]"):
        load_benchmark(path, "trialsim")


def test_an_archive_that_is_no_workbook_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(T2VError, match="T100.*no xlsx workbook"):
        load_benchmark(path, "trialsim")


@pytest.mark.parametrize(
    "header",
    [
        ["trial", "rank_1", "rank_2", "1", "2"],
        ["target", "a", "b", "1", "2"],
        ["target", "rank_1", "rank_2", "1", "c"],
    ],
)
def test_a_table_without_the_columns_is_refused(tmp_path, header):
    path = table(tmp_path / "t.csv", header)
    with pytest.raises(T2VError, match=r"T100.*rank_1") as caught:
        load_benchmark(path, "trialsim")
    assert header[1] in str(caught.value)


def test_odd_rows_are_refused_by_name(tmp_path):
    rows = [
        ["NCT90000001", "NCT90000002", "NCT90000003", 1, "?"],
        ["", "NCT90000002", "NCT90000003", 1, 0],
        ["NCT90000002", "NCT90000003", "", 1, ""],
        ["NCT90000002", "NCT90000001", "NCT90000003", 0, 0],
        ["NCT90000003", "NCT90000001"],
    ]
    header = ["nct_id", "rank_1", "rank_2", "truth_1", "truth_2"]
    found = load_benchmark(table(tmp_path / "t.csv", header, rows), "secret")
    assert found.qrels == {
        "NCT90000001": {"NCT90000002": 1},
        "NCT90000002": {"NCT90000003": 1},
    }
    report = found.report
    assert (report.complete, report.partial) == (1, 1)
    assert report.duplicates == {"NCT90000002": 1}
    where = [refusal.where for refusal in report.refused]
    assert sorted(where) == ["line 2, NCT90000001", "line 3", "line 6"]
