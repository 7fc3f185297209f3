"""Detection, archives, folders, encodings, and what happens to files that are none."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.readers import FORMATS, ReadReport, Source, read_trials
from t2v_spacy.readers import source as source_module
from t2v_spacy.readers.detect import detect, reader_for
from t2v_spacy.readers.source import iter_parts, open_file

XML = """<?xml version="1.0" encoding="UTF-8"?>
<clinical_study>
  <id_info><nct_id>{}</nct_id></id_info>
  <brief_title>Old form</brief_title>
</clinical_study>
"""
OTHERS = {
    "EU CTIS": '{"ctNumber": "2098-500009-10-00", "ctTitle": "Invented"}',
    "ISRCTN": '<allTrials xmlns="http://www.67bricks.com/isrctn"><fullTrial/></allTrials>',
    "the EU Clinical Trials Register": (
        "\n  EudraCT Number: 2098-000009-10\nSponsor Protocol Number: 1\n"
        "Full Title: Invented\n\nE.1.1 Condition: Gout\nE.2.1 Objective: Pain\n"
    ),
    "WHO ICTRP": "<?xml version='1.0'?>\n<Trials_downloaded_from_ICTRP><Trial/>",
    "ANZCTR": "<ANZCTR_Trial><actrnumber>ACTRN1</actrnumber></ANZCTR_Trial>",
    "DRKS": '{"drksId": "DRKS00000000"}',
    "ChiCTR": "Registration number,Public title\nChiCTR9900000001,Invented",
    "CTRI": "CTRI Number  CTRI/2099/01/000001 [Registered on: 01/01/2099]\nTitle",
    "jRCT": "jRCT ID,Title\njRCT9999999999,Invented",
}
DRAFT = """Protocol synopsis: tablet A in gout

EudraCT Number: 2098-000009-10
CTRI Number: CTRI/2099/01/000001
jRCT ID: jRCT9999999999
DRKS-ID: DRKS00000000
Registration number: ChiCTR9900000001
Sponsor Protocol Number: A-1

5.1 Inclusion criteria
Adults
"""


def study(number: int, title: str = "New form") -> dict[str, Any]:
    identity = {"nctId": f"NCT9500{number:04}", "briefTitle": title}
    return {"protocolSection": {"identificationModule": identity}}


def own(number: int) -> dict[str, Any]:
    return {"nct_id": f"NCT9500{number:04}", "title": "Own form"}


def ids(path: Path, report: ReadReport | None = None, **settings: Any) -> list[str]:
    return [trial.nct_id for trial in read_trials(path, report=report, **settings)]


def sources(path: Path) -> list[Source]:
    report = ReadReport()
    parts = [part for part in iter_parts(path, report) if not part.is_dir()]
    return [source for part in parts for source in open_file(part, report)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of several forms, some packed, and others that hold no record."""
    root = tmp_path / "my trials"
    (root / "deep" / "empty").mkdir(parents=True)
    (root / "1.json").write_text(json.dumps(study(1), indent=1))
    (root / "2.jsonl.gz").write_bytes(gzip.compress(json.dumps(own(2)).encode()))
    (root / "3.xml").write_text(XML.format("NCT95000003"))
    with zipfile.ZipFile(root / "4.zip", "w") as archive:
        archive.writestr("part/a.json", json.dumps(study(4)))
        archive.writestr("part/b.xml", XML.format("NCT95000005"))
        archive.writestr("part/c.jsonl.gz", gzip.compress(json.dumps(own(6)).encode()))
        archive.writestr("README.txt", "About these files")
    (root / "deep" / "7.json").write_text(json.dumps([study(7), study(8)]))
    (root / "README.txt").write_text("About these files")
    (root / "notes.md").write_text("# Notes")
    (root / ".hidden.json").write_text(json.dumps(study(9)))
    return root


def test_a_folder_of_all_kinds(folder):
    report = ReadReport()
    assert ids(folder, report) == [f"NCT9500000{i}" for i in range(1, 9)]
    assert report.refused == []
    skipped = {s.path.removeprefix(f"{folder}/"): s.reason for s in report.skipped}
    assert skipped == {
        ".hidden.json": "hidden",
        "4.zip/README.txt": "not a record file",
        "README.txt": "not a record file",
        "notes.md": "not a record file",
    }


def test_sources_are_named_by_file_and_member(folder):
    names = [source.name.removeprefix(f"{folder}/") for source in sources(folder)]
    assert names == [
        "1.json",
        "2.jsonl.gz",
        "3.xml",
        "4.zip/part/a.json",
        "4.zip/part/b.xml",
        "4.zip/part/c.jsonl.gz",
        "deep/7.json",
    ]


def test_sources_can_be_opened_later_and_again(folder):
    first, *_ = sources(folder / "4.zip")
    for _ in range(2):
        with first.open() as file:
            assert json.loads(file.read()) == study(4)


