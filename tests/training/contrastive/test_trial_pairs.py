from __future__ import annotations

from dataclasses import replace

import pytest

from t2v_spacy.training.contrastive.concept_pairs import concept_pairs
from t2v_spacy.training.contrastive.patients import patient_line, patient_text
from t2v_spacy.training.contrastive.trial_pairs import TRIAL_SOURCES, trial_pairs
from t2v_spacy.training.knowledge_views import is_held_out
from t2v_spacy.trial import Intervention, Trial

from .toys import make_kb

KB = make_kb()
TRIAL = Trial(
    "NCT90000001",
    title="Colchicine for painful flares",
    conditions=("Podagra", "Rare swelling"),
    interventions=(Intervention("Colcrys"), Intervention("Placebo")),
    brief_summary="Does colchicine ease the pain of a swollen toe?",
    eligibility="Inclusion Criteria:\n\n"
    "- Patients must have kidney stones on ultrasound and pain at night\n"
    "- Gout for two years in one joint\n"
    "- Signed informed consent and asthma\n"
    "- Age 18 years or older\n"
    "- No asthma in the last month\n"
    "- Asthma or a tophus seen at the elbow or\n\n"
    "Exclusion Criteria:\n\n- Renal failure with asthma",
    min_age=18,
    max_age=65,
    sex="FEMALE",
)


def pairs_of(trial: Trial) -> dict:
    return dict(trial_pairs(trial, KB, TRIAL_SOURCES))


def test_a_record_gives_one_pair_to_each_source():
    pairs = pairs_of(TRIAL)
    assert list(pairs) == ["title_summary", "criteria_title", "patient_condition"]
    pair = pairs["title_summary"]
    assert (pair.anchor, pair.positive) == (TRIAL.title, TRIAL.brief_summary)
    # Podagra is gout and Colcrys colchicine; a placebo makes no trials alike.
    assert pair.groups == ("T:1 + T:3", "rare swelling + T:3")
    pair = pairs["criteria_title"]
    assert pair.anchor.startswith("Patients must have kidney stones")
    assert "Renal failure" not in pair.anchor
    assert pair.positive == "Colchicine for painful flares (Podagra, Rare swelling)"


def test_conditions_that_the_title_names_are_not_repeated():
    trial = replace(TRIAL, title="Colchicine in PODAGRA flares")
    assert pairs_of(trial)["criteria_title"].positive.endswith("flares (Rare swelling)")


def test_patients_are_described_without_the_name_of_their_disease():
    pair = pairs_of(TRIAL)["patient_condition"]
    assert pair.anchor == (
        "Women aged 18 to 65 years. Kidney stones on ultrasound and pain at night. "
        "Asthma or a tophus seen at the elbow."
    )
    assert pair.positive == "Podagra, Rare swelling"
    assert pair.groups == ("T:1", "rare swelling")


def test_records_that_describe_no_patient_give_none():
    for change in (
        {"conditions": ()},
        {"healthy_volunteers": True},
        {"eligibility": None},
        {"eligibility": "Inclusion Criteria:\n\n- Gout of the great toe for two years"},
        {
            "eligibility": "Inclusion Criteria:\n\n- Living near the hospital by the old river"
        },
    ):
        assert patient_text(replace(TRIAL, **change), KB) is None
    unknown = replace(TRIAL, conditions=("Rare swelling",))
    assert "patient_condition" not in pairs_of(unknown)


@pytest.mark.parametrize(
    ("sex", "low", "high", "line"),
    [
        ("MALE", None, 12, "Boys aged up to 12 years."),
        ("MALE", 40, None, "Men aged 40 years or older."),
        ("FEMALE", 2, 40, "Females aged 2 to 40 years."),
        ("ALL", 18, None, "Adults aged 18 years or older."),
        ("ALL", 0.5, 4, "Children aged 0.5 to 4 years."),
        (None, 10, 70, "Patients aged 10 to 70 years."),
        ("FEMALE", None, None, "Females."),
        ("ALL", None, None, ""),
        (None, None, None, ""),
    ],
)
def test_sex_and_age_open_the_note(sex, low, high, line):
    trial = Trial("NCT90000002", sex=sex, min_age=low, max_age=high)
    assert patient_line(trial) == line


def test_absent_and_equal_texts_give_no_pair():
    assert pairs_of(Trial("NCT90000003")) == {}
    same = Trial(
        "NCT90000004",
        title="One and the same text",
        brief_summary="One and the same text.",
    )
    assert pairs_of(same) == {}


def test_long_texts_are_cut():
    trial = replace(TRIAL, brief_summary="word " * 999)
    assert len(pairs_of(trial)["title_summary"].positive.split()) == 200


def test_concepts_give_aliases_and_definitions():
    found = list(
        concept_pairs(KB, ["alias_name", "name_definition"], held_out=0, seed=0)
    )
    pairs = {(n, p.anchor.replace("-", ""), p.positive) for n, p in found}
    # "gouts" and "GOUT" are spellings of the name, "XYZ145" of "XYZ-145"; "Asthma." defines nothing.
    assert pairs == {
        ("alias_name", "Podagra", "Gout"),
        ("alias_name", "Bronchial wheezing", "Asthma"),
        ("alias_name", "Colcrys", "Colchicine"),
        ("alias_name", "XYZ145", "Colchicine"),
        ("alias_name", "Nephrolithiasis", "Kidney stones"),
        ("name_definition", "Gout", KB["T:1"].definition),
    }
    assert len(found) == len(pairs) and all(len(p.groups) == 1 for _, p in found)


def test_held_out_concepts_are_in_no_pair():
    held = {i for i in KB.ids() if is_held_out(i, 0.6)}
    found = concept_pairs(KB, ["alias_name", "name_definition"], held_out=0.6, seed=0)
    seen = {pair.groups[0] for _, pair in found}
    assert held and seen and not held & seen
