from __future__ import annotations

import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from t2v_spacy.cli_update import add, remove, update
from t2v_spacy.errors import T2VError
from t2v_spacy.readers.write import write_trials
from t2v_spacy.search import TrialIndex, build_index
from t2v_spacy.trial import Trial
from tests.conftest import make_trials

app = typer.Typer()
for command in (add, remove, update):
    app.command()(command)
FIRST, SECOND, THIRD, FOURTH = (trial.nct_id for trial in make_trials())
MORE = Trial("NCT90000005", title="Febuxostat for gout")


@pytest.fixture(scope="module")
def home(tiny_nlp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("my trials")
    tiny_nlp.to_disk(folder / "model")
    facts = {"source": "first.jsonl", "pipeline": str(folder / "model")}
    build_index(tiny_nlp, make_trials(), folder / "original", meta=facts)
    return folder


@pytest.fixture
def index(home, tmp_path):
    TrialIndex.from_disk(home / "original").to_disk(tmp_path / "an index")
    return tmp_path / "an index"


def run(*arguments: object):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def ids(index) -> list[str]:
    return TrialIndex.from_disk(index).ids()


def test_add(index, tmp_path):
    newer = replace(make_trials()[1], status="COMPLETED")
    write_trials(tmp_path / "more.jsonl", [MORE, newer])
    done = run("add", index, tmp_path / "more.jsonl")
    assert done.stdout == ""
    assert "2 read, 2 written, 0 refused" in done.stderr
    expected = f"1 new, 1 changed in fields that are not encoded; 5 trials in {index}"
    assert expected in done.stderr
    opened = TrialIndex.from_disk(index)
    assert opened[SECOND].status == "COMPLETED"
    assert MORE.nct_id in opened
    assert opened.meta["source"] == "first.jsonl"
    assert opened.meta["fingerprint"]


def test_update(index, tmp_path):
    first, _, third, fourth = make_trials()
    third = replace(third, title="Singing for asthma")
    write_trials(tmp_path / "june.jsonl", [first, third, fourth, MORE])
    arguments = ("update", index, tmp_path / "june.jsonl", "--json")
    counts = {"new": 1, "changed": 1, "record_only": 0, "unchanged": 2, "older": 0}
    counts |= {"removed": 1, "left_out": 0, "saved": "changes"}
    done = run(*arguments, "--remove-missing", "--rebuild-above", 1)
    assert json.loads(done.stdout) == counts
    assert ids(index) == [FIRST, FOURTH, THIRD, MORE.nct_id]
    info = TrialIndex.from_disk(index).info()
    assert (info["added"], info["removed"]) == (2, 2)
    assert info["source"] == "june.jsonl"
    done = run(*arguments, "--rebuild")
    assert json.loads(done.stdout)["saved"] == "rebuilt"
    info = TrialIndex.from_disk(index).info()
    assert (info["added"], info["removed"]) == (0, 0)
    assert ids(index) == [FIRST, FOURTH, THIRD, MORE.nct_id]
    assert json.loads(run(*arguments, "--rebuild").stdout)["saved"] == "nothing"


def test_update_does_not_remove_too_much(index, tmp_path):
    write_trials(tmp_path / "part.jsonl", [MORE])
    arguments = ("update", index, tmp_path / "part.jsonl", "--remove-missing")
    with pytest.raises(T2VError, match="T166.*--max-missing"):
        run(*arguments)
    assert len(ids(index)) == 4
    run(*arguments, "--max-missing", 1)
    assert ids(index) == [MORE.nct_id]


def test_records_that_cannot_be_read_are_not_missing(index, tmp_path):
    lines = [json.dumps(trial.to_dict()) for trial in make_trials()]
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*lines[:3], "{broken"]))
    with pytest.warns(UserWarning, match="T166.*1 records could not be read"):
        done = run("update", index, path, "--remove-missing")
    assert "Refused:" in done.stderr
    assert len(ids(index)) == 4


def test_remove(index, tmp_path):
    done = run("remove", index, f" {SECOND.lower()}", "--rebuild-above", 1)
    assert f"1 removed; 3 trials in {index}" in done.stderr
    listed = tmp_path / "withdrawn.txt"
    listed.write_text(f"\ufeff# withdrawn\n{SECOND}\n\n{FIRST}  # twice\n{FIRST}\n")
    done = run("remove", index, "--file", listed, "--json")
    assert f"[T167] Not in the index {index}, so not removed: {SECOND}." in done.stderr
    assert json.loads(done.stdout) == {"removed": 1, "absent": 1, "saved": "rebuilt"}
    assert ids(index) == [THIRD, FOURTH]
    assert run("remove", index, THIRD, "--rebuild", "--json").exit_code == 0
    assert TrialIndex.from_disk(index).info()["removed"] == 0


def test_nothing_to_remove(index, tmp_path):
    with pytest.raises(T2VError, match=r"T167.*NCT1, NCT2\."):
        run("remove", index, "NCT1", "NCT2")
    with pytest.raises(T2VError, match="T026.*ids"):
        run("remove", index)
    (tmp_path / "empty.txt").write_text("# none\n")
    with pytest.raises(T2VError, match="T026"):
        run("remove", index, "--file", tmp_path / "empty.txt")
    with pytest.raises(T2VError, match="T001"):
        run("remove", index, "--file", tmp_path / "nowhere.txt")
    (tmp_path / "image.txt").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(T2VError, match="T006.*UTF-8"):
        run("remove", index, "--file", tmp_path / "image.txt")
    assert len(ids(index)) == 4


def test_no_index(tmp_path):
    write_trials(tmp_path / "more.jsonl", [MORE])
    for command in ("add", "update"):
        with pytest.raises(T2VError, match="T001"):
            run(command, tmp_path / "nowhere", tmp_path / "more.jsonl")
