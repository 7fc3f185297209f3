"""AACT tables: joins, line ends, lone quotes, missing tables."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from t2v_spacy.readers import aact, read_trials
from t2v_spacy.readers.aact_tables import Unit, find_units
from t2v_spacy.readers.report import ReadReport
from t2v_spacy.readers.source import Source
from t2v_spacy.trial import (
    Arm,
    Design,
    Intervention,
    Location,
    Outcome,
    Reference,
)
from t2v_spacy.values import PartialDate

STUDIES = {
    "nct_id": "NCT90040001",
    "nlm_download_date_description": (
        "ClinicalTrials.gov processed this data on March 05, 2021"
    ),
    "study_first_posted_date": "2020-04-01",
    "last_update_posted_date": "2020-04-02",
    "start_month_year": "June 2020",
    "start_date_type": "Anticipated",
    "start_date": "2020-06-30",
    "completion_month_year": "",
    "completion_date_type": "Actual",
    "completion_date": "2021-07-04",
    "study_type": "Interventional",
    "acronym": "TEA",
    "brief_title": "Tea in gout",
    "official_title": "Tea, Green, in Gout",
    "overall_status": "Terminated",
    "phase": "Phase 1/Phase 2",
    "enrollment": "0",
    "enrollment_type": "Actual",
    "why_stopped": "No tea",
    "results_first_posted_date": "",
}
BARE = {**dict.fromkeys(STUDIES, ""), "nct_id": "NCT90040002", "brief_title": "Milk"}
TABLES = {
    "studies": "\n".join(
        "|".join(r) for r in (STUDIES, STUDIES.values(), BARE.values())
    ),
    "eligibilities": """\
nct_id|gender|minimum_age|maximum_age|healthy_volunteers|criteria
NCT90040001|FEMALE|18 Years|N/A|f|Inclusion Criteria:~* Adults~* Thirsty""",
    "brief_summaries": """id|nct_id|description
1|NCT90040001|First line.~Second \\>= line.""",
    "detailed_descriptions": """id|nct_id|description
1|NCT90040001|More.""",
    "conditions": """id|nct_id|name|downcase_name
2|NCT90040001|Gout, Acute|gout, acute
1|NCT90040002|Sleep|sleep""",
    "keywords": "id|nct_id|name|downcase_name\n1|NCT90040001|leaf|leaf",
    "interventions": """id|nct_id|intervention_type|name|description
7|NCT90040001|Drug|Tea|Hot.
8|NCT90040001|OTHER|Rest|""",
    "intervention_other_names": "id|nct_id|intervention_id|name\n1|NCT90040001|7|Chai",
    "design_groups": """id|nct_id|group_type|title|description
3|NCT90040001|Experimental|Leaf|Daily.
4|NCT90040001|NO_INTERVENTION|Rest arm|""",
    "design_group_interventions": """id|nct_id|design_group_id|intervention_id
1|NCT90040001|3|7
2|NCT90040001|4|8""",
    "design_outcomes": """id|nct_id|outcome_type|measure|time_frame|description
2|NCT90040001|secondary|Mood||
1|NCT90040001|primary|Pain|1 week|By scale.""",
    "designs": """\
id|nct_id|allocation|intervention_model|primary_purpose|masking
1|NCT90040001|Randomized|Parallel Assignment|Treatment|None (Open Label)""",
    "browse_conditions": """id|nct_id|mesh_term|downcase_mesh_term|mesh_type
1|NCT90040001|Gout|gout|mesh-list
2|NCT90040001|Joint Diseases|joint diseases|mesh-ancestor""",
    "browse_interventions": """id|nct_id|mesh_term|downcase_mesh_term|mesh_type
1|NCT90040001|Tea|tea|""",
    "sponsors": """id|nct_id|agency_class|lead_or_collaborator|name
1|NCT90040001|OTHER|collaborator|Cup Ltd.
2|NCT90040001|U.S. Fed|lead|Tea Board""",
    "facilities": """id|nct_id|status|name|city|state|zip|country
1|NCT90040001||Clinic|Oslo||0150|Norway""",
    "countries": """id|nct_id|name|removed
1|NCT90040002|Peru|f
2|NCT90040002|Chile|t""",
    "calculated_values": """id|nct_id|were_results_reported
1|NCT90040001|t
2|NCT90040002|f""",
    "study_references": """id|nct_id|pmid|reference_type|citation
1|NCT90040001|11|results_reference|Tea.
2|NCT90040001|12|derived|""",
    "id_information": """id|nct_id|id_source|id_value
1|NCT90040001|org_study_id|T-1
2|NCT90040001|nct_alias|NCT90040009""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    (tmp_path / "README.txt").write_text("Notes | of nct_id", encoding="utf-8")
    return tmp_path


def run(path: Path):
    report = ReadReport()
    (unit,) = find_units(path, report)
    trials = list(aact.read_tables(unit.tables, report))
    return trials, [(r.path, r.where, r.reason) for r in report.refused]


