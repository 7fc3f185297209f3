"""From settings to the report."""

from __future__ import annotations

import importlib.util
import json

import pytest
import typer
from typer.testing import CliRunner

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.experiments import run_experiments, write_report
from t2v_spacy.evaluation.experiments.case_study import CaseJob
from t2v_spacy.evaluation.experiments.inputs import Inputs

from .conftest import ROOT

ALL = {
    "partial": {
        "benchmarks": ["toy"],
        "systems": ["BM25", "Counting"],
        "parts": ["title", "title + condition"],
    },
    "widths": {"benchmarks": ["toy"], "systems": ["Counting"], "against": ["BM25"]},
    "map": {"records": "toy", "system": "Counting", "groups": 3, "repeats": 2},
    "cases": {"benchmark": "toy", "systems": ["BM25", "Counting"], "k": 2, "drawn": 2},
}


def test_all_experiments_and_their_report(make_settings, counting, tmp_path, sample):
    out = tmp_path / "my results"
    settings = make_settings(
        **ALL, benchmarks={"toy": {"labelled_by": "by a | toy", "seen": "All of it."}}
    )
    assert run_experiments(settings, out, out) == []
    report = (out / "report.md").read_text("utf8")
    for part in (
        *(
            "Complete retrieval",
            "Partial retrieval",
            "Widths",
            "Map of trials",
            "Case study",
        ),
        *(
            "seed 0, 50 rounds",
            "Machine: ",
            "t2v_spacy 0.",
            "sha256",
            "## Limits",
            "toy: 3 queries.",
        ),
        *(
            r"by a \| toy",
            "All of it.",
            "against BM25 (p)",
            "3 queries complete",
            "| Counting |",
        ),
    ):
        assert part in report, part
    assert str(sample) not in report
    for name in ("complete_1", "partial_1", "widths_1", "map"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 1000
        assert f"(figures/{name}." in report
    assert (out / "figures/map.html").is_file()
    for name in ("complete", "partial", "widths", "map", "cases"):
        data = json.loads((out / f"{name}.json").read_text("utf8"))
        assert {"seed", "rounds", "made", "corpora"} <= set(data)
        assert data["made"].keys() == {"date", "machine", "versions"}
        assert str(sample) not in str(data)

    done = len(counting.ranked)
    run_experiments(
        make_settings(
            **ALL,
            benchmarks={"toy": {"labelled_by": "by a | toy", "seen": "All of it."}},
        ),
        out,
        out,
    )
    assert len(counting.ranked) == done
    assert len(counting.learned) == 1


def test_the_report_can_be_made_again_from_results_alone(
    make_settings, counting, tmp_path
):
    run_experiments(make_settings(), tmp_path / "out", tmp_path / "out")
    write_report(tmp_path / "out", tmp_path / "docs")
    assert (tmp_path / "docs/report.md").read_text("utf8") == (
        tmp_path / "out/report.md"
    ).read_text("utf8")
    with pytest.raises(T2VError, match="T144"):
        write_report(tmp_path / "none", tmp_path / "docs")


def test_results_of_other_settings_leave_the_report(make_settings, counting, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/package.json").write_text("{}")
    run_experiments(make_settings(**ALL), tmp_path / "out", tmp_path / "out")
    run_experiments(make_settings(), tmp_path / "out", tmp_path / "out")
    assert "Case study" not in (tmp_path / "out/report.md").read_text("utf8")
    assert (tmp_path / "out/package.json").exists()


def test_what_failed_is_in_the_report_and_given_back(make_settings, counting, tmp_path):
    broken = {"system": "monot5", "settings": {"checkpoint": str(tmp_path / "none")}}
    systems = {"T5": broken, "Maybe": broken | {"optional": True}}
    complete = {"systems": ["BM25", "T5", "Maybe"]}
    settings = make_settings(
        systems=systems, complete=complete, map={"records": "toy", "system": "BM25"}
    )
    failed = run_experiments(settings, tmp_path / "out", tmp_path / "out")
    assert sorted(row["system"] for row in failed) == ["BM25", "T5"]
    report = (tmp_path / "out/report.md").read_text("utf8")
    assert report.count("was not run") == 3
    assert "T142" in report.replace("\\", "")


def test_cases_show_titles_grades_and_shared_concepts(make_settings, counting):
    given = {
        "benchmark": "toy",
        "systems": ["Counting"],
        "queries": ["nct91110001 "],
        "k": 6,
    }
    found = CaseJob("Counting").run(counting(), Inputs(make_settings(cases=given)))
    (case,) = found["cases"]
    assert case["query"] == "NCT91110001"
    assert len(case["hits"]) == 6
    assert [hit["grade"] for hit in case["hits"]] == [2, 1, 1, 1, 1, 0]
    assert "Breast Neoplasms" in case["hits"][0]["shared"]
    other = make_settings(cases=given | {"queries": ["NCT1"]})
    with pytest.raises(T2VError, match="T143.*NCT1"):
        CaseJob("Counting").run(counting(), Inputs(other))


def test_labels_of_the_sample_follow_from_its_design():
    """Six trials an area; the second is like the first, the next area is not."""
    ids = sorted(
        json.loads(line)["nct_id"]
        for path in (ROOT / "corpus/sample").glob("*.jsonl")
        for line in path.read_text("utf8").splitlines()
    )
    areas = [ids[i : i + 6] for i in range(0, len(ids), 6)]
    assert len(areas) == 40 and all(len({i[:7] for i in area}) == 1 for area in areas)
    expected = [
        {
            "query": area[0],
            "candidates": area[1:] + areas[(n + 1) % 40],
            "grades": [2] + [1] * 4 + [0] * 6,
        }
        for n, area in enumerate(areas)
    ]
    assert (
        json.loads((ROOT / "corpus/sample_labels.json").read_text("utf8")) == expected
    )


@pytest.fixture
def script():
    path = ROOT / "scripts/run_experiments.py"
    spec = importlib.util.spec_from_file_location("run_experiments", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app = typer.Typer()
    app.command()(module.main)
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


def test_the_script_runs_and_says_what_failed(script, make_settings, tmp_path, sample):
    make_settings(complete={"systems": ["BM25"], "against": []})
    words = (
        "--settings",
        sample / "settings.json",
        "--out",
        tmp_path / "out",
        "--quick",
    )
    done = script(*words)
    assert done.exit_code == 0 and "report.md" in done.output
    make_settings(systems={"BM25": {"settings": {"b": 2}}})
    done = script(*words, "--report", tmp_path / "docs")
    assert done.exit_code == 1 and "BM25 failed: [T026]" in done.output
    assert (tmp_path / "docs/report.md").is_file()
    done = script("--settings", tmp_path / "none.yml")
    assert done.exit_code == 1 and "[T001]" in done.output
    done = script("--report-only", "--out", tmp_path / "empty")
    assert done.exit_code == 1 and "[T144]" in done.output
