"""A tiny UltraBERT as the backbone of the pipeline, trained on the built-in sample."""

from __future__ import annotations

import itertools
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from spacy.cli.train import train
from transformers import AutoModel

from t2v_spacy import make_trial_doc, read_trials
from tests.conftest import make_tiny_nlp, make_trials

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "configs" / "test" / "ultrabert.cfg"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny_ultrabert) -> Path:
    folder = tmp_path_factory.mktemp("ultrabert training")
    sample = itertools.islice(read_trials(ROOT / "corpus" / "sample"), 24)
    lines = [json.dumps(trial.to_dict()) + "\n" for trial in sample]
    (folder / "records.jsonl").write_text("".join(lines), encoding="utf8")
    settings = {
        "paths.backbone": tiny_ultrabert,
        "paths.train": str(folder / "records.jsonl"),
        "paths.dev": str(folder / "records.jsonl"),
        "paths.log": str(folder / "log.jsonl"),
        "training.max_steps": 4,
        "training.eval_frequency": 2,
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        train(CONFIG, folder / "out", overrides=settings)
    return folder


def vectors_of(nlp, **how) -> np.ndarray:
    docs = (make_trial_doc(nlp, trial) for trial in make_trials())
    return np.stack([doc._.trial_vector for doc in nlp.pipe(docs, **how)])


def test_training_moves_the_layers_that_are_not_frozen(trained, tiny_ultrabert):
    rows = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]  # fmt: skip
    assert [row["step"] for row in rows] == [0, 2, 4]
    assert all(np.isfinite(row["losses"]["trial2vec_global"]) for row in rows)
    nlp = spacy.load(trained / "out" / "model-last")
    found = nlp.get_pipe("transformer").model.transformer.state_dict()
    start = AutoModel.from_pretrained(tiny_ultrabert).state_dict()
    moved = {name for name in start if not torch.equal(found[name], start[name])}
    assert moved == {
        name for name in start if not name.startswith(("embed_tokens", "layers.0."))
    }


def test_a_saved_pipeline_gives_the_same_vectors_elsewhere(trained):
    """In a process whose user imports nothing of ours."""
    folder = trained / "out" / "model-last"
    nlp = spacy.load(folder)
    text = make_trials()[0].to_text()
    code = (
        "import spacy, sys\n"
        f"doc = spacy.load({str(folder)!r})({text!r})\n"
        "print(doc._.trial_vector.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(
        json.loads(done.stdout), nlp(text)._.trial_vector, atol=1e-5
    )


@pytest.mark.parametrize("how", ["bytes", "pickle", "copy"])
def test_a_pipeline_travels(trained, tiny_ultrabert, how):
    nlp = spacy.load(trained / "out" / "model-last")
    expected = vectors_of(nlp)
    if how == "copy":
        model = nlp.get_pipe("transformer").model
        doc = nlp.get_pipe("trial_parser")(make_trial_doc(nlp, make_trials()[1]))
        found, wanted = (
            m.predict([doc]).model_output.last_hidden_state
            for m in (model.copy(), model)
        )
        torch.testing.assert_close(found, wanted)
        return
    if how == "bytes":
        again = spacy.util.load_model_from_config(nlp.config)
        again.from_bytes(nlp.to_bytes())
    else:
        again = pickle.loads(pickle.dumps(nlp))
    np.testing.assert_allclose(vectors_of(again), expected, atol=1e-6)


def test_two_processes_give_the_same_vectors(trained):
    nlp = spacy.load(trained / "out" / "model-last")
    one, two = (vectors_of(nlp, n_process=n, batch_size=2) for n in (1, 2))
    np.testing.assert_allclose(two, one, atol=1e-5)


def test_a_batch_equals_one_by_one(tiny_ultrabert):
    """Padding changes nothing, in windows of eight times the band."""
    nlp = make_tiny_nlp(tiny_ultrabert, window=64, stride=48)
    together = vectors_of(nlp)
    alone = [nlp(make_trial_doc(nlp, trial))._.trial_vector for trial in make_trials()]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-5)


def test_a_window_of_8192(tiny_ultrabert):
    nlp = make_tiny_nlp(tiny_ultrabert, window=8192, stride=8000)
    doc = nlp.get_pipe("trial_parser")(nlp.make_doc("colchicine for gout " * 900))
    batch = nlp.get_pipe("transformer").model.predict([doc])
    (pieces,) = batch.model_output["pieces"]
    assert 2000 < pieces <= 8192
    assert batch.model_output.last_hidden_state.isfinite().all()


@pytest.mark.parametrize(("precision", "least"), [("bf16", 0.999), ("int8", 0.97)])
def test_other_precisions_are_near_float32(tiny_ultrabert, precision, least):
    if precision == "int8":
        pytest.importorskip("onnxruntime")
        pytest.importorskip("onnx")
    else:
        from t2v_spacy.ml.precision import has_bf16

        if not has_bf16(torch.device("cpu")):
            pytest.skip("no bfloat16 here")
    found, expected = (
        vectors_of(make_tiny_nlp(tiny_ultrabert, precision=name, window=64, stride=48))
        for name in (precision, "float32")
    )
    assert (found * expected).sum(axis=1).min() > least


def test_spacy_transformers_own_model_reads_it(tiny_ultrabert):
    """And drops the token types that some tokenizers give."""
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": tiny_ultrabert,
        "get_spans": {"@span_getters": "spacy-transformers.doc_spans.v1"},
    }
    nlp.add_pipe("transformer", config={"model": model})
    nlp.initialize()
    doc = nlp("Colchicine for gout flares")
    assert doc._.trf_data.model_output.last_hidden_state.shape[-1] == 24
