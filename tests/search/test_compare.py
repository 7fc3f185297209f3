from __future__ import annotations

import json

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search.compare import compare

from .reasons_toys import ONE, TWO, toy_kb, trial


def test_criteria_that_are_alike_stand_in_one_row():
    found = compare([ONE, TWO], kb=toy_kb())
    rows = [[cell and cell.text for cell in row.cells] for row in found.criteria]
    assert rows == [
        ["Age 18 years or older", "Aged 21 years or older"],
        ["Serum urate > 8 mg/dL", "Serum urate > 7 mg/dL"],
        ["Pregnant or lactating women", "Pregnancy or lactation"],
        ["Gouty tophi", None],
        [None, "Serum urate > 12 mg/dL"],
    ]
    assert [row.shared for row in found.criteria] == [True] * 3 + [False] * 2
    first = found.criteria[0].cells
    assert [cell.differences for cell in first] == [((4, 6),), ((5, 7),)]
    assert first[0].score is None and 0.5 <= first[1].score <= 1


def test_facts_of_all_trials_agree_or_not_with_the_first():
    third = trial(3, phases=frozenset(("PHASE3",)), healthy_volunteers=False)
    found = {row.name: row for row in compare([ONE, TWO, third], kb=toy_kb()).facts}
    assert found["phase"].values == ("Phase 3", "Phase 2/Phase 3", "Phase 3")
    assert found["phase"].agree == (None, False, True)
    assert found["healthy volunteers"].values == (None, None, "No")


def test_plain_json():
    plain = compare([ONE, TWO], names=["a", "b"], kb=toy_kb()).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["trials"][0] == {"nct_id": ONE.nct_id, "name": "a", "title": ONE.title}
    assert [reasons["nct_id"] for reasons in plain["reasons"]] == [TWO.nct_id]


@pytest.mark.parametrize("n", [0, 1, 6])
def test_two_to_five_trials(n):
    with pytest.raises(T2VError, match="T177"):
        compare([ONE] * n, kb=toy_kb())


def test_a_trial_with_itself_and_one_without_anything():
    found = compare([ONE, ONE, trial(9)], kb=toy_kb())
    assert all(len(row.cells) == 3 for row in found.criteria)
    assert all(row.cells[1] and not row.cells[2] for row in found.criteria)
    assert found.reasons[1].line() == ""
