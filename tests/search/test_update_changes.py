"""Changes saved beside the files of an index."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import warnings

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import digest, locked
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.search.build import META
from t2v_spacy.search.stamps import STAMPS, content_hash
from t2v_spacy.trial import Trial
from t2v_spacy.values import PartialDate

from .filter_toys import WIDTH, random_entries, random_filters
from .toys import entry, make_entries, make_entry, make_index, make_trial, nct

BASE = ("vectors.ann", "vectors.npy", "records.sqlite", "facets.npz", STAMPS)


@pytest.fixture
def folder(tmp_path):
    TrialIndex.build(random_entries(200)).to_disk(tmp_path / "my index")
    return tmp_path / "my index"


def queries(n: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, WIDTH)).astype(np.float32)


def names(folder) -> list[str]:
    """Of all that is in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


def changes_in(folder) -> list[str]:
    return [name for name in names(folder) if "changes" in name]


def alike(index: TrialIndex, fresh: TrialIndex) -> None:
    """The same trials, the same answers, the same description."""
    assert index.ids() == fresh.ids()
    assert len(index) == len(fresh)
    for one, other in zip(index.entries(), fresh.entries(), strict=True):
        assert one.trial == other.trial
        assert one.trial.snapshot == other.trial.snapshot
        assert np.allclose(one.vector, other.vector, atol=1e-7)
        nothing = {"condition": {}, "intervention": {}}
        assert (one.concepts or nothing) == (other.concepts or nothing)
        assert set(one.section_vectors) == set(other.section_vectors)
        for label, vector in one.section_vectors.items():
            assert np.allclose(vector, other.section_vectors[label], atol=1e-6)
    draw = random.Random(3)
    for query in queries(25):
        filters = random_filters(draw)
        for settings in ({}, {"filters": filters}, {"exact": True}):
            assert results(index, query, **settings) == results(
                fresh, query, **settings
            )
        assert index.filter_report(filters) == fresh.filter_report(filters)
        sections = {"parts": ["title"], "against": "section"}
        found = index.search(query, 10, **sections)
        expected = fresh.search(query, 10, **sections)
        assert [hit.nct_id for hit in found] == [hit.nct_id for hit in expected]
    facts, expected = index.info(), fresh.info()
    for name in ("n_items", "sections", "snapshots", "not_indexed", "width"):
        assert facts[name] == expected[name], name


def results(index: TrialIndex, query: np.ndarray, **settings) -> list:
    return [(h.nct_id, h.score, h.title) for h in index.search(query, 10, **settings)]


def test_saved_changes_answer_as_an_index_built_at_once(folder):
    before = {name: digest(folder / name) for name in BASE}
    live = random_entries(200)
    more = random_entries(12, seed=5, first=300)
    index = TrialIndex.from_disk(folder)
    index.add(more)
    index.remove([nct(n) for n in (3, 44, 199, 301)])
    expected = [
        e for e in (*live, *more) if e.trial.nct_id not in map(nct, (3, 44, 199, 301))
    ]
    fresh = TrialIndex.build(expected)
    alike(index, fresh)
    assert index.info()["unsaved"]
    assert index.save_changes() == "changes"
    assert index.save_changes() == "nothing"
    for opened in (index, TrialIndex.from_disk(folder)):
        alike(opened, fresh)
        info = opened.info()
        assert (info["added"], info["removed"], info["unsaved"]) == (11, 3, False)
    assert {name: digest(folder / name) for name in BASE} == before
    assert len(changes_in(folder)) == 1
    assert names(folder.parent) == ["my index"]


