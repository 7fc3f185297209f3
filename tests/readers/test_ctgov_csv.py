"""Site exports: former and present headers, lists in cells, rows that do not fit."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO

import pytest

from t2v_spacy.readers import ctgov_csv
from t2v_spacy.readers.report import ReadReport
from t2v_spacy.readers.source import Source
from t2v_spacy.trial import Design, Intervention, Location, Outcome
from t2v_spacy.values import PartialDate

FORMER = {
    "Rank": "1",
    "NCT Number": "nct90020001 ",
    "Title": "Tea, black or green",
    "Acronym": "TEA",
    "Status": "Active, not recruiting",
    "Study Results": "No Results Available",
    "Conditions": "Hypertension|Stroke, Acute",
    "Interventions": "Drug: Tea|Dietary Supplement: Ratio 1:1 mix|Other: A|B",
    "Outcome Measures": "Pressure|Sleep, in hours",
    "Sponsor/Collaborators": "Tea Board|Hospital, North",
    "Gender": "All",
    "Age": "18 Years to 65 Years \u00a0 (Adult, Older Adult)",
    "Phases": "Phase 2|Phase 3",
    "Enrollment": "0",
    "Funded Bys": "U.S. Fed|Other",
    "Study Type": "Interventional",
    "Study Designs": "Allocation: Non-Randomized|Masking: Double (Participant, Other)",
    "Other IDs": "T-1|T-2",
    "Start Date": "May 1, 2020",
    "Completion Date": "June 2021",
    "First Posted": "April 1, 2020",
    "Last Update Posted": "April 2, 2020",
    "Locations": "Ward, East, Boston, Massachusetts, United States|Home, Oslo, Norway",
    "URL": "https://example.org",
}
PRESENT = {
    "NCT Number": "NCT90020002",
    "Study Title": "Coffee \\>= 2 cups",
    "Study Status": "UNKNOWN",
    "Brief Summary": "First line.\n\nSecond \\[1\\] line.",
    "Study Results": "YES",
    "Conditions": "Sleep",
    "Interventions": "DRUG: Coffee|COMBINATION_PRODUCT: Coffee, milk",
    "Primary Outcome Measures": "Hours, slept at night, 1 week|Naps, by day, 1 week",
    "Secondary Outcome Measures": "Mood, scale 0-10, 1 week",
    "Other Outcome Measures": "",
    "Sponsor": "Bean Ltd.",
    "Collaborators": "Milk Ltd.|Cup Ltd.",
    "Sex": "FEMALE",
    "Age": "ADULT, OLDER_ADULT",
    "Phases": "NA",
    "Enrollment": "40",
    "Funder Type": "INDUSTRY",
    "Study Type": "INTERVENTIONAL",
    "Study Design": "Allocation: NA | Intervention Model: SINGLE_GROUP | Masking: NONE",
    "Start Date": "2023-06",
    "First Posted": "2023-06-05",
    "Locations": "Lab, Kandy, 20000, Sri Lanka",
}


def table(*rows: dict[str, str], delimiter: str = ",") -> str:
    out = StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def run(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    report = ReadReport()
    trials = list(ctgov_csv.read(Source("x.csv", lambda: BytesIO(data)), report))
    return trials, [(r.path, r.where, r.reason) for r in report.refused]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_former_export(delimiter):
    [trial], refused = run(table(FORMER, delimiter=delimiter))
    assert refused == []
    assert trial.nct_id == "NCT90020001"
    assert trial.org_study_id == "T-1"
    assert trial.title == "Tea, black or green"
    assert trial.acronym == "TEA"
    assert trial.status == "ACTIVE_NOT_RECRUITING"
    assert trial.has_results is False
    assert trial.conditions == ("Hypertension", "Stroke, Acute")
    assert trial.interventions == (
        Intervention("Tea", "DRUG"),
        Intervention("Ratio 1:1 mix", "DIETARY_SUPPLEMENT"),
        Intervention("A|B", "OTHER"),
    )
    assert [o.measure for o in trial.outcomes] == ["Pressure", "Sleep, in hours"]
    assert trial.sponsor == "Tea Board"
    assert trial.collaborators == ("Hospital, North",)
    assert trial.sponsor_class == "FED"
    assert trial.sex == "ALL"
    assert (trial.min_age, trial.max_age) == (18.0, 65.0)
    assert trial.phases == {"PHASE2", "PHASE3"}
    assert trial.enrollment.count == 0
    assert trial.design == Design(allocation="NON_RANDOMIZED", masking="DOUBLE")
    assert trial.start_date == PartialDate("2020-05-01", "day")
    assert trial.completion_date == PartialDate("2021-06", "month")
    assert trial.primary_completion_date is None
    assert trial.first_posted == PartialDate("2020-04-01", "day")
    assert trial.last_updated == PartialDate("2020-04-02", "day")
    assert trial.locations == (
        Location("Ward, East", "Boston", "Massachusetts", "United States"),
        Location("Home", "Oslo", None, "Norway"),
    )
    assert trial.source == "ctgov-csv"


@pytest.mark.parametrize("underscored", [False, True])
def test_present_export(underscored):
    row = {k.replace(" ", "_") if underscored else k: v for k, v in PRESENT.items()}
    [trial], refused = run(b"\xef\xbb\xbf" + table(row).encode())
    assert refused == []
    assert trial.nct_id == "NCT90020002"
    assert trial.title == "Coffee >= 2 cups"
    assert trial.brief_summary == "First line.\n\nSecond [1] line."
    assert trial.has_results is True
    assert trial.status == "UNKNOWN"
    assert trial.interventions[1] == Intervention("Coffee, milk", "COMBINATION_PRODUCT")
    assert trial.outcomes == (
        Outcome("Hours, slept at night, 1 week", "primary"),
        Outcome("Naps, by day, 1 week", "primary"),
        Outcome("Mood, scale 0-10, 1 week", "secondary"),
    )
    assert trial.sponsor == "Bean Ltd."
    assert trial.collaborators == ("Milk Ltd.", "Cup Ltd.")
    assert trial.phases == {"NA"}
    assert trial.design == Design("NA", "SINGLE_GROUP", masking="NONE")
    assert trial.locations == (Location("Lab", "Kandy", None, "Sri Lanka"),)


def test_short_export_leaves_the_rest_absent():
    [trial], _ = run("NCT Number,Study Title,Extra\nNCT90020003,Rice,?\n")
    assert trial.title == "Rice"
    assert trial.sex is None
    assert trial.has_results is None
    assert trial.design is None
    assert trial.missing == (
        "conditions",
        "interventions",
        "outcomes",
        "keywords",
        "brief_summary",
        "detailed_description",
        "eligibility",
    )


@pytest.mark.parametrize(
    ("cell", "ages"),
    [
        ("18 Years and older   (Adult, Older Adult)", (18.0, None)),
        ("up to 17 Years   (Child)", (None, 17.0)),
        ("12 Months to 16 Years   (Child)", (1.0, 16.0)),
        ("Child, Adult, Older Adult", (None, None)),
        ("ADULT, OLDER_ADULT", (18.0, None)),
        ("CHILD, ADULT", (None, 64.0)),
        ("OLDER_ADULT", (65.0, None)),
        ("CHILD", (None, 17.0)),
        ("", (None, None)),
    ],
)
def test_ages(cell, ages):
    [trial], _ = run(table({"NCT Number": "NCT90020004", "Age": cell}))
    assert (trial.min_age, trial.max_age) == ages


def test_rows_that_do_not_fit_are_refused_by_line():
    trials, refused = run(
        "NCT Number,Title\n"
        'NCT90020005,"Two\nlines"\n'
        "NCT90020006\n"
        "\n"
        "NCT90020007,a,b\n"
        "NCT9,Bad id\n"
        ",No id\n"
        "NCT90020008,Last\n"
    )
    assert [t.nct_id for t in trials] == ["NCT90020005", "NCT90020008"]
    assert trials[0].title == "Two lines"
    assert refused == [
        ("x.csv", "line 4", "1 columns where the header has 2"),
        ("x.csv", "line 6", "3 columns where the header has 2"),
        ("x.csv", "line 7", "'NCT9' is not an NCT id"),
        ("x.csv", "line 8", "no NCT id"),
    ]


HEADER = "NCT Number,Title,Conditions\n"


def numbers(trials) -> list[int]:
    return [int(trial.nct_id[-3:]) for trial in trials]


@pytest.mark.parametrize("title", ['"Tea', '"Tea, green', 'Tea,"green'])
def test_a_quote_without_a_partner_costs_one_row(title):
    rows = [f"NCT90021{i:03},Title {i},Gout\n" for i in range(300)]
    rows[1] = f"NCT90021001,{title}\n"
    rows[7] = 'NCT90021007,"Two\nlines, and ""more""",Gout\n'
    trials, refused = run(HEADER + "".join(rows))
    assert numbers(trials) == [0, *range(2, 300)]
    assert trials[6].title == 'Two lines, and "more"'
    assert refused == [("x.csv", "line 3", "a quote in it has no partner")]


