from __future__ import annotations

import json
from dataclasses import replace

import pytest
import srsly
import typer
from typer.testing import CliRunner

from t2v_spacy.cli_compare import compare, comparison_lines
from t2v_spacy.errors import T2VError
from t2v_spacy.search import compare as compare_module

from .search.reasons_toys import ONE, TWO, toy_kb
from .search.toys import make_index, nct

app = typer.Typer()
app.command()(compare)


@pytest.fixture(autouse=True)
def small_base(monkeypatch):
    """The toy base in the place of the built-in one, whose tables take a second."""
    explainer = compare_module.Explainer
    monkeypatch.setattr(
        compare_module, "Explainer", lambda first, **_: explainer(first, kb=toy_kb())
    )


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "index"
    make_index(12).to_disk(path)
    return path


def run(*args):
    result = CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(width):
    return list(comparison_lines(compare_module.compare([ONE, TWO]), width))


def test_columns():
    found = lines(110)
    assert "phase               Phase 3" in "\n".join(found)
    assert any("≠ Phase 2/Phase 3" in line for line in found)
    assert any(
        line.startswith("1.") and "18" in line and "≠ Aged 21" in line for line in found
    )
    assert all(len(line) <= 110 for line in found)


def test_one_below_the_other_where_it_is_narrow():
    found = lines(40)
    assert "  NCT90000002: ≠ Phase 2/Phase 3" in found
    assert all(len(line) <= 40 for line in found)


def test_records_cannot_move_the_cursor():
    evil = replace(TWO, title="gout \x1b[2J \u202e!")
    shown = "\n".join(comparison_lines(compare_module.compare([ONE, evil])))
    assert "\x1b" not in shown and "\u202e" not in shown


def test_trials_of_an_index(index):
    found = json.loads(run(nct(0), nct(6), nct(1), "--index", index, "--json"))
    assert [trial["nct_id"] for trial in found["trials"]] == [nct(0), nct(6), nct(1)]
    assert found["reasons"][0]["sections"]["condition"] == pytest.approx(1.0, abs=1e-3)
    assert found["reasons"][1]["sections"]["condition"] < 0.99


def test_a_record_and_a_draft_of_files(tmp_path):
    record, draft = tmp_path / "one.jsonl", tmp_path / "my draft.txt"
    srsly.write_jsonl(record, [ONE.to_dict()])
    draft.write_text("Colchicine for gout\n\nInclusion criteria:\n- Age 20 or older\n")
    found = json.loads(run(record, draft, "--json"))
    assert [trial["name"] for trial in found["trials"]] == [
        "NCT90000001",
        "my draft.txt",
    ]
    assert found["reasons"][0]["concepts"]
    assert found["reasons"][0]["sections"] == {}


def test_a_page(tmp_path, index):
    page = tmp_path / "a b" / "page.html"
    assert run(nct(0), nct(6), "--index", index, "--html", page) == ""
    assert page.read_text(encoding="utf8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", [nct(1), "nct90000001 "])
def test_an_id_needs_an_index(name, tmp_path):
    with pytest.raises(T2VError, match="T178"):
        run(name, name)


def test_an_unknown_id(index):
    with pytest.raises(T2VError, match="T043"):
        run(nct(0), "NCT99999999", "--index", index)


def test_files_that_cannot_be_compared(tmp_path):
    blank = tmp_path / "blank.txt"
    blank.write_text(" \n")
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(b"%PDF-1.4 \x00\x01")
    for path in (blank, pdf, tmp_path):
        with pytest.raises(T2VError, match="T179"):
            run(path, path)
    with pytest.raises(T2VError, match="T001"):
        run(tmp_path / "none.txt", blank)


def test_one_trial_is_not_enough(index):
    with pytest.raises(T2VError, match="T177"):
        run(nct(0), "--index", index)
