from __future__ import annotations

from dataclasses import replace
from math import log1p

import numpy as np
import pytest

from t2v_spacy.termination.facts import FACTS, facts_matrix, registration_facts
from t2v_spacy.trial import Arm, Design, Enrollment, Intervention, Location, Trial
from t2v_spacy.values import PartialDate

TRIAL = Trial(
    "NCT90000001",
    conditions=("Gout", "Pain"),
    interventions=(Intervention("Tablet A", "DRUG"), Intervention("Cuff", "DEVICE")),
    arms=(Arm("A", "EXPERIMENTAL"), Arm("B", "PLACEBO_COMPARATOR"), Arm("C")),
    sex="FEMALE",
    min_age=18.0,
    healthy_volunteers=True,
    phases=frozenset(("PHASE1", "PHASE2")),
    study_type="INTERVENTIONAL",
    design=Design("RANDOMIZED", "CROSSOVER", masking="DOUBLE", primary_purpose="OTHER"),
    sponsor_class="NIH",
    collaborators=("Beta",),
)


def named(trial: Trial) -> dict[str, float]:
    row = registration_facts(trial)
    assert row.dtype == np.float32 and row.shape == (len(FACTS),)
    return {name: x for name, x in zip(FACTS, row.tolist(), strict=True) if x}


def test_facts_of_a_trial():
    expected = {
        "phase PHASE1": 1,
        "phase PHASE2": 1,
        "study type INTERVENTIONAL": 1,
        "intervention type DEVICE": 1,
        "intervention type DRUG": 1,
        "interventions": log1p(2),
        "arms": log1p(3),
        "conditions": log1p(2),
        "sponsor class NIH": 1,
        "collaborators": log1p(1),
        "allocation RANDOMIZED": 1,
        "intervention model CROSSOVER": 1,
        "masking DOUBLE": 1,
        "primary purpose OTHER": 1,
        "sex FEMALE": 1,
        "healthy volunteers": 1,
        "minimum age": 0.18,
        "maximum age unknown": 1,
        "placebo": 1,
    }
    assert named(TRIAL) == pytest.approx(expected)


def test_what_is_absent_is_said_to_be():
    unknown = {name for name in FACTS if name.endswith(" unknown")}
    assert named(Trial("NCT90000001")) == dict.fromkeys(unknown, 1.0)
    assert len(set(FACTS)) == len(FACTS) == 75


def test_a_value_that_is_not_listed_is_unknown():
    facts = named(Trial("NCT90000001", sponsor_class="MARTIAN", sex="?"))
    assert facts["sponsor class unknown"] == facts["sex unknown"] == 1


def test_zero_is_not_absent():
    assert "minimum age unknown" not in named(Trial("NCT90000001", min_age=0.0))


@pytest.mark.parametrize("name", ["Placebo", "Sham surgery", "matching placebo tablet"])
def test_a_placebo_by_name(name):
    assert "placebo" in named(Trial("NCT90000001", interventions=(Intervention(name),)))


def test_facts_know_neither_end_nor_places_nor_years():
    ended = replace(
        TRIAL,
        status="WITHDRAWN",
        why_stopped="No funds",
        locations=(Location("Clinic"),),
        start_date=PartialDate("2019", "year"),
        completion_date=PartialDate("2019", "year"),
        has_results=True,
    )
    assert (registration_facts(ended) == registration_facts(TRIAL)).all()
    # Of trials that have ended only a suspended one may still have a planned number.
    planned = replace(TRIAL, enrollment=Enrollment(99, False))
    assert (registration_facts(planned) == registration_facts(TRIAL)).all()


def test_rows_are_in_the_order_of_the_trials():
    rows = facts_matrix([TRIAL, Trial("NCT90000002")])
    assert (rows[0] == registration_facts(TRIAL)).all()
    assert rows[1].sum() == sum(name.endswith(" unknown") for name in FACTS)
    assert facts_matrix([]).shape == (0, len(FACTS))
