from __future__ import annotations

import pytest

from t2v_spacy.kb.matcher import NameMatcher, SpellingMatcher, is_misspelt, pick
from t2v_spacy.kb.normalise import words

NAMES = ["heart failure", "heart", "chronic heart failure", "gout", "vitamin a"]


def find(text: str, segments: list[int] | None = None) -> list[str]:
    found = list(words(text))
    runs = NameMatcher(NAMES).find(found, segments or [0] * len(found))
    return [run.name for run in runs]


def test_longest_names_come_first():
    text = "Gout and chronic heart failure"
    assert find(text) == ["chronic heart failure", "heart failure", "gout", "heart"]


def test_names_do_not_reach_across_segments():
    assert find("heart; failure", [0, 1]) == ["heart"]


@pytest.mark.parametrize("text", ["", "?", "nothing known here", "gouty", "hearts"])
def test_nothing_found(text):
    assert find(text) == []


def test_no_names():
    found = list(words("gout"))
    assert NameMatcher([]).find(found, [0]) == []


def test_every_name_is_found_in_a_long_text():
    names = [f"substance {i} of kind {i % 7}" for i in range(3000)]
    matcher = NameMatcher(names)
    text = "; ".join(names)
    found = list(words(text))
    segments = [i // 5 for i in range(len(found))]
    runs = matcher.find(found, segments)
    assert {run.name for run in runs} == set(names)
    assert len(runs) == len(names)


def test_pick_takes_the_longest_accepted():
    found = list(words("chronic heart failure and gout"))
    runs = NameMatcher(NAMES).find(found, [0] * len(found))
    picked = pick(runs, lambda run: run.name != "chronic heart failure")
    assert [run.name for run in picked] == ["heart failure", "gout"]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("hypertention", "hypertension", True),
        ("hypertensoin", "hypertension", True),
        ("hypertensio", "hypertension", True),
        ("hyppertension", "hypertension", True),
        ("wilmstumor", "wilms tumor", True),
        ("hypertension", "hypertension", False),
        ("hypotention", "hypertension", False),
        ("photon therapy", "proton therapy", False),
        ("hepatitis c virus", "hepatitis a virus", False),
        ("b cell lymphoma", "t cell lymphoma", False),
    ],
)
def test_is_misspelt(text, name, expected):
    assert is_misspelt(text, name) is expected


def test_spelling_matcher_finds_each_kind_of_slip():
    names = ["pembrolizumab", "hypertension", "wilms tumor", "gout", "dose 1234567"]
    matcher = SpellingMatcher(names)
    assert matcher.find("pemrolizumab") == ["pembrolizumab"]
    assert matcher.find("pembrolizumabb") == ["pembrolizumab"]
    assert matcher.find("hyqertension") == ["hypertension"]
    assert matcher.find("wilmstumor") == ["wilms tumor"]
    assert matcher.find("goud") == []
    assert matcher.find("dose 1234568") == []
    assert SpellingMatcher([]).find("hypertension") == []
