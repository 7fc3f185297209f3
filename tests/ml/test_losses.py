from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import normalize

from t2v_spacy.ml.losses import info_nce, soft_nce

ANCHORS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
POSITIVES = torch.tensor([[1.0, 0.0], [0.6, 0.8]])  # cosines 1, .6 and 0, .8


def minus_log(own: float, *others: float) -> float:
    """-log of the softmax of `own` among all."""
    return math.log(sum(math.exp(x - own) for x in (own, *others)))


def test_the_other_positives_are_negatives():
    expected = (minus_log(1.0, 0.6) + minus_log(0.8, 0.0)) / 2
    assert float(info_nce(ANCHORS, POSITIVES, 1.0)) == pytest.approx(expected)


def test_the_scale_divides_by_the_temperature():
    expected = (minus_log(2.0, 1.2) + minus_log(1.6, 0.0)) / 2
    found = info_nce(ANCHORS, POSITIVES, torch.tensor(2.0))
    assert float(found) == pytest.approx(expected)


def test_symmetric_is_half_of_each_direction():
    there = (minus_log(1.0, 0.6) + minus_log(0.8, 0.0)) / 2
    back = (minus_log(1.0, 0.0) + minus_log(0.8, 0.6)) / 2
    found = info_nce(ANCHORS, POSITIVES, 1.0, symmetric=True)
    assert float(found) == pytest.approx((there + back) / 2)


def test_own_negatives_that_are_given_count():
    negatives = torch.tensor([[[0.6, 0.8], [-1.0, 0.0]], [[0.8, 0.6], [1.0, 0.0]]])
    given = torch.tensor([[True, True], [True, False]])
    found = info_nce(ANCHORS, POSITIVES, 1.0, negatives=negatives, given=given)
    first, second = minus_log(1.0, 0.6, 0.6, -1.0), minus_log(0.8, 0.0, 0.6)
    assert float(found) == pytest.approx((first + second) / 2)


def test_without_in_batch_only_own_negatives_count():
    negatives = torch.tensor([[[0.6, 0.8]], [[0.8, 0.6]]])
    settings = {"negatives": negatives, "in_batch": False}
    found = info_nce(ANCHORS, POSITIVES, 1.0, **settings)
    expected = (minus_log(1.0, 0.6) + minus_log(0.8, 0.6)) / 2
    assert float(found) == pytest.approx(expected)
    given = torch.tensor([[True], [False]])
    found = info_nce(ANCHORS, POSITIVES, 1.0, given=given, **settings)
    assert float(found) == pytest.approx(minus_log(1.0, 0.6))
    assert info_nce(ANCHORS, POSITIVES, 1.0, in_batch=False) is None


def test_ignored_pairs_are_no_negatives():
    anchors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    ignore = torch.zeros(3, 3, dtype=torch.bool)
    ignore[0, 1] = ignore[1, 0] = True
    found = info_nce(anchors, anchors, 1.0, ignore=ignore)
    rows = [minus_log(1.0, 0.6), minus_log(1.0, 0.8), minus_log(1.0, 0.6, 0.8)]
    assert float(found) == pytest.approx(sum(rows) / 3)


def test_a_row_that_is_not_valid_is_nobodys_negative():
    anchors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    valid = torch.tensor([True, False, True])
    found = info_nce(anchors, anchors, 1.0, valid=valid, symmetric=True)
    assert float(found) == pytest.approx(minus_log(1.0, 0.6))


def test_rows_without_a_negative_do_not_dilute_the_mean():
    ignore = torch.ones(2, 2, dtype=torch.bool)
    negatives = torch.tensor([[[0.6, 0.8]], [[0.0, 1.0]]])
    given = torch.tensor([[True], [False]])
    found = info_nce(
        ANCHORS, POSITIVES, 1.0, negatives=negatives, given=given, ignore=ignore
    )
    assert float(found) == pytest.approx(minus_log(1.0, 0.6))


@pytest.mark.parametrize("symmetric", [False, True])
def test_nothing_to_learn_is_no_loss(symmetric):
    assert info_nce(ANCHORS[:1], POSITIVES[:1], 1.0, symmetric=symmetric) is None
    ignore = torch.ones(2, 2, dtype=torch.bool)
    found = info_nce(ANCHORS, POSITIVES, 1.0, ignore=ignore, symmetric=symmetric)
    assert found is None
    nobody = torch.zeros(2, dtype=torch.bool)
    assert info_nce(ANCHORS, POSITIVES, 1.0, valid=nobody) is None


def test_what_is_no_number_is_not_passed_over():
    anchors = torch.full((2, 2), torch.nan)
    assert info_nce(anchors, POSITIVES, 1.0).isnan()
    assert info_nce(ANCHORS, anchors, 1.0, symmetric=True).isnan()


def test_masked_places_get_no_gradient():
    torch.manual_seed(0)
    anchors = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    positives = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    negatives = torch.randn(3, 2, 4, dtype=torch.double, requires_grad=True)
    given = torch.tensor([[True, True], [True, False], [False, False]])
    ignore = torch.zeros(3, 3, dtype=torch.bool)
    ignore[0, 1] = ignore[1, 0] = True
    valid = torch.tensor([True, True, False])

    def loss(a, p, n):
        return info_nce(
            a, p, 2.0, negatives=n, given=given, ignore=ignore, valid=valid,
            symmetric=True,
        )  # fmt: skip

    loss(anchors, positives, negatives).backward()
    assert not anchors.grad[2].any()
    assert not positives.grad[2].any()
    assert not negatives.grad[~given].any()
    assert negatives.grad[0].any(dim=-1).all()
    inputs = (anchors, positives, negatives)
    assert torch.autograd.gradcheck(loss, inputs, fast_mode=True)


def test_soft_targets_share_the_mass():
    vectors = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    targets = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = soft_nce(vectors, targets, 1.0)
    expected = (minus_log(0.6, 0.0) + minus_log(0.6, 0.8)) / 2
    assert float(found) == pytest.approx(expected)
    four = torch.cat([vectors, torch.tensor([[0.8, 0.6]])])
    graded = torch.zeros(4, 4)
    graded[0, 1], graded[0, 3] = 3.0, 1.0
    first, second = minus_log(0.6, 0.0, 0.8), minus_log(0.8, 0.0, 0.6)
    found = soft_nce(four, graded, 1.0)
    assert float(found) == pytest.approx(0.75 * first + 0.25 * second)


def test_soft_targets_need_a_pair_and_a_stranger():
    vectors = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    assert soft_nce(vectors, torch.ones(2, 2), 1.0) is None
    assert soft_nce(vectors, torch.zeros(2, 2), 1.0) is None
    assert soft_nce(vectors, torch.eye(2), 1.0) is None


def test_soft_targets_by_finite_differences():
    torch.manual_seed(0)
    vectors = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    targets = torch.zeros(4, 4, dtype=torch.double)
    targets[0, 1] = targets[1, 0] = 1.0
    targets[2, 0] = 0.5
    assert torch.autograd.gradcheck(
        lambda x: soft_nce(normalize(x, dim=-1), targets, 3.0), (vectors,)
    )
