"""`spacy train` on termination, from a config to a pipeline that predicts alone."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from spacy.cli.train import train
from spacy.util import load_config
from transformers import AutoModel

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.readers import read_trials
from t2v_spacy.termination.labels import NEGATIVE, POSITIVE, termination_label
from t2v_spacy.termination.registration import registration_view
from tests.ml.test_trial_textcat import changed, weights

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "test" / "termination.cfg"
FINETUNED = ROOT / "configs" / "termination_finetuned.cfg"
PIPES = ["trial_parser", "transformer", "trial2vec", "textcat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_nlp) -> Path:
    """Some sample trials, cut short and a third of them terminated, and a pipeline that
    encodes."""
    folder = tmp_path_factory.mktemp("my termination")
    ended = {True: [], False: []}
    for trial in read_trials(ROOT / "corpus" / "sample"):
        if (label := termination_label(trial.status)) is not None:
            outcomes = trial.outcomes[:1]
            short = {"detailed_description": None, "eligibility": "Adults"}
            ended[label].append(replace(trial, outcomes=outcomes, **short))
    trials = [*ended[True][:8], *ended[False][:16]]
    lines = [json.dumps(trial.to_dict()) + "\n" for trial in trials]
    (folder / "records.jsonl").write_text("".join(lines), encoding="utf8")
    tiny_nlp.to_disk(folder / "encoder")
    return folder


@pytest.fixture(scope="module")
def settings(folder) -> dict:
    return {
        "paths.encoder": str(folder / "encoder"),
        "paths.train": str(folder / "records.jsonl"),
        "paths.cache": str(folder / "cache"),
        "paths.log": str(folder / "log.jsonl"),
        "corpora.train.part": "all",
        "corpora.dev.part": "all",  # learnt by heart
        "training.max_steps": 20,
    }


@pytest.fixture(scope="module")
def trained(folder, settings) -> Path:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        train(CONFIG, folder / "out", overrides=settings)
    return folder / "out"


@pytest.mark.parametrize("path", [CONFIG, ROOT / "configs" / "termination.cfg"])
def test_both_parts_are_of_the_same_records(path):
    config = load_config(path, {"paths.train": "a", "paths.dev": "b"}, interpolate=True)
    assert [config["corpora"][part]["path"] for part in ("train", "dev")] == ["a", "a"]


def test_it_learns_and_logs_what_it_stops_on(folder, trained):
    rows = [
        json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()
    ]
    assert [row["step"] for row in rows] == [0, 10, 20]
    assert rows[2]["losses"]["textcat"] < rows[1]["losses"]["textcat"]
    for row in rows:
        assert row["score"] == row["scores"]["termination_pr_auc"]
        assert row["scores"]["termination_prevalence"] == pytest.approx(1 / 3)
    assert rows[-1]["score"] > 0.7


def test_the_best_model_predicts_alone(folder, trained):
    nlp = spacy.load(trained / "model-best")
    assert nlp.pipe_names == PIPES
    found, gold = [], []
    for trial in read_trials(folder / "records.jsonl"):
        doc = nlp(make_trial_doc(nlp, registration_view(trial)))
        found.append(doc.cats[POSITIVE])
        gold.append(termination_label(trial.status))
        assert doc.cats[POSITIVE] + doc.cats[NEGATIVE] == pytest.approx(1, abs=1e-6)
    facts = nlp.meta["termination"]
    assert nlp.get_pipe("textcat").cfg["threshold"] == facts["threshold"]
    assert np.mean(found) == pytest.approx(1 / 3, abs=0.02)  # calibrated on them
    assert facts["prior"] == pytest.approx(1 / 3)
    assert facts["trials"] == 24
    brier = np.mean((np.array(found) - gold) ** 2)
    performance = nlp.meta["performance"]
    assert performance["termination_brier"] == pytest.approx(brier, abs=1e-4)
    assert performance["termination_pr_auc"] > 0.7


def test_the_encoder_is_the_one_that_was_given(folder, trained):
    given, saved = spacy.load(folder / "encoder"), spacy.load(trained / "model-best")
    for name in ("transformer", "trial2vec"):
        before = weights(given.get_pipe(name).model)
        assert not changed(before, weights(saved.get_pipe(name).model)), name


def test_the_saved_config_says_how_it_was_trained_and_names_no_folder(folder, trained):
    for file in (trained / "model-best").rglob("*"):
        if file.is_file():
            assert str(folder).encode() not in file.read_bytes(), file
    config = load_config(trained / "model-best" / "config.cfg")
    assert config["nlp"]["pipeline"] == PIPES
    assert config["training"]["max_steps"] == 20
    assert config["corpora"]["train"]["@readers"] == "t2v.TerminationCorpus.v1"
    assert set(config["paths"].values()) == {None}


def test_a_second_training_is_the_same_and_encodes_nothing(
    folder, trained, settings, monkeypatch
):
    from t2v_spacy.search import encode

    monkeypatch.setattr(encode, "_encode", None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        train(CONFIG, folder / "same", overrides=settings | {"paths.log": None})
    first, second = (
        spacy.load(path / "model-last").get_pipe("textcat").model
        for path in (trained, folder / "same")
    )
    assert not changed(weights(first), weights(second))


def test_a_dev_part_of_one_kind_stops_at_once(folder, settings):
    few = {"corpora.train.limit": 3, "paths.log": None, "paths.cache": None}
    with pytest.raises(T2VError, match=r"T151.*one kind.*dev_corpus"):
        train(CONFIG, folder / "few", overrides=settings | few)


def test_the_encoder_can_be_trained_along(folder, settings, tiny_backbone):
    """The transformer is in the pipeline, and the Docs have their texts."""
    few = {
        "paths.backbone": tiny_backbone,
        "paths.start": str(folder / "encoder"),
        "paths.log": None,
        "training.max_steps": 2,
        "training.eval_frequency": 2,
        "training.batcher.size": 8,
        "training.optimizer.learn_rate": 0.001,
        "components.transformer.model.frozen_layers": 0,
        "components.transformer.model.window": 32,
        "components.transformer.model.stride": 28,
        "components.textcat.model.encoder.n_heads": 2,
    }
    few |= {k: settings[k] for k in ("paths.train", "corpora.train.part")}
    few["corpora.dev.part"] = "all"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        train(FINETUNED, folder / "along", overrides=few)
    nlp = spacy.load(folder / "along" / "model-last")
    found = nlp.get_pipe("transformer").model.transformer.state_dict()
    start = AutoModel.from_pretrained(tiny_backbone).state_dict()
    assert not torch.equal(
        found["encoder.layer.1.output.dense.weight"],
        start["encoder.layer.1.output.dense.weight"],
    )
    assert nlp.meta["termination"]["trials"] == 24
    assert 0 < nlp("Title: Colchicine in gout").cats[POSITIVE] < 1
