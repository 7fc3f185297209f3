"""The record: text, plain values, criteria."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re

import pytest

from t2v_spacy.sections.fields import bullets, outcome_line, read_bullets, read_outcome
from t2v_spacy.sections.headed import (
    is_headed_text,
    read_headed_text,
    unescape,
    write_headed_text,
)
from t2v_spacy.sections.labels import HEADINGS, SECTION_LABELS
from t2v_spacy.trial import (
    Arm,
    Design,
    Enrollment,
    Intervention,
    Location,
    Outcome,
    Reference,
    Trial,
)
from t2v_spacy.values import PartialDate

FULL = Trial(
    "NCT90000001",
    aliases=("NCT90000009",),
    org_study_id="A-1",
    title="Tablet A in gout",
    official_title="A study of tablet A",
    acronym="TAG",
    brief_summary="One.\n\nTwo.",
    detailed_description="Long.",
    conditions=("Gout", "Pain, acute"),
    keywords=("urate",),
    interventions=(
        Intervention("Tablet A", "DRUG", ("A-123",), ("A",), "daily"),
        Intervention("Placebo", "DRUG"),
    ),
    arms=(Arm("A", "EXPERIMENTAL", "with A", ("Tablet A",)),),
    outcomes=(Outcome("Pain", "primary", "1 week", "0-10"), Outcome("Sleep", "other")),
    eligibility="Inclusion Criteria:\n\n* Adults\n\nExclusion Criteria:\n\n* Stroke",
    sex="ALL",
    min_age=18.0,
    max_age=0.5,
    healthy_volunteers=False,
    phases=frozenset({"PHASE1", "PHASE2"}),
    study_type="INTERVENTIONAL",
    design=Design(allocation="RANDOMIZED", masking="DOUBLE"),
    status="WITHDRAWN",
    why_stopped="No funds",
    start_date=PartialDate("2020-01", "month", False),
    completion_date=PartialDate("", "invalid", None, "soon"),
    enrollment=Enrollment(0, True),
    sponsor="Some University",
    sponsor_class="OTHER",
    collaborators=("B",),
    locations=(Location("Clinic", "Town", None, "Land"),),
    condition_mesh=("Gout",),
    references=(Reference("1", "RESULT", "Paper."),),
    has_results=False,
    source="test",
    snapshot=PartialDate("2024", "year"),
)


@pytest.mark.parametrize("trial", [FULL, Trial("NCT90000002"), Trial("")])
def test_plain_values_are_an_exact_inverse(trial):
    plain = json.loads(json.dumps(trial.to_dict()))
    again = Trial.from_dict(plain)
    assert again == trial
    assert again.source == trial.source
    assert (
        again.start_date is None or again.start_date.actual is trial.start_date.actual
    )
    assert hash(again) == hash(trial)


def test_absent_fields_are_left_out_and_zero_is_not_absent():
    plain = FULL.to_dict()
    assert plain["enrollment"] == {"count": 0, "actual": True}
    assert plain["healthy_volunteers"] is False
    assert "primary_completion_date" not in plain
    assert set(Trial("NCT90000002").to_dict()) <= {"nct_id", "phases"}


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        ({"nct_id": None}, "field 'nct_id' is absent"),
        ({"colour": 1}, "unknown field 'colour'"),
        ({"title": 5}, "field 'title' is not a text: 5"),
        ({"conditions": "Gout"}, "field 'conditions' is not a list: 'Gout'"),
        ({"conditions": [None]}, "field 'conditions' holds what is no text: None"),
        ({"arms": [{"label": None}]}, "field 'arms.label' is absent"),
        ({"arms": [{"label": 1}]}, "field 'arms.label' is not a text: 1"),
        ({"arms": ["A"]}, "field 'arms' is not an object: 'A'"),
        ({"interventions": [{"name": "A", "type": 5}]}, "field 'interventions.type'"),
        ({"outcomes": [{"measure": "A", "role": "x"}]}, "'x' is not the role"),
        ({"min_age": "18 Years"}, "field 'min_age' is not a number: '18 Years'"),
        ({"min_age": True}, "field 'min_age' is not a number: True"),
        ({"min_age": float("nan")}, "field 'min_age' is out of range: nan"),
        ({"max_age": 10**400}, "field 'max_age' is out of range: 1"),
        ({"phases": "PHASE1"}, "field 'phases' is not a list"),
        ({"enrollment": {"count": "9"}}, "'enrollment.count' is not a whole number"),
        ({"enrollment": 9}, "field 'enrollment' is not an object: 9"),
        ({"has_results": "no"}, "field 'has_results' is not true or false: 'no'"),
    ],
)
def test_other_values_are_refused(plain, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        Trial.from_dict({"nct_id": "NCT90000001", **plain})


def test_plain_values_that_fit():
    plain = {"nct_id": "NCT90000001", "title": None, "min_age": 18, "keywords": ()}
    trial = Trial.from_dict({**plain, "phases": {"PHASE1"}})
    assert trial == Trial("NCT90000001", min_age=18.0, phases=frozenset(("PHASE1",)))
    assert type(trial.min_age) is float
    with pytest.raises(ValueError, match="the record is not an object"):
        Trial.from_dict([])


def test_halves_of_surrogate_pairs_are_replaced():
    plain = {"nct_id": "", "title": "a \ud83d b \ud83d\ude00 é", "keywords": ["\udc00"]}
    trial = Trial.from_dict(plain)
    assert (trial.title, trial.keywords) == ("a \ufffd b \U0001f600 é", ("\ufffd",))


def test_record_is_frozen_and_can_be_pickled():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.title = "x"  # type: ignore[misc]
    assert FULL.criteria.exclusion == ("Stroke",)
    assert pickle.loads(pickle.dumps(FULL)) == FULL


def test_source_and_snapshot_take_no_part_in_equality():
    assert dataclasses.replace(FULL, source="x", snapshot=None) == FULL
    assert dataclasses.replace(FULL, title="x") != FULL


def test_missing_fields():
    assert FULL.missing == ()
    trial = Trial("NCT90000002", title="A", conditions=("B",))
    assert "title" not in trial.missing
    assert {"outcomes", "keywords", "eligibility"} <= set(trial.missing)


def test_text_of_a_record():
    assert FULL.to_text().startswith(
        "## Title\nTablet A in gout\n\n## Official Title\nA study of tablet A\n\n"
        "## Acronym\nTAG\n\n## Conditions\n- Gout\n- Pain, acute\n\n"
    )
    assert "- Drug: Tablet A\n  * A-123\n- Drug: Placebo" in FULL.to_text()
    assert "- Pain\n  * Time frame: 1 week" in FULL.to_text()


def test_later_knowledge_is_not_in_the_text():
    before = dataclasses.replace(
        FULL,
        status=None,
        why_stopped=None,
        enrollment=None,
        has_results=True,
        completion_date=None,
        references=(),
    )
    assert before.to_text() == FULL.to_text()


def test_control_interventions():
    assert [i.is_control for i in FULL.interventions] == [False, True]


# --- headed text ----------------------------------------------------------------------


def test_headings_have_known_labels():
    assert set(HEADINGS.values()) <= set(SECTION_LABELS)


@pytest.mark.parametrize(
    "body", ["a\n## Title\nb", "\\## Title", "\\\\## Design", "## Other"]
)
def test_bodies_that_look_like_headings(body):
    text = write_headed_text([("Brief Summary", body), ("Title", "x")])
    sections = read_headed_text(text)
    assert [section.heading for section in sections] == ["Brief Summary", "Title"]
    assert unescape(sections[0].body(text)) == body


def test_headed_text_is_recognised():
    assert is_headed_text("\n\n## Title\nx")
    assert not is_headed_text("## Headline\nx")
    assert not is_headed_text("Title\nx")


def test_bulleted_fields_read_back():
    lines = [outcome_line("Pain", "1 week"), outcome_line("Sleep: hours", None)]
    items = read_bullets(bullets(lines))
    assert [read_outcome(*item) for item in items] == [
        {"measure": "Pain", "time_frame": "1 week"},
        {"measure": "Sleep: hours", "time_frame": None},
    ]
