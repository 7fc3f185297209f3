"""`t2v kb`: build, show, info."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from t2v_spacy.cli_kb import app
from t2v_spacy.errors import T2VError
from t2v_spacy.kb import KnowledgeBase

TOY = [
    {"concept_id": "A:1", "canonical_name": "Arthritis", "types": ["T047"]},
    {"concept_id": "A:2", "canonical_name": "Gout", "parents": ["A:1", "A:9"]},
    {"concept_id": "A:3", "canonical_name": "Pseudogout", "parents": ["A:1"]},
]


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.jsonl"
    path.write_text("\n".join(map(json.dumps, TOY)), encoding="utf8")
    return path


def run(*arguments) -> str:
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_build_show_info(toy, tmp_path):
    out = tmp_path / "toy.t2vkb"
    said = run("build", "--jsonl", toy, "--out", out)
    assert "3 concepts" in said and "1 parents that are not in the base" in said
    assert len(KnowledgeBase.open(out)) == 3
    shown = run("show", "gout", "--kb", out)
    assert "A:2  Gout" in shown
    assert "parents: Arthritis (A:1)" in shown
    assert "siblings: Pseudogout (A:3)" in shown
    assert run("show", "A:2", "--kb", out) == shown
    (record,) = json.loads(run("show", "gouts", "--kb", out, "--json"))
    assert record["concept_id"] == "A:2"
    assert json.loads(run("info", "--kb", out, "--json"))["concepts"] == 3


def test_the_builtin_base_states_its_sources():
    said = run("info")
    assert "National Library of Medicine" in said and "CC BY 4.0" in said
    assert "MESH:D006073" in run("show", "gout")


def test_build_from_mesh_and_umls(tmp_path):
    mesh = tmp_path / "d2031.bin"
    mesh.write_text("*NEWRECORD\nMH = Gout\nMN = C05.550\nUI = D900001\n")
    run("build", "--mesh", mesh, "--out", tmp_path / "a")
    assert KnowledgeBase.open(tmp_path / "a").lookup("gout") == ("MESH:D900001",)
    meta = tmp_path / "META"
    meta.mkdir()
    row = "C9000001|ENG|P|L1|PF|S1|Y|A1||||NCI|PT|1|Gout|0|N||\n"
    (meta / "MRCONSO.RRF").write_text(row)
    (meta / "MRSTY.RRF").write_text("C9000001|T047||||\nC9000001|T190||||\n")
    with pytest.raises(T2VError, match="columns"):
        run("build", "--umls", meta, "--out", tmp_path / "b")
    assert not (tmp_path / "b").exists()
    (meta / "MRSTY.RRF").write_text("C9000001|T047|||||\n")
    filters = ["--source", "NCI", "--category", "0", "--type", "T047"]
    run("build", "--umls", meta, "--out", tmp_path / "b", *filters)
    assert KnowledgeBase.open(tmp_path / "b").lookup("gout") == ("C9000001",)


def test_what_is_wrong_is_said(toy, tmp_path):
    with pytest.raises(T2VError, match="give one of"):
        run("build", "--out", tmp_path / "x")
    with pytest.raises(T2VError, match="'flu'"):
        run("show", "flu", "--kb", toy)
    assert not (tmp_path / "x").exists()
