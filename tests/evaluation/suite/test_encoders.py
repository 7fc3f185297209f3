from __future__ import annotations

import sys

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite import load_encoder, vectors

from .toy import Toy

TEXTS = [
    "gout",
    "Colchicine for gout flares\nConditions: Gout",
    "",
    "  \n",
    "gout",
    "é \ud800",
]


@pytest.fixture(scope="module")
def folders(tiny_backbone, tiny_nlp, tmp_path_factory):
    """A folder for each kind; sentence-transformers makes one of mean pooling."""
    folder = tmp_path_factory.mktemp("models")
    tiny_nlp.to_disk(folder / "nlp")
    found = {"backbone": tiny_backbone, "pipeline": str(folder / "nlp")}

    def path(kind: str) -> str:
        if kind not in found:
            library = pytest.importorskip("sentence_transformers")
            model = library.SentenceTransformer(tiny_backbone, device="cpu")
            model.save(str(folder / "st"))
            found[kind] = str(folder / "st")
        return found[kind]

    return path


@pytest.mark.parametrize("kind", ["backbone", "sentence-transformers", "pipeline"])
def test_every_kind_is_told_and_gives_a_vector_a_text(folders, kind):
    encoder = load_encoder(folders(kind), precision="float32")
    assert encoder.kind == kind
    assert "/" not in encoder.name
    rows = vectors(encoder, TEXTS)
    assert rows.shape == (6, 24)
    assert rows.dtype == np.float32
    assert rows[[0, 1, 5]].any(axis=1).all()
    assert not rows[[2, 3]].any()
    assert np.array_equal(rows[0], rows[4])
    assert vectors(encoder, []).shape == (0, 24)


@pytest.mark.parametrize("kind", ["backbone", "sentence-transformers", "pipeline"])
def test_inputs_are_cut(folders, kind):
    encoder = load_encoder(folders(kind), max_length=10, precision="float32")
    assert encoder.max_length == 10
    # A character a wordpiece, and two special ones.
    same, cut, short = vectors(encoder, ["abcdefgh", "abcdefgh zz", "abcdefg"])
    assert np.allclose(same, cut, atol=1e-6)
    assert not np.allclose(same, short, atol=1e-3)


@pytest.mark.parametrize("kind", ["backbone", "sentence-transformers", "pipeline"])
def test_512_is_cut_to_what_the_backbone_reads(folders, kind):
    encoder = load_encoder(folders(kind), precision="float32")
    assert encoder.max_length == 64
    long, other = vectors(encoder, ["ab " * 60, "ab " * 31 + "zz"])
    assert np.allclose(long, other, atol=1e-6)


def test_a_backbone_and_its_mean_pooling_folder_agree(folders):
    rows = [
        vectors(load_encoder(folders(kind), precision="float32"), TEXTS)
        for kind in ("backbone", "sentence-transformers")
    ]
    assert np.allclose(*rows, atol=1e-5)


def test_a_text_goes_through_the_pipeline_as_it_is(folders, tiny_nlp):
    text = "Colchicine for gout\nConditions: Gout"
    (row,) = vectors(load_encoder(folders("pipeline"), precision="float32"), [text])
    assert np.allclose(row, tiny_nlp(text)._.trial_vector, atol=1e-6)
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", ["backbone", "sentence-transformers", "pipeline"])
def test_the_checksum_tells_settings_apart_and_nothing_else(folders, kind):
    def checksum(**settings) -> str:
        return load_encoder(folders(kind), precision="float32", **settings).checksum

    assert checksum() == checksum()
    assert checksum() != checksum(max_length=32)


def test_equal_and_blank_texts_are_encoded_once_and_never():
    toy = Toy()
    rows = vectors(toy, ["ab", " ab ", "", "c"])
    assert toy.asked == ["ab", "c"]
    assert rows[:, :3].tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_what_is_no_number_is_refused():
    with pytest.raises(T2VError, match="T207.*toy.*'odd'"):
        vectors(Toy({"odd": [float("nan")], "even": [1.0]}), ["even", "odd"])


def test_what_cannot_be_loaded_is_named(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T110.*nowhere"):
        load_encoder("nowhere/at-all")
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "config_sentence_transformers.json").write_text("{}")
    with pytest.raises(T2VError, match="T203"):
        load_encoder(str(tmp_path))
    with pytest.raises(T2VError, match="T203.*'rnn' is no kind"):
        load_encoder(tiny_backbone, kind="rnn")
    with pytest.raises(T2VError, match="T026.*max_length"):
        load_encoder(tiny_backbone, max_length=4)


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(T2VError, match=r"T202.*t2v_spacy\[suite\]"):
        load_encoder(str(tmp_path))