def test_the_name_of_a_file_does_not_matter(tmp_path):
    (tmp_path / "a.xml").write_text(json.dumps(study(1)))
    (tmp_path / "b.txt").write_bytes(gzip.compress(json.dumps(own(2)).encode()))
    (tmp_path / "c").write_text(XML.format("NCT95000003"))
    assert ids(tmp_path) == ["NCT95000001", "NCT95000002", "NCT95000003"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("layout", ["indented", "lines"])
def test_encodings(tmp_path, encoding, layout):
    title = "Café \u2013 5 \u00b5g"
    studies = [study(1, title), study(2, title)]
    if layout == "indented":
        text = json.dumps(studies, ensure_ascii=False, indent=1)
    else:
        text = "\r\n".join(json.dumps(s, ensure_ascii=False) for s in studies)
    path = tmp_path / "a.json"
    path.write_bytes(text.encode(encoding))
    assert [trial.title for trial in read_trials(path)] == [title, title]


def test_duplicates_are_all_read_and_counted(tmp_path):
    report = ReadReport()
    path = tmp_path / "a.json"
    path.write_text(json.dumps([study(1), study(2), study(1)]))
    assert ids(path, report) == ["NCT95000001", "NCT95000002", "NCT95000001"]
    assert report.duplicates == {"NCT95000001": 1}


def test_bad_files_do_not_stop_a_batch(tmp_path):
    whole = gzip.compress("\n".join(json.dumps(own(i)) for i in range(3000)).encode())
    files = {
        "a.json": b"",
        "b.json": b"<!DOCTYPE html><html><body>Too many requests</body></html>",
        "c.dat": b"\x00\x01\x02\x03",
        "d.json": b'{"Clinical Trial ID": "x", "Results": []}',
        "e.xml": b"<rss><item/></rss>",
        "f.txt": b"Just some words.",
        "g.jsonl.gz": whole[:-2000],
        "h.zip": b"PK\x03\x04 broken",
        "i.json": OTHERS["EU CTIS"].encode(),
        "z.json": json.dumps(study(9999)).encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    report = ReadReport()
    found = ids(tmp_path, report)
    assert found[-1] == "NCT95009999"
    assert 0 < len(found) < 3000
    reasons = {Path(r.path).name: r.reason for r in report.refused}
    assert list(reasons) == list(files)[:-1]
    assert reasons["a.json"] == "the file is empty"
    assert reasons["b.json"].startswith("an HTML page")
    assert reasons["c.dat"] == "binary data"
    assert "Clinical Trial ID, Results" in reasons["d.json"]
    assert "<rss>" in reasons["e.xml"]
    assert "'Just some words.'" in reasons["f.txt"]
    assert reasons["g.jsonl.gz"].startswith("damaged")
    assert reasons["h.zip"] == "File is not a zip file"
    assert "EU CTIS" in reasons["i.json"]
    cut = next(r for r in report.refused if r.path.endswith("g.jsonl.gz"))
    assert cut.where == f"after {len(found) - 1} records"


@pytest.mark.parametrize(("registry", "text"), OTHERS.items())
def test_another_registry_is_refused_by_name(tmp_path, registry, text):
    path = tmp_path / "records"
    path.write_text(text)
    with pytest.raises(T2VError, match=r"\[T004\]") as caught:
        ids(path)
    assert f"holds records of {registry}," in str(caught.value)
    (tmp_path / "z.json").write_text(json.dumps(study(1)))
    report = ReadReport()
    assert ids(tmp_path, report) == ["NCT95000001"]
    assert registry in report.refused[0].reason
    assert "Export the same trials" in report.refused[0].reason


@pytest.mark.parametrize("start", range(0, 6))
def test_a_draft_that_names_other_registries_is_plain_text(tmp_path, start):
    path = tmp_path / "draft.txt"
    lines = DRAFT.splitlines(keepends=True)[2:]
    path.write_text("".join(lines[start:5] + lines[:start] + lines[5:]))
    with pytest.raises(T2VError, match=r"\[T003\].*text that begins with"):
        ids(path)


def test_a_record_that_names_another_registry_is_read(tmp_path):
    record = study(1)
    record["protocolSection"]["identificationModule"]["secondaryIdInfos"] = [
        {"id": "2098-000009-10", "type": "EUDRACT_NUMBER", "domain": "ISRCTN"}
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record, indent=1))
    assert ids(path) == ["NCT95000001"]


@pytest.mark.parametrize(
    ("content", "code", "hint"),
    [
        (b"", "T002", "is empty"),
        (b" \n", "T002", "is empty"),
        (b"%PDF-1.7", "T003", "a PDF document"),
        (b"words", "T003", "text that begins with 'words'"),
        (b'{"a": 1}', "T003", "its first keys: a"),
        (json.dumps({"resultsSection": {"a": {"b": 1}}}).encode(), "T006", "no NCT id"),
    ],
)
def test_a_single_file_that_is_none_is_an_error(tmp_path, content, code, hint):
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(T2VError) as caught:
        ids(path)
    assert caught.value.code == code
    assert hint in str(caught.value)
    assert str(path) in str(caught.value)


def test_no_path_and_no_files(tmp_path):
    with pytest.raises(T2VError, match=r"\[T001\]"):
        read_trials(tmp_path / "missing")
    with pytest.raises(T2VError, match=r"\[T002\]"):
        ids(tmp_path)
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(T2VError, match=r"\[T006\].*no record files"):
        ids(tmp_path)


def test_links_that_lead_back_are_followed_once(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(study(1)))
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "nowhere")
    report = ReadReport()
    assert ids(tmp_path, report) == ["NCT95000001"]
    assert [skip.path for skip in report.skipped] == [
        str(tmp_path / "deep" / "up"),
        str(tmp_path / "self"),
    ]
    assert [refusal.path for refusal in report.refused] == [str(tmp_path / "nowhere")]


