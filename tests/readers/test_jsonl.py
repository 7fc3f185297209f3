"""JSON lines: our own layout and the flat layout of merged copies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from t2v_spacy.readers import ReadReport, read_trials
from t2v_spacy.trial import Arm, Enrollment, Intervention, Outcome, Reference, Trial
from t2v_spacy.values import PartialDate

FLAT: dict[str, Any] = {
    "nct_id": "NCT92000001",
    "title": "Warm  milk\nbefore bed",
    "official_title": "",
    "brief_summary": "",
    "detailed_description": "First part.\n\nSecond \\[sic\\] part \\& end.",
    "conditions": ["Insomnia", ""],
    "keywords": [],
    "interventions": [
        {"type": "Dietary Supplement", "name": "Milk", "other_names": ["Cow milk"]},
        {"type": "", "name": "Drug: Pill", "description": "", "other_names": []},
        {"type": "Drug", "name": "", "description": "", "other_names": []},
    ],
    "arm_groups": [{"label": "Milk", "type": "No Intervention", "description": ""}],
    "primary_outcomes": [
        {"measure": "Hours asleep", "time_frame": "1 week", "description": "By watch."}
    ],
    "secondary_outcomes": [{"measure": "", "time_frame": "x", "description": ""}],
    "other_outcomes": [{"measure": "Mood", "time_frame": "", "description": ""}],
    "eligibility": "Inclusion Criteria:\n\n- Age \\>= 18",
    "phase": "Phase 1/Phase 2",
    "status": "Completed",
    "why_stopped": "",
    "enrollment": "0",
    "study_type": "Observational [Patient Registry]",
    "lead_sponsor": "Clinic A",
    "condition_mesh": ["Sleep Initiation and Maintenance Disorders"],
    "min_age": "12 Weeks",
    "max_age": "N/A",
    "sex": "Both",
    "healthy_volunteers": "Accepts Healthy Volunteers",
    "registered": "31.05.2001",
    "start_date": "July 2002",
    "completion_date": "nan",
    "references": ["12657584"],
    "acronym": "MILK",
    "snapshot": "February 03, 2023",
    "level": "full",
    "source": ["a", "b"],
}
READ = Trial(
    nct_id="NCT92000001",
    title="Warm milk before bed",
    acronym="MILK",
    detailed_description="First part.\n\nSecond [sic] part & end.",
    conditions=("Insomnia",),
    interventions=(
        Intervention("Milk", "DIETARY_SUPPLEMENT", ("Cow milk",)),
        Intervention("Pill", "DRUG"),
    ),
    arms=(Arm("Milk", "NO_INTERVENTION"),),
    outcomes=(
        Outcome("Hours asleep", "primary", "1 week", "By watch."),
        Outcome("Mood", "other"),
    ),
    eligibility="Inclusion Criteria:\n\n- Age >= 18",
    sex="ALL",
    min_age=84 / 365.25,
    healthy_volunteers=True,
    phases=frozenset(("PHASE1", "PHASE2")),
    study_type="OBSERVATIONAL",
    status="COMPLETED",
    start_date=PartialDate("2002-07", "month"),
    first_posted=PartialDate("2001-05-31", "day"),
    enrollment=Enrollment(0),
    sponsor="Clinic A",
    condition_mesh=("Sleep Initiation and Maintenance Disorders",),
    references=(Reference("12657584"),),
)


def read(
    tmp_path: Path, *records: Any, report: ReadReport | None = None
) -> list[Trial]:
    path = tmp_path / "trials.jsonl"
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(read_trials(path, report=report))


def test_flat_layout(tmp_path):
    (trial,) = read(tmp_path, FLAT)
    assert trial == READ
    assert trial.snapshot == PartialDate("2023-02-03", "day")
    assert trial.source == "jsonl"


def test_own_layout_is_read_back_exactly(tmp_path):
    (trial,) = read(tmp_path, READ.to_dict())
    assert trial == READ


def test_own_text_is_taken_as_it_is(tmp_path):
    own = Trial("NCT92000002", brief_summary="a \\* b\n  c", conditions=("x  y",))
    assert read(tmp_path, own.to_dict()) == [own]


def test_empty_titles_are_kept_in_order(tmp_path):
    records = [{**FLAT, "nct_id": f"NCT9200001{i}", "title": ""} for i in range(3)]
    trials = read(tmp_path, *records)
    assert [trial.nct_id for trial in trials] == [r["nct_id"] for r in records]
    assert {trial.title for trial in trials} == {None}


def test_hard_wrapped_lines_are_joined(tmp_path):
    lines = [
        "People who sleep badly in a hospital ward because of the noise that others",
        "make at night are given a cup of warm milk, and the hours that they sleep in",
        "the week after are counted.",
        "",
        "A second part.",
    ]
    (trial,) = read(tmp_path, {**FLAT, "brief_summary": "\n".join(lines)})
    assert trial.brief_summary == " ".join(lines[:3]) + "\n\nA second part."


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"title": "x"}, "no NCT id (field nct_id)"),
        ([], "no NCT id (field nct_id)"),
        ({"nct_id": "ISRCTN90000001"}, "'ISRCTN90000001' is not an NCT id"),
        ({"nct_id": "NCT92000003", "titel": "x"}, "unknown field 'titel'"),
        (
            {"nct_id": "NCT92000003", "conditions": "Asthma"},
            "field 'conditions' is not a list",
        ),
        (
            {"nct_id": "NCT92000003", "start_date": "2020"},
            "field 'start_date' is not an object: '2020'",
        ),
        (
            {**FLAT, "interventions": ["Milk"]},
            "field 'interventions' is of the wrong kind: ['Milk']",
        ),
        (
            {**FLAT, "conditions": "Gout"},
            "field 'conditions' is of the wrong kind: 'Gout'",
        ),
        ({**FLAT, "max_age": 65}, "field 'max_age' is of the wrong kind: 65"),
        ('{"nct_id": "NCT920', "not valid JSON"),
    ],
)
def test_bad_records_are_refused_and_reading_goes_on(tmp_path, record, reason):
    if record == []:
        record = "3"
    report = ReadReport()
    trials = read(tmp_path, READ.to_dict(), record, FLAT, report=report)
    assert trials == [READ, READ]
    (refusal,) = report.refused
    assert refusal.where == "line 2"
    assert refusal.reason.startswith(reason)


@pytest.mark.parametrize("record", [FLAT, READ.to_dict()])
def test_half_of_a_surrogate_pair_is_replaced(tmp_path, record):
    broken = {**record, "title": "\ud83d Milk", "conditions": ["\udc00"]}
    (trial,) = read(tmp_path, {**broken, "status": "\ud83d"})
    assert (trial.title, trial.conditions) == ("\ufffd Milk", ("\ufffd",))
    assert json.dumps(trial.to_dict(), ensure_ascii=False).encode()


def test_one_list_of_records(tmp_path):
    report = ReadReport()
    path = tmp_path / "trials.json"
    path.write_text(json.dumps([READ.to_dict(), {"nct_id": "x"}], indent=1))
    assert list(read_trials(path, report=report)) == [READ]
    assert report.refused[0].where == "record 2"


def test_memory_stays_flat(tmp_path):
    """Records are yielded while the file is still being read."""
    path = tmp_path / "trials.jsonl"
    line = json.dumps(FLAT)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(2000):
            file.write(f"{line}\n")
        file.write("{broken\n")
    report = ReadReport()
    trials = read_trials(path, report=report)
    assert next(trials) == READ
    assert (report.read, report.refused) == (1, [])


def test_case_dates(tmp_path, t2v_data):
    path = t2v_data / "cases" / "c06_dates.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    records = [{**FLAT, "start_date": raw} for raw, _, _ in rows]
    trials = read(tmp_path, *records)
    for trial, (raw, iso, precision) in zip(trials, rows, strict=True):
        date = trial.start_date
        if precision == "missing":
            assert date is None
        else:
            assert (date.value, date.precision) == (iso, precision)
            assert date.raw == (raw if precision == "invalid" else None)


def test_sample_records(t2v_data):
    report = ReadReport()
    path = t2v_data / "data" / "trials_sample.jsonl"
    number = len(path.read_text(encoding="utf-8").splitlines())
    trials = list(read_trials(path, report=report))
    assert (len(trials), report.refused) == (number, [])
    assert all("\\>" not in (trial.eligibility or "") for trial in trials)


def test_all_records(t2v_data):
    """As many out as in, in order, and every date either exact or marked invalid."""
    path = t2v_data / "data" / "trials.jsonl.gz"
    with gzip.open(path, "rb") as file:
        ids = [line[12:23].decode() for line in file]
    report = ReadReport()
    found = []
    invalid = set()
    for trial in read_trials(path, report=report):
        found.append(trial.nct_id)
        for date in (trial.start_date, trial.completion_date, trial.first_posted):
            if date and date.precision == "invalid":
                invalid.add(date.raw)
    assert found == ids
    assert (report.read, len(report.refused)) == (50820, 0)
    assert invalid == {"Study_Staff_Moved", "Business_Administrative", "Invalid_Reason"}
    assert set(report.unknown_status) == {""}
