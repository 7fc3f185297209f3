from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.sentence_pairs import SentencePairs
from t2v_spacy.evaluation.suite.clustering import (
    Clustering,
    read_clustering,
    score_clustering,
)
from t2v_spacy.evaluation.suite.sts import score_sts

from .toy import Toy, write_lines

pytest.importorskip("sklearn")


def test_spearman_by_hand():
    table = {
        "a": [1.0, 0.0], "b": [1.0, 0.1], "c": [1.0, 1.0], "d": [0.0, 9.0], "e": [-1.0, 0.0],
    }  # fmt: skip
    # Cosines with a: b > c > d > e; the annotators turn c and d round.
    pairs = SentencePairs("toy", ("a",) * 4, ("b", "c", "d", "e"), (4.0, 2.0, 3.0, 0.0))
    found = score_sts(pairs, Toy(table))
    assert found.value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.low <= found.value <= found.high
    assert (found.items, found.over) == (4, "pairs")


def test_a_blank_sentence_is_like_nothing():
    pairs = SentencePairs(
        "toy", ("aab", "aab", "aab"), ("aab", "b", " "), (3.0, 2.0, 0.0)
    )
    assert score_sts(pairs, Toy()).value == pytest.approx(1)


def test_clusters_that_are_the_labels_score_1_and_the_rest_0():
    texts = ("aaa", "aaaa", "bbb", "bbbb")
    good = Clustering("toy", texts, ("x", "x", "y", "y"), ("",) * 4)
    assert score_clustering(good, Toy()).value == pytest.approx(1)
    bad = Clustering("toy", texts, ("x", "y", "x", "y"), ("",) * 4)
    # Vectors of (3, 0), (4, 0), (0, 3), (0, 4) fall apart by letter.
    assert score_clustering(bad, Toy()).value == pytest.approx(0, abs=1e-9)


def test_each_set_is_clustered_by_itself():
    texts = ("aaa", "aaaa", "bbb", "bbbb") * 2
    labels = ("x", "x", "y", "y", "x", "y", "x", "y")
    data = Clustering("toy", texts, labels, ("1",) * 4 + ("2",) * 4)
    found = score_clustering(data, Toy())
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((0, 1), abs=1e-9)
    assert found.over == "2 sets"


def test_the_same_clusters_in_every_run():
    texts = tuple("abcdef"[i % 6] * (1 + i % 5) + "fed"[i % 3] for i in range(40))
    data = Clustering("toy", texts, tuple("xyz"[i % 3] for i in range(40)), ("",) * 40)
    found = score_clustering(data, Toy())
    assert found == score_clustering(data, Toy())
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_clustering_files(tmp_path):
    write_lines(
        tmp_path / "test.jsonl",
        {"text": "a", "label": "x", "set": 1},
        {"text": "b", "label": 2},
    )
    found = read_clustering(tmp_path)
    assert (found.labels, found.sets) == (("x", "2"), ("1", ""))
    write_lines(tmp_path / "test.jsonl", {"text": "a", "label": "x"}, {"label": "x"})
    with pytest.raises(T2VError, match="T201.*test.jsonl, line 2, .*'text'"):
        read_clustering(tmp_path)


def test_no_text_is_refused(tmp_path):
    write_lines(tmp_path / "test.jsonl")
    with pytest.raises(T2VError, match="T205"):
        score_clustering(read_clustering(tmp_path), Toy())
