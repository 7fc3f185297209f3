"""API v2 and v1 records, whole and broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from t2v_spacy.readers import ReadReport, read_trials
from t2v_spacy.readers.ctgov_json_v1 import to_v2
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

FULL_V2: dict[str, Any] = {
    "protocolSection": {
        "identificationModule": {
            "nctId": "NCT91000001",
            "nctIdAliases": ["NCT91000000", None],
            "orgStudyIdInfo": {"id": "SLEEP-1"},
            "briefTitle": "Ear plugs  for sleep in hospital",
            "officialTitle": "A Trial of Ear Plugs",
            "acronym": "PLUG",
        },
        "statusModule": {
            "overallStatus": "TERMINATED",
            "whyStopped": "Too few people &amp; no funds",
            "startDateStruct": {"date": "2020-02", "type": "ACTUAL"},
            "primaryCompletionDateStruct": {"date": "2021-03-04", "type": "ESTIMATED"},
            "completionDateStruct": {"date": "2021", "type": "ACTUAL"},
            "studyFirstPostDateStruct": {"date": "2020-01-05", "type": "ESTIMATED"},
            "lastUpdatePostDateStruct": {"date": "2021-06-07", "type": "ACTUAL"},
        },
        "sponsorCollaboratorsModule": {
            "leadSponsor": {"name": "Clinic A", "class": "OTHER_GOV"},
            "collaborators": [{"name": "Institute B", "class": "NIH"}, {}],
        },
        "descriptionModule": {
            "briefSummary": "Sleep under noise \\> 40 dB.",
            "detailedDescription": "Line one.\n\nLine two \\[sic\\].",
        },
        "conditionsModule": {
            "conditions": ["Sleep, Disturbed", None, ""],
            "keywords": ["noise"],
        },
        "designModule": {
            "studyType": "INTERVENTIONAL",
            "phases": ["PHASE1", "PHASE2"],
            "designInfo": {
                "allocation": "RANDOMIZED",
                "interventionModel": "PARALLEL",
                "primaryPurpose": "SUPPORTIVE_CARE",
                "maskingInfo": {"masking": "SINGLE", "whoMasked": ["INVESTIGATOR"]},
            },
            "enrollmentInfo": {"count": 0, "type": "ACTUAL"},
        },
        "armsInterventionsModule": {
            "armGroups": [
                {
                    "label": "Plugs: night",
                    "type": "EXPERIMENTAL",
                    "description": "Worn \\~8 hours",
                    "interventionNames": ["Device: Ear plug", "Other: Tea 1:2 mix"],
                },
                {"label": "Nothing", "type": "NO_INTERVENTION"},
            ],
            "interventions": [
                {
                    "type": "DEVICE",
                    "name": "Ear plug",
                    "description": "Foam, \\< 2 cm",
                    "otherNames": ["Plug: small"],
                },
                {"type": "OTHER", "name": "Tea 1:2 mix", "armGroupLabels": ["Nothing"]},
                {},
            ],
        },
        "outcomesModule": {
            "primaryOutcomes": [
                {
                    "measure": "Hours asleep",
                    "timeFrame": "1 week",
                    "description": "Of \\>= 5 nights",
                },
                {},
            ],
            "secondaryOutcomes": [{"measure": "Waking"}],
            "otherOutcomes": [{"measure": "Mood"}],
        },
        "eligibilityModule": {
            "eligibilityCriteria": "Inclusion Criteria:\n\n* Age \\>= 18",
            "healthyVolunteers": False,
            "sex": "FEMALE",
            "minimumAge": "18 Years",
            "maximumAge": "6 Months",
        },
        "contactsLocationsModule": {
            "locations": [
                {"facility": "Ward 1", "city": "Bern", "country": "Switzerland"},
                {"zip": "1000"},
            ]
        },
        "referencesModule": {
            "references": [{"pmid": "1", "type": "BACKGROUND", "citation": "A. 2000."}]
        },
    },
    "derivedSection": {
        "miscInfoModule": {"versionHolder": "2024-01-02"},
        "conditionBrowseModule": {"meshes": [{"id": "D1", "term": "Dyssomnias"}]},
        "interventionBrowseModule": {"meshes": [{"id": "D2", "term": "Tea"}]},
    },
    "hasResults": False,
}
FULL = Trial(
    nct_id="NCT91000001",
    aliases=("NCT91000000",),
    org_study_id="SLEEP-1",
    title="Ear plugs for sleep in hospital",
    official_title="A Trial of Ear Plugs",
    acronym="PLUG",
    brief_summary="Sleep under noise > 40 dB.",
    detailed_description="Line one.\n\nLine two [sic].",
    conditions=("Sleep, Disturbed",),
    keywords=("noise",),
    interventions=(
        Intervention(
            "Ear plug", "DEVICE", ("Plug: small",), ("Plugs: night",), "Foam, < 2 cm"
        ),
        Intervention("Tea 1:2 mix", "OTHER", (), ("Nothing", "Plugs: night")),
    ),
    arms=(
        Arm(
            "Plugs: night", "EXPERIMENTAL", "Worn ~8 hours", ("Ear plug", "Tea 1:2 mix")
        ),
        Arm("Nothing", "NO_INTERVENTION", None, ("Tea 1:2 mix",)),
    ),
    outcomes=(
        Outcome("Hours asleep", "primary", "1 week", "Of >= 5 nights"),
        Outcome("Waking", "secondary"),
        Outcome("Mood", "other"),
    ),
    eligibility="Inclusion Criteria:\n\n* Age >= 18",
    sex="FEMALE",
    min_age=18.0,
    max_age=0.5,
    healthy_volunteers=False,
    phases=frozenset(("PHASE1", "PHASE2")),
    study_type="INTERVENTIONAL",
    design=Design(
        allocation="RANDOMIZED",
        intervention_model="PARALLEL",
        masking="SINGLE",
        primary_purpose="SUPPORTIVE_CARE",
    ),
    status="TERMINATED",
    why_stopped="Too few people & no funds",
    start_date=PartialDate("2020-02", "month", True),
    primary_completion_date=PartialDate("2021-03-04", "day", False),
    completion_date=PartialDate("2021", "year", True),
    first_posted=PartialDate("2020-01-05", "day"),
    last_updated=PartialDate("2021-06-07", "day"),
    enrollment=Enrollment(0, True),
    sponsor="Clinic A",
    sponsor_class="OTHER_GOV",
    collaborators=("Institute B",),
    locations=(Location("Ward 1", "Bern", None, "Switzerland"),),
    condition_mesh=("Dyssomnias",),
    intervention_mesh=("Tea",),
    references=(Reference("1", "BACKGROUND", "A. 2000."),),
    has_results=False,
)
FULL_V1: dict[str, Any] = {
    "ProtocolSection": {
        "IdentificationModule": {
            "NCTId": "NCT91000001",
            "NCTIdAliasList": {"NCTIdAlias": ["NCT91000000"]},
            "OrgStudyIdInfo": {"OrgStudyId": "SLEEP-1"},
            "BriefTitle": "Ear plugs for sleep in hospital",
            "OfficialTitle": "A Trial of Ear Plugs",
            "Acronym": "PLUG",
        },
        "StatusModule": {
            "OverallStatus": "Terminated",
            "WhyStopped": "Too few people & no funds",
            "StartDateStruct": {
                "StartDate": "February 2020",
                "StartDateType": "Actual",
            },
            "PrimaryCompletionDateStruct": {
                "PrimaryCompletionDate": "March 4, 2021",
                "PrimaryCompletionDateType": "Anticipated",
            },
            "CompletionDateStruct": {
                "CompletionDate": "2021",
                "CompletionDateType": "Actual",
            },
            "StudyFirstPostDateStruct": {"StudyFirstPostDate": "January 5, 2020"},
            "LastUpdatePostDateStruct": {"LastUpdatePostDate": "June 7, 2021"},
        },
        "SponsorCollaboratorsModule": {
            "LeadSponsor": {
                "LeadSponsorName": "Clinic A",
                "LeadSponsorClass": "OTHER_GOV",
            },
            "CollaboratorList": {"Collaborator": [{"CollaboratorName": "Institute B"}]},
        },
        "DescriptionModule": {
            "BriefSummary": "Sleep under noise > 40 dB.",
            "DetailedDescription": "Line one.\n\nLine two [sic].",
        },
        "ConditionsModule": {
            "ConditionList": {"Condition": "Sleep, Disturbed"},
            "KeywordList": {"Keyword": ["noise"]},
        },
        "DesignModule": {
            "StudyType": "Interventional",
            "PhaseList": {"Phase": ["Phase 1", "Phase 2"]},
            "DesignInfo": {
                "DesignAllocation": "Randomized",
                "DesignInterventionModel": "Parallel Assignment",
                "DesignPrimaryPurpose": "Supportive Care",
                "DesignMaskingInfo": {"DesignMasking": "Single"},
            },
            "EnrollmentInfo": {"EnrollmentCount": "0", "EnrollmentType": "Actual"},
        },
        "ArmsInterventionsModule": {
            "ArmGroupList": {
                "ArmGroup": [
                    {
                        "ArmGroupLabel": "Plugs: night",
                        "ArmGroupType": "Experimental",
                        "ArmGroupDescription": "Worn ~8 hours",
                        "ArmGroupInterventionList": {
                            "ArmGroupInterventionName": [
                                "Device: Ear plug",
                                "Other: Tea 1:2 mix",
                            ]
                        },
                    },
                    {"ArmGroupLabel": "Nothing", "ArmGroupType": "No Intervention"},
                ]
            },
            "InterventionList": {
                "Intervention": [
                    {
                        "InterventionType": "Device",
                        "InterventionName": "Ear plug",
                        "InterventionDescription": "Foam, < 2 cm",
                        "InterventionOtherNameList": {
                            "InterventionOtherName": "Plug: small"
                        },
                    },
                    {
                        "InterventionType": "Other",
                        "InterventionName": "Tea 1:2 mix",
                        "InterventionArmGroupLabelList": {
                            "InterventionArmGroupLabel": ["Nothing"]
                        },
                    },
                ]
            },
        },
        "OutcomesModule": {
            "PrimaryOutcomeList": {
                "PrimaryOutcome": [
                    {
                        "PrimaryOutcomeMeasure": "Hours asleep",
                        "PrimaryOutcomeTimeFrame": "1 week",
                        "PrimaryOutcomeDescription": "Of >= 5 nights",
                    }
                ]
            },
            "SecondaryOutcomeList": {
                "SecondaryOutcome": {"SecondaryOutcomeMeasure": "Waking"}
            },
            "OtherOutcomeList": {"OtherOutcome": [{"OtherOutcomeMeasure": "Mood"}]},
        },
        "EligibilityModule": {
            "EligibilityCriteria": "Inclusion Criteria:\n\n* Age >= 18",
            "HealthyVolunteers": "No",
            "Gender": "Female",
            "MinimumAge": "18 Years",
            "MaximumAge": "6 Months",
        },
        "ContactsLocationsModule": {
            "LocationList": {
                "Location": [
                    {
                        "LocationFacility": "Ward 1",
                        "LocationCity": "Bern",
                        "LocationCountry": "Switzerland",
                    }
                ]
            }
        },
        "ReferencesModule": {
            "ReferenceList": {
                "Reference": [
                    {
                        "ReferencePMID": "1",
                        "ReferenceType": "background",
                        "ReferenceCitation": "A. 2000.",
                    }
                ]
            }
        },
    },
    "DerivedSection": {
        "MiscInfoModule": {"VersionHolder": "January 2, 2024"},
        "ConditionBrowseModule": {
            "ConditionMeshList": {
                "ConditionMesh": [{"ConditionMeshTerm": "Dyssomnias"}]
            }
        },
        "InterventionBrowseModule": {
            "InterventionMeshList": {
                "InterventionMesh": [{"InterventionMeshTerm": "Tea"}]
            }
        },
    },
}


def study(nct_id: str, **modules: Any) -> dict[str, Any]:
    identity = {"nctId": nct_id, "briefTitle": "Invented study"}
    return {"protocolSection": {"identificationModule": identity, **modules}}


def read(tmp_path: Path, value: Any, report: ReadReport | None = None) -> list[Trial]:
    path = tmp_path / "studies.json"
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    path.write_text(text, encoding="utf-8")
    return list(read_trials(path, report=report))


def test_v2_fills_every_field(tmp_path):
    (trial,) = read(tmp_path, FULL_V2)
    assert trial == FULL
    assert trial.source == "ctgov-json-v2"
    assert trial.snapshot == PartialDate("2024-01-02", "day")
    assert (trial.start_date.actual, trial.primary_completion_date.actual) == (
        True,
        False,
    )
    assert trial.first_posted.actual is None


def test_v1_gives_the_same_trial_as_v2(tmp_path):
    (trial,) = read(tmp_path, {"FullStudy": {"Rank": 1, "Study": FULL_V1}})
    assert trial == FULL
    assert trial.source == "ctgov-json-v1"
    assert trial.snapshot == PartialDate("2024-01-02", "day")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda s: s,
        lambda s: [s],
        lambda s: {"Study": s},
        lambda s: {"FullStudiesResponse": {"FullStudies": [{"Rank": 1, "Study": s}]}},
        lambda s: {"FullStudiesResponse": {"FullStudies": {"Rank": 1, "Study": s}}},
    ],
)
def test_v1_wrappers(tmp_path, wrap):
    assert read(tmp_path, wrap(FULL_V1)) == [FULL]


def test_v1_results_are_noticed():
    assert to_v2({**FULL_V1, "ResultsSection": {}})["hasResults"] is True
    assert to_v2(FULL_V1)["hasResults"] is False


@pytest.mark.parametrize(
    "wrap",
    [
        lambda s: s,
        lambda s: [s],
        lambda s: {"studies": [s], "nextPageToken": "abc"},
        lambda s: json.dumps(s) + "\n",
    ],
)
def test_v2_wrappers(tmp_path, wrap):
    assert read(tmp_path, wrap(FULL_V2)) == [FULL]


def test_null_and_empty_parts_are_absent(tmp_path):
    (trial,) = read(
        tmp_path,
        study(
            "NCT91000002",
            descriptionModule=None,
            conditionsModule={},
            designModule={"phases": [], "designInfo": {}, "enrollmentInfo": None},
            armsInterventionsModule={"interventions": None, "armGroups": [None]},
            outcomesModule={"primaryOutcomes": [{}, None]},
            eligibilityModule={"eligibilityCriteria": "", "sex": None},
            referencesModule={"references": [{}]},
        ),
    )
    assert trial == Trial("NCT91000002", title="Invented study")
    assert set(trial.missing) == {
        "conditions",
        "interventions",
        "outcomes",
        "keywords",
        "brief_summary",
        "detailed_description",
        "eligibility",
    }


def test_parts_of_an_unexpected_kind_are_absent(tmp_path):
    (trial,) = read(
        tmp_path,
        study(
            "NCT91000003",
            conditionsModule="Asthma",
            outcomesModule={"primaryOutcomes": ["FEV1", 3]},
            statusModule=["COMPLETED"],
            designModule={"enrollmentInfo": {"count": "many"}},
        ),
    )
    assert trial == Trial("NCT91000003", title="Invented study")


def test_an_unknown_value_is_kept_as_given(tmp_path):
    (trial,) = read(
        tmp_path, study("NCT91000004", statusModule={"overallStatus": "PAUSED_BY_X"})
    )
    assert trial.status == "PAUSED_BY_X"


def test_fragments_and_bad_ids_are_refused_by_their_content(tmp_path):
    report = ReadReport()
    good = study("nct91000005 ")
    fragment = {"protocolSection": {}, "resultsSection": {"moreInfoModule": {"a": 1}}}
    trials = read(tmp_path, [good, fragment, study("NCT910"), None, {}], report)
    assert [trial.nct_id for trial in trials] == ["NCT91000005"]
    assert [(r.where, r.reason) for r in report.refused] == [
        ("study 2", "no NCT id; a fragment of a record (resultsSection)"),
        ("study 3", "'NCT910' is not an NCT id"),
        ("study 4", "not a study"),
        ("study 5", "no NCT id; a fragment of a record (empty)"),
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            {"StudyFieldsResponse": {"FieldList": ["NCTId", "StartDate"]}},
            "single fields (NCTId, StartDate) and no full studies",
        ),
        ({"StudyStatistics": {"ElmtDefs": {}}}, "statistics of the registry"),
    ],
)
def test_v1_answers_without_studies_are_refused(tmp_path, value, reason):
    report = ReadReport()
    with pytest.raises(ValueError, match=r"T006"):
        read(tmp_path, value, report)
    assert reason in report.refused[0].reason


def test_lines_stream_past_a_broken_one(tmp_path):
    report = ReadReport()
    lines = [json.dumps(study(f"NCT9100001{i}")) for i in range(4)]
    text = "\n".join([lines[0], lines[1][:30], "", lines[2], lines[3][:-1]])
    trials = read(tmp_path, text, report)
    assert [trial.nct_id for trial in trials] == ["NCT91000010", "NCT91000012"]
    assert [r.where for r in report.refused] == ["line 2", "line 5"]
    assert "not valid JSON" in report.refused[0].reason


def test_lines_of_which_the_first_is_broken(tmp_path):
    report = ReadReport()
    lines = ['{"protocolSection": {', json.dumps(study("NCT91000020"))]
    trials = read(tmp_path, "\n".join(lines), report)
    assert [trial.nct_id for trial in trials] == ["NCT91000020"]
    assert [r.where for r in report.refused] == ["line 1"]


def test_a_cut_file_is_one_refusal_with_its_place(tmp_path):
    report = ReadReport()
    whole = json.dumps([study("NCT91000030")], indent=1)
    with pytest.raises(ValueError, match="T006"):
        read(tmp_path, whole[:-20], report)
    assert len(report.refused) == 1
    assert "line" in report.refused[0].reason


def test_a_name_that_repeats_its_type(tmp_path):
    arms = {
        "armGroups": [{"label": "A", "interventionNames": ["Drug: Drug: Pill"]}],
        "interventions": [{"type": "DRUG", "name": "Drug: Pill"}],
    }
    (trial,) = read(tmp_path, study("NCT91000040", armsInterventionsModule=arms))
    assert trial.interventions == (Intervention("Pill", "DRUG", arms=("A",)),)
    assert trial.arms == (Arm("A", interventions=("Pill",)),)


# Cases with known right answers.


def case(t2v_data: Path, name: str) -> tuple[dict[str, Trial], Any]:
    folder = t2v_data / "cases"
    trials = {trial.nct_id: trial for trial in read_trials(folder / f"{name}.json")}
    expected = name.split("_v2")[0] + ".expected.json"
    return trials, json.loads((folder / expected).read_text(encoding="utf-8"))


def test_case_missing_modules(t2v_data):
    fields = {
        "title": "title",
        "description": "brief_summary",
        "disease": "conditions",
        "intervention": "interventions",
        "criteria": "eligibility",
    }
    trials, expected = case(t2v_data, "c01_missing_modules")
    assert len(trials) == expected["n_records"]
    for nct_id, sections in expected["sections_present"].items():
        trial = trials[nct_id]
        present = [name for name, field in fields.items() if getattr(trial, field)]
        assert present == sections
        assert not {fields[name] for name in sections} & set(trial.missing)
        assert not trial.outcomes


def test_case_escaped_markdown(t2v_data):
    trials, expected = case(t2v_data, "c02_escaped_markdown")
    (trial,) = trials.values()
    for forbidden in expected["must_not_contain"]:
        assert forbidden not in trial.eligibility
    for item in expected["inclusion"] + expected["exclusion"]:
        assert item in trial.eligibility


def test_case_nothing_found(t2v_data):
    report = ReadReport()
    path = t2v_data / "cases" / "c04_nothing_found.jsonl"
    ids = [trial.nct_id for trial in read_trials(path, report=report)]
    assert ids == ["NCT90000401", "NCT90000402", "NCT90000403"]
    assert report.lines()[0].startswith("3 read")


def test_case_aliases(t2v_data):
    trials, expected = case(t2v_data, "c07_aliases")
    names = {
        name: trial.nct_id
        for trial in trials.values()
        for name in (trial.nct_id, *trial.aliases)
    }
    for asked, nct_id in expected["lookup"].items():
        assert names[asked.strip().upper()] == nct_id
    assert not names.keys() & set(expected["not_found"])


def test_case_same_trial(t2v_data):
    trials, expected = case(t2v_data, "c10_same_trial_v2")
    (trial,) = trials.values()
    assert trial.title == expected["title"]
    described = f"{trial.brief_summary} {trial.detailed_description}"
    assert described == expected["description"]
    assert list(trial.conditions) == expected["disease"]
    assert [item.name for item in trial.interventions] == expected["intervention"]
    assert [item.measure for item in trial.outcomes] == expected["outcome_measure"]
    assert list(trial.keywords) == expected["keyword"]
    assert trial.status == expected["status"]
    assert str(trial.start_date) == expected["start"]
    assert sorted(trial.phases) == expected["phase"]
    assert trial.max_age is None


def test_case_interventions(t2v_data):
    trials, expected = case(t2v_data, "c14_interventions")
    (trial,) = trials.values()
    by_name = {item.name: item for item in trial.interventions}
    assert list(by_name) == expected["intervention"]
    assert [item.type for item in trial.interventions] == expected["types"]
    for name, arms in expected["arms_of"].items():
        assert list(by_name[name].arms) == arms
    assert trial.enrollment == Enrollment(expected["enrollment"], True)
    assert [arm.label for arm in trial.arms] == ["A", "B", "C: run-in"]
    assert by_name["Placebo"].is_control
    assert not by_name["Tablet A"].is_control


def test_real_api_records(t2v_data):
    report = ReadReport()
    folder = t2v_data / "data" / "raw" / "ctgov_api_v2_json"
    trials = list(read_trials(folder, report=report))
    assert len(trials) == report.read == 219
    assert all("\\" not in (trial.eligibility or "") for trial in trials)
    assert len(report.refused) == 35


def test_real_v1_page_in_windows_encoding(t2v_data):
    path = t2v_data / "data" / "raw" / "ctgov_api_v1_json" / "full_studies_100.json"
    trials = list(read_trials(path))
    assert len(trials) == 100
    assert trials[0].sponsor == "Alen Gre\u0161"
