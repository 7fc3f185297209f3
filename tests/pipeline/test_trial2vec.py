from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.ml.pytorch_encoder import DEFAULT_WEIGHTS
from tests.conftest import make_tiny_nlp, make_trials

BLANK = ["", "   ", "\n\n\n", "\u00a0", "\t", "\u200b"]


def docs_of(nlp):
    return list(nlp.pipe(make_trial_doc(nlp, trial) for trial in make_trials()))


def vectors_of(docs) -> np.ndarray:
    return np.stack([doc._.trial_vector for doc in docs])


def test_vectors_are_float32_of_unit_length(tiny_nlp):
    for doc in docs_of(tiny_nlp):
        vectors = [doc._.trial_vector, *doc._.section_vectors.values()]
        for vector in vectors:
            assert isinstance(vector, np.ndarray)
            assert vector.dtype == np.float32
            assert vector.shape == (24,)
            assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_untrained_vector_is_the_sectioned_mean(tiny_nlp):
    for doc in docs_of(tiny_nlp):
        total = sum(
            DEFAULT_WEIGHTS.get(label, 0.0) * vector
            for label, vector in doc._.section_vectors.items()
        )
        expected = total / np.linalg.norm(total)
        np.testing.assert_allclose(doc._.trial_vector, expected, atol=1e-5)


def test_only_sections_that_are_there_have_vectors(tiny_nlp):
    gout, chronic, asthma, title_only = docs_of(tiny_nlp)
    assert set(title_only._.section_vectors) == {"title"}
    assert set(asthma._.section_vectors) == {"title", "condition", "intervention"}
    assert {"inclusion", "exclusion", "eligibility"} <= set(gout._.section_vectors)
    assert "exclusion" not in chronic._.section_vectors


def test_a_batch_equals_one_by_one(tiny_nlp):
    together = vectors_of(docs_of(tiny_nlp))
    alone = vectors_of([tiny_nlp(make_trial_doc(tiny_nlp, t)) for t in make_trials()])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("texts", [BLANK, [*BLANK, "Adults with asthma"], [""]])
def test_blank_docs_have_no_vector(tiny_nlp, texts):
    docs = list(tiny_nlp.pipe(texts))
    assert len(docs) == len(texts)
    for text, doc in zip(texts, docs, strict=True):
        if text == "Adults with asthma":
            assert np.isfinite(doc._.trial_vector).all()
        else:
            assert doc._.trial_vector is None
            assert doc._.section_vectors == {}


def test_a_long_section_is_read_to_its_last_word(tiny_nlp):
    text = "A study of spleens\n" + "no spleen disease in the last months\n" * 60
    one, other = tiny_nlp(text + "peanut"), tiny_nlp(text + "walnut")
    assert one._.truncated == []
    cosine = (
        one._.section_vectors["description"] @ other._.section_vectors["description"]
    )
    assert cosine < 1 - 1e-7


@pytest.mark.parametrize("how", ["disk", "bytes", "pickle"])
def test_reload_gives_the_same_vectors(tiny_nlp, how, tmp_path):
    expected = vectors_of(docs_of(tiny_nlp))
    if how == "disk":
        tiny_nlp.to_disk(tmp_path / "my model")
        again = spacy.load(tmp_path / "my model")
    elif how == "bytes":
        again = spacy.util.load_model_from_config(tiny_nlp.config, auto_fill=True)
        again.from_bytes(tiny_nlp.to_bytes())
    else:
        again = pickle.loads(pickle.dumps(tiny_nlp))
    np.testing.assert_allclose(vectors_of(docs_of(again)), expected, atol=1e-6)


def test_a_saved_pipeline_needs_no_backbone_and_names_no_path(tiny_backbone, tmp_path):
    import shutil

    backbone = shutil.copytree(tiny_backbone, tmp_path / "backbone-folder")
    nlp = make_tiny_nlp(str(backbone))
    nlp.to_disk(tmp_path / "model")
    shutil.rmtree(backbone)
    assert spacy.load(tmp_path / "model")("gout")._.trial_vector is not None
    weights = (tmp_path / "model" / "transformer" / "model").read_bytes()
    assert str(tmp_path).encode() not in weights


def test_docs_survive_bytes_and_docbin(tiny_nlp):
    doc = docs_of(tiny_nlp)[0]
    (stored,) = DocBin(docs=[doc], store_user_data=True).get_docs(tiny_nlp.vocab)
    for other in (Doc(tiny_nlp.vocab).from_bytes(doc.to_bytes()), stored):
        np.testing.assert_array_equal(other._.trial_vector, doc._.trial_vector)
        assert set(other._.section_vectors) == set(doc._.section_vectors)
        assert other._.trial == doc._.trial


def test_a_setting_given_at_load_counts(tiny_nlp, tmp_path):
    tiny_nlp.to_disk(tmp_path)
    override = {"components.transformer.model.max_windows": 1}
    nlp = spacy.load(tmp_path, config=override)
    assert nlp("A study of words\n" + "words " * 500)._.truncated == ["description"]


@pytest.mark.timeout(120)
def test_two_workers_after_one(tiny_nlp, tmp_path):
    """Forked workers must not wait for the threads of a parent that used torch."""
    tiny_nlp.to_disk(tmp_path / "model")
    code = """
        import sys, spacy, numpy as np
        nlp = spacy.load(sys.argv[1])
        texts = ["Adults with asthma", "", "Children with croup"] * 20
        one, two = (list(nlp.pipe(texts, n_process=n, batch_size=8)) for n in (1, 2))
        assert len(one) == len(two) == len(texts)
        for a, b in zip(one, two):
            if a._.trial_vector is None:
                assert b._.trial_vector is None
            else:
                np.testing.assert_allclose(a._.trial_vector, b._.trial_vector, atol=1e-5)
        print("ok")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "model")],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.stdout.strip() == "ok", done.stderr


def test_without_a_transformer_the_message_names_the_pipe(tiny_nlp):
    with (
        tiny_nlp.select_pipes(disable=["transformer"]),
        pytest.raises(T2VError, match="T023.*transformer"),
    ):
        tiny_nlp("gout")


def test_a_width_that_heads_do_not_divide_is_named(tiny_backbone):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    model = {"@architectures": "t2v.BucketedTransformerModel.v1", "name": tiny_backbone,
             "get_spans": {"@span_getters": "t2v.section_spans.v1"}, "window": 32, "stride": 24}  # fmt: skip
    nlp.add_pipe("transformer", config={"model": model})
    nlp.add_pipe("trial2vec", config={"model": {"n_heads": 5}})
    with pytest.raises(T2VError, match="T026.*n_heads.*24"):
        nlp.initialize()


@pytest.mark.parametrize("aggregate", ["paper", "residual"])
def test_width_and_paper_mode_run_in_the_pipeline(tiny_backbone, aggregate):
    nlp = make_tiny_nlp(tiny_backbone)
    nlp.remove_pipe("trial2vec")
    nlp.add_pipe("trial2vec", config={"model": {"aggregate": aggregate, "width": 8}})
    nlp.initialize()
    vectors = vectors_of(docs_of(nlp))
    assert vectors.shape == (4, 8)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_memory_of_a_doc_does_not_grow_with_its_text(tiny_nlp):
    """Only one row a window is kept, whatever the length of the sequences."""
    doc = tiny_nlp("A study of words\n" + "words " * 500)
    rows, pieces, _ = doc._.trf_data.model_output.last_hidden_state.shape
    assert pieces == 1
    assert rows < 120
