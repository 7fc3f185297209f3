from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import spacy
import typer
from typer.testing import CliRunner

from t2v_spacy.training.corpus import is_prepared, trial_corpus

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app():
    script = runpy.run_path(str(ROOT / "scripts" / "prepare_corpus.py"))
    app = typer.Typer()
    app.command()(script["main"])
    return app


def rows(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_the_sample_becomes_two_files_of_different_trials(app, tmp_path):
    train, dev = tmp_path / "my train.jsonl", tmp_path / "dev.jsonl"
    command = [
        str(ROOT / "corpus" / "sample"), str(train), str(dev), "--dev-share", "0.2",
        "--max-words", "30", "--require", "condition, inclusion",
    ]  # fmt: skip
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    parts = [rows(path) for path in (train, dev)]
    counts = f"{len(parts[0])} train, {len(parts[1])} dev, "
    assert done.stdout.startswith(counts)
    assert "0 refused" in done.stdout
    assert len(parts[0]) > 2 * len(parts[1]) > 20
    names = [{row["nct_id"] for row in part} for part in parts]
    assert not names[0] & names[1]
    trials = [*parts[0], *parts[1]]
    assert len(names[0] | names[1]) == len(trials)
    assert all({"condition", "inclusion"} <= set(row["sections"]) for row in trials)
    assert max(len(t.split()) for row in trials for t in row["sections"].values()) == 30
    linked = [row for row in trials if any(m[1] == "condition" for m in row["mentions"])]  # fmt: skip
    assert len(linked) > 0.8 * len(trials)
    assert is_prepared(train)
    examples = list(trial_corpus(dev)(spacy.blank("en")))
    assert len(examples) == len(parts[1])


def test_a_part_without_trials_leaves_no_file(app, tmp_path):
    source = tmp_path / "records.jsonl"
    lines = [
        json.dumps({"nct_id": "NCT90000701", "title": "Gout", "conditions": ["Gout"]}),
        json.dumps({"nct_id": "NCT90000702", "title": "Asthma alone"}),
        "{broken",
    ]
    source.write_text("\n".join(lines))
    train, dev = tmp_path / "train.jsonl", tmp_path / "dev.jsonl"
    done = CliRunner().invoke(app, [str(source), str(train), str(dev), "--dev-share", "0"])  # fmt: skip
    assert done.exit_code == 1
    assert "1 train, 0 dev, 1 passed over, 1 refused" in done.stdout
    assert "A part is empty" in done.stdout
    assert "line 3" in done.stderr
    assert not train.exists()
    assert not dev.exists()
