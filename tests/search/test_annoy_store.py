from __future__ import annotations

import random
import shutil
import subprocess
import sys
import warnings
from types import SimpleNamespace

import annoy
import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import digest
from t2v_spacy.search.annoy_store import (
    TREES,
    VECTORS,
    AnnoyStore,
    self_check,
    verify_trees,
)


def clustered(n: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(40, width))
    rows = centres[rng.integers(40, size=n)] + 0.3 * rng.normal(size=(n, width))
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return clustered(500, 16)


@pytest.fixture
def saved(rows, tmp_path):
    """A folder with a sound store, and what its description says."""
    return tmp_path, AnnoyStore.build(rows, exact_below=0).save(tmp_path)


class Unreachable:
    """Stands for Annoy's index where Annoy must not see a file."""

    def __init__(self, *args):
        pass

    def load(self, *args):
        raise AssertionError("Annoy saw the file")


def test_annoy_agrees_with_exact_search(rows):
    store = AnnoyStore.build(rows, exact_below=0)
    assert store.method == "annoy"
    for query in clustered(20, 16, seed=1):
        found, cosines = store.nearest(query, 10)
        expected, exact = store.nearest(query, 10, method="exact")
        assert found.tolist() == expected.tolist()
        assert np.array_equal(cosines, exact)
        assert (np.diff(cosines) <= 0).all()
        assert np.abs(cosines).max() <= 1


def test_recall_of_the_default_setting():
    rows = clustered(20_000, 32)
    store = AnnoyStore.build(rows[:-50], n_trees=50)
    assert store.method == "annoy"
    shares = []
    for query in rows[-50:]:
        found, _ = store.nearest(query, 10)
        truth, _ = store.nearest(query, 10, method="exact")
        shares.append(len(np.intersect1d(found, truth)) / 10)
    assert np.mean(shares) >= 0.95


def test_few_vectors_are_searched_exactly(rows):
    store = AnnoyStore.build(rows)
    assert store.has_trees
    assert store.method == "exact"
    assert len(store.nearest(rows[0], 10, method="annoy")[0]) == 10


@pytest.mark.parametrize("method", ["annoy", "exact"])
def test_as_many_results_as_asked_for(rows, method):
    store = AnnoyStore.build(rows, exact_below=0)
    for k in (1, 7, 250, 500):
        assert len(store.nearest(rows[3], k, method=method)[0]) == k
    assert len(store.nearest(rows[3], 900, method=method)[0]) == 500
    skip = set(store.nearest(rows[3], 60, method="exact")[0].tolist())
    found, _ = store.nearest(rows[3], 10, method=method, skip=skip)
    everything, _ = store.nearest(rows[3], 70, method="exact")
    assert found.tolist() == everything[60:].tolist()
    assert len(store.nearest(rows[3], 10, method=method, skip=set(range(500)))[0]) == 0


def test_unknown_method(rows):
    with pytest.raises(T2VError, match="T026"):
        AnnoyStore.build(rows).nearest(rows[0], 3, method="fast")


@pytest.mark.parametrize(
    ("value", "reason"), [(0, "zero vector"), (np.nan, "not finite")]
)
def test_vectors_without_direction_are_refused_by_name(rows, value, reason):
    bad = rows.copy()
    bad[7] = value
    with pytest.raises(T2VError, match=f"T044.*row 7 .*{reason}"):
        AnnoyStore.build(bad)


def test_same_seed_same_file(rows, tmp_path):
    digests = []
    for number, seed in enumerate((3, 3, 4)):
        folder = tmp_path / str(number)
        folder.mkdir()
        AnnoyStore.build(rows, seed=seed).save(folder)
        digests.append(digest(folder / TREES))
    assert digests[0] == digests[1] != digests[2]


def test_save_and_load(rows, saved):
    folder, meta = saved
    assert meta["n_items"] == 500
    assert (meta["width"], meta["metric"]) == (16, "angular")
    assert meta["size"] == (folder / TREES).stat().st_size
    store = AnnoyStore.load(folder, meta, exact_below=0)
    assert store.method == "annoy"
    built = AnnoyStore.build(rows, exact_below=0).nearest(rows[9], 5)
    assert store.nearest(rows[9], 5)[0].tolist() == built[0].tolist()
    moved = folder.with_name("moved folder")
    shutil.move(folder, moved)
    assert AnnoyStore.load(moved, meta).has_trees


def damage_missing(folder, meta):
    (folder / TREES).unlink()


def damage_empty(folder, meta):
    (folder / TREES).write_bytes(b"")


def damage_cut_at_a_node(folder, meta):
    node = 12 + 4 * meta["width"]
    content = (folder / TREES).read_bytes()
    (folder / TREES).write_bytes(content[: -10 * node])


def damage_one_bit(folder, meta):
    content = bytearray((folder / TREES).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / TREES).write_bytes(content)


def damage_garbage(folder, meta):
    rng = random.Random(0)
    (folder / TREES).write_bytes(rng.randbytes(meta["size"]))
    meta["sha256"] = digest(folder / TREES)


def damage_other_vectors(folder, meta):
    np.save(folder / VECTORS, np.load(folder / VECTORS)[::-1])


def damage_width(folder, meta):
    meta["width"] = 17


def damage_count(folder, meta):
    meta["n_items"] = 499


def damage_vectors_cut(folder, meta):
    content = (folder / VECTORS).read_bytes()
    (folder / VECTORS).write_bytes(content[:-100])


def damage_vectors_missing(folder, meta):
    (folder / VECTORS).unlink()