def lone(text: str, name: str = "eligibilities.txt"):
    report = ReadReport()
    source = Source(name, lambda: BytesIO(text.encode()))
    trials = list(aact.read(source, report))
    return trials, [(r.where, r.reason) for r in report.refused]


def test_join_of_all_tables(folder):
    (tea, milk), refused = run(folder)
    assert refused == []
    assert tea.nct_id == "NCT90040001"
    assert tea.aliases == ("NCT90040009",)
    assert tea.org_study_id == "T-1"
    assert tea.title == "Tea in gout"
    assert tea.official_title == "Tea, Green, in Gout"
    assert tea.acronym == "TEA"
    assert tea.brief_summary == "First line.\nSecond >= line."
    assert tea.detailed_description == "More."
    assert tea.conditions == ("Gout, Acute",)
    assert tea.keywords == ("leaf",)
    assert tea.interventions == (
        Intervention("Tea", "DRUG", ("Chai",), ("Leaf",), "Hot."),
        Intervention("Rest", "OTHER", (), ("Rest arm",)),
    )
    assert tea.arms == (
        Arm("Leaf", "EXPERIMENTAL", "Daily.", ("Tea",)),
        Arm("Rest arm", "NO_INTERVENTION", None, ("Rest",)),
    )
    assert tea.outcomes == (
        Outcome("Pain", "primary", "1 week", "By scale."),
        Outcome("Mood", "secondary"),
    )
    assert tea.criteria.inclusion == ("Adults", "Thirsty")
    assert tea.sex == "FEMALE"
    assert (tea.min_age, tea.max_age) == (18.0, None)
    assert tea.healthy_volunteers is False
    assert tea.phases == {"PHASE1", "PHASE2"}
    assert tea.study_type == "INTERVENTIONAL"
    assert tea.design == Design(
        "RANDOMIZED", "PARALLEL", masking="NONE", primary_purpose="TREATMENT"
    )
    assert tea.status == "TERMINATED"
    assert tea.why_stopped == "No tea"
    assert tea.start_date == PartialDate("2020-06", "month")
    assert tea.start_date.actual is False
    assert tea.completion_date == PartialDate("2021-07-04", "day")
    assert tea.first_posted == PartialDate("2020-04-01", "day")
    assert tea.last_updated == PartialDate("2020-04-02", "day")
    assert (tea.enrollment.count, tea.enrollment.actual) == (0, True)
    assert tea.sponsor == "Tea Board"
    assert tea.sponsor_class == "FED"
    assert tea.collaborators == ("Cup Ltd.",)
    assert tea.locations == (Location("Clinic", "Oslo", None, "Norway"),)
    assert tea.condition_mesh == ("Gout",)
    assert tea.intervention_mesh == ("Tea",)
    assert tea.references == (
        Reference("11", "RESULT", "Tea."),
        Reference("12", "DERIVED", None),
    )
    assert tea.has_results is True
    assert tea.snapshot == PartialDate("2021-03-05", "day")
    assert tea.source == "aact"
    assert milk.conditions == ("Sleep",)
    assert milk.locations == (Location(country="Peru"),)
    assert milk.has_results is False
    assert milk.eligibility is None
    assert milk.interventions == ()


