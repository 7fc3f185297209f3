from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from t2v_spacy import TrialIndex
from t2v_spacy.cli import main
from t2v_spacy.readers.write import write_trials
from tests.conftest import make_trials

SAMPLE = Path(__file__).parent.parent / "corpus" / "sample"


@pytest.fixture(scope="module")
def home(tiny_nlp, tmp_path_factory) -> Path:
    """A folder with a blank in its name: model, records and index."""
    folder = tmp_path_factory.mktemp("my trials")
    tiny_nlp.to_disk(folder / "model")
    write_trials(folder / "trials.jsonl", make_trials())
    code, _, err = run("index", folder / "trials.jsonl", folder / "index", "--model", folder / "model", "--shard-size", 1)  # fmt: skip
    assert code == 0, err
    return folder


def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `t2v` in its own process."""
    done = subprocess.run(
        [sys.executable, "-m", "t2v_spacy", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "160"},
    )
    return done.returncode, done.stdout, done.stderr


def refused(capsys, monkeypatch, *arguments: object) -> str:
    """The one line on stderr of a call that must fail with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["t2v", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert out == ""
    assert err.count("\n") == 1, err
    return err


def test_convert_reads_writes_and_reports(tmp_path):
    out, report = tmp_path / "out.jsonl.gz", tmp_path / "new" / "report.json"
    code, _, err = run("convert", SAMPLE, out, "--report", report)
    assert code == 0
    assert "240 read, 240 written, 0 refused" in err
    assert json.loads(report.read_text())["written"] == 240
    again = tmp_path / "again.jsonl.gz"
    assert run("convert", out, again)[0] == 0
    import gzip

    assert gzip.decompress(again.read_bytes()) == gzip.decompress(out.read_bytes())


def test_search_by_text_id_file_and_stdin(home):
    code, out, _ = run("search", home / "index", "gout", "--json", "-k", 2)
    assert code == 0
    hits = json.loads(out)
    assert [hit["rank"] for hit in hits] == [1, 2]
    assert set(hits[0]) >= {"nct_id", "score", "title", "why", "status", "phases"}

    _, out, _ = run("search", home / "index", " nct90000001 ", "--json")
    found = [hit["nct_id"] for hit in json.loads(out)]
    assert sorted(found) == ["NCT90000002", "NCT90000003", "NCT90000004"]

    draft = home / "my draft.txt"
    draft.write_text("Title\nColchicine for gout flares\n\nConditions\nGout\n")
    _, by_file, _ = run("search", home / "index", "--file", draft, "--json")
    _, by_stdin, _ = run(
        "search", home / "index", "-", "--json", stdin=draft.read_text()
    )
    assert json.loads(by_file) == json.loads(by_stdin)
    assert json.loads(by_file)[0]["why"]


def test_search_by_a_part_and_by_a_record_file(home):
    _, out, _ = run(
        "search", home / "index", "--file", home / "trials.jsonl", "--part", "condition", "--json"
    )  # fmt: skip
    hits = json.loads(out)
    assert "NCT90000001" not in [hit["nct_id"] for hit in hits]
    index = TrialIndex.from_disk(home / "index")
    condition = index.section_vectors("NCT90000001")["condition"]
    for hit in hits:
        cosine = float(condition @ index.vector(hit["nct_id"]))
        assert hit["score"] == pytest.approx(cosine, abs=1e-3)


def test_a_file_that_is_no_text_is_not_searched_with(
    home, tmp_path, capsys, monkeypatch
):
    for name, content, reason in [
        ("draft.pdf", b"%PDF-1.7 gout", "a PDF document"),
        ("draft.txt", b"<html><body>gout</body></html>", "an HTML page"),
    ]:
        (tmp_path / name).write_bytes(content)
        line = refused(capsys, monkeypatch, "search", home / "index", "--file", tmp_path / name)  # fmt: skip
        assert reason in line


def test_a_text_in_latin_1_is_read(home):
    command = [
        sys.executable,
        "-m",
        "t2v_spacy",
        "search",
        home / "index",
        "-",
        "--json",
    ]
    done = subprocess.run(command, input="Gicht und Müdigkeit".encode("latin1"), capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 4


def test_the_table_has_a_row_a_hit(home):
    _, out, _ = run("search", home / "index", "NCT90000001", "-k", 3)
    lines = out.rstrip("\n").split("\n")
    assert len(lines) == 5
    assert lines[0].split()[:3] == ["#", "Score", "Trial"]
    assert all("NCT9000000" in line for line in lines[2:])


def test_show_and_info(home):
    _, out, _ = run("show", "NCT90000001", "--index", home / "index")
    assert "Colchicine for gout flares" in out
    assert "Exclusion Criteria" in out
    _, out, _ = run("show", home / "trials.jsonl", "--json")
    assert len(json.loads(out)) == 4
    page = home / "page.html"
    assert run("show", "NCT90000001", "--index", home / "index", "--html", page)[0] == 0
    assert "Colchicine" in page.read_text(encoding="utf8")
    assert "Gout (exact)" in page.read_text(encoding="utf8")
    _, out, _ = run("info", home / "index", "--json")
    facts = json.loads(out)
    assert facts["n_items"] == 4
    assert facts["source"] == "trials.jsonl"


def test_bad_input_is_one_line_and_exit_code_2(home, tmp_path, capsys, monkeypatch):
    junk = tmp_path / "junk.bin"
    junk.write_bytes(bytes(range(256)) * 40)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a file").write_text("x")
    index, out = home / "index", tmp_path / "out.jsonl"
    trials = home / "trials.jsonl"
    for expected, *arguments in [
        ("T001", "convert", tmp_path / "no such", out),
        ("T002", "convert", tmp_path / "empty", out),
        ("T003", "convert", junk, out),
        ("T007", "convert", trials, out, "--format", "word"),
        ("T010", "convert", trials, tmp_path / "a file" / "out.jsonl"),
        ("T027", "index", trials, tmp_path / "i", "--model", "no_such_pipeline"),
        ("T001", "search", tmp_path / "no such", "gout"),
        ("T040", "search", tmp_path / "empty", "gout"),
        ("T043", "search", index, "NCT99999999"),
        ("T008", "search", index, "gout", "--part", "conditions"),
        ("T025", "search", index, "   "),
        ("T047", "search", index, "gout", "-k", "0"),
        ("T028", "search", index),
        ("T030", "search", index, "--file", tmp_path / "empty"),
        ("T025", "search", index, "???"),
        ("T031", "show", "NCT90000001"),
        ("T026", "search", index, "gout", "--against", "all"),
        ("T001", "search", index, "--file", tmp_path / "no such"),
        ("T043", "show", "NCT99999999", "--index", index),
        ("T001", "info", tmp_path / "no such"),
    ]:
        line = refused(capsys, monkeypatch, *arguments)
        assert line.startswith(f"[{expected}]"), (arguments, line)
    assert not out.exists()


def test_a_damaged_index_is_named(home, tmp_path, capsys, monkeypatch):
    import shutil

    index = shutil.copytree(home / "index", tmp_path / "index")
    vectors = index / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-8])
    line = refused(capsys, monkeypatch, "search", index, "gout")
    assert line.startswith("[T041]")
    assert "vectors.npy" in line


