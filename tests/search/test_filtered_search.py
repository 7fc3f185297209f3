from __future__ import annotations

import json
import pickle
import random
import sqlite3
import warnings

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import Filters, IndexEntry, TrialIndex
from t2v_spacy.search.annoy_store import AnnoyStore
from t2v_spacy.search.build import META
from t2v_spacy.search.facets import FACETS
from t2v_spacy.trial import Location, Trial

from .filter_toys import (
    WIDTH,
    brute_nearest,
    passes,
    random_entries,
    random_filters,
    random_trial,
)
from .toys import nct

N = 1500


@pytest.fixture(scope="module")
def entries() -> list[IndexEntry]:
    return random_entries(N)


@pytest.fixture(scope="module")
def index(entries) -> TrialIndex:
    return TrialIndex.build(entries, exact_below=0)


@pytest.fixture
def folder(tmp_path):
    TrialIndex.build(random_entries(200)).to_disk(tmp_path / "index")
    return tmp_path / "index"


def ids(hits) -> list[str]:
    return [hit.nct_id for hit in hits]


def queries(n: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, WIDTH)).astype(np.float32)


# the same as comparing with all that pass


def test_exact_search_is_the_exhaustive_one(index, entries):
    draw = random.Random(2)
    for query in queries(60):
        filters = random_filters(draw)
        passing = {e.trial.nct_id for e in entries if passes(e, filters)}
        hits = index.search(query, 10, filters=filters, exact=True)
        assert ids(hits) == brute_nearest(index, query, 10, passing), filters
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_annoy_finds_k_and_almost_all_of_the_nearest():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(24000, WIDTH)).astype(np.float32)
    store = AnnoyStore.build(rows, exact_below=0)
    calls, shares = Calls(store), []
    for query in queries(60):
        among = rng.random(24000) < rng.uniform(0.1, 1)
        before = calls.n
        found, cosines = store.nearest(query, 10, search_k=1200, among=among)
        assert len(set(found.tolist())) == 10
        assert among[found].all()
        assert (np.diff(cosines) <= 0).all()
        truth, exact = store.nearest(query, 10, method="exact", among=among)
        shares.append(len(np.intersect1d(found, truth)) / 10)
        if calls.n == before:
            assert np.array_equal(cosines, exact)
    assert calls.n > 20
    assert np.mean(shares) >= 0.98


def test_broad_filters_are_answered_by_annoy_and_give_k():
    entries = random_entries(N)
    index = TrialIndex.build(entries, exact_below=0)
    calls = Calls(index._corpus.store)
    for query in queries(20):
        filters = Filters(sex=("female", "male"), started_after=2009)
        hits = index.search(query, 10, filters=filters, search_k=50)
        assert len(hits) == 10
        assert all(hit.trial.sex and hit.trial.start_date for hit in hits)
    assert calls.n >= 20


class Calls:
    """Counts what Annoy is asked."""

    def __init__(self, store: AnnoyStore) -> None:
        self.n, self._trees = 0, store._trees
        store._trees = self

    def get_nns_by_vector(self, *arguments):
        self.n += 1
        return self._trees.get_nns_by_vector(*arguments)


def clustered_store() -> tuple[AnnoyStore, np.ndarray]:
    """2,000 vectors in two far clusters, and which are in the second."""
    rng = np.random.default_rng(0)
    rows = 0.3 * rng.normal(size=(2000, 8))
    rows[:, 0] += np.where(np.arange(2000) < 1000, 5, -5)
    return AnnoyStore.build(rows.astype(np.float32), exact_below=0), np.arange(
        2000
    ) >= 1000


def test_trials_that_pass_far_from_the_query_are_found():
    store, far = clustered_store()
    query = store.vectors[3]
    found, cosines = store.nearest(query, 10, search_k=100, among=far)
    truth, exact = store.nearest(query, 10, method="exact", among=far)
    assert found.tolist() == truth.tolist()
    assert np.array_equal(cosines, exact)
    assert cosines.max() < 0


def test_few_that_pass_are_all_compared():
    store, _ = clustered_store()
    among = np.zeros(2000, bool)
    among[[5, 800, 1999]] = True
    calls = store._trees = Refusing()
    for k in (1, 3, 9):
        found, _ = store.nearest(store.vectors[5], k, among=among, skip={800})
        assert found.tolist() == [5, 1999][:k]
    assert calls.n == 0


class Refusing:
    n = 0

    def get_nns_by_vector(self, *arguments):
        self.n += 1
        return []


def test_when_annoy_gives_too_few_all_that_pass_are_compared():
    store, far = clustered_store()
    truth, _ = store.nearest(store.vectors[3], 5, method="exact", among=far)
    store._trees = Refusing()
    found, _ = store.nearest(store.vectors[3], 5, search_k=10, among=far)
    assert found.tolist() == truth.tolist()
    assert store._trees.n > 1


def test_nothing_passes():
    store, _ = clustered_store()
    found, cosines = store.nearest(store.vectors[3], 5, among=np.zeros(2000, bool))
    assert found.shape == cosines.shape == (0,)


