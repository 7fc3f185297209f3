from __future__ import annotations

import codecs
import csv
import json
from datetime import datetime

import openpyxl
import pytest
import rispy

from t2v_spacy.errors import T2VError
from t2v_spacy.readers import read_trials
from t2v_spacy.search import Hit
from t2v_spacy.search.export import (
    COLUMNS,
    FORMATS,
    TRIAL_COLUMNS,
    excel,
    export_hits,
    export_trials,
)
from t2v_spacy.search.export.write import format_of
from t2v_spacy.trial import Enrollment, Intervention, Location, Outcome, Trial
from t2v_spacy.values import parse_date

from .toys import make_index, make_trial, nct

LINK = "https://example.org/study/{nct_id}"
FULL = Trial(
    "NCT90000001",
    aliases=("EUCTR2015-000001-11",),
    title='Gicht: "Kolchizin", süß\nund 痛風',
    conditions=("Gout", "Flare, acute"),
    keywords=("gout", "urate"),
    interventions=(Intervention("Colchicine", "DRUG"), Intervention("Placebo")),
    outcomes=(
        Outcome("Pain", time_frame="3 days"),
        Outcome("Urate"),
        Outcome("Flares", role="secondary"),
    ),
    brief_summary="First line.\n\n  Second  line.",
    phases=frozenset(("PHASE3", "PHASE2")),
    study_type="INTERVENTIONAL",
    status="COMPLETED",
    enrollment=Enrollment(312, True),
    start_date=parse_date("2015-03-02"),
    completion_date=parse_date("2017-06"),
    first_posted=parse_date("2014-12-30"),
    sponsor="Arbor",
    locations=(Location(country="Japan"), Location(country="Chad"), Location(country="Japan")),
    sex="ALL",
    min_age=18.0,
    max_age=0.5,
    has_results=False,
)  # fmt: skip
BARE = Trial("NCT90000002")
ROW = {
    "nct_id": "NCT90000001",
    "title": 'Gicht: "Kolchizin", süß\nund 痛風',
    "status": "COMPLETED",
    "phases": ["PHASE2", "PHASE3"],
    "study_type": "INTERVENTIONAL",
    "conditions": ["Gout", "Flare, acute"],
    "interventions": ["Colchicine", "Placebo"],
    "enrollment": 312,
    "enrollment_type": "ACTUAL",
    "start_date": "2015-03-02",
    "completion_date": "2017-06",
    "sponsor": "Arbor",
    "countries": ["Japan", "Chad"],
    "sex": "ALL",
    "min_age": 18,
    "max_age": 0.5,
    "primary_outcomes": ["Pain [3 days]", "Urate"],
    "has_results": False,
    "link": "https://example.org/study/NCT90000001",
}


def as_text(value) -> str:
    if isinstance(value, list):
        return "; ".join(value)
    return {None: "", False: "false", True: "true"}.get(value, str(value))


