from __future__ import annotations

import pickle

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.global_views import context_views, dropout_views, split_views
from t2v_spacy.sections.labels import CRITERIA, KEY_ATTRIBUTES, SECTION_LABELS

AT = SECTION_LABELS.index
KEYS = [AT(label) for label in KEY_ATTRIBUTES]
CONTEXT = [i for i in range(len(SECTION_LABELS)) if i not in KEYS]


def present(*rows: str) -> np.ndarray:
    """One trial a row, its labels separated by blanks."""
    found = np.zeros((len(rows), len(SECTION_LABELS)), dtype="f")
    for i, labels in enumerate(rows):
        found[i, [AT(label) for label in labels.split()]] = 1
    return found


MANY = present(*["title condition intervention keyword summary eligibility"] * 400)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_dropout_takes_attributes_only_and_never_all(rng):
    first, second = dropout_views(0.9)(MANY, rng)
    assert (first == MANY).all()
    assert (second[:, CONTEXT] == MANY[:, CONTEXT]).all()
    assert (second <= MANY).all()
    assert (second[:, KEYS].sum(1) >= 1).all()
    # Of four attributes at .9 all would go in two trials of three.
    assert (second[:, KEYS].sum(1) == 1).mean() > 0.8


def test_dropout_takes_each_at_its_rate(rng):
    _, second = dropout_views(0.3)(MANY, rng)
    shares = 1 - second[:, [AT("title"), AT("keyword")]].mean(0)
    np.testing.assert_allclose(shares, 0.3, atol=0.06)


def test_dropout_keeps_a_single_attribute_and_none(rng):
    rows = present(*["title summary", "summary eligibility"] * 50)
    _, second = dropout_views(0.99)(rows, rng)
    assert (second == rows).all()


def test_split_views_share_no_section_and_lose_none(rng):
    first, second = split_views()(MANY, rng)
    assert not (first * second).any()
    assert (first + second == MANY).all()
    assert 0.4 < first.sum() / MANY.sum() < 0.6


def test_split_views_keep_the_criteria_together(rng):
    rows = present(*["title inclusion exclusion eligibility"] * 100)
    criteria = [AT(label) for label in CRITERIA]
    for view in split_views()(rows, rng):
        assert set(view[:, criteria].sum(1).tolist()) == {0.0, 3.0}


def test_split_rate_is_the_share_of_the_first(rng):
    first, _ = split_views(0.2)(MANY, rng)
    assert first.sum() / MANY.sum() == pytest.approx(0.2, abs=0.05)


def test_context_views_are_attributes_and_context(rng):
    rows = present("title condition summary eligibility", "title", "summary")
    first, second = context_views()(rows, rng)
    assert (first == present("title condition", "title", "")).all()
    assert (second == present("summary eligibility", "", "summary")).all()


@pytest.mark.parametrize("make", [dropout_views(), split_views(), context_views()])
def test_views_are_a_matter_of_the_seed_and_pickle(make):
    again = pickle.loads(pickle.dumps(make))
    one, two = (m(MANY, np.random.default_rng(3)) for m in (make, again))
    for a, b in zip(one, two, strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("make", [dropout_views, split_views])
@pytest.mark.parametrize("rate", [0.0, 1.0, -0.5])
def test_a_rate_out_of_range_is_named(make, rate):
    with pytest.raises(T2VError, match="T026.*rate.*above 0 and below 1"):
        make(rate)
