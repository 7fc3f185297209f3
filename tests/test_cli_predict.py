from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import spacy
import typer
from typer.testing import CliRunner

from t2v_spacy import TrialIndex
from t2v_spacy.cli_predict import (
    FACTS,
    find_textcat,
    load_classifier,
    predict,
    predict_trials,
)
from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.ml.trial_textcat import set_calibration
from t2v_spacy.search import IndexEntry
from t2v_spacy.termination.labels import NEGATIVE, POSITIVE
from t2v_spacy.termination.registration import registration_view
from t2v_spacy.trial import Trial
from tests.conftest import make_trials
from tests.ml.test_trial_textcat import FULL, pipeline

STATUSES = ("COMPLETED", "TERMINATED", "WITHDRAWN", "RECRUITING")
app = typer.Typer()
app.command()(predict)


@pytest.fixture(scope="module")
def nlp(tiny_backbone):
    nlp = pipeline(tiny_backbone, **FULL)
    pipe = nlp.get_pipe("textcat")
    set_calibration(pipe.model, 0.5, [0.2, 0.0], [0.3, 0.7])
    pipe.cfg["threshold"] = 0.45
    return nlp


@pytest.fixture(scope="module")
def index(nlp):
    trials = [
        replace(t, status=s) for t, s in zip(make_trials(), STATUSES, strict=True)
    ]
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in trials)
    return TrialIndex.build(
        IndexEntry(trial, doc._.trial_vector, doc._.section_vectors)
        for trial, doc in zip(trials, docs, strict=True)
    )


def probability(nlp, trial, without=None) -> float:
    doc = make_trial_doc(nlp, registration_view(trial))
    if without == FACTS:
        doc._.trial = Trial(trial.nct_id)  # a record, as all that are learnt from
    elif without:
        doc.spans["sections"] = [
            s for s in doc.spans["sections"] if s.label_ != without
        ]
    return nlp(doc).cats[POSITIVE]


def test_probability_and_decision_are_those_of_the_pipe(nlp):
    rows = list(predict_trials(nlp, make_trials()))
    assert [row.nct_id for row in rows] == [t.nct_id for t in make_trials()]
    expected = [probability(nlp, trial) for trial in make_trials()]
    np.testing.assert_allclose([row.probability for row in rows], expected, atol=1e-6)
    for row in rows:
        assert row.threshold == 0.45
        assert row.decision == (POSITIVE if row.probability >= 0.45 else NEGATIVE)
        assert row.neighbours is None
        assert json.loads(json.dumps(row.to_dict()))["sections"] == row.sections


def test_a_section_counts_by_what_is_lost_without_it(nlp):
    first, *_, last = predict_trials(nlp, make_trials())
    trial = make_trials()[0]
    assert set(first.sections) == {
        *("title", "condition", "intervention", "outcome", "keyword", "summary"),
        *("inclusion", "exclusion", FACTS),
    }
    for label, value in first.sections.items():
        lost = first.probability - probability(nlp, trial, without=label)
        assert value == pytest.approx(lost, abs=1e-5), label
    sizes = [abs(value) for value in first.sections.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1e-4
    # Of a title alone nothing would be left.
    assert set(last.sections) == {FACTS}


def test_the_outcome_in_the_record_is_not_read(nlp):
    told = [
        replace(
            trial,
            status="TERMINATED",
            why_stopped="slow accrual",
            detailed_description=f"{trial.detailed_description or ''} This study was terminated early.".strip(),
        )
        for trial in make_trials()
    ]
    plain = [
        replace(t, detailed_description=(t.detailed_description or "").strip() or None)
        for t in make_trials()
    ]
    assert list(predict_trials(nlp, told)) == list(predict_trials(nlp, plain))


def test_the_base_rate_is_that_of_the_nearest_that_have_ended(nlp, index):
    row = next(predict_trials(nlp, make_trials(), index, k=3))
    # Not the trial itself, and the one that recruits says nothing.
    assert vars(row.neighbours) == {"k": 3, "labelled": 2, "terminated": 2, "rate": 1.0}
    alias = replace(make_trials()[0], nct_id="NCT99999999", aliases=("NCT90000001",))
    again = next(predict_trials(nlp, [alias], index, k=3))
    assert again.neighbours == row.neighbours
    other = replace(make_trials()[0], nct_id="NCT99999999")
    near = next(predict_trials(nlp, [other], index, k=1)).neighbours
    assert vars(near) == {"k": 1, "labelled": 1, "terminated": 0, "rate": 0.0}
    last = make_trials()[2]
    assert next(predict_trials(nlp, [last], index, k=9)).neighbours.labelled == 2


def test_a_trial_without_a_word_has_the_base_rate_and_no_decision(nlp, index):
    row = next(predict_trials(nlp, [Trial("NCT90000009")], index))
    assert row.probability == pytest.approx(0.3)
    assert row.decision is row.neighbours is None


def test_a_pipeline_that_was_not_trained_on_it_is_named(tiny_nlp, tmp_path):
    with pytest.raises(T2VError, match=r"T152.*TERMINATED.*termination\.cfg"):
        find_textcat(tiny_nlp)
    spacy.blank("xx").to_disk(tmp_path / "blank")
    with pytest.raises(T2VError, match="T152"):
        load_classifier(str(tmp_path / "blank"))
    with pytest.raises(T2VError, match="T027.*no_such"):
        load_classifier("no_such")


def test_a_textcat_with_an_encoder_of_its_own(tiny_backbone, index, tmp_path):
    """As configs/termination.cfg makes it if the encoder is trained along."""
    made = pipeline(tiny_backbone, encoder=True, **FULL)
    made.remove_pipe("trial2vec")
    made.to_disk(tmp_path / "model")
    nlp = load_classifier(str(tmp_path / "model"))
    assert "trial2vec" not in nlp.pipe_names
    *rows, empty = predict_trials(nlp, [*make_trials(), Trial("NCT90000009")], index)
    for row, trial in zip(rows, make_trials(), strict=True):
        assert row.probability == pytest.approx(probability(nlp, trial), abs=1e-5)
        assert row.decision in (POSITIVE, NEGATIVE)
        assert row.neighbours is None
    assert rows[0].sections
    assert empty.decision is empty.neighbours is None


def test_the_command_prints_a_table_or_json_and_names_bad_records(nlp, index, tmp_path):
    nlp.to_disk(tmp_path / "model")
    index.to_disk(tmp_path / "index")
    lines = [json.dumps(trial.to_dict()) for trial in make_trials()]
    (tmp_path / "trials.jsonl").write_text(
        "\n".join([lines[0], "{broken", *lines[1:]]) + "\n"
    )
    arguments = [str(tmp_path / "trials.jsonl"), "--model", str(tmp_path / "model")]
    arguments += ["--index", str(tmp_path / "index"), "-k", "3"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "Refused:" in done.stderr
    assert "line 2" in done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) == 2 + 4
    assert rows[0].split() == ["Trial", "P", "Decision", "Near", "Why", "Title"]
    assert "2 of 2" in rows[2]
    assert make_trials()[0].title in rows[2]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    found = json.loads(done.stdout)
    expected = [row.to_dict() for row in predict_trials(nlp, make_trials(), index, k=3)]
    assert [row["nct_id"] for row in found] == [row["nct_id"] for row in expected]
    assert found[0]["probability"] == pytest.approx(
        expected[0]["probability"], abs=1e-5
    )
    assert found[0]["neighbours"] == expected[0]["neighbours"]
