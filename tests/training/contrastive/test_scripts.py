from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.conftest import make_trials

from .toys import make_pairs, write_lines

ROOT = Path(__file__).parents[3]


def run(script: str, *arguments: object):
    app = typer.Typer()
    app.command()(runpy.run_path(str(ROOT / "scripts" / script))["main"])
    return CliRunner().invoke(app, list(map(str, arguments)))


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


@pytest.fixture
def records(tmp_path) -> Path:
    lines = [trial.to_dict() for trial in make_trials()]
    return write_lines(tmp_path / "my trials.jsonl", [*lines, {"title": "no id"}])


@pytest.fixture
def base(tmp_path) -> Path:
    concepts = [
        {"concept_id": "T:1", "canonical_name": "Gout", "aliases": ["Podagra"]},
        {"concept_id": "T:2", "canonical_name": "Scurvy", "aliases": ["Scorbutus"]},
    ]
    return write_lines(tmp_path / "kb.jsonl", concepts)


def test_pairs_are_prepared_mined_and_trained_on(
    tmp_path, records, base, tiny_backbone
):
    pytest.importorskip("sentence_transformers")
    pairs, mined, out = (tmp_path / name for name in ("pairs", "mined", "my out"))
    done = run("prepare_pairs.py", records, pairs, "--kb", base, "--held-out", 0)
    assert done.exit_code == 0, done.output
    assert "title_summary: 2 pairs, 0 repeats dropped" in done.stdout
    assert "alias_name: 2 pairs" in done.stdout
    assert (
        "name_definition: no pairs, no file: the base holds no definitions"
        in done.stderr
    )
    assert "Refused: " in done.stderr and "my trials.jsonl, line 5" in done.stderr
    assert rows(pairs / "alias_name.jsonl") == [
        {"anchor": "Podagra", "positive": "Gout", "groups": ["T:1"]},
        {"anchor": "Scorbutus", "positive": "Scurvy", "groups": ["T:2"]},
    ]
    done = run(
        "mine_negatives.py", pairs, mined, "--backbone", tiny_backbone, "--max-length",
        32, "--max-score", 1, "--margin", 0,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = {
        row["anchor"]: row.get("negative") for row in rows(mined / "alias_name.jsonl")
    }
    assert set(found.values()) <= {None, "Gout", "Scurvy"} and any(found.values())
    done = run(
        "train_contrastive.py", mined, out, "--backbone", tiny_backbone, "--epochs", 2,
        "--batch-size", 2, "--max-length", 32, "--precision", "float32",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "alias_name: loss" in done.stdout and str(out) in done.stdout
    assert "title_summary: 2 of 2 pairs" in done.stderr
    assert json.loads((out / "contrastive.json").read_text())["settings"]["epochs"] == 2


def test_trials_of_an_evaluation_are_left_out(tmp_path, records):
    labels = tmp_path / "labels.json"
    labels.write_text('[{"query": "NCT90000001", "candidates": []}]')
    done = run(
        "prepare_pairs.py",
        records,
        tmp_path / "pairs",
        "--without",
        labels,
        "--source",
        "title_summary",
    )
    assert done.exit_code == 0, done.output
    (row,) = rows(tmp_path / "pairs" / "title_summary.jsonl")
    assert row["anchor"] == "Allopurinol in chronic gout"
    assert [p.name for p in (tmp_path / "pairs").iterdir()] == ["title_summary.jsonl"]


def test_pairs_do_not_depend_on_the_run(tmp_path, records):
    written = []
    for name in ("one", "two"):
        run(
            "prepare_pairs.py",
            records,
            tmp_path / name,
            "--most-pairs",
            40,
            "--seed",
            5,
        )
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
    assert len(rows(tmp_path / "one" / "alias_name.jsonl")) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "nonsense"], "T197"),
        (["--most-pairs", "0"], "T026"),
        (["--kb", "nowhere.t2vkb"], "T001"),
        (["--without", "nowhere.json"], "T001"),
    ],
)
def test_wrong_arguments_of_prepare_are_named(tmp_path, records, arguments, message):
    done = run("prepare_pairs.py", records, tmp_path / "pairs", *arguments)
    assert done.exit_code == 1 and done.stderr.startswith(f"[{message}]")
    assert not (tmp_path / "pairs").exists()


def test_pairs_of_an_evaluation_are_refused_dropped_or_reported(
    tmp_path, tiny_backbone
):
    pytest.importorskip("sentence_transformers")
    pairs = [{"anchor": p.anchor, "positive": p.positive} for p in make_pairs(12)]
    path = write_lines(tmp_path / "mine.jsonl", pairs)
    secret = tmp_path / "secret.txt"
    secret.write_text("something else\nColchicine for gout 0\n")
    command = [
        path, tmp_path / "out", "--backbone", tiny_backbone, "--max-steps", 1,
        "--batch-size", 4, "--max-length", 32, "--evaluation", secret,
    ]  # fmt: skip
    done = run("train_contrastive.py", *command)
    assert done.exit_code == 1
    assert "[T194] 1 pairs" in done.stderr
    assert "mine line 1 equals secret.txt, line 2" in done.stderr
    for mode, number in (("drop", 11), ("report", 12)):
        done = run("train_contrastive.py", *command, "--overlap", mode)
        assert done.exit_code == 0, done.output
        assert f"{number} pairs" in done.stdout
        report = json.loads((tmp_path / "out" / "contrastive.json").read_text())
        assert report["overlap"]["overlapping"] == 1
        assert report["sources"][0]["pairs"] == number


def test_wrong_arguments_of_training_are_named(tmp_path):
    path = write_lines(tmp_path / "mine.jsonl", [{"anchor": "a"}])
    for arguments, message in (
        ([path, tmp_path / "out"], "T193"),
        ([path, tmp_path / "out", "--scale", 0], "T026"),
        ([tmp_path / "none.jsonl", tmp_path / "out"], "T001"),
        ([tmp_path / "out"], "T193"),
        ([tmp_path / "out", "--hub", "me/set"], "T195"),
    ):
        done = run("train_contrastive.py", *arguments)
        assert done.exit_code == 1 and message in done.stderr
    assert not (tmp_path / "out").exists()