def test_random_changes_one_after_the_other(folder):
    """Added, replaced, removed at random, saved now and then, reopened now and then."""
    draw = random.Random(11)
    live = {e.trial.nct_id: e for e in random_entries(200)}
    index = TrialIndex.from_disk(folder)
    states = set()
    for step in range(12):
        for new in random_entries(draw.randint(0, 4), seed=step, first=195 + 3 * step):
            index.remove([new.trial.nct_id] * (new.trial.nct_id in index))
            live.pop(new.trial.nct_id, None)
            index.add([new])
            live[new.trial.nct_id] = new
        gone = draw.sample(sorted(live), draw.randint(0, 4))
        index.remove(gone)
        live = {k: v for k, v in live.items() if k not in gone}
        if draw.random() < 0.6:
            states.add(index.save_changes(rebuild_above=0.15))
        if draw.random() < 0.3:
            index.save_changes(rebuild_above=1)
            index = TrialIndex.from_disk(folder)
        assert len(changes_in(folder)) <= 1
        if step % 3 == 0:
            alike(index, TrialIndex.build(live.values()))
    assert states >= {"changes", "rebuilt"}
    index.save_changes()
    alike(TrialIndex.from_disk(folder), TrialIndex.build(live.values()))


@pytest.mark.parametrize(("n", "saved"), [(20, "changes"), (21, "rebuilt")])
def test_many_changes_are_a_rebuild(folder, n, saved):
    index = TrialIndex.from_disk(folder)
    index.remove([nct(number) for number in range(10)])
    assert index.save_changes() == "changes"
    index.add(random_entries(n - 10, seed=2, first=500))
    assert index.save_changes(rebuild_above=0.1) == saved
    opened = TrialIndex.from_disk(folder)
    assert len(opened) == 190 + n - 10
    assert opened.info()["added"] == (n - 10 if saved == "changes" else 0)
    assert opened.meta["format_version"] == (2 if saved == "changes" else 1)
    assert ("updated" in opened.meta) == (saved == "changes")
    assert len(changes_in(folder)) == (saved == "changes")


def test_only_removed_needs_no_folder(folder):
    index = TrialIndex.from_disk(folder)
    index.remove([nct(5)])
    index.save_changes()
    assert changes_in(folder) == []
    opened = TrialIndex.from_disk(folder)
    assert nct(5) not in opened
    assert len(opened) == opened.info()["n_items"] == 199


def test_changes_taken_back_leave_the_index_as_it_was(folder):
    index = TrialIndex.from_disk(folder)
    index.add(random_entries(1, first=900))
    index.save_changes()
    assert index.meta["format_version"] == 2
    index.remove([nct(900)])
    assert index.save_changes() == "changes"
    assert changes_in(folder) == []
    opened = TrialIndex.from_disk(folder)
    assert opened.meta["format_version"] == 1
    alike(opened, TrialIndex.build(random_entries(200)))


def test_an_index_of_which_all_was_removed_is_saved(folder):
    index = TrialIndex.from_disk(folder)
    index.remove(index.ids())
    assert index.save_changes() == "changes"
    opened = TrialIndex.from_disk(folder)
    assert len(opened) == 0
    assert opened.search(queries(1)[0]) == []
    assert opened.info()["sections"] == {}
    opened.add(random_entries(3, first=700))
    assert opened.save_changes() == "rebuilt"
    assert TrialIndex.from_disk(folder).ids() == [nct(n) for n in (700, 701, 702)]


def test_a_program_that_knows_no_changes_does_not_open_them(folder):
    """It would show the trials that were removed: it must see a version it refuses."""
    index = TrialIndex.from_disk(folder)
    assert index.meta["format_version"] == 1
    index.remove([nct(5)])
    index.save_changes()
    assert json.loads((folder / META).read_text())["format_version"] == 2


def test_aliases_and_replaced_records(tmp_path):
    make_index(60).to_disk(tmp_path / "index")
    index = TrialIndex.from_disk(tmp_path / "index")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index.add([make_entry(make_trial(100, aliases=(nct(3), "NCT99999999")))])
        index.add([make_entry(make_trial(7, acronym="NEWER"))])
    for _ in range(2):
        assert index[nct(3)].nct_id == index["nct99999999 "].nct_id == nct(100)
        assert index[nct(7)].acronym == "NEWER"
        assert index.ids()[-2:] == [nct(100), nct(7)]
        assert len(index) == 60
        assert index.info()["not_indexed"] == {"given twice": 1}
        index.save_changes(rebuild_above=1)
        index = TrialIndex.from_disk(tmp_path / "index")
    with pytest.warns(UserWarning, match=f"{nct(3)} was given twice; it is an alias"):
        assert index.add([make_entry(make_trial(3))])["left_out"] == 1
    assert index.remove([nct(3)]) == 1
    assert nct(100) not in index
    index.save_changes(rebuild_above=1)
    assert nct(3) not in TrialIndex.from_disk(tmp_path / "index")


