from __future__ import annotations

import pytest

from t2v_spacy.search.numerals import numerals


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Type II Diabetes", "2"),
        ("type-ii diabetes, type 2 diabetes", "2 2"),
        ("Phase I/II", "1 2"),
        ("Phase: II", "2"),
        ("stages II, III and IVA", "2 3 4a"),
        ("stage I, II, or III cancer", "1 2 3"),
        ("Stage IIIB-IV", "3b 4"),
        ("Ann Arbor stage III, Ann Arbor CS III", "3 3"),
        ("NYHA II–IV, NYHA class III", "2 4 3"),
        ("factor VIII and factor IX", "8 9"),
        ("Factors V, VI, VII, X, XI, XII, XIII", "5 6 7 10 11 12 13"),
        ("factor Xa", "10a"),
        ("subtype 2 or IV", "2 4"),
        ("grade 3B, Grade 03", "3b 3"),
    ],
)
def test_what_counts_something(text, values):
    assert [numeral.value for numeral in numerals(text)] == values.split()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I want iron IV, vitamin C and CD4 cells",
        "IV infusion of phase-specific drugs",
        "angiotensin II",
        "type of infusion",
        "type C",
        "type VIP",
        "class action I",
        "prototype II",
        "stage 123",
        "Grade 1.5",
        "phase x1",
    ],
)
def test_nothing_else_is_one(text):
    assert list(numerals(text)) == []


def test_places():
    text = "Gout of Stage IIIa"
    assert [(n.value, text[n.start : n.end]) for n in numerals(text)] == [
        ("3a", "IIIa")
    ]
