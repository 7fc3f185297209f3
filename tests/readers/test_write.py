"""Writing trials, and reading them back."""

from __future__ import annotations

import gzip

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.readers import ReadReport, read_trials
from t2v_spacy.readers.write import write_trials
from t2v_spacy.trial import Enrollment, Intervention, Trial
from t2v_spacy.values import PartialDate

TRIALS = [
    Trial(
        "NCT94000001",
        title="Café \u2265 2 cups",
        interventions=(Intervention("Tea", "OTHER", ("Chai",), ("A",)),),
        phases=frozenset(("PHASE2", "PHASE3")),
        start_date=PartialDate("2020", "year", True),
        enrollment=Enrollment(0, False),
        has_results=False,
        source="ctgov-xml",
    ),
    Trial("NCT94000002"),
]


@pytest.mark.parametrize("name", ["trials.jsonl", "my trials.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    report = ReadReport()
    path = tmp_path / name
    assert write_trials(path, iter(TRIALS), report) == report.written == 2
    again = list(read_trials(path))
    assert again == TRIALS
    assert again[0].source == "ctgov-xml"
    assert again[0].start_date.actual is True
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_compressed_by_name_and_without_a_time_inside(tmp_path):
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    write_trials(first, TRIALS)
    write_trials(second, TRIALS)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).count(b"\n") == 2


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "trials.jsonl"
    write_trials(path, TRIALS)
    before = path.read_bytes()

    def broken():
        yield TRIALS[1]
        raise RuntimeError("reader failed")

    report = ReadReport()
    with pytest.raises(RuntimeError, match="reader failed"):
        write_trials(path, broken(), report)
    assert path.read_bytes() == before
    assert report.written == 0
    assert [p.name for p in tmp_path.iterdir()] == ["trials.jsonl"]


def test_a_broken_character_stops_nothing(tmp_path):
    path = tmp_path / "trials.jsonl"
    write_trials(path, [Trial("NCT94000003", title="half \ud83d of a sign")])
    assert [trial.title for trial in read_trials(path)] == ["half \ufffd of a sign"]


@pytest.mark.parametrize("path", ["none/trials.jsonl", "file/trials.jsonl", "folder"])
def test_unwritable(tmp_path, path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(T2VError, match=r"\[T010\]") as caught:
        write_trials(tmp_path / path, TRIALS)
    assert str(tmp_path / path) in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]
