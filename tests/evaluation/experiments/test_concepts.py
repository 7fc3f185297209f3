from __future__ import annotations

from t2v_spacy.evaluation.experiments.concepts import (
    OTHER,
    concepts,
    disease_groups,
    shared_names,
)
from t2v_spacy.trial import Intervention, Trial


def trial(*conditions, drugs=()):
    return Trial(
        "NCT90000001",
        conditions=conditions,
        interventions=tuple(map(Intervention, drugs)),
    )


def test_a_trial_is_in_the_branch_that_most_of_its_concepts_lie_under():
    found = disease_groups(
        [trial("Heart Failure"), trial("Heart Failure", "Hypertension", "Gout")], 9
    )
    assert found == ["Cardiovascular Diseases"] * 2


def test_of_equal_branches_the_commonest_counts():
    lung = trial("Lung Neoplasms")  # a neoplasm and a disease of the respiratory tract
    assert disease_groups([lung, trial("Melanoma")], 9)[0] == "Neoplasms"
    assert (
        disease_groups([lung, trial("Asthma"), trial("Emphysema")], 9)[0]
        == "Respiratory Tract Diseases"
    )


def test_small_groups_and_trials_without_a_disease_are_other():
    trials = [
        trial("Gout"),
        trial("Gout"),
        trial("Glaucoma"),
        trial("Healthy Volunteers"),
        trial(),
    ]
    found = disease_groups(trials, 1)
    assert found[0] == found[1] != OTHER
    assert found[2:] == [OTHER] * 3


def test_signs_and_symptoms_are_no_group():
    assert (
        disease_groups([trial("Pruritus", "Cough", "Fever")], 9)[0]
        != "Pathological Conditions, Signs and Symptoms"
    )


def test_concepts_of_conditions_and_interventions_once():
    found = concepts(trial("Gout", "gout", drugs=["Colchicine"]))
    assert len(found) == 2
    one = trial("Gout", drugs=["Colchicine", "Placebo"])
    other = trial("gout flares", drugs=["colchicine", "Placebo"])
    assert shared_names(one, other) == ["Gout", "Colchicine"]
