from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.vector_cache import VectorCache

TEXTS = ["a", "bb", "ccc", "bb", "dddd"]
LENGTHS = [[1.0], [2.0], [3.0], [2.0], [4.0]]


class Encoder:
    """Lengths of texts; says what it was given and gives up after some calls."""

    def __init__(self, calls: int = 100) -> None:
        self.seen: list[str] = []
        self.calls = calls

    def __call__(self, texts: list[str]) -> np.ndarray:
        if self.calls == 0:
            raise KeyboardInterrupt
        self.calls -= 1
        self.seen += texts
        return np.array([[len(text)] for text in texts])


def lengths(cache: VectorCache, encode: Encoder) -> list:
    return cache.vectors(TEXTS, encode, name="lengths", part_size=2).tolist()


def test_each_text_is_encoded_once(tmp_path):
    encode = Encoder()
    cache = VectorCache(None, "f")
    assert lengths(cache, encode) == lengths(cache, encode) == LENGTHS
    assert encode.seen == ["a", "bb", "ccc", "dddd"]


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        lengths(VectorCache(tmp_path, "f"), Encoder(calls=1))
    encode = Encoder()
    assert lengths(VectorCache(tmp_path, "f"), encode) == LENGTHS
    assert encode.seen == ["ccc", "dddd"]
    assert all(path.suffix == ".npz" for path in tmp_path.iterdir())


def test_other_makers_do_not_share(tmp_path):
    lengths(VectorCache(tmp_path, "f"), Encoder())
    encode = Encoder()
    lengths(VectorCache(tmp_path, "g"), encode)
    assert len(encode.seen) == 4


def test_a_broken_part_is_said_and_made_again(tmp_path):
    lengths(VectorCache(tmp_path, "f"), Encoder())
    path = min(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:50])
    with pytest.warns(UserWarning, match="broken"):
        cache = VectorCache(tmp_path, "f")
    encode = Encoder()
    assert lengths(cache, encode) == LENGTHS
    assert len(encode.seen) == 2


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(T2VError, match="T010"):
        lengths(VectorCache(tmp_path / "file" / "cache", "f"), Encoder())