def test_a_quote_in_the_last_column_takes_in_no_other_row():
    last = ['"Gout', "Gout", "Gout"] * 3
    rows = [f"NCT90021{i:03},Title,{cell}\n" for i, cell in enumerate(last)]
    trials, refused = run(HEADER + "".join(rows))
    assert numbers(trials) == [1, 2, 4, 5, 7, 8]
    assert [where for _, where, _ in refused] == ["line 2", "line 5", "line 8"]


def test_lines_of_no_row_are_named():
    trials, refused = run(HEADER + 'NCT90021001,"Tea\nor\nmilk\n')
    assert trials == []
    assert [where for _, where, _ in refused] == ["lines 2-4"]


def test_an_id_at_the_start_of_a_quoted_line_is_text():
    cell = '"As in\nNCT90021009, but ""longer"""'
    [trial], refused = run(f"Rank,{HEADER}1,NCT90021001,{cell},Gout\n")
    assert trial.title == 'As in NCT90021009, but "longer"'
    [trial], refused = run(f"{HEADER}NCT90021001,{cell},Gout\n")
    assert trial.title == 'As in NCT90021009, but "longer"'
    assert refused == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("NCT Number,Title\n", "a header and no rows"),
        ("Id,Title\n1,a\n2,b\n", "there is no column 'NCT Number'"),
    ],
)
def test_not_an_export(text, reason):
    trials, refused = run(text)
    assert trials == []
    assert refused == [("x.csv", "line 1", reason)]


