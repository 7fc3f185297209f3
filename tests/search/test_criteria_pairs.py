from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.search.criteria_pairs import MOST_ITEMS, differences, match_criteria

from .reasons_toys import ONE, TWO, trial


def marked(one: str, other: str) -> tuple[list[str], list[str]]:
    first, second = differences(one, other)
    return [one[s:e] for s, e in first], [other[s:e] for s, e in second]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Age 18 or older", "Age 21 or older", (["18"], ["21"])),
        ("ECOG 0-1", "ECOG 0-2", (["1"], ["2"])),
        ("HbA1c >= 7.0%", "HbA1c ≥ 7 %", ([], [])),
        ("HbA1c > 7%", "HbA1c < 7%", (["7"], ["7"])),
        ("HbA1c of at least 7", "HbA1c less than 7", (["7"], ["7"])),
        ("Not less than 7", "At least 7", ([], [])),
        ("Platelets 1,000", "Platelets 1000", ([], [])),
        ("Platelets > 100,000/mm^3", "Platelets > 100 x 10^9/L", ([], [])),
        ("COVID-19 and CYP3A4", "COVID and CYP2D6", ([], [])),
        ("NYHA class II-IV", "NYHA class I or II", (["IV"], ["I"])),
        ("Ann Arbor CS III or IV", "Ann Arbor Stage IIIA-IV", (["III"], ["IIIA"])),
        ("Type II diabetes", "Type 2 diabetes", ([], [])),
        ("Stage IIIB or IV", "Stage 3b or 4", ([], [])),
        ("Stage 3A", "Stage IIIB", (["3A"], ["IIIB"])),
        ("Grade II, Hb > 10", "Grade 3, Hb > 10", (["II"], ["3"])),
        ("Factor VIII below 1.5", "Factor 8 below 1.5", ([], [])),
        ("IV iron for 2 weeks", "Iron IV for 2 weeks", ([], [])),
        ("History of gout", "No history of gout", ([], ["No"])),
        ("No gout", "Not with gout", ([], [])),
        ("", "", ([], [])),
    ],
)
def test_what_differs(one, other, expected):
    assert marked(one, other) == expected


def test_pairs_are_of_one_kind_and_in_the_order_of_the_query():
    found = match_criteria(ONE, TWO)
    assert [(p.kind, p.query_index, p.hit_index) for p in found.pairs] == [
        ("inclusion", 0, 1),
        ("inclusion", 1, 0),
        ("exclusion", 2, 2),
    ]
    assert [p.differs for p in found.pairs] == [True, True, False]
    assert (found.method, found.query_count, found.hit_count) == ("words", 4, 4)


def test_an_item_is_used_once():
    one = trial(1, criteria="Inclusion Criteria:\n\n- Painful tophi\n- Painful tophi")
    other = trial(2, criteria="Inclusion Criteria:\n\n- Painful tophi")
    assert len(match_criteria(one, other).pairs) == 1


def test_units_and_limits_make_no_pair():
    one = trial(1, criteria="Inclusion Criteria:\n\n- Creatinine < 1.5 x ULN")
    other = trial(2, criteria="Inclusion Criteria:\n\n- Bilirubin < 1.5 x ULN")
    assert match_criteria(one, other).pairs == ()


def test_headings_are_no_criteria():
    text = "Inclusion Criteria:\n\n- Co-existing conditions:\n- Painful tophi"
    assert match_criteria(trial(1, criteria=text), trial(2)).query_count == 1


def test_only_the_first_items_are_compared():
    text = "Inclusion Criteria:\n\n" + "\n".join(
        f"- tophus {c}{c}" for c in "abcdefghij" * 5
    )
    assert match_criteria(trial(1, criteria=text), trial(2)).query_count == MOST_ITEMS


def test_no_criteria():
    found = match_criteria(trial(1), trial(2))
    assert (found.query_count, found.hit_count, found.pairs) == (0, 0, ())


def test_an_encoder_decides_where_there_is_one():
    vectors = {"Age 18 years or older": [1, 0], "Serum urate > 7 mg/dL": [0.8, 0.6]}

    def encode(texts):
        return np.array([vectors.get(text, [0, 0]) for text in texts], float)

    found = match_criteria(ONE, TWO, encode)
    assert found.method == "encoder"
    ((pair,),) = (found.pairs,)
    assert (pair.query_index, pair.hit_index) == (0, 0)
    assert pair.score == pytest.approx(0.8)


def test_of_many_numbers_some_are_compared():
    one, other = " ".join(map(str, range(10_000))), "0"
    assert len(differences(one, other)[0]) == 49


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BMI no greater than 40", "BMI greater than 40"),
        ("Lesions not exceeding 2 cm", "Lesions exceeding 2 cm"),
        ("Not younger than 18 years", "Younger than 18 years"),
    ],
)
def test_opposite_limits_differ(one, other):
    assert differences(one, other) != ((), ())


def test_a_limit_in_other_words_does_not_differ():
    assert differences("BMI not greater than 40", "BMI ≤ 40") == ((), ())