def test_what_is_not_indexed_follows_the_changes(tmp_path):
    bare = IndexEntry(Trial(nct(50)), None)
    TrialIndex.build([*make_entries(40), bare]).to_disk(tmp_path / "index")
    index = TrialIndex.from_disk(tmp_path / "index")
    with pytest.warns(UserWarning, match="T044.*no text"):
        index.add([IndexEntry(Trial(nct(51)), None), make_entry(make_trial(50))])
    assert index.info()["not_indexed"] == {"no text": 1}
    index.save_changes()
    index = TrialIndex.from_disk(tmp_path / "index")
    assert index.meta["not_indexed"] == {"no text": [nct(51)]}
    with pytest.warns(UserWarning, match="T044"):
        index.add([IndexEntry(Trial(nct(51)), None)])
    assert index.save_changes() == "nothing"  # it is listed already
    index.remove([nct(n) for n in range(10)])
    index.to_disk(tmp_path / "index")
    merged = TrialIndex.from_disk(tmp_path / "index")
    assert merged.meta["not_indexed"] == {"no text": [nct(51)]}
    assert "changes" not in merged.meta


def test_snapshots_follow_the_changes(tmp_path):
    def dated(number: int, day: str) -> IndexEntry:
        return make_entry(make_trial(number, snapshot=PartialDate(day, "day")))

    days = ["2023-01-31", "2024-05-01", *["2023-06-01"] * 30]
    entries = [dated(number, day) for number, day in enumerate(days)]
    TrialIndex.build(entries).to_disk(tmp_path / "index")
    index = TrialIndex.from_disk(tmp_path / "index")
    index.add([dated(77, "2025-02-03")])
    index.remove([nct(0)])
    assert index.info()["snapshots"] == ["2023-06-01", "2025-02-03"]
    index.save_changes()
    opened = TrialIndex.from_disk(tmp_path / "index")
    assert opened.info()["snapshots"] == ["2023-06-01", "2025-02-03"]
    opened.remove([nct(77), nct(1)])
    assert opened.info()["snapshots"] == ["2023-06-01", "2023-06-01"]


def test_saving_elsewhere_sending_and_copying(folder, tmp_path):
    index = TrialIndex.from_disk(folder)
    index.add(random_entries(5, seed=1, first=300))
    index.remove([nct(5)])
    index.save_changes()
    fresh = TrialIndex.build(index.entries())
    assert len(pickle.dumps(index)) < 1_000
    for copy in (
        pickle.loads(pickle.dumps(index)),
        TrialIndex.from_bytes(index.to_bytes()),
    ):
        alike(copy, fresh)
    index.to_disk(tmp_path / "merged")
    merged = TrialIndex.from_disk(tmp_path / "merged")
    alike(merged, fresh)
    assert merged.info()["added"] == 0
    assert changes_in(tmp_path / "merged") == []
    shutil.copytree(folder, tmp_path / "copied")
    alike(TrialIndex.from_disk(tmp_path / "copied"), fresh)
    index.add(random_entries(1, seed=1, first=400))
    assert nct(400) in pickle.loads(pickle.dumps(index))
    assert nct(400) not in TrialIndex.from_disk(folder)


def test_an_index_without_a_folder():
    index = make_index(5)
    index.remove([nct(1)])
    with pytest.raises(T2VError, match="T168.*to_disk"):
        index.save_changes()


# an index from before there were changes


def make_old(folder) -> None:
    (folder / STAMPS).unlink()
    meta = json.loads((folder / META).read_text())
    del meta["files"][STAMPS]
    (folder / META).write_text(json.dumps(meta))