def test_zip_equals_folder(folder, tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.glob("*.txt"):
            archive.write(file, f"export/{file.name}")
    assert run(path) == run(folder)


def test_absent_side_tables_leave_fields_empty(folder):
    for file in folder.glob("*.txt"):
        if file.stem != "studies":
            file.unlink()
    (tea, _), refused = run(folder)
    assert refused == []
    assert tea.title == "Tea in gout"
    assert tea.conditions == ()
    assert tea.eligibility is None
    assert tea.design is None
    assert tea.has_results is None


def test_without_studies_each_id_is_a_trial(folder):
    (folder / "studies.txt").unlink()
    trials, _ = run(folder)
    assert [t.nct_id for t in trials] == ["NCT90040001", "NCT90040002"]
    assert trials[0].conditions == ("Gout, Acute",)
    assert trials[0].title is None


def test_no_units(tmp_path):
    def units(path: Path) -> list[Unit]:
        return find_units(path, ReadReport())

    assert units(tmp_path) == []
    (tmp_path / "keywords.txt").write_text("tea\nmilk\n")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 broken")
    assert units(tmp_path) == []
    assert units(tmp_path / "keywords.txt") == []
    assert units(tmp_path / "broken.zip") == []
    assert units(tmp_path / "absent.zip") == []


def test_files_beside_the_tables_are_read_too(folder):
    """What is no table of the database is a file like any other."""
    own = '{"nct_id": "NCT9004000%d", "title": "Own"}\n'
    (folder / "more.jsonl").write_text(own % 3)
    (folder / "words.txt").write_text("Just some words.")
    (folder / "reported_events.txt").write_text("id|nct_id|event_type\n1|NCT90040001|x")
    (folder / "deep").mkdir()
    (folder / "deep" / "a.jsonl").write_text(own % 4)
    with zipfile.ZipFile(folder / "z.zip", "w") as archive:
        for part in ("one", "two"):
            archive.writestr(f"{part}/keywords.txt", TABLES["keywords"])
            archive.writestr(f"{part}/conditions.txt", TABLES["conditions"])
        archive.writestr("two/b.jsonl", own % 5)
    report = ReadReport()
    trials = list(read_trials(folder, report=report))
    assert "".join(trial.nct_id[-1] for trial in trials) == "124312125"
    (refusal,) = report.refused
    assert refusal.path == str(folder / "words.txt")
    assert {Path(skipped.path).name for skipped in report.skipped} == {
        "README.txt",
        "reported_events.txt",
    }


def test_a_lone_quote_does_not_swallow_rows():
    trials, refused = lone(
        "id|nct_id|gender|criteria\n"
        '1|NCT90040011|ALL|"5 feet or more\n'
        '2|NCT90040012|ALL|"Wholly quoted"\n'
        '3|NCT90040013|ALL|"stable" or "mild"\n'
        '4|NCT90040014|ALL|said ""so""\n'
    )
    assert refused == []
    assert [trial.eligibility for trial in trials] == [
        '"5 feet or more',
        "Wholly quoted",
        '"stable" or "mild"',
        'said ""so""',
    ]


def test_proper_csv_with_line_ends_and_bars_in_quotes():
    trials, refused = lone(
        "id|nct_id|gender|criteria\n"
        '1|NCT90040011|ALL|"Adults\n- a ""stable"" state\n\n- able"\n'
        '2|"nct90040012"|ALL|"a | b"\n'
    )
    assert refused == []
    assert trials[0].eligibility == 'Adults\n- a "stable" state\n\n- able'
    assert trials[1].nct_id == "NCT90040012"
    assert trials[1].eligibility == "a | b"


def test_what_fits_no_row_is_refused_by_line():
    trials, refused = lone(
        "id|nct_id|gender|criteria\n"
        "0|NCT1|ALL|before any row\n"
        "1|NCT90040011|ALL|good\n"
        "2|NCT9004|ALL|bad id\n"
        "3|NCT90040012|ALL\n"
        "4|NCT90040013|ALL|good\n"
    )
    assert [t.nct_id for t in trials] == ["NCT90040011", "NCT90040013"]
    assert [t.eligibility for t in trials] == ["good", "good"]
    assert [where for where, _ in refused] == ["line 2", "line 4", "line 5"]
    assert refused[2][1] == "not a row of 4 columns with an NCT id"


def test_a_tilde_that_means_about_stays():
    [trial], _ = lone(
        "id|nct_id|criteria\n1|NCT90040011|Able to drink ~500 mL~* Weighs \\~60 kg\n"
    )
    assert trial.eligibility == "Able to drink ~500 mL\n* Weighs ~60 kg"


def test_one_table_alone_is_known_by_name_or_columns():
    assert aact.sniff(b"id|nct_id|name|downcase_name\n", "x/keywords.txt")
    assert aact.sniff(b"id|nct_id|criteria\n", "my_eligibilities.txt")
    assert aact.sniff(b"nct_id|overall_status\n", "dump.txt")
    assert not aact.sniff(b"id|nct_id|name\n", "x.txt")
    assert not aact.sniff(b"id|name\n", "keywords.txt")
    assert not aact.sniff(b"nct_id,criteria\n", "eligibilities.txt")
    [trial], _ = lone("id|nct_id|name\n1|NCT90040011|tea\n", "keywords.txt")
    assert trial.keywords == ("tea",)


def test_eligibilities_of_the_exporter(t2v_data):
    path = t2v_data / "cases" / "c12_aact_eligibilities.txt"
    expected = json.loads(
        path.with_name("c12_aact_eligibilities.expected.json").read_text()
    )
    report = ReadReport()
    assert aact.sniff(path.read_bytes(), path.name)
    source = Source(path.name, lambda: path.open("rb"))
    trials = {trial.nct_id: trial for trial in aact.read(source, report)}
    assert report.refused == []
    assert len(trials) == expected["n_rows"]
    for nct_id in ("NCT90001201", "NCT90001203"):
        criteria = trials[nct_id].criteria
        assert list(criteria.inclusion) == expected[nct_id]["inclusion"]
        assert list(criteria.exclusion) == expected[nct_id]["exclusion"]
    lone_quote = trials["NCT90001202"].criteria
    assert list(lone_quote.unspecified) == expected["NCT90001202"]["unspecified"]
    assert trials["NCT90001204"].eligibility is None
    assert trials["NCT90001204"].min_age == expected["NCT90001204"]["minimum_age_years"]


def test_real_layout(t2v_data):
    path = t2v_data / "data" / "raw" / "aact_pipe_delimited_DERIVED"
    trials, refused = run(path)
    assert len(trials) == 250
    assert refused == []
    assert all(t.title and t.conditions and t.eligibility for t in trials)
