"""What a report says of a batch."""

from __future__ import annotations

import json

from t2v_spacy.readers import ReadReport
from t2v_spacy.trial import Trial
from t2v_spacy.values import STATUS_LABELS, outcome_label, parse_status


def counted(*trials: Trial) -> ReadReport:
    report = ReadReport()
    for trial in trials:
        report.count(trial)
    return report


def test_summary_line():
    report = counted(
        Trial("NCT93000001", eligibility="a"),
        Trial("NCT93000002", eligibility="b"),
        Trial("NCT93000003"),
    )
    report.written = 3
    summary = "3 read, 3 written, 0 refused; 1 without eligibility"
    assert report.lines()[0] == summary


def test_fill_rates_and_fields_empty_in_all_records():
    report = counted(
        Trial("NCT93000001", title="x", conditions=("a",)), Trial("NCT93000002")
    )
    assert "title 50%" in report.lines()[1]
    assert "conditions" not in report.empty_fields
    assert "outcomes" in report.empty_fields
    assert any(
        line.startswith("Warning: no record has outcomes") for line in report.lines()
    )
    assert not any("no record has conditions" in line for line in report.lines())


def test_unknown_and_blank_statuses_are_counted():
    report = counted(
        Trial("NCT93000001", status="Some future value"),
        Trial("NCT93000002", status="Some future value"),
        Trial("NCT93000003", status="COMPLETED"),
        Trial("NCT93000004"),
    )
    text = "\n".join(report.lines())
    assert "2 with an unknown status" in text
    assert "Some future value (2)" in text
    assert "1 without a status" in text
    assert "COMPLETED" not in text


def test_duplicates_are_counted():
    report = counted(*[Trial("NCT93000001")] * 3, Trial("NCT93000002"))
    assert report.duplicates == {"NCT93000001": 2}
    assert any("NCT93000001 (2)" in line for line in report.lines())


def test_refusals_are_listed_up_to_twenty():
    report = ReadReport()
    for i in range(25):
        report.refuse("a.json", f"line {i}", "not valid JSON")
    listed = [line for line in report.lines() if line.startswith("Refused: ")]
    assert listed[0] == "Refused: a.json, line 0: not valid JSON"
    assert len(listed) == 20
    assert "... and 5 more refused" in report.lines()


def test_skipped_files_are_named():
    report = ReadReport()
    report.skip("folder/notes.md", "not a record file")
    assert report.lines()[-1].endswith("hold no records: folder/notes.md")


def test_plain_values():
    report = counted(Trial("NCT93000001", title="x", status="?"))
    report.refuse("a", "b", "c")
    data = json.loads(json.dumps(report.to_dict()))
    assert (data["read"], data["written"]) == (1, 0)
    assert data["refused"] == [{"path": "a", "where": "b", "reason": "c"}]
    assert data["filled"]["title"] == 1
    assert data["filled"]["outcomes"] == 0
    assert data["unknown_status"] == {"?": 1}


def test_case_statuses(t2v_data):
    labels = {"completion": "COMPLETED", "termination": "TERMINATED"}
    path = t2v_data / "cases" / "c05_status.tsv"
    rows = [
        line.split("\t") for line in path.read_text("utf-8").split("\n")[1:] if line
    ]
    assert len(rows) == 16
    for api, legacy, expected in rows:
        for raw in (api, legacy):
            status = parse_status(raw)
            assert outcome_label(status) == labels.get(expected)
            warned = counted(Trial("NCT93000001", status=status)).unknown_status
            assert bool(warned) == expected.endswith("+warn")
            if warned and raw:
                assert status == raw
    assert set(STATUS_LABELS) == {parse_status(row[0]) for row in rows[:14]}
