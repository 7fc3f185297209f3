from __future__ import annotations

import json

import numpy as np
import pytest

from t2v_spacy.search import TrialIndex
from t2v_spacy.serve import trial_map
from t2v_spacy.serve.trial_map import MapMaker, places

from .conftest import N, nct
from .test_library import wait_until


@pytest.fixture
def pca(monkeypatch):
    monkeypatch.setattr(trial_map, "_method", lambda: "PCA")


@pytest.fixture
def index(served_index, tmp_path):
    index = TrialIndex.from_disk(served_index)
    index.to_disk(tmp_path / "index")
    return TrialIndex.from_disk(tmp_path / "index")


def made(maker: MapMaker) -> dict:
    wait_until(lambda: maker.get()["status"] != "computing")
    return maker.get()


def test_principal_components_fill_the_square(pca):
    # Along the diagonal, then a little to one side: the second axis.
    vectors = np.array([[0, 0, 0], [1, 1, 0], [2, 2, 0], [1, 1, 0.5]], np.float32)
    found = places(vectors)
    np.testing.assert_allclose(found[:3, 0], [-1, 0, 1], atol=1e-5)
    np.testing.assert_allclose(found[:, 1], [-1, -1, -1, 1], atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_trials_have_a_place(pca, n):
    found = places(np.eye(4, dtype=np.float32)[:n])
    assert found.shape == (n, 2)
    assert np.isfinite(found).all()


def test_equal_trials_lie_in_one_place(pca):
    assert not places(np.ones((5, 3), np.float32)).any()


def test_neighbours_stay_together_with_t_sne():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 8)) * 0.05
    vectors[20:, 0] += 5
    found = places(vectors.astype(np.float32), seed=3)
    assert np.abs(found).max() == pytest.approx(1)
    within = np.linalg.norm(found[:20] - found[:20].mean(axis=0), axis=1).mean()
    apart = np.linalg.norm(found[:20].mean(axis=0) - found[20:].mean(axis=0))
    assert apart > 2 * within
    assert np.array_equal(found, places(vectors.astype(np.float32), seed=3))


def test_the_map_names_each_trial(pca, index):
    found = made(MapMaker(index))
    assert (found["status"], found["method"], found["total"]) == ("ready", "PCA", N)
    rows = {row[3]: row for row in found["points"]}
    assert set(rows) == set(index.ids())
    x, y, group, nct_id, title, status, phases = rows[nct(3)]
    assert (title, status) == ("Study 3 of migraine", "COMPLETED")
    assert phases == ["PHASE2", "PHASE3"]
    assert found["groups"][group] == "Nervous System Diseases"
    assert -1 <= x <= 1
    assert -1 <= y <= 1
    json.dumps(found, allow_nan=False)


def test_a_large_index_is_drawn_from_by_its_seed(pca, index):
    drawn = [row[3] for row in made(MapMaker(index, most=10))["points"]]
    assert len(drawn) == 10
    assert drawn == sorted(drawn)
    again = [row[3] for row in made(MapMaker(index, most=10))["points"]]
    other = [row[3] for row in made(MapMaker(index, most=10, seed=1))["points"]]
    assert drawn == again != other


@pytest.mark.filterwarnings("ignore:There is no map")
def test_a_map_is_kept_until_the_index_changes(pca, index, monkeypatch):
    first = made(MapMaker(index))
    monkeypatch.setattr(trial_map, "places", None)  # computing it again would fail
    assert made(MapMaker(index)) == first
    other = made(MapMaker(index, most=5))
    assert other == {"status": "failed", "reason": "it could not be computed"}


def test_a_kept_map_that_is_damaged_is_made_again(pca, index):
    first = made(MapMaker(index))
    file = index.path.with_name(".index.map.json")
    for text in ("", "[]", '{"key": 1}', "{"):
        file.write_text(text)
        assert made(MapMaker(index)) == first


def test_where_nothing_can_be_written_the_map_is_made(pca, index, monkeypatch):
    def refuse(path):
        raise PermissionError(path)

    monkeypatch.setattr(trial_map, "replaced_file", refuse)
    assert made(MapMaker(index))["status"] == "ready"
