from __future__ import annotations

import csv

import pytest

from t2v_spacy.termination.labels import count_labels, termination_label


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


def test_statuses_are_counted_with_their_labels_the_most_frequent_first():
    counts = count_labels(["Withdrawn", "COMPLETED", "COMPLETED", "Lost", None, "", ""])
    assert list(counts.items()) == [
        ("", {"n": 3, "label": None}),
        ("COMPLETED", {"n": 2, "label": False}),
        ("WITHDRAWN", {"n": 1, "label": True}),
        ("Lost", {"n": 1, "label": None}),
    ]


def test_the_shared_case_of_statuses(t2v_data):
    named = {"termination": True, "completion": False}
    path = t2v_data / "cases" / "c05_status.tsv"
    rows = list(csv.DictReader(path.open(encoding="utf8"), delimiter="\t"))
    assert len(rows) == 16
    for row in rows:
        for form in ("api_v2", "legacy"):
            label = named.get(row["expected_label"])
            assert termination_label(row[form]) is label, row
