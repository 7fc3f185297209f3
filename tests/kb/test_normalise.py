from __future__ import annotations

import pytest

from t2v_spacy.kb.normalise import fold, norm, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Crohn's Disease", "crohn disease"),
        ("crohn’s DISEASE", "crohn disease"),
        ("Ménière disease", "meniere disease"),
        ("Me\u0301nie\u0300re disease", "meniere disease"),
        ("TNF-α (blocker)", "tnf alpha blocker"),
        ("Sjögren/Larsson, type β", "sjogren larsson type beta"),
        ("  5-FU  ", "5 fu"),
        ("Straße", "strasse"),
        ("mL/min", "ml min"),
        ("", ""),
        ("?!", ""),
        ("中文", ""),
    ],
)
def test_fold(name, expected):
    assert fold(name) == expected


def test_words_spell_the_folded_text_and_know_their_place():
    text = "TNF-α in Crohn's disease, 10 µg."
    found = list(words(text))
    assert " ".join(word.folded for word in found) == fold(text)
    assert [text[word.start : word.end] for word in found] == [
        *("TNF", "α", "in", "Crohn's", "disease", "10", "µg")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tumours of the Lung", "Lung Tumor"),
        ("Diabetes Mellitus, Type 2", "type 2 diabetes mellitus"),
        ("Anaemia", "anemia"),
        ("Metastases, brain", "Brain metastasis"),
        ("Biopsies", "biopsy"),
        ("Viruses", "virus"),
        ("The behaviour disorder", "Behavior Disorders"),
    ],
)
def test_norm_gives_one_key(one, other):
    assert norm(one) == norm(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hepatitis A", "Hepatitis"),
        ("Hepatitis A", "Hepatitis B"),
        ("Vitamin A", "Vitamins"),
        ("With", "Pain"),
        ("Type 1 diabetes", "Type 2 diabetes"),
    ],
)
def test_norm_keeps_different_things_apart(one, other):
    assert norm(one) != norm(other)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("CROHN'S DISEASE", "crohn disease"),
        ("JOHN’S", "john"),
        ("(2R,4'S)-amine", "2r 4 s amine"),
        ("MEN'Sx", "men sx"),
    ],
)
def test_possessive_in_capitals(name, folded):
    assert fold(name) == folded
