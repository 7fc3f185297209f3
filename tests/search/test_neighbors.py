from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import locked
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.search import neighbors as module
from t2v_spacy.search.neighbor_file import write_neighbors
from t2v_spacy.search.neighbors import Neighbors, neighbors
from t2v_spacy.trial import Trial

from .toys import entry, make_entry, make_index, make_trial, nct

GEOMETRY = {1: (1, 0), 2: (0, 1), 3: (1, 1), 4: (-1, 0)}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that toys are compared in several blocks."""
    monkeypatch.setattr(module, "_BLOCK", 7)
    monkeypatch.setattr(module, "_PAIRS", 5)


def random_index(n: int = 40) -> TrialIndex:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(n, 6)).astype(np.float32)
    phases = [frozenset((f"PHASE{1 + i % 3}",)) for i in range(n)]
    rows = zip(vectors, phases, strict=True)
    return TrialIndex.build(
        IndexEntry(Trial(nct(i), phases=phase), vector)
        for i, (vector, phase) in enumerate(rows)
    )


def searched(index: TrialIndex, k: int, ids=None, **settings) -> list[Neighbors]:
    rows = []
    for nct_id in ids or index.ids():
        hits = index.search(nct_id, k, exact=True, **settings)
        ids_, scores = [h.nct_id for h in hits], [h.score for h in hits]
        rows.append(Neighbors(nct_id, tuple(ids_), tuple(scores)))
    return rows


def assert_same(found: list[Neighbors], expected: list[Neighbors]) -> None:
    assert [(r.nct_id, r.ids) for r in found] == [(r.nct_id, r.ids) for r in expected]
    for row, other in zip(found, expected, strict=True):
        assert row.scores == pytest.approx(other.scores, abs=1e-6)


def test_by_hand():
    index = TrialIndex.build(entry(nct(n), v) for n, v in GEOMETRY.items())
    rows = list(neighbors(index, 2))
    half = pytest.approx(0.5**0.5)
    assert rows[0] == Neighbors(nct(1), (nct(3), nct(2)), (half, pytest.approx(0)))
    assert rows[3].ids == (nct(2), nct(3))
    assert rows[3].scores == (pytest.approx(0), pytest.approx(-(0.5**0.5)))


@pytest.mark.parametrize("k", [1, 5, 39, 100])
@pytest.mark.parametrize("batch", [1, 6, 1000])
def test_as_a_search_for_each(k, batch):
    index = random_index()
    assert_same(list(neighbors(index, k, batch=batch)), searched(index, k))


def test_filters_say_what_is_found_and_ids_what_is_asked():
    index, filters = random_index(), {"phase": "2"}
    ids = [nct(9), nct(1), nct(9)]
    found = list(neighbors(index, 5, filters=filters, ids=[nct(9).lower(), *ids[1:]]))
    assert_same(found, searched(index, 5, ids, filters=filters))
    assert index.passing(filters) == [nct(i) for i in range(1, 40, 3)]
    assert index.passing() == index.passing({}) == index.ids()


def test_nothing_passes():
    index = make_index(4)
    assert [row.ids for row in neighbors(index, 3, filters={"phase": "2"})] == [()] * 4
    assert index.passing({"phase": "2"}) == []


def test_one_trial_and_equal_vectors():
    assert list(neighbors(TrialIndex.build([entry(nct(1), (1, 0))]))) == [
        Neighbors(nct(1), (), ())
    ]
    index = TrialIndex.build(entry(nct(n), (1, 2)) for n in range(20))
    rows = list(neighbors(index, 3))
    assert rows[0].ids == (nct(1), nct(2), nct(3))
    assert rows[19].ids == (nct(0), nct(1), nct(2))


def test_what_was_added_and_removed_counts():
    index = make_index(12)
    index.remove([nct(0), nct(5)])
    index.add([make_entry(make_trial(number)) for number in (30, 31)])
    assert_same(list(neighbors(index, 4, batch=3)), searched(index, 4))
    added = index.passing()
    assert added == index.ids()
    assert nct(31) in added
    assert nct(5) not in added


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"k": 0}, "T047"), ({"batch": 0}, "T026"), ({"ids": [nct(77)]}, "T043"), ({"filters": {"x": 1}}, "T162")],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_at_once(settings, code):
    with pytest.raises(T2VError) as caught:
        neighbors(make_index(3), **settings)
    assert caught.value.code == code


# files


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]


def test_files_hold_what_was_found(tmp_path):
    index = random_index(9)
    expected = [row.to_dict() for row in neighbors(index, 2)]
    assert write_neighbors(index, tmp_path / "a.jsonl", 2, batch=4) == 9
    assert read_jsonl(tmp_path / "a.jsonl") == expected
    write_neighbors(index, tmp_path / "a.txt", 2, batch=4, format="csv")
    with (tmp_path / "a.txt").open(newline="", encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    assert [(r["nct_id"], int(r["rank"]), r["neighbor"], float(r["score"])) for r in rows] == [
        (row["nct_id"], rank, near["nct_id"], near["score"])
        for row in expected
        for rank, near in enumerate(row["neighbors"], start=1)
    ]  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "a.txt"]


class Stopped(Exception):
    pass


def stop_at(number):
    def progress(done, total):
        if done >= number:
            raise Stopped

    return progress


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_stopped_run_goes_on(tmp_path, format):
    index, path = random_index(20), tmp_path / f"out.{format}"
    whole = tmp_path / f"whole.{format}"
    write_neighbors(index, whole, 3)
    with pytest.raises(Stopped):
        write_neighbors(index, path, 3, batch=4, progress=stop_at(8))
    assert not path.exists()
    part = tmp_path / f".out.{format}.part"
    with part.open("ab") as file:  # half a batch of a run that was killed
        file.write(b"{half")
    seen = []
    write_neighbors(index, path, 3, batch=4, progress=lambda *now: seen.append(now))
    assert seen == [(8, 20), (12, 20), (16, 20), (20, 20)]
    assert path.read_bytes() == whole.read_bytes()
    assert not part.exists()


@pytest.mark.parametrize("change", [{"k": 2}, {"ids": [nct(1), nct(2)]}, {"filters": {"phase": "1"}}, {}])  # fmt: skip
def test_another_task_begins_anew(tmp_path, change):
    path = tmp_path / "out.jsonl"
    with pytest.raises(Stopped):
        write_neighbors(random_index(20), path, 3, batch=4, progress=stop_at(8))
    index = random_index(20) if change else random_index(21)
    settings = {"k": 3, **change}
    write_neighbors(index, path, batch=4, **settings)
    assert read_jsonl(path) == [row.to_dict() for row in neighbors(index, **settings)]


def test_what_cannot_be_written(tmp_path):
    index = make_index(3)
    for path, code in [(tmp_path / "a.xml", "T181"), (tmp_path / "no" / "a", "T181")]:
        with pytest.raises(T2VError) as caught:
            write_neighbors(index, path)
        assert caught.value.code == code
    with locked(tmp_path / "a.csv"), pytest.raises(T2VError) as caught:
        write_neighbors(index, tmp_path / "a.csv")
    assert caught.value.code == "T051"
    assert list(tmp_path.iterdir()) == []


def test_no_one_asked_makes_an_empty_file(tmp_path):
    assert write_neighbors(make_index(3), tmp_path / "a.jsonl", ids=[]) == 0
    assert (tmp_path / "a.jsonl").read_bytes() == b""
    write_neighbors(make_index(3), tmp_path / "a.csv", ids=[])
    assert (tmp_path / "a.csv").read_bytes() == b"nct_id,rank,neighbor,score\r\n"
