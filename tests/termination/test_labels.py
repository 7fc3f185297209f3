from __future__ import annotations

import csv

import pytest

from t2v_spacy.termination.labels import LabelCounts, count_labels, termination_label
from t2v_spacy.trial import Trial


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("TERMINATED", True),
        ("WITHDRAWN", True),
        ("SUSPENDED", True),
        ("Withdrawn", True),
        ("COMPLETED", False),
        ("APPROVED_FOR_MARKETING", False),
        ("RECRUITING", None),
        ("UNKNOWN", None),
        ("WITHHELD", None),
        ("SOME_FUTURE_VALUE", None),
        ("", None),
        (None, None),
    ],
)
def test_a_status_says_how_a_trial_ended_or_nothing(status, label):
    assert termination_label(status) is label


def test_statuses_without_a_label_are_counted_by_name():
    statuses = ["WITHDRAWN", "COMPLETED", "COMPLETED", "RECRUITING", "Lost", None, ""]
    trials = [Trial(f"NCT{n:08}", status=status) for n, status in enumerate(statuses)]
    counts = count_labels(trials)
    assert counts == LabelCounts(1, 2, {"RECRUITING": 1}, {"": 2, "Lost": 1})
    assert counts.labelled == 3


def test_the_shared_case_of_statuses(t2v_data):
    named = {"termination": True, "completion": False}
    path = t2v_data / "cases" / "c05_status.tsv"
    rows = list(csv.DictReader(path.open(encoding="utf8"), delimiter="\t"))
    assert len(rows) == 16
    for row in rows:
        for form in ("api_v2", "legacy"):
            label = named.get(row["expected_label"])
            assert termination_label(row[form]) is label, row
