from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("sklearn")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def app():
    script = runpy.run_path(str(ROOT / "scripts" / "evaluate_suite.py"))
    app = typer.Typer()
    app.command()(script["main"])
    return app


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "my data"
    folder.mkdir()
    rows = "".join(
        f"{i}\tgout {i}\tgout {i * j}\t{j}\n" for i, j in enumerate((4, 3, 1, 0))
    )
    (folder / "biosses.tsv").write_text("\tsentence1\tsentence2\tscore_mean\n" + rows)
    return folder


def test_the_table_the_files_and_the_last_line(app, data, tiny_backbone, tmp_path):
    (tmp_path / "card.csv").write_text("task,Card\nBIOSSES,0.9\n")
    out = tmp_path / "results" / "suite.json"
    command = [
        tiny_backbone, tiny_backbone, "--data", str(data), "--no-hub", "--precision", "float32",
        "--published", str(tmp_path / "card.csv"), "--out", str(out), "--out", str(out.with_suffix(".md")),
    ]  # fmt: skip
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 3, done.output
    name = Path(tiny_backbone).name
    lines = done.stdout.strip().splitlines()
    assert lines[0] == f"| task | metric | {name} | {name} 2 | Card (published) |"
    assert sum("no data" in line for line in lines) == 19 + 1
    assert lines[-1] == f"Of 20 tasks ran: 1 with {name}, 1 with {name} 2."
    assert f"{name}, BIOSSES: " in done.stderr
    found = json.loads(out.read_text())
    assert found["ran"] == {name: 1, f"{name} 2": 1}
    assert found["systems"][name]["max_length"] == 64
    (row,) = (r for r in found["systems"][name]["tasks"] if r["task"] == "BIOSSES")
    assert row["score"]["items"] == 4
    assert (row["source"], row["protocol"]) == ("biosses.tsv", "own")
    assert str(tmp_path) not in out.read_text()
    assert out.with_suffix(".md").read_text().splitlines()[0] == lines[0]
    assert len(list((out.parent / "suite_cache").glob("*.json"))) == 1


def test_all_that_was_asked_for_is_success(app, data, tiny_backbone):
    command = [tiny_backbone, "--data", str(data), "--no-hub", "--tasks", "BIOSSES"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "(1 asked for) ran: 1 with" in done.stdout


def test_a_model_that_is_not_there_does_not_stop_the_others(app, data, tiny_backbone):
    command = [
        "no/where",
        tiny_backbone,
        "--data",
        str(data),
        "--no-hub",
        "--tasks",
        "BIOSSES",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "[T110]" in done.stderr
    assert "ran: 1 with" in done.stdout


@pytest.mark.parametrize(
    "option", [["--tasks", "MedMCQA"], ["--published", "none.csv"]]
)
def test_what_cannot_be_done_is_said_before_any_model_is_loaded(app, option):
    done = CliRunner().invoke(app, ["no/where", "--no-hub", *option])
    assert done.exit_code == 1
    assert done.stderr.startswith(("[T200]", "[T001]"))
