from __future__ import annotations

import csv

import pytest

from t2v_spacy.kb.abbreviations import find_abbreviations, is_short_form


def pairs(text: str) -> dict[str, str]:
    return {found.short: found.long for found in find_abbreviations(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Heart failure (HF) is grave. HF kills.",
            {"HF": "Heart failure"},
        ),
        ("(HF) needs care.", {}),
        (
            "Nerve growth factor (NGF) and insulin growth factor (IGF) act.",
            {"NGF": "Nerve growth factor", "IGF": "insulin growth factor"},
        ),
        ("Resistant rickets (RR) was seen.", {"RR": "Resistant rickets"}),
        ("Pain eased in some weeks (Meyer et al., 2001).", {}),
        ("Walk in 6 minutes (W6M) was short.", {"W6M": "Walk in 6 minutes"}),
        (
            "given CBT (cognitive behaviour therapy)",
            {"CBT": "cognitive behaviour therapy"},
        ),
        ("Quality of Life (QoL)", {"QoL": "Quality of Life"}),
        ("chronic cough (CC, refractory)", {"CC": "chronic cough"}),
        ("a score of pain (daily)", {}),
        ("x" * 300 + " (XY)", {}),
    ],
)
def test_definitions(text, expected):
    assert pairs(text) == expected


def test_first_definition_wins_and_place_is_that_of_the_long_form():
    text = "Sickle cell disease (SCD) and sudden cardiac death (SCD)"
    (found,) = find_abbreviations(text)
    assert found.long == text[found.start : found.end] == "Sickle cell disease"


def test_short_forms():
    assert all(map(is_short_form, ["CKD", "rTMS", "PF1", "Vit D", "CAR-T"]))
    assert not any(map(is_short_form, ["Brown", "daily", "1999", "n=12", "A"]))


def test_abbreviations_of_the_examples(t2v_data):
    path = t2v_data / "cases" / "c25_abbrev.tsv"
    with path.open(encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 6
    for row in rows:
        found = ";".join(f"{s}={x}" for s, x in pairs(row["text"]).items())
        assert found == (row["expected_pairs"] or "")
