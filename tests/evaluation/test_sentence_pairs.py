from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import correlate, read_biosses
from t2v_spacy.evaluation.sentence_pairs import spearman

HEAD = "id\tsentence1\tsentence2\tscore_mean\tscores\n"
PAIRS = "1\tA gout.\tB gout.\t4.000\t[4.0]\n2\tA.\tC.\t0.5\t[0.5]\n3\tA.\tD.\t2\t[2]\n"


@pytest.fixture
def write(tmp_path):
    def to(text):
        path = tmp_path / "pairs.tsv"
        path.write_text(text, encoding="utf8")
        return path

    return to


def test_spearman_by_hand():
    assert spearman(np.array([1, 2, 3]), np.array([10, 20, 90])) == pytest.approx(1)
    assert spearman(np.array([1, 2, 3]), np.array([3, 2, 1])) == pytest.approx(-1)
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5 / 4, variances 4.5 / 4, 5 / 4
    ties = spearman(np.array([1, 2, 2, 4]), np.array([1, 2, 3, 4]))
    assert ties == pytest.approx((4.5 / 5) ** 0.5)
    assert spearman(np.array([1, 1]), np.array([1, 2])) == 0.0


def test_pairs_are_read_and_correlated(write):
    pairs = read_biosses(write(HEAD + PAIRS))
    assert pairs.first == ("A gout.", "A.", "A.")
    assert pairs.second == ("B gout.", "C.", "D.")
    assert pairs.scores == (4.0, 0.5, 2.0)
    assert correlate(pairs, [0.9, 0.1, 0.5]).value == pytest.approx(1)


def test_odd_pairs_are_refused_by_name(write):
    pairs = read_biosses(write(HEAD + PAIRS + "4\tA.\t\t3\t[3]\n5\tA.\tB.\tnan\t[]\n"))
    assert len(pairs.scores) == pairs.report.complete == 3
    assert [refusal.where for refusal in pairs.report.refused] == ["line 5", "line 6"]


def test_files_and_numbers_that_do_not_fit_are_refused(write, tmp_path):
    with pytest.raises(T2VError, match="T100.*score_mean"):
        read_biosses(write("id\tsentence1\n1\tA\n"))
    with pytest.raises(T2VError, match="T101"):
        read_biosses(write(HEAD))
    with pytest.raises(T2VError, match="T001"):
        read_biosses(tmp_path / "none.tsv")
    pairs = read_biosses(write(HEAD + PAIRS))
    for similarities in ([0.1, 0.2], [0.1, 0.2, float("nan")]):
        with pytest.raises(T2VError, match="T105.*3 pairs"):
            correlate(pairs, similarities)


def test_the_shared_pairs(t2v_data):
    pairs = read_biosses(t2v_data / "eval" / "biosses.tsv")
    assert len(pairs.scores) == 100 and not pairs.report.refused
    words = [
        (set(a.split()), set(b.split()))
        for a, b in zip(pairs.first, pairs.second, strict=True)
    ]
    found = correlate(pairs, [len(a & b) / len(a | b) for a, b in words], rounds=200)
    assert 0.4 < found.low < found.value < found.high < 0.9
