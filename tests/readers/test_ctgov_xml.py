"""Legacy XML: what a record holds, and what happens to what is no record."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from t2v_spacy.readers import ctgov_json, ctgov_xml
from t2v_spacy.readers.report import ReadReport
from t2v_spacy.readers.source import Source
from t2v_spacy.trial import Arm, Design, Intervention, Location, Outcome, Reference
from t2v_spacy.values import PartialDate

RECORD = """<clinical_study rank="1">
  <!-- a comment -->
  <required_header>
    <download_date>ClinicalTrials.gov processed this data on March 5, 2021
    </download_date>
  </required_header>
  <id_info>
    <org_study_id>INV-3</org_study_id>
    <nct_id>NCT90010001</nct_id>
    <nct_alias>NCT90010009</nct_alias>
  </id_info>
  <brief_title>Warm baths for
    stiff hands</brief_title>
  <official_title>Baths, Warm and Cold, in Hand Osteoarthritis</official_title>
  <acronym>BATH</acronym>
  <sponsors>
    <lead_sponsor><agency>Spa Trust</agency>
      <agency_class>U.S. Fed</agency_class></lead_sponsor>
    <collaborator><agency>City Hospital, North</agency></collaborator>
  </sponsors>
  <brief_summary><textblock>
      Warm water may help stiff fingers in the morning, and this line is long so&#xD;
      that hard line ends are joined,&#xD;
      long or short.&#xD;
    </textblock></brief_summary>
  <overall_status>Active, not recruiting</overall_status>
  <why_stopped>
    No
    water.
  </why_stopped>
  <start_date type="Anticipated">June 2020</start_date>
  <primary_completion_date type="Actual">July 4, 2021</primary_completion_date>
  <completion_date>2022</completion_date>
  <phase>Phase 1/Phase 2</phase>
  <study_type>Interventional</study_type>
  <study_design_info>
    <allocation>N/A</allocation>
    <intervention_model>Single Group Assignment</intervention_model>
    <masking>None (Open Label)</masking>
    <primary_purpose>Educational/Counseling/Training</primary_purpose>
  </study_design_info>
  <primary_outcome><measure>Grip &gt;= 5 kg</measure><time_frame>1 week</time_frame>
    <description>By a gauge.</description></primary_outcome>
  <secondary_outcome><measure>Pain</measure></secondary_outcome>
  <other_outcome><measure>Sleep</measure></other_outcome>
  <enrollment type="Actual">0</enrollment>
  <condition>Osteoarthritis, Hand</condition>
  <arm_group><arm_group_label>Warm</arm_group_label>
    <arm_group_type>Experimental</arm_group_type><description>Daily.</description></arm_group>
  <intervention><intervention_type>Other</intervention_type>
    <intervention_name>Bath 1:1 salt</intervention_name><description>38 C</description>
    <arm_group_label>Warm</arm_group_label><other_name>Soak</other_name></intervention>
  <eligibility>
    <criteria><textblock>
        Inclusion Criteria:

          -  Stiff hands
    </textblock></criteria>
    <gender>Female</gender>
    <minimum_age>6 Months</minimum_age>
    <maximum_age>N/A</maximum_age>
    <healthy_volunteers>Accepts Healthy Volunteers</healthy_volunteers>
  </eligibility>
  <location><facility><name>Spa, East Wing</name><address><city>Lyon</city>
    <country>France</country></address></facility><status>Recruiting</status></location>
  <reference><citation>Water, a review.</citation><PMID>11</PMID></reference>
  <results_reference><PMID>12</PMID></results_reference>
  <study_first_posted type="Estimate">May 1, 2020</study_first_posted>
  <last_update_posted type="Actual">May 2, 2021</last_update_posted>
  <keyword>balneotherapy</keyword>
  <condition_browse><mesh_term>Osteoarthritis</mesh_term></condition_browse>
  <intervention_browse><mesh_term>Baths</mesh_term></intervention_browse>
  <clinical_results><clinical_study><x>kept out</x></clinical_study></clinical_results>
