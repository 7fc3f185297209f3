from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search.fusion import fuse

NAN = float("nan")
ONE = np.array([0.9, 0.8, 0.7, 0.6])
OTHER = np.array([1.0, 2.0, 8.0, 4.0])
EVEN = {"one": 1.0, "other": 1.0}


def fused(k: int = 10, weights=EVEN, one=ONE, other=OTHER, **settings):
    return fuse({"one": one, "other": other}, weights, k, **settings)


def test_scores_by_hand():
    found = fused(k0=1)
    # Ranks 1 2 3 4 and 4 3 1 2, so 2 / (1 + rank), halved.
    expected = {0: 1 / 2 + 1 / 5, 1: 1 / 3 + 1 / 4, 2: 1 / 4 + 1 / 2, 3: 1 / 5 + 1 / 3}
    assert found.places.tolist() == [2, 0, 1, 3]
    assert np.allclose(found.scores, [expected[p] for p in found.places])
    assert found.ranks["one"].tolist() == [3, 1, 2, 4]
    assert found.ranks["other"].tolist() == [1, 4, 3, 2]


def test_first_everywhere_scores_one():
    assert fused(other=ONE).scores[0] == 1
    assert fused(other=ONE, weights={"one": 0.2, "other": 3.0}).scores[0] == 1


def test_weights():
    assert fused(weights={"one": 5.0, "other": 1.0}).places[0] == 0
    alone = fused(weights={"one": 1.0, "other": 0.0})
    assert alone.places.tolist() == [0, 1, 2, 3]
    assert alone.ranks["other"].tolist() == [4, 3, 1, 2]


def test_equal_scores_share_their_mean_rank():
    found = fused(other=np.array([0.0, 0.0, 0.0, 5.0]), k0=1)
    assert dict(zip(found.places.tolist(), found.ranks["other"].tolist(), strict=True)) == {0: 2, 1: 2, 2: 2, 3: 1}  # fmt: skip
    assert found.scores[found.places.tolist().index(0)] == pytest.approx(1 / 2 + 1 / 4)


def test_equal_results_come_by_place():
    found = fused(one=np.array([1.0, 2.0, 2.0]), other=np.array([0.0, 5.0, 5.0]))
    assert found.places.tolist() == [1, 2, 0]


def test_a_ranking_that_cannot_say_is_left_out_of_the_mean():
    found = fused(other=np.array([NAN, 2.0, 1.0, NAN]), k0=1)
    assert found.places.tolist() == [0, 1, 2, 3]
    assert found.ranks["other"].tolist() == [0, 1, 2, 0]
    assert found.scores.tolist() == pytest.approx([1, (2 / 3 + 1) / 2, (2 / 4 + 2 / 3) / 2, 2 / 5])  # fmt: skip


def test_a_ranking_that_looked_no_further():
    found = fused(other=np.array([-np.inf, 2.0, 1.0, -np.inf]), k0=1)
    assert found.places.tolist() == [1, 0, 2, 3]
    assert found.ranks["other"].tolist() == [1, 3, 2, 3]


def test_no_ranking_can_say():
    assert len(fused(one=np.full(4, NAN), other=np.full(4, NAN)).places) == 0


def test_only_some_places():
    found = fused(among=np.array([True, False, False, True]), k0=1)
    assert found.places.tolist() == [0, 3]
    # Both have ranks 1 and 2 among the two.
    assert found.scores.tolist() == pytest.approx([1 / 2 + 1 / 3] * 2)
    assert len(fused(among=np.zeros(4, bool)).places) == 0


def test_who_goes_first():
    first = np.array([0, 1, 0, 2])
    assert fused(first=first).places.tolist() == [3, 1, 2, 0]
    # A ranking's last place is put forward too.
    rng = np.random.default_rng(0)
    one, other = rng.random(500), rng.random(500)
    worst = int((one + other).argmin())
    first = np.arange(500) == worst
    found = fused(3, one=one, other=other, first=first, depth=5)
    assert found.places[0] == worst
    among = ~first
    assert worst not in fused(3, one=one, other=other, first=first, among=among).places


def test_k_results_if_there_are_so_many():
    rng = np.random.default_rng(0)
    one, other = rng.random(300), rng.random(300)
    for k in (1, 50, 300):
        assert len(set(fused(k, one=one, other=other, depth=2).places)) == k
    assert len(fused(1000, one=one, other=other).places) == 300


def test_candidates_do_not_change_what_is_first():
    rng = np.random.default_rng(1)
    one = rng.random(2000)
    other = one + rng.random(2000)
    whole = fused(10, one=one, other=other, depth=2000)
    some = fused(10, one=one, other=other, depth=200)
    assert some.places.tolist() == whole.places.tolist()
    assert some.scores.tolist() == whole.scores.tolist()
    assert some.ranks["other"].tolist() == whole.ranks["other"].tolist()


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ({}, {}),
        ({"one": ONE}, EVEN),
        ({"one": ONE, "other": OTHER[:2]}, EVEN),
        ({"one": ONE, "other": OTHER}, {"one": 0.0, "other": 0.0}),
        ({"one": ONE, "other": OTHER}, {"one": -1.0, "other": 2.0}),
        ({"one": ONE, "other": OTHER}, {"one": NAN, "other": 2.0}),
    ],
)
def test_what_cannot_be_fused(scores, weights):
    with pytest.raises(T2VError, match="T149"):
        fuse(scores, weights, 3)