def test_equal_vectors_come_in_the_order_of_the_index():
    entries = [
        IndexEntry(random_trial(n, random.Random(n)), np.ones(WIDTH, np.float32))
        for n in range(400)
    ]
    index = TrialIndex.build(entries, exact_below=0)
    numbers = [n for n, e in enumerate(entries) if e.trial.sex in ("FEMALE", "ALL")]
    for exact in (True, False):
        hits = index.search(np.ones(WIDTH), 7, filters={"sex": "female"}, exact=exact)
        assert ids(hits) == [nct(n) for n in numbers[:7]]
    everything = ids(index.search(np.ones(WIDTH), 400, exact=True))
    assert [i for i in everything if int(i[4:]) in numbers] == [nct(n) for n in numbers]


# with the other settings of a search


def test_the_query_itself_is_left_out(index, entries):
    filters = Filters(sex="female")
    own = next(e.trial.nct_id for e in entries if passes(e, filters))
    passing = {e.trial.nct_id for e in entries if passes(e, filters)}
    hits = index.search(own, N, filters=filters)
    assert set(ids(hits)) == passing - {own}
    truth = brute_nearest(index, index.vector(own), 10, passing - {own})
    assert ids(index.search(own, 10, filters=filters)) == truth


def test_by_part_and_against_sections(index, entries):
    filters = Filters(phases="2", started_after=2012)
    passing = {e.trial.nct_id for e in entries if passes(e, filters)}
    own = nct(0)
    everything = index.search(own, N, against="section")
    expected = [i for i in ids(everything) if i in passing][:10]
    found = index.search(own, 10, against="section", filters=filters)
    assert ids(found) == expected
    by_part = index.search(own, N, parts=["title"], exact=True)
    expected = [i for i in ids(by_part) if i in passing][:10]
    assert ids(index.search(own, 10, parts=["title"], filters=filters)) == expected


def test_a_mapping_and_no_filters(index):
    query = queries(1)[0]
    by_mapping = index.search(query, filters={"phase": {"PHASE3"}})
    assert by_mapping == index.search(query, filters=Filters(phases="PHASE3"))
    assert all("PHASE3" in hit.trial.phases for hit in by_mapping)
    for nothing in (None, {}, Filters()):
        assert index.search(query, filters=nothing) == index.search(query)
    with pytest.raises(T2VError, match="T162.*'colour'"):
        index.search(query, filters={"colour": "red"})
    with pytest.raises(T2VError, match="T160.*phases"):
        index.search(query, filters={"phases": "9"})


def test_one_after_the_other(index, entries):
    """What is kept of one search is not taken for the next."""
    query = queries(1)[0]
    for sex in ("female", "male", "female"):
        filters = Filters(sex=sex)
        passing = {e.trial.nct_id for e in entries if passes(e, filters)}
        hits = index.search(query, 10, filters=filters)
        assert ids(hits) == brute_nearest(index, query, 10, passing)


# changes, saving


def agrees(index: TrialIndex, live: list[IndexEntry], seed: int) -> None:
    draw = random.Random(seed)
    by_id = {e.trial.nct_id for e in live}
    assert set(index.ids()) == by_id
    for query in queries(12, seed):
        filters = random_filters(draw)
        passing = {e.trial.nct_id for e in live if passes(e, filters)}
        assert index.filter_report(filters).matching == len(passing)
        assert index.filter_report(filters).total == len(live)
        hits = index.search(query, 5, filters=filters)
        assert ids(hits) == brute_nearest(index, query, 5, passing)