def test_an_index_without_stamps(folder):
    make_old(folder)
    index = TrialIndex.from_disk(folder)
    hashes = [index._corpus.content_hash(place) for place in range(200)]
    assert hashes == [
        content_hash(trial) for trial in map(index.__getitem__, index.ids())
    ]
    index.remove([nct(5)])
    index.add(random_entries(2, first=300))
    fresh = TrialIndex.build(index.entries())
    index.save_changes()
    alike(TrialIndex.from_disk(folder), fresh)
    index.to_disk(folder)
    assert STAMPS in TrialIndex.from_disk(folder).meta["files"]


def test_the_hash_is_of_all_but_where_a_record_is_from():
    trial = make_trial(1)
    same = make_trial(1, source="csv", snapshot=PartialDate("2024-01-01", "day"))
    assert content_hash(trial) == content_hash(same)
    for other in (
        make_trial(2),
        make_trial(1, status="COMPLETED"),
        make_trial(1, aliases=("NCT1",)),
    ):
        assert content_hash(other) != content_hash(trial)
    assert 0 <= content_hash(trial) < 2**64


# damage


def saved(folder):
    index = TrialIndex.from_disk(folder)
    index.add(random_entries(5, seed=1, first=300))
    index.save_changes()
    return folder / changes_in(folder)[0]


@pytest.mark.parametrize(
    "name", ["vectors.npy", "records.sqlite", STAMPS, "facets.npz"]
)
def test_damaged_changes(folder, name):
    path = saved(folder) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(T2VError, match=f"T041.*{name} has a wrong checksum"):
        TrialIndex.from_disk(folder)
    path.write_bytes(content[:-8])
    with pytest.raises(T2VError, match=f"T041.*{name} has .* bytes instead"):
        TrialIndex.from_disk(folder, verify=False)
    shutil.rmtree(path.parent)
    with pytest.raises(T2VError, match="T041.*missing"):
        TrialIndex.from_disk(folder, verify=False)


@pytest.mark.parametrize("removed", [[200], [-1], None, "no list"])
def test_a_wrong_description_of_changes(folder, removed):
    saved(folder)
    meta = json.loads((folder / META).read_text())
    meta["changes"]["removed"] = removed
    (folder / META).write_text(json.dumps(meta))
    with pytest.raises(T2VError, match="T041"):
        TrialIndex.from_disk(folder)


# several at a time


def test_who_opened_it_before_goes_on(folder):
    reader = TrialIndex.from_disk(folder)
    writer = TrialIndex.from_disk(folder)
    writer.add(random_entries(5, seed=1, first=300))
    writer.save_changes()
    second = TrialIndex.from_disk(folder)
    writer.remove([nct(300)])
    writer.save_changes()
    writer.to_disk(folder)
    alike(reader, TrialIndex.build(random_entries(200)))
    expected = [*random_entries(200), *random_entries(5, seed=1, first=300)]
    alike(second, TrialIndex.build(expected))
    assert len(TrialIndex.from_bytes(reader.to_bytes())) == 200
    assert len(pickle.loads(pickle.dumps(reader))) == 200


def test_two_writers(folder):
    one, other = TrialIndex.from_disk(folder), TrialIndex.from_disk(folder)
    one.remove([nct(1)])
    other.remove([nct(2)])
    with locked(folder), pytest.raises(T2VError, match="T051"):
        one.save_changes()
    one.save_changes()
    for save in (other.save_changes, lambda: other.to_disk(folder)):
        with pytest.raises(T2VError, match="T165.*another run"):
            save()
    assert len(TrialIndex.from_disk(folder)) == 199
    other = TrialIndex.from_disk(folder)
    other.remove([nct(2)])
    other.save_changes()
    assert len(TrialIndex.from_disk(folder)) == 198


@pytest.mark.parametrize("rebuild_above", [1, 0])
def test_who_opens_it_while_it_is_written(folder, monkeypatch, rebuild_above):
    """A writer that finishes after meta.json was read, in the worst moments."""
    from t2v_spacy.search import storage

    saved(folder)
    verify = storage._verify_files
    writer = TrialIndex.from_disk(folder)
    writer.remove([nct(0)])
    writer.add(random_entries(1, seed=1, first=400))
    at = iter((True,))

    def interrupted(*arguments) -> None:
        if next(at, False):
            writer.save_changes(rebuild_above=rebuild_above)
        verify(*arguments)

    monkeypatch.setattr(storage, "_verify_files", interrupted)
    found = TrialIndex.from_disk(folder)
    assert len(found) == 205
    assert nct(0) not in found
    assert found.ids() == writer.ids()