def test_more_results_than_trials_gives_all(home):
    _, out, _ = run("search", home / "index", "gout", "-k", 99, "--json")
    assert len(json.loads(out)) == 4


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_killed_index_run_goes_on(home, tmp_path, after):
    """kill -9 in the middle, then the same command: the same index."""
    code = (
        "import os, signal, sys\n"
        "import t2v_spacy.doc as doc\n"
        "import t2v_spacy.cli as cli\n"
        "real, left = doc.make_trial_doc, [int(sys.argv.pop(1))]\n"
        "def dying(nlp, trial):\n"
        "    left[0] -= 1\n"
        "    if left[0] < 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(nlp, trial)\n"
        "doc.make_trial_doc = dying\n"
        "cli.main()\n"
    )

    def index_and_die_after(n: int) -> int:
        command = ["index", home / "trials.jsonl", tmp_path / "index", "--model", home / "model", "--shard-size", 1]  # fmt: skip
        return subprocess.run([sys.executable, "-c", code, str(n), *map(str, command)]).returncode  # fmt: skip

    assert index_and_die_after(after) == -9
    assert not (tmp_path / "index").exists()
    # What was finished is not done again: the rest is all that is left to encode.
    assert index_and_die_after(len(make_trials()) - after) == 0
    whole = TrialIndex.from_disk(home / "index")
    again = TrialIndex.from_disk(tmp_path / "index")
    assert again.ids() == whole.ids()
    name = "vectors.npy"
    assert (again.path / name).read_bytes() == (whole.path / name).read_bytes()