def test_filters_follow_every_change(tmp_path):
    entries = random_entries(150)
    index = TrialIndex.build(entries)
    agrees(index, entries, 1)
    more = random_entries(60, seed=5, first=200)
    index.add(more[:40])
    agrees(index, entries + more[:40], 2)
    index.remove([e.trial.nct_id for e in (*entries[:30], *more[:10])])
    agrees(index, entries[30:] + more[10:40], 3)
    index.add(more[40:])
    live = entries[30:] + more[10:]
    agrees(index, live, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agrees(pickle.loads(pickle.dumps(index)), live, 5)
        index.to_disk(tmp_path / "index")
        agrees(TrialIndex.from_disk(tmp_path / "index"), live, 6)
    opened = TrialIndex.from_disk(tmp_path / "index")
    for one, other in zip(opened.entries(), live, strict=True):
        linked = other.concepts or {"condition": {}, "intervention": {}}
        assert one.concepts == linked


def test_the_same_filters_after_a_change():
    """Nothing kept from before the change is used."""
    index = TrialIndex.build(random_entries(20))
    filters = Filters(sex=("female", "male"))
    before = index.search(queries(1)[0], 50, filters=filters)
    index.remove([before[0].nct_id])
    assert ids(index.search(queries(1)[0], 50, filters=filters)) == ids(before)[1:]
    index.add([IndexEntry(Trial(nct(900), title="x", sex="ALL"), queries(1)[0])])
    after = index.search(queries(1)[0], 50, filters=filters)
    assert ids(after) == [nct(900), *ids(before)[1:]]


def test_dropped_records_leave_no_gap():
    entries = random_entries(10)
    merged = random_entries(1, seed=9, first=50)[0]
    merged = IndexEntry(
        Trial(**{**vars(merged.trial), "aliases": (nct(3),)}),
        merged.vector,
        concepts=merged.concepts,
    )
    with pytest.warns(UserWarning, match="alias"):
        index = TrialIndex.build([*entries, merged])
    live = [*entries[:3], *entries[4:], merged]
    agrees(index, live, 1)
    assert index.meta["files"][FACETS]["size"] > 0


def test_an_index_from_which_all_was_removed():
    index = TrialIndex.build(random_entries(3))
    index.remove(index.ids())
    assert index.search(queries(1)[0], filters={"phases": "2"}) == []
    report = index.filter_report({"phases": "2"})
    assert (report.total, report.matching) == (0, 0)
    assert report.lines() == ["None of 0 trials passes phases PHASE2."]


def test_damage_is_noticed(folder):
    path = folder / FACETS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(T2VError, match=f"T041.*{FACETS} has a wrong checksum"):
        TrialIndex.from_disk(folder)
    path.unlink()
    with pytest.raises(T2VError, match=f"T041.*{FACETS} is missing"):
        TrialIndex.from_disk(folder, verify=False)


def test_the_facets_of_another_index(folder, tmp_path):
    TrialIndex.build(random_entries(7)).to_disk(tmp_path / "other")
    (folder / FACETS).write_bytes((tmp_path / "other" / FACETS).read_bytes())
    meta = json.loads((folder / META).read_text())
    meta["files"][FACETS]["size"] = (folder / FACETS).stat().st_size
    (folder / META).write_text(json.dumps(meta))
    index = TrialIndex.from_disk(folder, verify=False)
    with pytest.raises(T2VError, match=f"T041.*{FACETS} is of 7 trials instead of 200"):
        index.search(queries(1)[0], filters={"phases": "2"})


def make_old(folder) -> None:
    """As it was before there were filters."""
    (folder / FACETS).unlink()
    meta = json.loads((folder / META).read_text())
    del meta["files"][FACETS], meta["kb"]
    (folder / META).write_text(json.dumps(meta))


def test_an_index_from_before_there_were_filters(folder):
    make_old(folder)
    live = [IndexEntry(e.trial, e.vector) for e in random_entries(200)]
    index = TrialIndex.from_disk(folder)
    assert index.search(queries(1)[0])
    with pytest.warns(UserWarning, match="T163.*before there were filters"):
        index.filter_report({"phases": "2"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw = random.Random(4)
        for query in queries(10):
            filters = random_filters(draw)
            if any(name.endswith("concept") for name, _ in filters.active()):
                continue
            passing = {e.trial.nct_id for e in live if passes(e, filters)}
            hits = index.search(query, 5, filters=filters)
            assert ids(hits) == brute_nearest(index, query, 5, passing)
    with pytest.raises(T2VError, match="T161.*condition_concept"):
        index.search(queries(1)[0], filters={"condition_concept": "C1"})
    assert next(index.entries()).concepts is None


def test_an_old_index_is_new_once_it_was_changed(folder, tmp_path):
    make_old(folder)
    index = TrialIndex.from_disk(folder)
    index.remove([nct(0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index.to_disk(tmp_path / "new")
        live = random_entries(200)[1:]
        opened = TrialIndex.from_disk(tmp_path / "new")
        filters = Filters(phases="2", country="Germany")
        expected = sum(passes(e, filters) for e in live)
        assert opened.filter_report(filters).matching == expected > 0


def test_filters_read_no_record(folder):
    db = sqlite3.connect(folder / "records.sqlite")
    db.execute("UPDATE trial SET record = 'gone'")
    db.commit()
    db.close()
    meta = json.loads((folder / META).read_text())
    meta["files"]["records.sqlite"]["size"] = (folder / "records.sqlite").stat().st_size
    (folder / META).write_text(json.dumps(meta))
    index = TrialIndex.from_disk(folder, verify=False)
    assert index.search(queries(1)[0], filters={"phases": "2", "age": 50})


def test_countries_once_by_one_of_their_names():
    named = [("Viet Nam", "USA"), (None,), ("United States", "Peru", "Vietnam"), ()]
    index = TrialIndex.build(
        IndexEntry(
            Trial(
                nct(i), title="A", locations=tuple(Location(country=n) for n in names)
            ),
            np.ones(WIDTH, np.float32),
        )
        for i, names in enumerate(named)
    )
    assert index.countries() == ["Peru", "United States", "Vietnam"]
    passing = [index.passing({"country": name}) for name in index.countries()]
    assert passing == [[nct(2)], [nct(0), nct(2)], [nct(0), nct(2)]]