def read_csv(path):
    with path.open(newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


def read_excel(path):
    sheet = openpyxl.load_workbook(path).active
    names, *rows = sheet.iter_rows(values_only=True)
    return sheet, [dict(zip(names, row, strict=True)) for row in rows]


def with_title(title: str, number: int = 3) -> Trial:
    return Trial(nct(number), title=title)


def test_jsonl(tmp_path):
    done = export_trials([FULL, BARE], tmp_path / "a.jsonl", link=LINK)
    assert (done.rows, done.format, done.cut) == (2, "jsonl", ())
    assert done.lines() == [f"2 trials in {tmp_path / 'a.jsonl'}"]
    lines = (tmp_path / "a.jsonl").read_text("utf8").splitlines()
    full, bare = map(json.loads, lines)
    assert full == ROW
    assert list(full) == list(TRIAL_COLUMNS)
    assert bare.pop("nct_id") == "NCT90000002"
    assert bare.pop("link").endswith("NCT90000002")
    assert all(value in (None, []) for value in bare.values())


def test_csv(tmp_path):
    export_trials([FULL, BARE], tmp_path / "a.csv", link=LINK)
    full, bare = read_csv(tmp_path / "a.csv")
    assert full == {name: as_text(value) for name, value in ROW.items()}
    assert {k: v for k, v in bare.items() if v} == {
        "nct_id": "NCT90000002",
        "link": "https://example.org/study/NCT90000002",
    }
    data = (tmp_path / "a.csv").read_bytes()
    assert data.startswith(b"nct_id,title,")
    assert data.count(b"\r\n") == 3  # RFC 4180; the line inside a title is \n
    assert b'"Gicht: ""Kolchizin"", ' in data


def test_csv_for_excel_begins_with_a_mark(tmp_path):
    export_trials([FULL], tmp_path / "a.csv", bom=True)
    data = (tmp_path / "a.csv").read_bytes()
    assert data.startswith(codecs.BOM_UTF8 + b"nct_id")
    export_trials([FULL], tmp_path / "a.jsonl", bom=True)
    assert (tmp_path / "a.jsonl").read_bytes().startswith(b"{")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_text_of_csv_is_a_formula(tmp_path, start):
    title = f"{start}cmd|' /C calc'!A0"
    export_trials([with_title(title)], tmp_path / "a.csv")
    assert read_csv(tmp_path / "a.csv")[0]["title"] == f"'{title}"


def test_numbers_are_no_formula(tmp_path):
    hit = Hit(FULL.nct_id, -0.25, 1, why={"title": -0.5}, read=lambda: FULL)
    export_hits([hit], tmp_path / "a.csv")
    row = read_csv(tmp_path / "a.csv")[0]
    assert (row["score"], row["cosine_title"]) == ("-0.25", "-0.5")


def test_excel(tmp_path):
    export_trials([FULL, BARE], tmp_path / "a.xlsx", link=LINK)
    sheet, (full, bare) = read_excel(tmp_path / "a.xlsx")
    dates = {"start_date": datetime(2015, 3, 2), "completion_date": "2017-06"}
    typed = {**ROW, **dates}
    assert full == {
        name: as_text(value) if isinstance(value, list) else value
        for name, value in typed.items()
    }
    assert full["has_results"] is False
    assert {k: v for k, v in bare.items() if v is not None} == {
        "nct_id": "NCT90000002",
        "link": "https://example.org/study/NCT90000002",
    }
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:S3"
    assert sheet["A1"].font.bold
    assert sheet["J2"].number_format == "yyyy-mm-dd"


def test_excel_takes_what_excel_refuses(tmp_path):
    titles = ["=1+1", "bell\x07 and \x00", "a" * 32_767, "b" * 32_768, "\ud800 half"]
    trials = [with_title(title, n) for n, title in enumerate(titles)]
    old = Trial(nct(9), start_date=parse_date("1899-12-31"))
    done = export_trials([*trials, old], tmp_path / "a.xlsx")
    sheet, rows = read_excel(tmp_path / "a.xlsx")
    assert sheet["B2"].data_type == "s"
    assert [row["title"] for row in rows] == [
        "=1+1",
        "bell and ",
        "a" * 32_767,
        "b" * 32_766 + "…",
        "? half",
        None,
    ]
    assert rows[-1]["start_date"] == "1899-12-31"
    assert done.cut == ((5, "title"),)
    assert done.lines()[1] == "Cut to 32767 characters, a full cell: title in row 5"


def test_more_rows_than_a_sheet_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "MOST_ROWS", 2)
    trials = [make_trial(n) for n in range(3)]
    export_trials(trials[:2], tmp_path / "a.xlsx")
    before = (tmp_path / "a.xlsx").read_bytes()
    with pytest.raises(T2VError, match=r"T010\] Cannot write .*/a.xlsx: .*2 rows; CSV"):
        export_trials(trials, tmp_path / "a.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.xlsx"]


def test_ris(tmp_path):
    export_trials([FULL, BARE], tmp_path / "a.ris", link=LINK)
    full, bare = rispy.loads((tmp_path / "a.ris").read_bytes().decode("utf8"))
    assert full == {
        "type_of_reference": "DBASE",
        "id": "NCT90000001",
        "accession_number": "NCT90000001",
        "title": 'Gicht: "Kolchizin", süß und 痛風',
        "authors": ["Arbor"],
        "year": "2014",
        "abstract": "First line. Second line.",
        "keywords": ["gout", "Flare, acute", "urate"],
        "notes": [
            "Status: Completed",
            "Phase: Phase 2/Phase 3",
            "Enrollment: 312",
            "Other ids: EUCTR2015-000001-11",
        ],
        "urls": ["https://example.org/study/NCT90000001"],
    }
    assert bare == {
        "type_of_reference": "DBASE",
        "id": "NCT90000002",
        "accession_number": "NCT90000002",
        "urls": ["https://example.org/study/NCT90000002"],
    }
    assert (tmp_path / "a.ris").read_bytes().startswith(b"TY  - DBASE\r\nID  - ")


def test_the_year_is_that_of_the_start_where_none_is_known(tmp_path):
    export_trials([Trial(nct(1), start_date=parse_date("2001"))], tmp_path / "a.ris")
    assert rispy.loads((tmp_path / "a.ris").read_text())[0]["year"] == "2001"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.records"])
def test_whole_records(tmp_path, name):
    export_trials([FULL, BARE], tmp_path / name)
    format = "jsonl" if name.endswith("records") else None
    assert list(read_trials(tmp_path / name, format=format)) == [FULL, BARE]


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_to_export(tmp_path, format):
    assert export_hits([], tmp_path / "out", format=format).rows == 0
    data = (tmp_path / "out").read_bytes()
    if format == "csv":
        assert data.decode().split(",")[0] == "rank"
    elif format == "xlsx":
        with (tmp_path / "out").open("rb") as file:
            assert openpyxl.load_workbook(file).active.max_row == 1
    else:
        assert data == b""


