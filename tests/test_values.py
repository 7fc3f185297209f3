"""Registry values in normal form."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.values import (
    INTERVENTION_TYPES,
    PHASES,
    STATUS_LABELS,
    STUDY_TYPES,
    PartialDate,
    constant,
    display,
    is_control_name,
    outcome_label,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_id,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
    record_page,
    split_type,
)

LABELS = {"completion": "COMPLETED", "termination": "TERMINATED", "exclude": None}


def table(path):
    lines = path.read_text(encoding="utf8").rstrip("\n").split("\n")[1:]
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize("value", STATUS_LABELS)
def test_status_in_both_spellings(value):
    spoken = value.replace("_", " ").capitalize()
    if value == "ACTIVE_NOT_RECRUITING":
        spoken = "Active, not recruiting"
    assert parse_status(value) == parse_status(spoken) == value


def test_unknown_status_is_kept_and_has_no_label():
    assert parse_status("Some future value") == "Some future value"
    assert outcome_label("Some future value") is None
    assert parse_status("Unknown status") == "UNKNOWN"
    assert parse_status(" ") is None
    assert parse_status(None) is None


def test_outcome_labels():
    ended = {value for value in STATUS_LABELS if outcome_label(value) == "TERMINATED"}
    assert ended == {"TERMINATED", "WITHDRAWN", "SUSPENDED"}
    done = {value for value in STATUS_LABELS if outcome_label(value) == "COMPLETED"}
    assert done == {"COMPLETED", "APPROVED_FOR_MARKETING"}
    assert outcome_label(None) is None


@pytest.mark.parametrize(
    ("raw", "value", "precision"),
    [
        ("2017-11-08", "2017-11-08", "day"),
        ("2015-09", "2015-09", "month"),
        ("2015", "2015", "year"),
        ("May 4, 2004", "2004-05-04", "day"),
        ("Sept. 2015", "2015-09", "month"),
        ("03 Jan 2020", "2020-01-03", "day"),
        ("25/03/2004", "2004-03-25", "day"),
        ("03/25/2004", "2004-03-25", "day"),
        ("03/04/2020", "2020", "year"),
        ("04/04/2020", "2020-04-04", "day"),
        ("03.04.2020", "2020-04-03", "day"),
        ("2021-06-09T08:00:01.5", "2021-06-09", "day"),
        ("2020-02-29", "2020-02-29", "day"),
        ("2019-02-29", "", "invalid"),
        ("2019-13", "", "invalid"),
        ("Month 2015", "", "invalid"),
        ("soon", "", "invalid"),
    ],
)
def test_dates_keep_their_precision(raw, value, precision):
    found = parse_date(raw)
    assert (found.value, found.precision) == (value, precision)
    assert found.raw == (raw if precision == "invalid" else None)


@pytest.mark.parametrize("raw", [None, "", " ", "N/A", "none"])
def test_absent_date(raw):
    assert parse_date(raw) is None


def test_whether_a_date_is_past_does_not_make_it_another_date():
    past = parse_date("2020-01", actual=True)
    assert past.actual is True
    assert past == parse_date("January 2020", actual=False)
    assert str(past) == "2020-01"


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_every_real_day_is_read_in_every_form(day):
    expected = PartialDate(day.isoformat(), "day")
    assert parse_date(day.isoformat()) == expected
    assert parse_date(day.strftime("%B %d, %Y")) == expected
    assert parse_date(day.strftime("%d %b %Y")) == expected
    assert parse_date(day.strftime("%d.%m.%Y")) == expected


@given(st.text(max_size=30))
def test_no_text_is_an_exception(text):
    parse_date(text)
    parse_age(text)
    parse_phases(text)
    parse_status(text)
    parse_count(text)
    parse_id(text)
    split_type(text)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (["NA"], "NA"),
        (["EARLY_PHASE1"], "EARLY_PHASE1"),
        (["PHASE1", "PHASE2"], "PHASE1|PHASE2"),
        ([], ""),
        (None, ""),
        ("Phase 1/Phase 2", "PHASE1|PHASE2"),
        ("Early Phase 1", "EARLY_PHASE1"),
        ("Phase II", "PHASE2"),
        ("Phase I/II", "PHASE1|PHASE2"),
        ("IIb", "PHASE2"),
        ("2-3", "PHASE2|PHASE3"),
        ("Phase 0", "EARLY_PHASE1"),
        ("N/A", "NA"),
        ("Not Specified", ""),
        ("Phase4", "PHASE4"),
        ("Pilot study", ""),
    ],
)
def test_phases(raw, expected):
    assert parse_phases(raw) == frozenset(filter(None, expected.split("|")))


@given(st.frozensets(st.sampled_from(PHASES[:5])))
def test_displayed_phases_read_back(phases):
    assert parse_phases(", ".join(map(display, sorted(phases)))) == phases


@pytest.mark.parametrize(
    "value", [*INTERVENTION_TYPES, *STUDY_TYPES, "NON_RANDOMIZED", "NA"]
)
def test_displayed_constants_read_back(value):
    assert constant(display(value)) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("Double (Participant, Investigator)", "DOUBLE"),
        ("Observational [Patient Registry]", "OBSERVATIONAL"),
        ("N/A", "NA"),
        ("Not Applicable", "NA"),
        ("", None),
        (None, None),
    ],
)
def test_constant(raw, value):
    assert constant(raw) == value
    assert parse_study_type(raw) == value


@pytest.mark.parametrize(
    ("raw", "years"),
    [
        ("18 Years", 18),
        ("1 Year", 1),
        ("6 Months", 0.5),
        ("12 Weeks", 0.23),
        ("3 Days", 0.0082),
        ("36 Hours", 0.0041),
        ("90 Minutes", 0.00017),
        ("5.7e-05 years", 5.7e-05),
    ],
)
def test_ages(raw, years):
    assert parse_age(raw) == pytest.approx(years, rel=0.02)


@pytest.mark.parametrize("raw", [None, "", "N/A", "None"])
def test_no_age_limit(raw):
    assert parse_age(raw) is None


def test_small_values():
    assert [parse_sex(s) for s in ("Both", "All", "Female", None)] == [
        "ALL", "ALL", "FEMALE", None,
    ]  # fmt: skip
    assert [parse_bool(b) for b in ("Yes", "No", "f", True, "", None)] == [
        True, False, False, True, None, None,
    ]  # fmt: skip
    assert [parse_count(n) for n in ("0", 0, "120.0", "", "NA", None, "inf")] == [
        0, 0, 120, None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "free"),
    [
        ("Drug: Tablet A", "DRUG", "Tablet A"),
        ("Dietary Supplement: Oil", "DIETARY_SUPPLEMENT", "Oil"),
        ("Ratio 1:1 kit", None, "Ratio 1:1 kit"),
        ("Kit: drug", None, "Kit: drug"),
        ("Drug:", None, "Drug:"),
    ],
)
def test_split_type(name, kind, free):
    assert split_type(name) == (kind, free)


def test_control_names():
    assert all(
        map(is_control_name, ["Placebo", "Sham surgery", "usual care", "Saline"])
    )
    assert not any(map(is_control_name, ["Insulin", "Shampoo", "Drug A"]))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (" nct90000001 ", ("NCT90000001", "nct")),
        ("NCT9000000", ("NCT9000000", "invalid")),
        ("NCT900000011", ("NCT900000011", "invalid")),
        ("ISRCTN90000001", ("ISRCTN90000001", "other")),
        ("2009-999999-99", ("2009-999999-99", "other")),
        ("N/A", ("N/A", "invalid")),
        ("", ("", "invalid")),
    ],
)
def test_ids(raw, expected):
    assert parse_id(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        *("ACTRN90000000000001", "ChiCTR9000000001", "ChiCTR-TRC-90000001"),
        *("CTRI/2099/01/000001", "DRKS90000001", "EUCTR2099-000001-10-SE"),
        *("2099-500001-10-00", "IRCT90000000000001N1", "JPRN-UMIN900000001"),
        *("jRCT9000000001", "jRCTs900000001", "KCT9000001", "NTR9001", "NL9001"),
        *("PACTR209900000000001", "RBR-9abcde", "SLCTR/2099/001", "TCTR20990000001"),
        *("UMIN900000001", "U1111-9000-0001"),
    ],
)
def test_ids_of_other_registries(raw):
    assert parse_id(raw)[1] == "other"


@pytest.mark.parametrize(
    "raw",
    [
        *("NTRK1", "NTRK fusion-positive solid tumors NTRK3", "UMIN heart 2"),
        *("ISRCTN 90000001", "KCT2", "DRKS 1", "NL", "IRCT trial 7", "2009-2012"),
    ],
)
def test_words_that_only_begin_like_an_id(raw):
    assert parse_id(raw)[1] == "invalid"


# --- real cases, where they are at hand ---------------------------------------------


def test_status_cases(t2v_data):
    rows = table(t2v_data / "cases" / "c05_status.tsv")
    assert len(rows) == 16
    for api, legacy, label in rows:
        kind, _, warn = label.partition("+")
        for raw in (api, legacy):
            status = parse_status(raw)
            assert outcome_label(status) == LABELS[kind]
            assert (status not in STATUS_LABELS) == bool(warn)


def test_date_cases(t2v_data):
    for raw, value, precision in table(t2v_data / "cases" / "c06_dates.tsv"):
        found = parse_date(raw)
        if precision == "missing":
            assert found is None
        else:
            assert (found.value, found.precision) == (value, precision), raw


def test_phase_cases(t2v_data):
    for raw, expected in table(t2v_data / "cases" / "c08_phases.tsv"):
        value = json.loads(raw) if raw.startswith("[") else raw
        assert parse_phases(value) == frozenset(filter(None, expected.split("|"))), raw


def test_age_cases(t2v_data):
    for raw, expected in table(t2v_data / "cases" / "c09_ages.tsv"):
        wanted = pytest.approx(float(expected), rel=0.05) if expected else None
        assert parse_age(raw) == wanted, raw


def test_id_cases(t2v_data):
    cases = t2v_data / "cases"
    expected = json.loads((cases / "c11.expected.json").read_text())["c11_ids.txt"]
    lines = (cases / "c11_ids.txt").read_text().splitlines()
    ids = dict.fromkeys(parse_id(line) for line in lines if line.strip())
    kinds = {"nct": "valid", "other": "other_registry", "invalid": "invalid"}
    for kind, name in kinds.items():
        assert [value for value, found in ids if found == kind] == expected[name]


def test_the_page_of_a_record():
    assert record_page(" nct01234567") == "https://clinicaltrials.gov/study/NCT01234567"
    assert record_page("ISRCTN12345678") is None
    assert record_page("../NCT01234567") is None