def test_a_folder_that_cannot_be_read_stops_no_batch(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b.json").write_text(json.dumps(study(1)))
    listed = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    report = ReadReport()
    assert ids(tmp_path, report) == ["NCT95000001"]
    (refusal,) = report.refused
    assert str(refusal) == f"{tmp_path / 'a'}, folder: Permission denied"


@pytest.mark.parametrize("name", ["a.json", "studies.txt"])
def test_what_unpacks_to_far_too_much_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(source_module, "_ALWAYS_ALLOWED", 1 << 20)
    head = {"a.json": b'{"nct_id": "x"', "studies.txt": b"nct_id|brief_title\n|"}[name]
    bomb = head + b" " * (1 << 22)
    (tmp_path / "0.gz").write_bytes(gzip.compress(bomb))
    with zipfile.ZipFile(tmp_path / "1.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, bomb)
        archive.writestr("z.json", json.dumps(study(1)))
    report = ReadReport()
    assert ids(tmp_path, report) == ["NCT95000001"]
    reasons = [refusal.reason for refusal in report.refused]
    assert len(reasons) == 2
    assert "it unpacks to more than 200 times its size" in reasons[1]


def test_large_members_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(source_module, "_ALWAYS_ALLOWED", 1 << 10)
    lines = b"".join(json.dumps(own(i)).encode() + b"\n" for i in range(5000))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert len(ids(path)) == 5000


def test_office_files_and_archives_in_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "book", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.write(tmp_path / "book", "inner.zip")
        archive.writestr("a.json", json.dumps(study(1)))
    report = ReadReport()
    assert ids(tmp_path, report) == ["NCT95000001"]
    assert [r.reason for r in report.refused] == [
        "an Office document; save it as CSV",
        "an archive in an archive; unpack it",
    ]


def test_a_format_can_be_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(own(1)))
    assert ids(path, format="jsonl") == ["NCT95000001"]
    with pytest.raises(T2VError, match=r"\[T007\].*ctgov-json-v2"):
        read_trials(path, format="excel")
    report = ReadReport()
    with pytest.raises(T2VError, match=r"\[T006\].*no NCT id"):
        ids(path, report, format="ctgov-json-v2")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_reader(name):
    reader = reader_for(name)
    assert reader.FORMAT in FORMATS
    assert callable(reader.sniff)
    assert callable(reader.read)
    assert not reader.sniff(b"Just some words.\nNothing else.", "a.txt")


def test_detection_tells_the_forms_apart(folder):
    found = {
        source.name.removeprefix(f"{folder}/"): detect(source).FORMAT
        for source in sources(folder)
    }
    assert found["1.json"] == "ctgov-json-v2"
    assert found["2.jsonl.gz"] == "jsonl"
    assert found["3.xml"] == "ctgov-xml"


def test_records_come_one_by_one(tmp_path):
    """The second file is not opened before it is its turn."""
    (tmp_path / "a.json").write_text(json.dumps(study(1)))
    (tmp_path / "b.json").write_text("x")
    report = ReadReport()
    trials: Iterator[Any] = read_trials(tmp_path, report=report)
    next(trials)
    (tmp_path / "b.json").write_text(json.dumps(study(2)))
    assert [trial.nct_id for trial in trials] == ["NCT95000002"]
    assert report.refused == []


@pytest.mark.parametrize(
    ("name", "registry"),
    [
        ("c13_ctis.json", "EU CTIS"),
        ("c13_euctr.txt", "the EU Clinical Trials Register"),
        ("c13_isrctn.xml", "ISRCTN"),
    ],
)
def test_case_other_registries(t2v_data, name, registry):
    with pytest.raises(T2VError, match=r"\[T004\]") as caught:
        ids(t2v_data / "cases" / name)
    assert registry in str(caught.value)


def test_case_web_page_saved_as_a_record(t2v_data):
    with pytest.raises(T2VError, match="HTML page"):
        ids(t2v_data / "cases" / "c11_not_xml.xml")


def test_all_real_forms_in_one_folder(t2v_data):
    report = ReadReport()
    folder = t2v_data / "data" / "raw"
    sources = {trial.source for trial in read_trials(folder, report=report)}
    assert sources == set(FORMATS) - {"jsonl"}
    assert not any("damaged" in refusal.reason for refusal in report.refused)