def test_hits(tmp_path):
    index = make_index(20)
    hits = index.search(nct(0), 5)
    export_hits(hits, tmp_path / "a.csv")
    rows = read_csv(tmp_path / "a.csv")
    assert [row["nct_id"] for row in rows] == [hit.nct_id for hit in hits]
    assert [row["rank"] for row in rows] == list("12345")
    assert float(rows[0]["score"]) == pytest.approx(hits[0].score, abs=1e-6)
    shown = {name for name in rows[0] if name.startswith("cosine_")}
    assert shown == {f"cosine_{label}" for hit in hits for label in hit.why}
    for label, cosine in hits[0].why.items():
        assert float(rows[0][f"cosine_{label}"]) == pytest.approx(cosine, abs=1e-6)
        assert f"{label} {cosine:.2f}" in rows[0]["reason"]
    assert list(rows[0])[:3] == ["rank", "score", "nct_id"]


def test_hits_with_reasons_in_ris_and_excel(tmp_path):
    hits = make_index(9).search(nct(0), 2)
    reasons = ["same condition", None]
    export_hits(hits, tmp_path / "a.ris", reasons=reasons)
    first, second = rispy.loads((tmp_path / "a.ris").read_text("utf8"))
    assert first["notes"][-2:] == ["Rank: 1", "Why: same condition"]
    assert second["notes"][-1] == "Rank: 2"
    export_hits(hits, tmp_path / "a.xlsx", reasons=reasons)
    _, rows = read_excel(tmp_path / "a.xlsx")
    assert [row["reason"] for row in rows] == reasons
    assert rows[0]["score"] == pytest.approx(hits[0].score, abs=1e-6)


def test_chosen_columns(tmp_path):
    export_trials([FULL], tmp_path / "a.csv", columns=["status", "nct_id", "status"])
    assert (tmp_path / "a.csv").read_text() == "status,nct_id\nCOMPLETED,NCT90000001\n"
    assert {"rank", "link", "cosine_condition"} < set(COLUMNS)


def test_by_default_the_link_is_that_of_the_registry(tmp_path):
    other = Trial("ISRCTN12345678")
    export_trials([FULL, other], tmp_path / "a.csv", columns=["nct_id", "link"])
    links = [row["link"] for row in read_csv(tmp_path / "a.csv")]
    assert links[0].endswith("/study/NCT90000001")
    assert links[1] == ""


def test_an_id_in_a_link_is_quoted(tmp_path):
    trial = Trial("CTRI/2015/01/000001")
    export_trials([trial], tmp_path / "a.csv", link=LINK, columns=["link"])
    assert read_csv(tmp_path / "a.csv") == [
        {"link": "https://example.org/study/CTRI%2F2015%2F01%2F000001"}
    ]


@pytest.mark.parametrize(
    ("name", "settings", "code"),
    [
        ("a.xls", {}, "T181"),
        ("a", {}, "T181"),
        ("a.csv", {"format": "CSV"}, "T181"),
        ("a.csv", {"columns": ["nct"]}, "T182"),
        ("a.csv", {"link": "https://example.org/"}, "T184"),
        ("no/a.csv", {}, "T010"),
        ("no/a.xlsx", {}, "T010"),
    ],
)
def test_what_cannot_be_exported(tmp_path, name, settings, code):
    with pytest.raises(T2VError) as caught:
        export_trials([FULL], tmp_path / name, **settings)
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "library"), [("a.xlsx", "openpyxl"), ("a.ris", "rispy")]
)
def test_a_missing_library_is_named(tmp_path, monkeypatch, name, library):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(T2VError, match=rf"T183.*{library}.*t2v_spacy\[export\]"):
        export_trials([FULL], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_failure_leaves_the_older_file(tmp_path, format):
    path = tmp_path / "out"
    path.write_text("old")

    def trials():
        yield FULL
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        export_trials(trials(), path, format=format)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", FORMATS)
def test_trials_are_read_as_they_are_written(tmp_path, format):
    alive, most = [], 0

    class Counted(Trial):
        def __del__(self):
            alive.pop()

    def trials():
        nonlocal most
        for number in range(300):
            alive.append(number)
            most = max(most, len(alive))
            yield Counted(nct(number))

    assert export_trials(trials(), tmp_path / "out", format=format).rows == 300
    assert most < 5


def test_endings_are_read_in_any_case(tmp_path):
    assert format_of(tmp_path / "A.CSV", None) == "csv"
    assert format_of(tmp_path / "A.jsonl.GZ", None) == "records"
    assert format_of(tmp_path / "A.CSV", "ris") == "ris"
