"""`spacy train` from a config to a saved pipeline."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from spacy.cli.train import train
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.training import scorer
from tests.training.toys import make_records

CONFIG = Path(__file__).parents[2] / "configs" / "test" / "trial2vec.cfg"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("my training")
    lines = [json.dumps(trial.to_dict()) + "\n" for trial in make_records()]
    (folder / "records.jsonl").write_text("".join(lines), encoding="utf8")
    names = [trial.nct_id for trial in make_records()]
    judged = [{"query": names[0], "candidates": names[1:4], "grades": [2, 0, 1]}]
    (folder / "labels.json").write_text(json.dumps(judged))
    return folder


@pytest.fixture(scope="module")
def settings(folder, tiny_backbone) -> dict:
    return {
        "paths.backbone": tiny_backbone,
        "paths.train": str(folder / "records.jsonl"),
        "paths.dev": str(folder / "records.jsonl"),
        "paths.labels": str(folder / "labels.json"),
        "paths.log": str(folder / "metrics" / "log.jsonl"),
        "training.max_steps": 2,
        "training.eval_frequency": 1,
        "training.batcher.size": 4,
    }


@pytest.fixture(scope="module")
def trained(folder, settings) -> Path:
    run(folder / "out", settings)
    return folder / "out"


def run(out, settings) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        train(CONFIG, out, overrides=settings)


def state(path: Path) -> dict[str, torch.Tensor]:
    nlp = spacy.load(path)
    modules = (
        nlp.get_pipe("transformer").model.transformer,
        nlp.get_pipe("trial2vec").model.get_ref("encoder").shims[0]._model,
    )
    return {k: v for module in modules for k, v in module.state_dict().items()}


def vectors_of(nlp) -> np.ndarray:
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in make_records())
    return np.stack([doc._.trial_vector for doc in docs])


def test_the_log_has_a_line_for_each_evaluation(folder, trained):
    lines = (folder / "metrics" / "log.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["step"] for row in rows] == [0, 1, 2]
    for row in rows:
        assert row["losses"]["trial2vec_global"] > 0
        assert 0 < row["scores"]["trial2vec_own_criteria"] <= 1
        assert row["scores"]["trial2vec_mean_cosine"] <= 1
        assert row["scores"]["trial2vec_rank"] >= 1
        assert 0.3 < row["scores"]["trial2vec_map"] <= 1
        assert 0.3 < row["scores"]["trial2vec_ndcg@5"] <= 1
        assert row["floor"] == rows[0]["scores"]
        assert row["score"] == row["scores"]["trial2vec_own_criteria"]


def test_the_best_model_loads_and_gives_vectors(trained):
    for name in ("model-best", "model-last"):
        vectors = vectors_of(spacy.load(trained / name))
        assert vectors.shape == (5, 24)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    performance = json.loads((trained / "model-best/meta.json").read_text())["performance"]  # fmt: skip
    assert performance["trial2vec_own_criteria"] > 0
    assert performance["trial2vec_loss"] > 0


def test_a_saved_pipeline_names_no_folder(folder, trained, tiny_backbone):
    name = Path(tiny_backbone).name
    for file in (trained / "model-best").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert str(folder).encode() not in data, file
            assert tiny_backbone.encode() not in data, file
    paths = load_config(trained / "model-best/config.cfg")["paths"]
    assert paths.pop("backbone") == name
    assert set(paths.values()) == {None}


def test_the_seed_decides_the_model(folder, trained, settings):
    """Frozen layers aside, another seed gives other weights."""
    again = {"paths.log": None}
    run(folder / "same", settings | again)
    first, same = (state(path / "model-last") for path in (trained, folder / "same"))
    assert all(torch.equal(first[name], same[name]) for name in first)
    run(folder / "other", settings | again | {"system.seed": 5})
    other = state(folder / "other" / "model-last")
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_a_resumed_training_starts_with_the_last_weights(trained, settings):
    resumed = settings | {"paths.resume": str(trained / "model-last")}
    with pytest.warns(UserWarning, match="T138"):
        nlp = init_nlp(load_config(CONFIG, overrides=resumed))
    modules = (
        nlp.get_pipe("transformer").model.transformer,
        nlp.get_pipe("trial2vec").model.get_ref("encoder").shims[0]._model,
    )
    found = {k: v for module in modules for k, v in module.state_dict().items()}
    expected = state(trained / "model-last")
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_heads_alone_are_trained_with_a_frozen_transformer(
    folder, trained, settings, tiny_backbone
):
    """The transformer has to be taken from a pipeline, since nothing initialises it."""
    from transformers import AutoModel

    heads = {
        "paths.log": None,
        "training.max_steps": 1,
        "components.transformer": {"source": str(trained / "model-last")},
        "training.frozen_components": ["transformer"],
        "training.annotating_components": ["transformer"],
    }
    run(folder / "heads", settings | heads)
    before, after = (state(p / "model-last") for p in (trained, folder / "heads"))
    bert = AutoModel.from_pretrained(tiny_backbone).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in bert)
    assert not torch.equal(before["weights"], after["weights"])


def test_a_batch_of_one_is_an_error_that_names_the_setting(folder, settings):
    with pytest.raises(T2VError, match=r"T026.*training\.batcher\.size"):
        run(folder / "none", settings | {"training.batcher.size": 1})


def test_a_collapse_stops_the_training_and_keeps_the_best(
    folder, settings, monkeypatch
):
    cosines = iter((0.3, 0.94, 0.96))
    monkeypatch.setattr(scorer, "mean_cosine", lambda vectors: next(cosines))
    out = folder / "collapsed"
    with pytest.raises(T2VError, match=r"T134.*step 2.*0\.960.*max_cosine"):
        run(out, settings | {"paths.log": None, "training.max_steps": 9})
    assert vectors_of(spacy.load(out / "model-best")).shape == (5, 24)