@pytest.mark.parametrize(
    "damage", [f for name, f in list(globals().items()) if name.startswith("damage_")]
)
def test_damage_is_found_before_annoy_opens_the_file(saved, damage, monkeypatch):
    folder, meta = saved
    damage(folder, meta)
    monkeypatch.setattr(annoy, "AnnoyIndex", Unreachable)
    with pytest.raises(T2VError, match=r"\[T041\]"):
        AnnoyStore.load(folder, meta)


@pytest.mark.parametrize("metric", ["euclidean", "dot", "manhattan", None])
def test_other_metrics_are_refused(saved, metric, monkeypatch):
    folder, meta = saved
    monkeypatch.setattr(annoy, "AnnoyIndex", Unreachable)
    with pytest.raises(T2VError, match=r"\[T046\]"):
        AnnoyStore.load(folder, meta | {"metric": metric})


def foreign(folder, path, width):
    """A folder whose description says that a file of another program is its own."""
    rng = np.random.default_rng(0)
    np.save(folder / VECTORS, rng.normal(size=(200, width)).astype(np.float32))
    shutil.copyfile(path, folder / TREES)
    return {
        "width": width,
        "metric": "angular",
        "n_items": 200,
        "size": (folder / TREES).stat().st_size,
        "sha256": digest(folder / TREES),
    }


@pytest.mark.parametrize("width", [8, 16, 17, 768])
def test_a_foreign_file_is_refused(tmp_path, width, monkeypatch):
    other = annoy.AnnoyIndex(16, "euclidean")
    other.set_seed(1)
    for number, row in enumerate(clustered(200, 16)):
        other.add_item(number, row.tolist())
    other.build(10, n_jobs=1)
    other.save(str(tmp_path / "other.ann"))
    meta = foreign(tmp_path, tmp_path / "other.ann", width)
    monkeypatch.setattr(annoy, "AnnoyIndex", Unreachable)
    with pytest.raises(T2VError, match=r"\[T041\].*not an angular index of 200"):
        AnnoyStore.load(tmp_path, meta)


@pytest.mark.parametrize("width", [17, 8, 768])
def test_real_foreign_file_of_another_width(tmp_path, t2v_data, width, monkeypatch):
    path = t2v_data / "cases" / "c27_dim16_angular.ann"
    meta = foreign(tmp_path, path, width)
    monkeypatch.setattr(annoy, "AnnoyIndex", Unreachable)
    with pytest.raises(T2VError, match=r"\[T041\]"):
        AnnoyStore.load(tmp_path, meta)


def test_real_foreign_file_with_its_own_vectors(tmp_path, t2v_data, monkeypatch):
    path = t2v_data / "cases" / "c27_dim16_angular.ann"
    meta = foreign(tmp_path, path, 16)
    nodes = np.frombuffer(path.read_bytes(), np.float32).reshape(-1, 19)
    verify_trees(tmp_path / TREES, meta, nodes[:200, 3:])
    with pytest.raises(T2VError, match="not an angular index"):
        verify_trees(tmp_path / TREES, meta, nodes[1:201, 3:])
    monkeypatch.setattr(annoy, "AnnoyIndex", Unreachable)
    for metric in ("euclidean", "dot"):
        with pytest.raises(T2VError, match=r"\[T046\]"):
            AnnoyStore.load(tmp_path, meta | {"metric": metric})


def trees_that_answer(rows, answer):
    return SimpleNamespace(
        get_n_items=lambda: len(rows), get_nns_by_vector=lambda *a, **k: answer(*a, **k)
    )


def test_self_check():
    rows = clustered(100, 10)
    store = AnnoyStore.build(rows)
    assert self_check(store._trees, store.vectors) is None
    one = trees_that_answer(rows, lambda v, n, *a, **k: ([0], [0.0]))
    assert "1 results for 5 asked" in self_check(one, store.vectors)
    same = trees_that_answer(rows, lambda v, n, *a, **k: ([1, 2, 3, 4, 5], [0.0] * 5))
    assert "does not find itself" in self_check(same, store.vectors)
    fewer = SimpleNamespace(get_n_items=lambda: 1)
    assert "1 items instead of 100" in self_check(fewer, store.vectors)


class OneNeighbour(annoy.AnnoyIndex):
    """An Annoy that was built wrongly: one result whatever is asked for."""

    def get_nns_by_vector(self, vector, n, search_k=-1, include_distances=False):
        return super().get_nns_by_vector(vector, 1, search_k, include_distances)


def test_a_broken_annoy_gives_way_to_exact_search(rows, saved, monkeypatch):
    folder, meta = saved
    monkeypatch.setattr(annoy, "AnnoyIndex", OneNeighbour)
    with pytest.warns(UserWarning, match="1 results for 5 asked.*Exact search"):
        store = AnnoyStore.load(folder, meta, exact_below=0)
    assert store.method == "exact"
    assert len(store.nearest(rows[0], 5)[0]) == 5
    with pytest.warns(UserWarning, match="Exact search"):
        AnnoyStore.build(rows)


def test_works_without_annoy(rows, saved, tmp_path, monkeypatch):
    folder, meta = saved
    monkeypatch.setitem(sys.modules, "annoy", None)
    with pytest.warns(UserWarning, match="Annoy is not installed"):
        store = AnnoyStore.load(folder, meta, exact_below=0)
    assert store.method == "exact"
    assert store.nearest(rows[5], 1)[0].tolist() == [5]
    other = tmp_path / "other"
    other.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meta = AnnoyStore.build(rows).save(other)
    assert not (other / TREES).exists()
    monkeypatch.undo()
    assert AnnoyStore.load(other, meta).method == "exact"


def test_the_installed_annoy_passes_the_real_check(t2v_data):
    script = t2v_data / "cases" / "c28_selfcheck.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout.split() == ["ok"], done.stderr
