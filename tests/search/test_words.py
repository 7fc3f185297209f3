from __future__ import annotations

import pytest

from t2v_spacy.search.words import LONGEST, Words, lexical_text, term
from t2v_spacy.trial import Intervention, Trial

from .toys import nct

WORDS = Words()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Treating the Tumours of patients", "treat tumour patient"),
        ("Sjögren's SYNDROME", "sjogren syndrom"),
        ("Sjo\u0308gren\u2019s", "sjogren"),
        ("β-blocker", "beta blocker"),
        ("the of and", ""),
        ("", ""),
        ("anti-PD-1", "anti pd 1 pd1"),
        ("5-FU", "5 fu 5fu"),
        ("10 mg, 10mg", "10 mg 10mg 10mg"),
        ("2.5 mg/kg", "2 5 mg kg 2.5mg/kg"),
        ("1,000 IU", "1 000 iu 1000iu"),
        ("50 µg and 7 %", "50 ug 7 50ug 7%"),
        ("MK-3475 (pembrolizumab)", "mk 3475 pembrolizumab mk3475"),
        ("MK 3475", "mk 3475 mk3475"),
        ("day 100", "day 100"),
    ],
)
def test_words(text, words):
    assert WORDS(text) == words.split()


def test_who_types_need_not_use_capitals():
    assert WORDS("mk 3475") == ["mk", "3475"]
    assert WORDS("mk 3475", query=True) == ["mk", "3475", "mk3475"]


def test_a_long_word_is_cut():
    assert len(term("é" * 40)) == LONGEST


def test_text_of_a_record():
    trial = Trial(
        nct(1),
        aliases=(nct(2),),
        org_study_id="AB-12",
        title="Of gout",
        interventions=(Intervention("Alpha", "DRUG", other_names=("XY-100",)),),
        brief_summary="For gout",
        why_stopped="Harm",
    )
    text = lexical_text(trial)
    once = "- Drug: Alpha\n  * XY-100"
    assert text.split("\n", 2)[:2] == ["Of gout"] * 2
    assert text.split("\n", 2)[2] == f"{once}\n{once}\nFor gout\n{nct(1)}\n{nct(2)}\nAB-12"  # fmt: skip
