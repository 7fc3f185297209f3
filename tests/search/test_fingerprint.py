from __future__ import annotations

import warnings

import pytest
import spacy
from spacy.language import Language

from t2v_spacy.search import build_index, pipeline_fingerprint
from t2v_spacy.search.fingerprint import vector_fingerprint

from .toys import make_index, make_nlp, make_trial, nct, toy_trial_vectors

Language.component(
    "toy_other_vectors", assigns=["doc._.trial_vector"], func=toy_trial_vectors
)


@pytest.fixture(scope="module")
def saved(tiny_nlp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines") / "tiny"
    tiny_nlp.to_disk(folder)
    return folder


def make_other() -> Language:
    nlp = make_nlp()
    nlp.replace_pipe("toy_trial_vectors", "toy_other_vectors")
    return nlp


@pytest.mark.parametrize(
    "same, setting, value",
    [
        (True, "transformer.model.precision", "auto"),
        (True, "transformer.model.max_tokens", 64),
        (True, "transformer.model.name", "elsewhere"),
        (True, "transformer.max_batch_items", 100),
        (False, "transformer.model.window", 30),
        (False, "trial2vec.model.weights.title", 0.25),
    ],
)
def test_settings_that_change_vectors(tiny_nlp, saved, same, setting, value):
    other = spacy.load(saved, config={f"components.{setting}": value})
    assert (vector_fingerprint(other) == vector_fingerprint(tiny_nlp)) == same
    assert pipeline_fingerprint(other) != pipeline_fingerprint(tiny_nlp)


def test_pipes_and_weights(tiny_nlp, saved):
    other = spacy.load(saved)
    other.add_pipe("sentencizer")
    other.meta["name"] = "renamed"
    assert vector_fingerprint(other) == vector_fingerprint(tiny_nlp)
    weights = other.get_pipe("transformer").model.shims
    weights = weights or other.get_pipe("transformer").model.layers[0].shims
    next(iter(weights[0]._model.parameters())).data.add_(1)
    assert vector_fingerprint(other) != vector_fingerprint(tiny_nlp)
    assert vector_fingerprint(spacy.blank("en")) is None


def test_another_pipeline_is_said_once(tmp_path):
    facts = {"pipeline": "en_first", "backbone": "small-one"}
    first, other = make_nlp(), make_other()
    index = build_index(first, map(make_trial, range(9)), tmp_path / "a", meta=facts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index.search("gout")
        index.search(make_trial(3), nlp=make_nlp())
        index.search(nct(3), nlp=other)  # the stored vector: the pipeline is not used
    message = (
        r"T052.*en_first \(small-one, \w{8}\).*en_pipeline \(backbone unknown, \w{8}"
    )
    with pytest.warns(UserWarning, match=message) as said:
        index.search("gout", nlp=other)
        index.search(make_trial(3), nlp=other)
    assert [warning.filename for warning in said] == [__file__]
    with pytest.warns(UserWarning, match="T052"):
        index.search("gout", nlp=make_other())


def test_an_index_that_does_not_know_its_pipeline(tmp_path):
    index = make_index(9)
    assert index.meta["fingerprint"] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index.search("gout", nlp=make_other())


def test_what_made_an_index_stays_when_it_is_changed(tmp_path):
    index = build_index(make_nlp(), map(make_trial, range(9)), tmp_path / "index")
    before = index.meta["fingerprint"]
    index.remove([nct(3)])
    index.to_disk(tmp_path / "index")
    assert index.meta["fingerprint"] == before
