from __future__ import annotations

import io
import json

import pytest
import spacy

from t2v_spacy.errors import T2VError
from t2v_spacy.training.logger import train_logger

COSINE = "trial2vec_mean_cosine"


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.config["training"]["score_weights"] = {"trial2vec_own_criteria": 1.0}
    return nlp


def info(step: int, cosine: float | None = 0.2, own: float = 0.5) -> dict:
    scores = {"trial2vec_own_criteria": own, "speed": 100.0}
    if cosine is not None:
        scores[COSINE] = cosine
    return {
        "epoch": 0,
        "step": step,
        "score": own,
        "other_scores": scores,
        "losses": {"trial2vec": 1.5, "trial2vec_skipped": 1.0},
        "checkpoints": [],
        "seconds": 7,
        "words": 100,
    }


def start(nlp, path=None, **settings):
    out = io.StringIO()
    log, finish = train_logger(path, progress_bar=None, **settings)(nlp, out, out)
    return log, finish, out


def test_each_evaluation_is_a_line_with_the_floor(nlp, tmp_path):
    path = tmp_path / "new folder" / "log.jsonl"
    log, finish, out = start(nlp, path)
    log(info(0, cosine=0.3, own=0.25))
    log(None)
    log(info(50, cosine=0.2, own=0.75))
    finish()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["step"] for row in rows] == [0, 50]
    assert rows[1]["scores"][COSINE] == 0.2
    assert rows[1]["scores"]["trial2vec_own_criteria"] == rows[1]["score"] == 0.75
    assert rows[1]["losses"] == {"trial2vec": 1.5, "trial2vec_skipped": 1.0}
    assert rows[1]["seconds"] == 7
    for row in rows:
        assert row["floor"][COSINE] == 0.3
        assert row["floor"]["trial2vec_own_criteria"] == 0.25
    assert "75.00" in out.getvalue()  # the table of spaCy


def test_a_resumed_run_goes_on_in_the_file(nlp, tmp_path):
    path = tmp_path / "log.jsonl"
    for step in (0, 100):
        log, finish, _ = start(nlp, path)
        log(info(step))
        finish()
    assert [json.loads(row)["step"] for row in path.read_text().splitlines()] == [0, 100]  # fmt: skip


def test_no_path_writes_nothing(nlp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log, finish, _ = start(nlp)
    log(info(0))
    finish()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cosine", [0.951, 1.0, float("nan")])
def test_a_collapse_stops_the_training_after_the_line_is_written(nlp, tmp_path, cosine):
    path = tmp_path / "log.jsonl"
    log, _, _ = start(nlp, path)
    log(info(0, cosine=0.2))
    log(info(50, cosine=0.94))
    with pytest.raises(T2VError, match=r"T134.*step 100.*limit 0\.95.*max_cosine"):
        log(info(100, cosine=cosine))
    assert json.loads(path.read_text().splitlines()[-1])["step"] == 100


def test_the_limit_can_be_set(nlp):
    log, _, _ = start(nlp, max_cosine=0.5)
    log(info(0, cosine=0.2))
    with pytest.raises(T2VError, match="T134"):
        log(info(50, cosine=0.51))


def test_a_backbone_that_starts_alike_may_come_down(nlp):
    log, _, _ = start(nlp)
    log(info(0, cosine=0.98))
    log(info(50, cosine=0.97))
    with pytest.raises(T2VError, match="T134"):
        log(info(100, cosine=0.981))


def test_without_the_score_nothing_is_guarded(nlp):
    log, _, _ = start(nlp)
    log(info(0, cosine=None))
    log(info(50, cosine=None))
