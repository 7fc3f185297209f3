"""The command that evaluates, and the step of the project that runs it on the sample."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path

import pytest
import srsly
import typer
from typer.testing import CliRunner

from t2v_spacy.evaluation.termination.records import read_records

ROOT = Path(__file__).parents[3]


@pytest.fixture
def command(monkeypatch):
    """Runs the script with a study that gives this row; the result of the call."""
    path = ROOT / "scripts" / "evaluate_termination.py"
    spec = importlib.util.spec_from_file_location("evaluate_termination", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    app = typer.Typer()
    app.command()(script.main)

    def run(**row):
        tables = [{"rows": [{"system": "Majority", **row}]}]
        result = {"tables": tables}
        monkeypatch.setattr(script, "run_study", lambda *args, **more: result)
        return CliRunner().invoke(app, ["records", "out", "--encoder", "pipeline"])

    return run


@pytest.mark.parametrize(("code", "status"), [(None, 0), ("T155", 0), ("T110", 1)])
def test_only_a_row_that_could_have_been_made_fails_the_command(command, code, status):
    done = command(failed=code and f"[{code}] no", code=code)
    assert done.exit_code == status, done.output
    assert ("Majority failed" in done.stderr) == (code is not None)


def test_the_sample_has_trials_to_learn_from_before_the_cut_off_of_the_project():
    given = srsly.read_yaml(ROOT / "project.yml")
    cutoff = given["vars"]["cutoff"]
    assert date.fromisoformat(cutoff)
    (step,) = (c for c in given["commands"] if c["name"] == "evaluate-termination")
    assert "${vars.cutoff}" in step["script"][0]
    records = read_records(ROOT / "corpus" / "sample")
    for which in ("complete", "all"):
        for split in ("random", "date"):
            parts = records.parts(which, split, seed=0, cutoff=cutoff)
            for part in (parts.train, parts.dev, parts.test):
                assert set(records.terminated[part].tolist()) == {True, False}