</clinical_study>
"""
SEARCH = """<?xml version="1.0"?>
<search_results count="1">
  <study rank="1">
    <nct_id>NCT90010002</nct_id>
    <title>Salt in soup</title>
    <status open="N">Completed</status>
    <study_results>Has Results</study_results>
    <conditions><condition>Hypertension</condition></conditions>
    <interventions>
      <intervention type="Dietary Supplement">Salt</intervention>
    </interventions>
    <outcome_measures><outcome_measure>Pressure</outcome_measure></outcome_measures>
    <sponsors><lead_sponsor>Soup Institute</lead_sponsor></sponsors>
    <gender>All</gender><min_age>18 Years</min_age><max_age/>
    <phases><phase>Phase 2</phase><phase>Phase 3</phase></phases>
    <enrollment>12</enrollment>
    <funded_bys><funded_by>Industry</funded_by><funded_by>NIH</funded_by></funded_bys>
    <study_types>Interventional</study_types>
    <study_designs>
      <study_design>Masking: Double (Participant, Investigator)</study_design>
      <study_design>Primary Purpose: Treatment</study_design></study_designs>
    <other_ids><other_id>S-1</other_id><other_id>S-2</other_id></other_ids>
    <start_date>June 2020</start_date>
    <locations><location>Kitchen, Seoul, Korea, Republic of</location></locations>
  </study>
