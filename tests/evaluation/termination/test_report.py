"""The report of an evaluation that was made up, and the means over its seeds."""

from __future__ import annotations

import copy
import re

import pytest

from t2v_spacy.evaluation.termination.report import FIGURE, REPORT, write_report
from t2v_spacy.evaluation.termination.rows import SHIPPED, TFIDF
from t2v_spacy.evaluation.termination.summary import summarise
from t2v_spacy.termination.measures import termination_scores

pytest.importorskip("matplotlib")
HEX = "0123456789abcdef" * 4


def make_run(system: str, seed: int, roc: float | None, **changes) -> dict:
    """A run whose areas are undefined without `roc`."""
    scores = termination_scores([1, 0, 0, 0], [0.6, 0.2, 0.2, 0.4], 0.3)
    scores |= {"roc_auc": roc, "pr_auc": roc and roc / 2}
    test = {"difference": 0.1, "low": 0.0, "high": 0.25, "p": 0.04 + seed / 100}
    area = None if roc is None else [roc - 0.1, roc + 0.1]
    within = {
        "groups": [{}, {}],
        "n": 3,
        "share": 0.75,
        "prevalence": 0.2,
        "roc_auc": roc and roc - 0.05,
        "pr_auc": roc and 0.25,
        "together": {"roc_auc": roc, "pr_auc": roc and 0.3},
    }
    return {
        "system": system,
        "seed": seed,
        "seconds": 1.5,
        "scores": scores,
        "accuracy_at_half": 1.0,
        "intervals": {"roc_auc": area, "pr_auc": area, "brier": [0.05, 0.15]},
        "against": None
        if system == TFIDF
        else {"roc_auc": test if roc else None, "pr_auc": test, "brier": test},
        "calibration": {
            "error": 0.25,
            "bins": [{"n": 4, "predicted": 0.35, "observed": 0.25}],
        },
        "within": {"required": within, "all": within},
        "temperature": 1.0,
        "bias": 0.0,
        **changes,
    }


def make_row(system: str, *rocs: float | None, **changes) -> dict:
    runs = [make_run(system, seed, roc, **changes) for seed, roc in enumerate(rocs)]
    return {"system": system, **summarise(runs)}


@pytest.fixture
def result() -> dict:
    size = {"n": 4, "terminated": 1}
    parts = {"seed": 0, "train": {"n": 1400, "terminated": 200}, "dev": size}
    dropped = {"unknown at cut-off": 1200, "undated": 7}
    table = {
        "records": "all",
        "split": "date",
        "cutoff": "2012-01-01",
        "parts": [parts | {"test": size, "dropped": dropped}],
        "rows": [make_row(TFIDF, 0.6), make_row(SHIPPED, 0.7, 0.8)],
    }
    return {
        "made": {
            "date": "2026-11-30 10:00 UTC",
            "machine": "A machine, 2 cores",
            "versions": {"spacy": "3.8"},
        },
        "command": "python scripts/evaluate_termination.py records out",
        "settings": {
            "records": "my_trials.jsonl",
            "encoder": "trial2vec",
            "config": "termination.cfg",
            "backbone": None,
            "finetuned": None,
            "seeds": 2,
            "rounds": 1000,
            "least": 100,
            "limit": 0,
            "study_type": "INTERVENTIONAL",
        },
        "sha256": {"records": HEX, "encoder": None, "config": HEX},
        "counts": {
            "read": 5000,
            "statuses": {
                "COMPLETED": {"n": 1207, "label": False},
                "WITHDRAWN": {"n": 201, "label": True},
                "": {"n": 30, "label": None},
            },
            "left_out": {"of no type": 3592},
            "labelled": 1408,
            "terminated": 201,
            "complete": 800,
            "filled": {"arms": [0.25, 0.5], "sex": [1.0, 0.995]},
        },
        "encoding": {"trials": 1408, "seconds": 140.8},
        "tables": [table],
    }


def written(result, folder) -> str:
    write_report(result, folder)
    return (folder / REPORT).read_text("utf8")


def test_a_row_is_the_mean_over_its_seeds():
    row = make_row(SHIPPED, 0.7, 0.8)
    assert row["mean"]["roc_auc"] == pytest.approx(0.75)
    assert (row["low"]["roc_auc"], row["high"]["roc_auc"]) == (0.7, 0.8)
    assert row["intervals"]["roc_auc"] == pytest.approx([0.65, 0.85])
    assert row["against"]["brier"] == pytest.approx(
        {"difference": 0.1, "low": 0.0, "high": 0.25, "p": 0.05}
    )
    assert row["within"]["required"]["roc_auc"] == pytest.approx(0.7)
    assert row["within"]["all"]["together"]["roc_auc"] == pytest.approx(0.75)
    assert row["mean"]["calibration_error"] == 0.25
    assert row["failed"] is None and len(row["runs"]) == 2


