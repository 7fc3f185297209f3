from __future__ import annotations

import json
import sqlite3

import pytest

from t2v_spacy.search.records import RecordStore, RecordWriter
from t2v_spacy.trial import Location, Trial
from t2v_spacy.values import PartialDate

from .toys import nct


def write(path, trials) -> tuple[RecordStore, RecordWriter]:
    """Records of trials, numbered as they come; the gaps are closed."""
    writer = RecordWriter(path)
    position = 0
    for trial in trials:
        if writer.add(position, trial):
            position += 1
    writer.renumber()
    writer.close()
    return RecordStore(path), writer


MAIN = Trial(nct(702), aliases=(nct(701), nct(700)), title="Merged record")
OLD = Trial(nct(700), title="Superseded record")
OTHER = Trial(nct(799), title="Another study")


def test_ids_and_aliases_resolve(tmp_path):
    store, _ = write(tmp_path / "records.sqlite", [OTHER, MAIN])
    for raw in (nct(702), nct(701), nct(700).lower(), f" {nct(702)}\n"):
        assert store.trial(store.position(raw)) == MAIN
    for raw in (nct(703), nct(702)[3:], "NCT123", "", "' OR 1 = 1 --"):
        assert store.position(raw) is None


@pytest.mark.parametrize("trials", [[MAIN, OLD, OTHER], [OLD, OTHER, MAIN]])
def test_alias_and_main_record_leave_the_main_one(tmp_path, trials):
    store, writer = write(tmp_path / "records.sqlite", trials)
    assert sorted(store.ids()) == [nct(702), nct(799)]
    assert store.trial(store.position(nct(700))) == MAIN
    assert [store.trial(i).nct_id for i in range(2)] == store.ids()
    assert writer.dropped == [nct(700)]
    assert f"{nct(700)} was given twice" in str(writer.notes[0])


def test_a_chain_of_aliases_leaves_one_record(tmp_path):
    oldest, old, new = (
        Trial(nct(1)),
        Trial(nct(2), aliases=(nct(1),)),
        Trial(nct(3), aliases=(nct(2),)),
    )
    for number, trials in enumerate(([oldest, old, new], [new, old, oldest])):
        store, _ = write(tmp_path / f"{number}.sqlite", trials)
        assert store.ids() == [nct(3)]
        assert store.position(nct(1)) == 0


def test_an_id_given_twice_keeps_the_first(tmp_path):
    again = Trial(f" {nct(799).lower()}", title="Later copy")
    store, writer = write(tmp_path / "records.sqlite", [OTHER, again])
    assert store.ids() == [nct(799)]
    assert store.trial(0).title == "Another study"
    assert "[T045]" in str(writer.notes[0])


def test_columns_for_filters(tmp_path):
    trial = Trial(
        nct(1),
        title="A",
        status="COMPLETED",
        phases=frozenset(("PHASE2", "PHASE1")),
        study_type="INTERVENTIONAL",
        start_date=PartialDate("2015-09", "month"),
        primary_completion_date=PartialDate("2017", "year"),
        locations=(
            Location(country="Peru"),
            Location(country="Chad"),
            Location(country="Peru"),
        ),
        min_age=18.0,
        sex="ALL",
        healthy_volunteers=False,
        sponsor_class="INDUSTRY",
        has_results=True,
    )
    path = tmp_path / "a folder" / "records.sqlite"
    path.parent.mkdir()
    store, _ = write(path, [trial])
    assert store.trial(0) == trial
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    row = dict(db.execute("SELECT * FROM trial").fetchone())
    assert Trial.from_dict(json.loads(row.pop("record"))) == trial
    assert row == {
        "position": 0,
        "nct_id": nct(1),
        "title": "A",
        "status": "COMPLETED",
        "phases": "|PHASE1|PHASE2|",
        "study_type": "INTERVENTIONAL",
        "start_date": "2015-09",
        "completion_date": "2017",
        "countries": "|Chad|Peru|",
        "min_age": 18.0,
        "max_age": None,
        "sex": "ALL",
        "healthy_volunteers": 0,
        "sponsor_class": "INDUSTRY",
        "has_results": 1,
    }


def test_heads_of_many_and_odd_titles(tmp_path):
    trials = [Trial(nct(n), title=f"T{n}") for n in range(1200)]
    trials.append(
        Trial(nct(5000), title="half of a pair \ud83d", status="\ud83d", sex="\udc00")
    )
    store, _ = write(tmp_path / "records.sqlite", trials)
    heads = store.heads(range(1201))
    assert heads[1100] == (nct(1100), "T1100")
    assert heads[1200] == (nct(5000), "half of a pair ?")
    assert store.trial(1200).title == "half of a pair \ufffd"
    assert store.position("odd \ud83d") is None
    assert store.heads([]) == {}
