"""Benchmark tables: blank cells, words that look blank, lists in cells."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO

import pytest

from t2v_spacy.readers import table
from t2v_spacy.readers.report import ReadReport
from t2v_spacy.readers.source import Source
from t2v_spacy.trial import Design, Intervention, Reference

TRIAL2VEC = (
    ",nct_id,description,title,intervention_name,disease,keyword,outcome_measure,"
    "criteria,reference,overall_status\n"
    '0,NCT90030001,About ~5 mg~of tea,,Tea,"Pain, chronic",,,'
    "Inclusion Criteria:~adults~Exclusion Criteria:~no pain,,Unknown status\n"
    "1,NCT90030002,nan,None of the above,NA,none,null,N/A,none,none,Completed\n"
)


def run(text: str):
    report = ReadReport()
    source = Source("t.csv", lambda: BytesIO(text.encode()))
    trials = list(table.read(source, report))
    return trials, [(r.where, r.reason) for r in report.refused]


def one(row: dict[str, str]):
    out = StringIO()
    writer = csv.DictWriter(out, list(row))
    writer.writeheader()
    writer.writerow(row)
    [trial], refused = run(out.getvalue())
    assert refused == []
    return trial


def test_only_an_empty_cell_is_absent():
    (first, second), refused = run(TRIAL2VEC)
    assert refused == []
    assert first.missing == (
        "title",
        "outcomes",
        "keywords",
        "detailed_description",
    )
    assert first.references == ()
    assert second.brief_summary == "nan"
    assert second.title == "None of the above"
    assert second.interventions == (Intervention("NA"),)
    assert second.conditions == ("none",)
    assert second.keywords == ("null",)
    assert second.outcomes[0].measure == "N/A"
    assert second.eligibility == "none"
    assert second.references == (Reference(citation="none"),)


def test_names_with_commas_and_line_breaks():
    first = run(TRIAL2VEC)[0][0]
    assert first.conditions == ("Pain, chronic",)
    assert first.brief_summary == "About ~5 mg\nof tea"
    assert first.criteria.inclusion == ("adults",)
    assert first.criteria.exclusion == ("no pain",)
    assert first.status == "UNKNOWN"


def test_hint():
    trial = one(
        {
            "nctid": "NCT90030003",
            "status": "terminated",
            "why_stop": "\n    slow\n    accrual.\n  ",
            "label": "0",
            "phase": "phase 2/phase 3",
            "diseases": "['gout, acute', 'pain']",
            "icdcodes": "[\"['M10']\"]",
            "drugs": "[\"st john's wort\", 'tea']",
            "smiless": "['C', 'CC']",
            "criteria": "\n   Inclusion Criteria:\n\n     -  Adults\n",
        }
    )
    assert trial.status == "TERMINATED"
    assert trial.why_stopped == "slow accrual."
    assert trial.phases == {"PHASE2", "PHASE3"}
    assert trial.conditions == ("gout, acute", "pain")
    assert [i.name for i in trial.interventions] == ["st john's wort", "tea"]
    assert trial.criteria.inclusion == ("Adults",)


def test_trialbench():
    trial = one(
        {
            "": "NCT90030004",
            "brief_title": "Tea in gout",
            "brief_summary/textblock": "\n      Tea may help.\r\n    ",
            "condition": "['Gout', 'Pain, Acute']",
            "keyword": "tea, green",
            "intervention/intervention_name": "['Tea', 'Placebo']",
            "intervention/description": "['Hot.', 'Cold.']",
            "eligibility/criteria/textblock": "Inclusion Criteria:\n\n - Adults",
            "eligibility/gender": "All",
            "eligibility/healthy_volunteers": "Accepts Healthy Volunteers",
            "eligibility/minimum_age": "18 Years",
            "eligibility/maximum_age": "",
            "enrollment": "33.0",
            "phase": "Phase 4",
            "study_design_info/allocation": "Randomized",
            "study_design_info/masking_num": "2.0",
            "study_type": "Interventional",
        }
    )
    assert trial.nct_id == "NCT90030004"
    assert trial.brief_summary == "Tea may help."
    assert trial.conditions == ("Gout", "Pain, Acute")
    assert trial.keywords == ("tea, green",)
    assert trial.interventions == (
        Intervention("Tea", description="Hot."),
        Intervention("Placebo", description="Cold."),
    )
    assert (trial.min_age, trial.max_age) == (18.0, None)
    assert trial.healthy_volunteers is True
    assert trial.enrollment.count == 33
    assert trial.design == Design(allocation="RANDOMIZED", masking="DOUBLE")


def test_descriptions_that_match_no_name_are_left_out():
    trial = one(
        {
            "": "NCT90030005",
            "brief_title": "x",
            "eligibility/criteria/textblock": "",
            "intervention/intervention_name": "['A', 'B']",
            "intervention/description": "only one",
        }
    )
    assert trial.interventions == (Intervention("A"), Intervention("B"))


@pytest.mark.parametrize("cell", ["[not a list]", "[1, 2", "['open]", "[" * 5000 + "]"])
def test_cells_that_only_look_like_lists_stay_text(cell):
    trial = one({"nctid": "NCT90030006", "diseases": cell, "drugs": ""})
    assert trial.conditions == (cell,)


def test_bad_rows():
    trials, refused = run("nct_id,disease\nNCT90030007,Gout\nX,Gout\nNCT90030008\n")
    assert [trial.nct_id for trial in trials] == ["NCT90030007"]
    assert refused == [
        ("line 3", "'X' is not an NCT id"),
        ("line 4", "1 columns where the header has 2"),
    ]
    assert run("a,b\n1,2\n") == ([], [("line 1", "not the header of a known table")])


def test_sniff():
    assert table.sniff(TRIAL2VEC.encode(), "x")
    assert table.sniff(b"nctid,status,diseases,drugs,criteria\n", "x")
    assert not table.sniff(b"NCT Number,Title\n", "x")
    assert not table.sniff(b"id|nct_id|name\n", "x")
    assert not table.sniff(b"Patients with gout, or pain\n", "x")


def test_table_with_blank_cells(t2v_data):
    path = t2v_data / "cases" / "c34_trial2vec_table.csv"
    expected = json.loads(path.with_suffix(".expected.json").read_text())
    report = ReadReport()
    source = Source(path.name, lambda: path.open("rb"))
    trials = {trial.nct_id: trial for trial in table.read(source, report)}
    assert report.refused == []
    first, second = trials["NCT90003401"], trials["NCT90003402"]
    assert (first.title, first.keywords) == (None, ())
    assert list(first.criteria.inclusion) == expected["NCT90003401"]["inclusion"]
    assert list(first.criteria.exclusion) == expected["NCT90003401"]["exclusion"]
    wanted = expected["NCT90003402"]
    assert second.title == wanted["title"]
    assert [i.name for i in second.interventions] == wanted["intervention"]
    assert second.brief_summary == wanted["description"]
    assert list(second.conditions) == wanted["disease"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("trial2vec_clinical_trial_mini.csv", 99),
        ("hint_phase_III_test_head60.csv", 60),
        ("trialbench_approval_phase4_test_x_head60.csv", 60),
    ],
)
def test_real_tables(t2v_data, name, rows):
    path = t2v_data / "data" / "raw" / "benchmark_formats" / name
    report = ReadReport()
    assert table.sniff(path.read_bytes()[:65536], name)
    trials = list(table.read(Source(name, lambda: path.open("rb")), report))
    assert len(trials) == rows
    assert report.refused == []
    assert all(trial.conditions and trial.eligibility for trial in trials)