def test_what_is_undefined_for_one_seed_is_undefined():
    row = make_row(SHIPPED, 0.7, None)
    assert row["mean"]["roc_auc"] is row["low"]["pr_auc"] is None
    assert row["intervals"]["roc_auc"] is None
    assert row["against"]["roc_auc"] is None
    assert row["within"]["required"]["roc_auc"] is None
    assert row["mean"]["brier"] is not None
    assert row["intervals"]["brier"] == pytest.approx([0.05, 0.15])


def test_a_run_that_failed_is_told_and_the_others_count():
    failed = {"system": SHIPPED, "seed": 0, "failed": "[T151] no", "code": "T151"}
    row = summarise([failed, make_run(SHIPPED, 1, 0.8)])
    assert row["failed"] == "[T151] no" and row["code"] == "T151"
    assert row["mean"]["roc_auc"] == 0.8
    assert "mean" not in summarise([failed])


def test_the_report_says_what_was_done_and_found(result, tmp_path):
    text = written(result, tmp_path)
    flat = " ".join(text.split())
    for part in (
        "2026-11-30 10:00 UTC",
        "python scripts/evaluate_termination.py records out",
        "- Records: my\\_trials.jsonl, sha256 0123456789abcdef\n",
        "- Encoder: trial2vec\n",
        "The positive class is TERMINATED",
        "5,000 records were read; trials that say they are interventional count.",
        "| WITHDRAWN | 201 | TERMINATED |",
        "| not said | 30 | none |",
        "Left out: 3,592 of no type.",
        "| arms | 25.0% | 50.0% |",
        "## All records, split at 2012-01-01",
        "| 0 | 1,400 (200 terminated) | 4 (1 terminated) | 4 (1 terminated) |",
        "Left out by the split: 1,200 unknown at cut-off; 7 undated.",
        "0.250 of them terminated",
        f"| {SHIPPED} | 0.750 (0.650 to 0.850) | 0.375 (0.650 to 0.850) |",
        f"| {SHIPPED} | 2 | 0.700 to 0.800 | 0.350 to 0.400 |",
        "+0.100 (+0.000 to +0.250), p = 0.050",
        "| 1 | 4 | 0.350 | 0.250 |",
        "100 trials or more: 2; those with both labels hold 75% of the test part",
        f"| {SHIPPED} | 0.750 | 0.700 | 0.300 | 0.250 |",
        "1,408 trials, once for all runs: 2 min, 10.0 trials/s",
        "No date, no location and no enrolment is read.",
    ):
        assert part in text or part in flat, part
    assert "trial run" not in text and "| sex |" not in text
    assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG\r\n")
    assert f"]({FIGURE})" in text


def test_undefined_is_written_as_such(result, tmp_path):
    result["tables"][0]["rows"][1] = make_row(SHIPPED, None, None)
    text = written(result, tmp_path)
    (row, *_) = re.findall(rf"\| {SHIPPED} \|[^\n]*", text)
    assert row.startswith(f"| {SHIPPED} | undefined | undefined | 0.")
    assert f"| {SHIPPED} | undefined | +0.100" in text
    assert not re.search(r"\bnan\b|None", text)


def test_what_failed_is_told_once_with_its_reason(result, tmp_path):
    failed = summarise(
        [{"seed": 0, "failed": "[T155] too <few> trials", "code": "T155"}]
    )
    result["tables"][0]["rows"] = [
        {"system": TFIDF, **failed},
        {"system": SHIPPED, **copy.deepcopy(failed)},
    ]
    mean = summarise([{"seed": 0, "failed": "[T110] not there", "code": "T110"}])
    result["tables"][0]["rows"].append({"system": "TrialBERT", **mean})
    result["settings"]["limit"] = 1500
    text = written(result, tmp_path)
    assert text.count("T155") == 1
    assert f"Not trained: {TFIDF}; {SHIPPED}. \\[T155\\] too \\<few\\> trials" in text
    assert "Failed: TrialBERT. \\[T110\\] not there" in text
    assert "Only 1,500 trials were drawn: a trial run, no result." in text
    assert FIGURE not in text and not (tmp_path / FIGURE).exists()