def test_other_encodings():
    text = "NCT Number,Title\nNCT90020009,Café ≥ 1\n"
    assert run(text.encode("utf-16"))[0][0].title == "Café ≥ 1"
    text = "NCT Number,Title\nNCT90020009,Café\n"
    assert run(text.encode("cp1252"))[0][0].title == "Café"


@pytest.mark.parametrize(
    ("proof", "date"),
    [
        ("25-03-2020", PartialDate("2020-05-04", "day")),
        ("03-25-2020", PartialDate("2020-04-05", "day")),
        ("2020-03-25", PartialDate("2020", "year")),
    ],
)
def test_order_of_day_and_month_is_learnt_from_the_file(proof, date):
    rows = [
        {"NCT Number": f"NCT9002001{i}", "Start Date": cell}
        for i, cell in enumerate(["04-05-2020", proof])
    ]
    trials, _ = run(table(*rows))
    assert trials[0].start_date == date


def test_sniff():
    assert ctgov_csv.sniff(table(FORMER, delimiter="\t").encode(), "x")
    assert ctgov_csv.sniff(b"\xef\xbb\xbfNCT_Number,Study_Title\n", "x")
    assert not ctgov_csv.sniff(b"nct_id,title\n", "x")
    assert not ctgov_csv.sniff(b"", "x")


def test_real_exports(t2v_data):
    folder = t2v_data / "data" / "raw" / "ctgov_csv_export"
    counts, report = {}, ReadReport()
    for path in sorted(folder.iterdir()):
        source = Source(path.name, lambda path=path: path.open("rb"))
        assert ctgov_csv.sniff(path.read_bytes()[:65536], path.name)
        trials = list(ctgov_csv.read(source, report))
        counts[path.name] = len(trials)
        assert all(trial.title and trial.conditions for trial in trials)
    assert counts == {
        "SearchResults_legacy.csv": 100,
        "SearchResults_legacy.tsv": 40,
        "ctg-studies_new_full_columns.csv": 100,
        "ctg-studies_short.csv": 682,
        "ctg-studies_underscored_headers.csv": 500,
    }
    assert report.refused == []
