from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from t2v_spacy.readers import read_trials
from t2v_spacy.termination.registration import (
    KNOWN,
    LATER,
    registration_view,
    told_only,
)
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
    official_title="A Randomized Trial of Tablet A in Gout",
    acronym="TAG",
    brief_summary="Tablet A may ease gout.",
    detailed_description="Visits are monthly.",
    conditions=("Gout",),
    keywords=("urate",),
    interventions=(Intervention("Tablet A", "DRUG", arms=("A",)),),
    arms=(Arm("A", "EXPERIMENTAL", "Daily", ("Tablet A",)),),
    outcomes=(Outcome("Pain", "primary", "3 days", "On a scale"),),
    eligibility="Adults",
    sex="ALL",
    min_age=18.0,
    max_age=80.0,
    healthy_volunteers=False,
    phases=frozenset(("PHASE2",)),
    study_type="INTERVENTIONAL",
    design=Design("RANDOMIZED"),
    status="COMPLETED",
    why_stopped=None,
    start_date=PartialDate("2015-01-10", "day", True),
    primary_completion_date=PartialDate("2015-04", "month", True),
    completion_date=PartialDate("2015-04-01", "day", True),
    first_posted=PartialDate("2014-12-01", "day", True),
    last_updated=PartialDate("2015-06-01", "day", True),
    enrollment=Enrollment(120, False),
    sponsor="Acme",
    sponsor_class="INDUSTRY",
    collaborators=("Beta",),
    locations=(Location("Clinic", "Basel"),),
    condition_mesh=("Gout",),
    intervention_mesh=("Colchicine",),
    references=(Reference("1", "BACKGROUND"),),
    has_results=False,
    source="api",
    snapshot=PartialDate("2020-01-01", "day"),
)
LATE = PartialDate("2031-01-01", "day", True)
ALTERED = {
    "status": ("TERMINATED", "WITHDRAWN", None),
    "why_stopped": ("Sponsor decision",),
    "start_date": (LATE, None),
    "primary_completion_date": (LATE, None),
    "completion_date": (LATE, None),
    "first_posted": (LATE, None),
    "last_updated": (LATE, None),
    "enrollment": (Enrollment(0, True), Enrollment(9, False), None),
    "locations": ((),),
    "references": ((Reference("2", "RESULT", "Results of tablet A"),), ()),
    "has_results": (True, None),
    "aliases": ((),),
    "org_study_id": (None,),
    "source": ("xml",),
    "snapshot": (LATE,),
}


def test_each_field_of_a_trial_is_decided_on():
    names = [field.name for field in fields(Trial)]
    assert sorted(KNOWN + LATER) == sorted(names)


def test_the_view_keeps_what_was_known():
    view = registration_view(FULL)
    described = (replace(FULL.outcomes[0], description=None),)
    for name in KNOWN:
        expected = described if name == "outcomes" else getattr(FULL, name)
        assert getattr(view, name) == expected, name
    for name in LATER:
        assert not getattr(view, name), name
    assert registration_view(view) == view


@pytest.mark.parametrize("name", LATER)
def test_what_came_later_cannot_alter_the_view(name):
    expected = repr(registration_view(FULL))
    for value in ALTERED[name]:
        assert getattr(FULL, name) != value
        # repr, since neither source nor whether a date is actual takes part in ==.
        assert repr(registration_view(replace(FULL, **{name: value}))) == expected


def test_passages_on_the_end_are_taken_out_of_every_text():
    told = "The study was stopped early for lack of recruitment."
    tag = "(closed to accrual as of 9/21/04)"
    trial = replace(
        FULL,
        title=f"{FULL.title} (TERMINATED)",
        brief_summary=f"{FULL.brief_summary} {told}",
        detailed_description=told,
        keywords=("urate", told),
        eligibility=f"{FULL.eligibility}\n\n{told}",
        interventions=(replace(FULL.interventions[0], description=told),),
        arms=(replace(FULL.arms[0], label=f"A {tag}"), Arm(told)),
        outcomes=(replace(FULL.outcomes[0], description=told),),
    )
    clean = replace(FULL, detailed_description=None)
    assert registration_view(trial) == registration_view(clean)
    assert told_only(trial, registration_view(trial)) == ("detailed_description",)
    bare = replace(clean, keywords=(), eligibility="")
    assert told_only(bare, registration_view(bare)) == ()
    bare = replace(bare, arms=(Arm(told),))
    assert told_only(bare, registration_view(bare)) == ("arms",)


RECORD = {
    "protocolSection": {
        "identificationModule": {"nctId": "NCT90000001", "briefTitle": "Tablet A"},
        "statusModule": {
            "overallStatus": "WITHDRAWN",
            "whyStopped": "Sponsor decision",
            "startDateStruct": {"date": "2015-01-10", "type": "ACTUAL"},
            "completionDateStruct": {"date": "2015-04-01", "type": "ACTUAL"},
            "lastUpdatePostDateStruct": {"date": "2015-06-01", "type": "ACTUAL"},
        },
        "descriptionModule": {"briefSummary": "Tablet A may ease gout."},
        "designModule": {"enrollmentInfo": {"count": 0, "type": "ACTUAL"}},
        "referencesModule": {"references": [{"pmid": "1", "type": "RESULT"}]},
    },
    "hasResults": True,
    "resultsSection": {"participantFlowModule": {"recruitmentDetails": "None came"}},
    "documentSection": {"largeDocumentModule": {"largeDocs": [{"label": "Protocol"}]}},
}


def stripped(record: dict) -> dict:
    """The record without any of what is not allowed as input of a model."""
    protocol = record["protocolSection"]
    kept = {
        name: module
        for name, module in protocol.items()
        if name not in ("statusModule", "referencesModule")
    }
    design = dict(protocol.get("designModule", {}))
    design.pop("enrollmentInfo", None)
    return {"protocolSection": kept | {"designModule": design}}


def view_of(record: dict, folder) -> Trial:
    path = folder / "record.json"
    path.write_text(json.dumps(record), encoding="utf8")
    (trial,) = read_trials(path)
    return registration_view(trial)


def test_a_record_and_one_without_its_end_have_the_same_view(tmp_path):
    view = view_of(RECORD, tmp_path)
    assert view == view_of(stripped(RECORD), tmp_path)
    assert view == Trial(
        "NCT90000001", title="Tablet A", brief_summary="Tablet A may ease gout."
    )


def test_the_shared_leaky_records(t2v_data, tmp_path):
    path = t2v_data / "cases" / "c41_leaky_records.jsonl"
    records = [json.loads(line) for line in path.read_text("utf8").splitlines()]
    assert len(records) == 3
    for record in records:
        view = view_of(record, tmp_path)
        assert view == view_of(stripped(record), tmp_path)
        ended = json.loads(json.dumps(record))
        ended["protocolSection"]["statusModule"] |= {
            "overallStatus": "SUSPENDED",
            "whyStopped": "No funds",
            "primaryCompletionDateStruct": {"date": "2021-01-01", "type": "ACTUAL"},
        }
        ended["hasResults"] = not ended["hasResults"]
        assert view == view_of(ended, tmp_path)
