from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.experiments.concepts import OTHER
from t2v_spacy.evaluation.experiments.inputs import Inputs
from t2v_spacy.evaluation.experiments.trial_map import (
    MapJob,
    agreement,
    places,
    purity,
)
from t2v_spacy.evaluation.systems import make_system


def on_circle(*degrees):
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_purity_by_hand():
    rows, labels = on_circle(0, 1, 3, 90, 91.5), np.array(list("aabbb"))
    assert purity(rows, labels, 1).tolist() == [1, 1, 0, 1, 1]
    assert purity(rows, labels, 2).tolist() == [0.5, 0.5, 0, 1, 1]
    assert purity(rows, labels, 9).tolist() == [0.25, 0.25, 0.5, 0.5, 0.5]


def test_agreement_of_groups_that_lie_apart():
    rows = on_circle(0, 1, 2, 90, 91, 92, 45)
    groups = [*"aaabbb", OTHER]
    found = agreement(rows, groups, neighbours=2, repeats=3, seed=0, rounds=20)
    assert found["purity"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert found["nmi"] == pytest.approx(
        {"mean": 1.0, "low": 1.0, "high": 1.0, "seeds": 3}
    )
    assert found["chance"] == pytest.approx(2 * 3 * 2 / (6 * 5))
    assert found["trials"] == 6


def test_one_group_agrees_with_nothing():
    groups = ["a", "a", OTHER]
    assert (
        agreement(on_circle(0, 1, 2), groups, neighbours=1, repeats=1, seed=0, rounds=9)
        is None
    )


def test_places_keep_neighbours_and_are_the_same_again():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(8)[:2] * 10, 20, axis=0)
    rows = centres + rng.normal(size=(40, 8))
    found = places(rows, 30.0, seed=1)
    assert found.shape == (40, 2)
    assert np.array_equal(found, places(rows, 30.0, seed=1))
    gap = np.linalg.norm(found[:20].mean(axis=0) - found[20:].mean(axis=0))
    assert gap > found[:20].std() + found[20:].std()


def test_the_map_of_records(make_settings, counting):
    settings = make_settings(
        map={"records": "toy", "system": "Counting", "groups": 2, "repeats": 2}
    )
    found = MapJob("Counting").run(counting(), Inputs(settings))
    assert len(found["ids"]) == len(found["places"]) == len(found["groups"]) == 24
    assert found["groups"].count("Neoplasms") >= 20
    assert found["perplexity"] == pytest.approx(23 / 3)
    assert found["without_vector"] == 0


def test_what_cannot_be_drawn_is_refused(make_settings, counting):
    inputs = Inputs(make_settings(map={"records": "toy", "system": "BM25"}))
    with pytest.raises(T2VError, match="T142.*BM25 makes no vectors"):
        MapJob("BM25").run(make_system("bm25"), inputs)
    few = make_settings(
        records={"toy": {"most": 5}}, map={"records": "toy", "system": "Counting"}
    )
    with pytest.raises(T2VError, match="T142.*5 trials"):
        MapJob("Counting").run(counting(), Inputs(few))