</search_results>
"""


def run(text: str | bytes, name: str = "file.xml"):
    data = text.encode() if isinstance(text, str) else text
    report = ReadReport()
    trials = list(ctgov_xml.read(Source(name, lambda: BytesIO(data)), report))
    return trials, [(r.path, r.where, r.reason) for r in report.refused]


def test_record_fills_every_field():
    [trial], refused = run(RECORD)
    assert refused == []
    assert trial.nct_id == "NCT90010001"
    assert trial.aliases == ("NCT90010009",)
    assert trial.org_study_id == "INV-3"
    assert trial.title == "Warm baths for stiff hands"
    assert trial.official_title == "Baths, Warm and Cold, in Hand Osteoarthritis"
    assert trial.acronym == "BATH"
    assert trial.brief_summary == (
        "Warm water may help stiff fingers in the morning, and this line is long so "
        "that hard line ends are joined, long or short."
    )
    assert trial.detailed_description is None
    assert trial.conditions == ("Osteoarthritis, Hand",)
    assert trial.keywords == ("balneotherapy",)
    assert trial.interventions == (
        Intervention("Bath 1:1 salt", "OTHER", ("Soak",), ("Warm",), "38 C"),
    )
    assert trial.arms == (Arm("Warm", "EXPERIMENTAL", "Daily.", ("Bath 1:1 salt",)),)
    assert trial.outcomes == (
        Outcome("Grip >= 5 kg", "primary", "1 week", "By a gauge."),
        Outcome("Pain", "secondary"),
        Outcome("Sleep", "other"),
    )
    assert trial.criteria.inclusion == ("Stiff hands",)
    assert trial.sex == "FEMALE"
    assert (trial.min_age, trial.max_age) == (0.5, None)
    assert trial.healthy_volunteers is True
    assert trial.phases == {"PHASE1", "PHASE2"}
    assert trial.study_type == "INTERVENTIONAL"
    assert trial.design == Design(
        allocation="NA",
        intervention_model="SINGLE_GROUP",
        masking="NONE",
        primary_purpose="ECT",
    )
    assert trial.status == "ACTIVE_NOT_RECRUITING"
    assert trial.why_stopped == "No water."
    assert trial.start_date == PartialDate("2020-06", "month")
    assert trial.start_date.actual is False
    assert trial.primary_completion_date == PartialDate("2021-07-04", "day")
    assert trial.primary_completion_date.actual is True
    assert trial.completion_date == PartialDate("2022", "year")
    assert trial.first_posted == PartialDate("2020-05-01", "day")
    assert trial.last_updated == PartialDate("2021-05-02", "day")
    assert trial.enrollment.count == 0
    assert trial.enrollment.actual is True
    assert trial.sponsor == "Spa Trust"
    assert trial.sponsor_class == "FED"
    assert trial.collaborators == ("City Hospital, North",)
    assert trial.locations == (Location("Spa, East Wing", "Lyon", None, "France"),)
    assert trial.condition_mesh == ("Osteoarthritis",)
    assert trial.intervention_mesh == ("Baths",)
    assert trial.references == (
        Reference("11", None, "Water, a review."),
        Reference("12", "RESULT", None),
    )
    assert trial.has_results is True
    assert trial.source == "ctgov-xml"
    assert trial.snapshot == PartialDate("2021-03-05", "day")


def test_many_records_in_one_file():
    second = RECORD.replace("NCT90010001", "NCT90010003")
    trials, refused = run(f"<all>\n{RECORD}{second}</all>")
    assert [trial.nct_id for trial in trials] == ["NCT90010001", "NCT90010003"]
    assert trials[0].title == trials[1].title
    assert refused == []


def test_old_one_line_design_and_dates():
    [trial], _ = run(
        "<clinical_study><id_info><nct_id>NCT90010004</nct_id></id_info>"
        "<lastchanged_date>March 3, 2015</lastchanged_date>"
        "<study_design>Allocation: Randomized, Endpoint Classification: Efficacy "
        "Study, Intervention Model: Parallel Assignment, "
        "Masking: Double Blind (Subject, Outcomes Assessor), "
        "Primary Purpose: Treatment</study_design>"
        "<location_countries><country>Peru</country></location_countries>"
        "</clinical_study>"
    )
    assert trial.design == Design(
        allocation="RANDOMIZED",
        intervention_model="PARALLEL",
        masking="DOUBLE",
        primary_purpose="TREATMENT",
    )
    assert trial.last_updated == PartialDate("2015-03-03", "day")
    assert trial.locations == (Location(country="Peru"),)
    assert trial.has_results is False
    assert trial.phases == frozenset()
    assert trial.enrollment is None


def test_search_results():
    [trial], refused = run(SEARCH)
    assert refused == []
    assert trial.source == "ctgov-search-xml"
    assert trial.title == "Salt in soup"
    assert trial.org_study_id == "S-1"
    assert trial.interventions == (Intervention("Salt", "DIETARY_SUPPLEMENT"),)
    assert [outcome.measure for outcome in trial.outcomes] == ["Pressure"]
    assert trial.phases == {"PHASE2", "PHASE3"}
    assert trial.design == Design(masking="DOUBLE", primary_purpose="TREATMENT")
    assert trial.sponsor_class == "INDUSTRY"
    assert trial.has_results is True
    assert trial.locations == (
        Location("Kitchen", "Seoul", None, "Korea, Republic of"),
    )


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", "line 1", "the file is empty"),
        ("\n\n", "line 3", "the file is empty"),
        ("Too many requests", "line 1", "not XML"),
        ("<!DOCTYPE html>\n<html><br></html>", "line 2", "a web page"),
        ("<rss><item/></rss>", "line 1", "no trial record in it (it is a <rss>)"),
        ("<search_results count='0'/>", "line 1", "the search result holds no study"),
        ("<clinical_study>\n<id_info>\n<nct", "line 3", "the file is cut short"),
        (
            "<clinical_study>\n</other>",
            "line 2",
            "not well-formed XML (mismatched tag)",
        ),
        ("\n<clinical_study/>", "line 2", "no NCT id"),
        (
            "<clinical_study><id_info><nct_id>NCT9</nct_id></id_info></clinical_study>",
            "line 1",
            "'NCT9' is not an NCT id",
        ),
    ],
)
def test_one_refusal_with_file_line_and_reason(text, where, reason):
    trials, refused = run(text, "bad.xml")
    assert trials == []
    [(path, line, why)] = refused
    assert (path, line) == ("bad.xml", where)
    assert why.startswith(reason)


def test_records_before_the_damage_are_kept():
    trials, refused = run(f"<all>{RECORD}<clinical_study><brief_title>Cut")
    assert [trial.nct_id for trial in trials] == ["NCT90010001"]
    assert [reason for _, _, reason in refused] == ["the file is cut short"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_before_they_expand(encoding):
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n<!DOCTYPE clinical_study [\n'
        '<!ENTITY a "aaaaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;&a;&a;">]>\n'
        "<clinical_study><brief_title>&b;</brief_title></clinical_study>"
    )
    trials, refused = run(text.encode(encoding))
    assert trials == []
    assert [reason for _, _, reason in refused] == [
        "it declares entities, which is not safe"
    ]


def test_sniff():
    assert ctgov_xml.sniff(RECORD.encode(), "a")
    assert ctgov_xml.sniff(SEARCH.encode(), "a")
    assert not ctgov_xml.sniff(b"<allTrials><fullTrial/></allTrials>", "a")
    assert not ctgov_xml.sniff(b'{"text": "<clinical_study>"}', "a")


def test_same_trial_as_the_api(t2v_data):
    cases = t2v_data / "cases"
    reports = ReadReport()
    [xml] = ctgov_xml.read(_file(cases / "c10_same_trial_legacy.xml"), reports)
    [api] = ctgov_json.read(_file(cases / "c10_same_trial_v2.json"), reports)
    assert reports.refused == []
    for name in xml.__dataclass_fields__:
        if name not in ("source", "eligibility"):
            assert getattr(xml, name) == getattr(api, name), name
    expected = json.loads((cases / "c10_same_trial.expected.json").read_text())
    for trial in (xml, api):
        assert trial.title == expected["title"]
        text = f"{trial.brief_summary} {trial.detailed_description}"
        assert text == expected["description"]
        assert list(trial.conditions) == expected["disease"]
        assert [i.name for i in trial.interventions] == expected["intervention"]
        assert [o.measure for o in trial.outcomes] == expected["outcome_measure"]
        assert list(trial.keywords) == expected["keyword"]
        assert list(trial.criteria.inclusion) == expected["inclusion"]
        assert list(trial.criteria.exclusion) == expected["exclusion"]
        assert trial.status == expected["status"]
        assert trial.start_date.value == expected["start"]
        assert sorted(trial.phases) == expected["phase"]
        assert trial.max_age is None


def test_bad_files_of_a_batch(t2v_data):
    cases = t2v_data / "cases"
    expected = json.loads((cases / "c11.expected.json").read_text())
    report = ReadReport()
    names = ("c11_truncated.xml", "c11_not_xml.xml", "c11_no_org_id_crlf.xml")
    trials = [t for n in names for t in ctgov_xml.read(_file(cases / n), report)]
    good = expected["c11_no_org_id_crlf.xml"]
    [trial] = trials
    assert trial.nct_id == good["nct_id"]
    assert trial.org_study_id is None
    assert trial.title == good["title"]
    assert list(trial.criteria.inclusion) == good["inclusion"]
    assert [(r.where, r.reason) for r in report.refused] == [
        ("line 4", "the file is cut short"),
        ("line 1", "a web page, not a trial record"),
    ]
    assert [r.path.rsplit("/")[-1] for r in report.refused] == list(names[:2])


def test_real_records(t2v_data):
    report = ReadReport()
    folder = t2v_data / "data" / "raw"
    paths = sorted(folder.glob("ctgov_*_xml/*.xml"))
    trials = [t for p in paths for t in ctgov_xml.read(_file(p), report)]
    assert len(trials) == 197
    reasons = [refusal.reason for refusal in report.refused]
    assert sorted(reasons) == [
        "no trial record in it (it is a <rss>)",
        "no trial record in it (it is a <rss>)",
        "the file is empty",
        "the file is empty",
    ]


def _file(path) -> Source:
    return Source(str(path), lambda: path.open("rb"))
