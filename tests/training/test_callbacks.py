from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import spacy
import torch
from thinc.api import Adam

from t2v_spacy.errors import T2VError
from t2v_spacy.training.callbacks import hide_paths, pull_to_start, resume_from
from tests.conftest import make_tiny_nlp
from tests.training.toys import make_examples


@pytest.fixture
def nlp(tiny_backbone):
    torch.manual_seed(0)
    return make_tiny_nlp(tiny_backbone)


def weights(nlp) -> dict[str, torch.Tensor]:
    encoder = nlp.get_pipe("trial2vec").model.get_ref("encoder").shims[0]._model
    bert = nlp.get_pipe("transformer").model.transformer
    return {
        name: value.clone()
        for module in (bert, encoder)
        for name, value in module.state_dict().items()
    }


def shift(nlp, by: float) -> None:
    """Move all weights, as a step of training does."""
    for name in ("transformer", "trial2vec"):
        for node in nlp.get_pipe(name).model.walk():
            for shim in node.shims:
                for parameter in shim._model.parameters():
                    parameter.data += by


def assert_all_close(found, expected, by=0.0) -> None:
    for name, values in expected.items():
        moves = by if values.is_floating_point() else 0
        torch.testing.assert_close(found[name], values + moves)


@pytest.mark.parametrize(("rate", "left"), [(0.0, 1.0), (0.25, 0.75), (1.0, 0.0)])
def test_the_leash_pulls_back_by_its_share(nlp, rate, left):
    callback = pull_to_start(rate)
    start = weights(nlp)
    callback(nlp, {"step": 0, "epoch": 0})
    assert_all_close(weights(nlp), start)
    shift(nlp, 0.5)
    callback(nlp, {"step": 1, "epoch": 0})
    assert_all_close(weights(nlp), start, by=0.5 * left)
    shift(nlp, 0.5)
    callback(nlp, {"step": 2, "epoch": 0})
    assert_all_close(weights(nlp), start, by=(0.5 * left + 0.5) * left)


def test_a_leash_of_1_holds_the_weights_in_training(nlp):
    callback = pull_to_start(1.0)
    start = weights(nlp)
    sgd = Adam(0.01)
    for step in range(3):
        callback(nlp, {"step": step, "epoch": 0})
        assert_all_close(weights(nlp), start)
        nlp.update(make_examples(nlp), sgd=False)
        for name in ("transformer", "trial2vec"):
            nlp.get_pipe(name).finish_update(sgd)
    assert not torch.equal(weights(nlp)["weights"], start["weights"])
    callback(nlp, {"step": 3, "epoch": 0})
    assert_all_close(weights(nlp), start)


def test_what_is_frozen_is_left_alone(nlp):
    callback = pull_to_start(1.0)
    bert = nlp.get_pipe("transformer").model.transformer
    bert.embeddings.requires_grad_(False)
    callback(nlp, {})
    start = weights(nlp)
    shift(nlp, 0.5)
    callback(nlp, {})
    found = weights(nlp)
    name = "embeddings.word_embeddings.weight"
    torch.testing.assert_close(found[name], start[name] + 0.5)
    torch.testing.assert_close(found["weights"], start["weights"])


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_rate_out_of_range_is_named(rate):
    with pytest.raises(T2VError, match="T026.*rate.*0 to 1"):
        pull_to_start(rate)


def test_paths_are_hidden_and_the_backbone_keeps_its_name(tmp_path):
    nlp = spacy.blank("en")
    backbone = tmp_path / "my backbone"
    backbone.mkdir()
    paths = {"train": "/home/me/t.jsonl", "dev": None, "labels": "l.json"}
    nlp.config["paths"] = {"backbone": str(backbone), **paths}
    assert hide_paths()(nlp) is nlp
    assert nlp.config["paths"] == {
        "backbone": "my backbone",
        **dict.fromkeys(paths),
    }
    for public in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", None):
        nlp.config["paths"]["backbone"] = public
        assert hide_paths()(nlp).config["paths"]["backbone"] == public


def test_a_pipeline_without_paths_has_none_to_hide():
    nlp = spacy.blank("en")
    nlp.config.pop("paths", None)
    assert not hide_paths()(nlp).config.get("paths")


def test_resuming_takes_all_weights(nlp, tiny_backbone, tmp_path):
    shift(nlp, 0.25)
    nlp.to_disk(tmp_path / "model-last")
    expected = weights(nlp)
    torch.manual_seed(1)
    other = make_tiny_nlp(tiny_backbone)
    assert not torch.equal(weights(other)["weights"], expected["weights"])
    assert resume_from(tmp_path / "model-last")(other) is other
    assert_all_close(weights(other), expected)
    doc = "Gout in adults"
    assert other(doc)._.trial_vector == pytest.approx(nlp(doc)._.trial_vector)


def test_only_the_pipes_that_are_named_are_resumed(nlp, tiny_backbone, tmp_path):
    shift(nlp, 0.5)
    nlp.to_disk(tmp_path / "saved")
    other = make_tiny_nlp(tiny_backbone)
    other.remove_pipe("trial2vec")
    other.add_pipe("trial2vec", config={"model": {"width": 8}})
    other.initialize()
    resume_from(tmp_path / "saved", pipes=["transformer"])(other)
    bert, saved = (n.get_pipe("transformer").model.transformer for n in (other, nlp))
    assert_all_close(bert.state_dict(), saved.state_dict())


def test_without_a_path_nothing_is_resumed(nlp):
    start = weights(nlp)
    resume_from(None)(nlp)
    assert_all_close(weights(nlp), start)


def test_what_cannot_be_resumed_from_is_named(nlp, tiny_backbone, tmp_path):
    with pytest.raises(T2VError, match="T001.*nowhere"):
        resume_from(tmp_path / "nowhere")(nlp)
    saved = tmp_path / "saved"
    nlp.to_disk(saved)
    wider = make_tiny_nlp(tiny_backbone)
    wider.remove_pipe("trial2vec")
    wider.add_pipe("trial2vec", config={"model": {"width": 8}})
    wider.initialize()
    with pytest.raises(T2VError, match="T135.*saved.*'trial2vec'"):
        resume_from(saved)(wider)
    shutil.rmtree(saved / "trial2vec")
    with pytest.raises(T2VError, match="T135.*saved.*'trial2vec'"):
        resume_from(saved)(nlp)
    # A pipe that is not trained need not be there.
    nlp.to_disk(saved)
    shutil.rmtree(saved / "trial_parser", ignore_errors=True)
    config = json.loads((Path(saved) / "meta.json").read_text())
    assert "trial_parser" in config["pipeline"]
    resume_from(saved)(nlp)
