from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
import typer

from t2v_spacy.cli import main
from t2v_spacy.cli_bulk import Kind, duplicates, export, neighbors, read_ids
from t2v_spacy.errors import T2VError
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.search.duplicates import KINDS
from t2v_spacy.trial import Enrollment, Intervention, Trial
from t2v_spacy.values import parse_date

from .search.toys import make_index, nct


@pytest.fixture
def t2v(capsys, monkeypatch):
    """Run the program: t2v("export", …) -> (exit code, stdout, stderr)."""
    app = typer.Typer(pretty_exceptions_enable=False)
    for command in (neighbors, duplicates, export):
        app.command()(command)
    monkeypatch.setattr("t2v_spacy.cli.app", app)

    def run(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["t2v", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), *capsys.readouterr()

    return run


def twins() -> list[Trial]:
    same = {
        "conditions": ("Gout",),
        "interventions": (Intervention("Colzumab"),),
        "sponsor": "Arbor",
        "enrollment": Enrollment(31, True),
        "start_date": parse_date("2015-03"),
        "completion_date": parse_date("2016-03"),
        "brief_summary": "Whether colzumab helps in gout.",
    }
    days = [parse_date(f"201{number}-01-01") for number in range(4)]
    titles = ["=Colzumab for Gout\nFlares"] * 3 + ["Colzumab for Gout Flares II"]
    return [
        Trial(nct(n), title=title, first_posted=day, phases=frozenset(("PHASE2",)), **same)
        for n, (title, day) in enumerate(zip(titles, days, strict=True))
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    trials = [Trial(nct(9)), *twins()]
    entries = [
        IndexEntry(trial, np.array((1, number), np.float32))
        for number, trial in enumerate(trials)
    ]
    path = tmp_path / "index"
    TrialIndex.build(entries).to_disk(path)
    return path


def test_neighbors(t2v, folder, tmp_path):
    out = tmp_path / "out.jsonl"
    code, shown, err = t2v("neighbors", folder, out, "-k", 2, "--batch", 2)
    assert (code, shown) == (0, "")
    assert err == f"Neighbours of 5 trials in {out}\n"
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["nct_id"] for row in rows] == TrialIndex.from_disk(folder).ids()
    assert all(len(row["neighbors"]) == 2 for row in rows)
    code, _, err = t2v("neighbors", folder, out, "--phase", "2", "--format", "csv")
    assert err.startswith("1 trial left out because its phase is unknown\n")
    with out.open(newline="") as file:
        found = [row["neighbor"] for row in csv.DictReader(file)]
    assert nct(9) not in found
    assert len(found) == 4 + 4 * 3


def test_neighbors_of_some(t2v, folder, tmp_path):
    (tmp_path / "ids.csv").write_text(f'nct_id,note\n"{nct(2).lower()}",1\n')
    out = tmp_path / "out.csv"
    code, _, err = t2v("neighbors", folder, out, "-k", 1, "--ids", tmp_path / "ids.csv")
    assert (code, err) == (0, f"Neighbours of 1 trials in {out}\n")
    assert out.read_text().splitlines()[1].startswith(f"{nct(2)},1,")


def test_duplicates(t2v, folder, tmp_path):
    code, shown, err = t2v("duplicates", folder)
    assert code == 0
    assert err.splitlines() == [
        "3 duplicate, 3 sister",
        f"One study: {nct(0)}, {nct(1)}, {nct(2)}",
    ]
    lines = shown.splitlines()
    assert lines[0].split()[:4] == ["First", "Second", "Kind", "Score"]
    assert len(lines) == 2 + 6
    code, shown, _ = t2v("duplicates", folder, "--format", "jsonl", "--kind", "sister")
    rows = [json.loads(line) for line in shown.splitlines()]
    assert [row["second"] for row in rows] == [nct(3)] * 3
    assert rows[0]["titles"][0] == "=Colzumab for Gout\nFlares"


def test_duplicates_as_a_file(t2v, folder, tmp_path):
    out = tmp_path / "pairs.csv"
    code, shown, _ = t2v("duplicates", folder, "--format", "csv", "--out", out)
    assert (code, shown) == (0, "")
    with out.open(newline="", encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert rows[0]["kind"] == "duplicate"
    assert rows[0]["first_title"] == "'=Colzumab for Gout\nFlares"
    assert rows[0]["why"].startswith("title, facts and text agree; same title")
    code, _, err = t2v("duplicates", folder, "--out", tmp_path / "no" / "a.csv")
    assert code == 2
    assert err.startswith("[T010]")


def test_no_duplicates(t2v, tmp_path):
    make_index(3).to_disk(tmp_path / "index")
    assert t2v("duplicates", tmp_path / "index") == (0, "", "No pair was found.\n")
    assert [kind.value for kind in Kind] == list(KINDS)


def test_export(t2v, folder, tmp_path):
    out = tmp_path / "out.csv"
    options = ("--phase", "2", "--link", "https://example.org/{nct_id}")
    code, shown, err = t2v("export", folder, out, *options)
    assert (code, shown) == (0, "")
    assert err.splitlines() == [
        "1 trial left out because its phase is unknown",
        f"4 trials in {out}",
    ]
    with out.open(newline="", encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    assert [row["nct_id"] for row in rows] == [nct(n) for n in range(4)]
    assert rows[0]["link"] == f"https://example.org/{nct(0)}"


def test_export_of_some(t2v, folder, tmp_path):
    ids, out = tmp_path / "ids.txt", tmp_path / "out.jsonl"
    ids.write_text(f"{nct(3)}\n{nct(77)}\n{nct(9)}\n{nct(0)}\n{nct(3)}\n")
    options = ("--ids", ids, "--phase", "2", "--column", "nct_id")
    code, _, err = t2v("export", folder, out, *options)
    assert code == 0
    assert f"Not in the index: {nct(77)}\n" in err
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert found == [{"nct_id": nct(3)}, {"nct_id": nct(0)}]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("out.doc",), "T181"),
        (("out.csv", "--column", "colour"), "T182"),
        (("out.csv", "--link", "here"), "T184"),
        (("out.csv", "--phase", "9"), "T160"),
        (("out.csv", "--ids", "none.txt"), "T001"),
    ],
)
def test_what_export_refuses(t2v, folder, tmp_path, monkeypatch, options, code):
    monkeypatch.chdir(tmp_path)
    status, shown, err = t2v("export", folder, *options)
    assert (status, shown) == (2, "")
    assert err.startswith(f"[{code}]")
    assert err.count("\n") == 1


def test_a_file_that_names_no_trial(tmp_path):
    index, path = make_index(3), tmp_path / "ids.txt"
    path.write_text("\ufeffid\n", "utf8")
    with pytest.raises(T2VError, match="T189.*no line has one"):
        read_ids(index, path)
    path.write_text("NCT1\nNCT2\n")
    with pytest.raises(T2VError, match="T189.*none of 2 is in it"):
        read_ids(index, path)
    path.write_text(f"\ufeff {nct(1)};x\r\n\r\n", "utf8")
    assert read_ids(index, path) == [nct(1)]


def test_importing_the_commands_is_light():
    import subprocess

    code = "import sys, t2v_spacy.cli_bulk; print('torch' in sys.modules, 'openpyxl' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "False False\n"