def test_who_opens_it_between_two_renames(folder, monkeypatch):
    """The folder is not there for a moment, and the writer has not been killed."""
    from t2v_spacy.search import storage

    old = folder.with_name(f".{folder.name}.old")
    folder.rename(old)
    lock = locked(folder)
    lock.__enter__()

    def end_of_the_writer(seconds: float) -> None:
        old.rename(folder)
        lock.__exit__(None, None, None)

    monkeypatch.setattr(storage.time, "sleep", end_of_the_writer)
    assert len(TrialIndex.from_disk(folder)) == 200


# kills


def write(folder, rebuild_above: float) -> None:
    index = TrialIndex.from_disk(folder, verify=False)
    index.add(random_entries(3, seed=1, first=300))
    index.remove([nct(0)])
    index.save_changes(rebuild_above=rebuild_above)


STEPS = ("rename", "replace", "unlink", "mkdir", "rmdir")


def write_and_die(folder, rebuild_above: float, at: int) -> bool:
    """In a process that is killed before the at-th change of names; says whether it
    was."""
    pid = os.fork()
    if not pid:
        left = iter(range(at))

        def dying(change):
            def step(*arguments, **settings):
                if next(left, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                return change(*arguments, **settings)

            return step

        for name in STEPS:
            setattr(os, name, dying(getattr(os, name)))
        write(folder, rebuild_above)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("rebuild_above", [1, 0])
@pytest.mark.timeout(120)
def test_a_kill_leaves_the_old_or_the_new(tmp_path, rebuild_above):
    """At each step that changes what is in a folder."""
    given = random_entries(12)
    TrialIndex.build(given).to_disk(tmp_path / "original")
    before = TrialIndex.from_disk(tmp_path / "original")
    before.add(random_entries(1, seed=9, first=200))
    before.save_changes()
    after = shutil.copytree(tmp_path / "original", tmp_path / "after")
    write(after, rebuild_above)
    states = [before.ids(), TrialIndex.from_disk(after).ids()]
    seen = set()
    for at in range(1000):
        home = tmp_path / "home"
        folder = shutil.copytree(tmp_path / "original", home / "index")
        killed = write_and_die(folder, rebuild_above, at)
        found = TrialIndex.from_disk(folder)
        assert found.ids() in states, at
        seen.add(states.index(found.ids()))
        query = given[5].vector
        assert found.search(query, 1)[0].nct_id == nct(5)
        if found.ids() == states[0]:
            write(folder, rebuild_above)
        else:
            found.remove([nct(1)])
            found.save_changes(rebuild_above=rebuild_above)
        assert [name for name in names(home) if ".lock" not in name] == ["index"], at
        others = [name for name in names(folder) if "changes" not in name]
        assert others == [name for name in names(after) if "changes" not in name], at
        assert len(changes_in(folder)) == (rebuild_above == 1), at
        shutil.rmtree(home)
        if not killed:
            break
    assert seen == {0, 1}
    assert at > 5


def test_entries_with_equal_vectors_come_in_order(tmp_path):
    TrialIndex.build([entry(nct(n), [1, 0, 0]) for n in range(30)]).to_disk(
        tmp_path / "i"
    )
    index = TrialIndex.from_disk(tmp_path / "i")
    index.remove([nct(0)])
    index.add([entry(nct(40), [1, 0, 0])])
    expected = [nct(n) for n in (*range(1, 30), 40)]
    for _ in range(2):
        assert [h.nct_id for h in index.search(np.array([1, 0, 0]), 99)] == expected
        assert [h.rank for h in index.search(np.array([1, 0, 0]), 99)] == list(
            range(1, 31)
        )
        index.save_changes()
