from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
import sqlite3
import warnings

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import digest
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.search.build import META
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.trial import Trial
from t2v_spacy.values import PartialDate

from .toys import (
    ILLNESSES,
    WIDTH,
    entry,
    make_entries,
    make_entry,
    make_index,
    make_nlp,
    make_trial,
    nct,
    text_vector,
)


@pytest.fixture(scope="module")
def index() -> TrialIndex:
    return make_index(60, exact_below=0)


@pytest.fixture(scope="module")
def nlp():
    return make_nlp()


@pytest.fixture
def folder(index, tmp_path):
    index.to_disk(tmp_path / "my index")
    return tmp_path / "my index"


def illness(nct_id: str) -> str:
    return ILLNESSES[int(nct_id[4:]) % len(ILLNESSES)]


# building


def test_index_and_look_up(index):
    assert len(index) == 60
    assert index.ids() == [nct(n) for n in range(60)]
    assert nct(7) in index
    assert f" {nct(7).lower()} " in index
    assert nct(60) not in index
    assert 7 not in index
    assert index[nct(7)] == make_trial(7)
    entries = make_entries(8)
    assert index.vector(nct(7)) == pytest.approx(entries[7].vector, abs=1e-6)
    sections = index.section_vectors(nct(7))
    assert set(sections) == {"title", "condition", "intervention"}
    expected = entries[7].section_vectors["condition"]
    assert sections["condition"] == pytest.approx(expected, abs=2e-3)


def test_trials_without_a_usable_vector_are_listed():
    entries = [
        entry(nct(1), [1, 0, 0, 0]),
        IndexEntry(Trial(nct(2)), None),
        entry(nct(3), [0, 0, 0, 0]),
        entry(nct(4), [np.nan, 0, 0, 0]),
    ]
    with pytest.warns(UserWarning) as said:
        index = TrialIndex.build(entries)
    assert len(index) == 1
    assert index.meta["not_indexed"] == {
        "no text": [nct(2)],
        "zero vector": [nct(3)],
        "not finite": [nct(4)],
    }
    assert index.info()["not_indexed"] == {
        "no text": 1,
        "zero vector": 1,
        "not finite": 1,
    }
    messages = [str(warning.message) for warning in said]
    assert f"[T044] The vector of {nct(3)} cannot be indexed: zero vector." in messages
    with pytest.raises(T2VError, match="T043"):
        index[nct(2)]


def test_sparse_and_repeated_ids():
    """The size follows the number of items, whatever the ids; one row for an id."""
    entries = [
        entry(nct(1), [1, 0, 0, 0]),
        entry("NCT99999999", [0.9, 0.1, 0, 0]),
        entry("ISRCTN90000009", [0, 1, 0, 0]),
        entry(nct(1), [0, 0, 1, 0]),
    ]
    with pytest.warns(UserWarning, match=rf"T045\] {nct(1)} was given twice"):
        index = TrialIndex.build(entries)
    assert len(index) == 3
    assert index.meta["not_indexed"] == {"given twice": [nct(1)]}
    hits = index.search(np.array([1, 0, 0, 0]), 2)
    assert [hit.nct_id for hit in hits] == [nct(1), "NCT99999999"]
    assert index.info()["size"] < 200_000


def test_sparse_ids_real_case(t2v_data):
    cases = t2v_data / "cases"
    given = json.loads((cases / "c29_sparse_ids.json").read_text())
    expected = json.loads((cases / "c29_sparse_ids.expected.json").read_text())
    with pytest.warns(UserWarning) as said:
        index = TrialIndex.build(entry(x["id"], x["v"]) for x in given["items"])
    assert "given twice" in str(said[-1].message)
    assert len(index) == expected["n_items"]
    refused = dict(index.meta["not_indexed"])
    assert refused.pop("given twice") == ["NCT90002901"]
    found = {i: reason for reason, ids in refused.items() for i in ids}
    assert found == expected["rejected"]
    hits = index.search(np.array(given["query"], dtype=float), 2)
    assert [hit.nct_id for hit in hits] == expected["top2"]


def test_aliases_real_case(t2v_data):
    from t2v_spacy.readers import read_trials

    cases = t2v_data / "cases"
    expected = json.loads((cases / "c07_aliases.expected.json").read_text())
    trials = list(read_trials(cases / "c07_aliases.json"))
    trials.insert(0, Trial("NCT90000700", title="The record under its old id"))
    with pytest.warns(UserWarning, match="NCT90000700 was given twice"):
        index = TrialIndex.build(make_entry(trial) for trial in trials)
    assert sorted(index.ids()) == ["NCT90000702", "NCT90000799"]
    for raw, main in expected["lookup"].items():
        assert index[raw].nct_id == main
        assert [hit.nct_id for hit in index.search(raw)] == ["NCT90000799"]
    for raw in expected["not_found"]:
        for ask in (index.__getitem__, index.vector, index.search):
            with pytest.raises(T2VError, match=f"{raw} is not in this index"):
                ask(raw)


def test_dropped_records_leave_no_gap():
    main = make_entry(make_trial(30, aliases=(nct(3),)))
    with pytest.warns(UserWarning, match="alias"):
        index = TrialIndex.build([*make_entries(10), main])
    assert index.ids() == [nct(n) for n in (0, 1, 2, 4, 5, 6, 7, 8, 9, 30)]
    for number in (2, 4, 9, 30):
        expected = make_entry(make_trial(number))
        assert index.vector(nct(number)) == pytest.approx(expected.vector, abs=1e-6)
        found = index.section_vectors(nct(number))["title"]
        assert found == pytest.approx(expected.section_vectors["title"], abs=2e-3)
    assert index[nct(3)].nct_id == nct(30)


def test_many_warnings_are_cut_short():
    entries = [entry(nct(n), [0, 0]) for n in range(50)]
    with pytest.warns(UserWarning) as said:
        TrialIndex.build([entry(nct(99), [1, 0]), *entries])
    assert len(said) == 11
    assert "40 more" in str(said[-1].message)


def test_nothing_to_index():
    with pytest.raises(T2VError, match=r"T048.*no trials were given"):
        TrialIndex.build([])
    with pytest.raises(T2VError, match=r"T048.*2 no text"):
        TrialIndex.build([IndexEntry(Trial(nct(n)), None) for n in range(2)])


def test_vectors_of_two_widths():
    entries = [entry(nct(1), [1, 0, 0]), entry(nct(2), [1, 0])]
    with pytest.raises(T2VError, match=rf"T044.*{nct(2)}.*\(2,\) instead of \(3,\)"):
        TrialIndex.build(entries)
    bad_section = IndexEntry(Trial(nct(1)), np.ones(3), {"title": np.ones(4)})
    with pytest.raises(T2VError, match="T044.*title has shape"):
        TrialIndex.build([bad_section])


def test_info_says_what_the_index_is(index):
    info = index.info()
    assert info["n_items"] == 60
    assert info["width"] == WIDTH
    assert info["source"] == "toys"
    assert info["pipeline"] == "toy"
    assert info["search"] == "annoy"
    assert info["sections"] == {"condition": 60, "intervention": 60, "title": 60}
    assert make_index(5).info()["search"] == "exact"
    json.dumps(info)


def test_snapshot_dates():
    days = ("2024-05-01", "2023-01-31")
    trials = [make_trial(i, snapshot=PartialDate(d, "day")) for i, d in enumerate(days)]
    index = TrialIndex.build(make_entry(trial) for trial in trials)
    assert index.info()["snapshots"] == ["2023-01-31", "2024-05-01"]


# searching


def test_search_by_id_leaves_the_query_out(index):
    hits = index.search(nct(12), 5)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert nct(12) not in [hit.nct_id for hit in hits]
    assert [illness(hit.nct_id) for hit in hits] == ["asthma"] * 5
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1 for score in scores)
    assert index.search(f" {nct(12).lower()}", 5) == hits


def test_score_is_the_cosine(index):
    query = index.vector(nct(12))
    for hit in index.search(nct(12), 5):
        assert hit.score == pytest.approx(query @ index.vector(hit.nct_id), abs=1e-6)


def test_annoy_and_exact_search_agree(index):
    for number in range(10):
        assert index.search(nct(number)) == index.search(nct(number), exact=True)


def test_all_kinds_of_query_agree(index, nlp):
    by_id = index.search(nct(12), 5)
    trial = make_trial(12)
    doc = nlp(trial.to_text())
    doc._.trial = trial
    for query in (trial, doc, index.vector(nct(12))):
        hits = index.search(query, 6, nlp=nlp)
        others = [hit for hit in hits if hit.nct_id != nct(12)][:5]
        assert [hit.nct_id for hit in others] == [hit.nct_id for hit in by_id]
    assert nct(12) not in [hit.nct_id for hit in index.search(doc, 60)]
    assert nct(12) not in [hit.nct_id for hit in index.search(trial, 60, nlp=nlp)]


def test_a_trial_query_is_left_out_by_its_alias_too(index, nlp):
    draft = Trial("NCT99999999", aliases=(nct(12),), title="asthma")
    hits = index.search(draft, 100, nlp=nlp)
    assert len(hits) == 59
    assert nct(12) not in [hit.nct_id for hit in hits]


def test_free_text(index, nlp):
    hits = index.search("gout in adults", 3, nlp=nlp)
    assert [illness(hit.nct_id) for hit in hits] == ["gout"] * 3
    attached = make_index(20)
    attached.nlp = nlp
    assert illness(attached.search("gout", 1)[0].nct_id) == "gout"


def test_why_compares_the_sections_both_have(index):
    hit = index.search(nct(12), 1)[0]
    assert set(hit.why) == {"title", "condition", "intervention"}
    assert list(hit.why.values()) == sorted(hit.why.values(), reverse=True)
    assert hit.why["condition"] == pytest.approx(1, abs=2e-3)
    assert max(hit.why.values()) <= 1
    assert index.search(index.vector(nct(12)), 1)[0].why == {}


def test_why_leaves_out_what_one_side_lacks(nlp):
    index = make_index(12)
    index.add([make_entry(Trial(nct(50), title="Study of asthma"))])
    hits = {hit.nct_id: hit for hit in index.search(make_trial(60), 50, nlp=nlp)}
    assert set(hits[nct(50)].why) == {"title"}
    index = TrialIndex.build(index.entries())
    hits = {hit.nct_id: hit for hit in index.search(make_trial(60), 50, nlp=nlp)}
    assert set(hits[nct(50)].why) == {"title"}


def test_a_hit_knows_its_record(index):
    hit = index.search(nct(12), 1)[0]
    assert hit.trial == index[hit.nct_id]
    assert hit.title == hit.trial.title
    assert hit.to_dict() == {
        "nct_id": hit.nct_id,
        "score": hit.score,
        "rank": 1,
        "title": hit.title,
        "why": hit.why,
        "ranks": {},
    }
    copy = pickle.loads(pickle.dumps(hit))
    assert copy == hit
    assert copy.trial == hit.trial
    assert len(pickle.dumps(hit)) < 5_000


def test_search_by_one_part(index):
    hits = index.search(nct(12), 9, parts=["intervention"])
    drugs = [index[hit.nct_id].interventions[0].name for hit in hits]
    assert drugs[:3] == ["drug5"] * 3
    query = index.section_vectors(nct(12))["intervention"]
    expected = query @ index.vector(hits[0].nct_id)
    assert hits[0].score == pytest.approx(expected, abs=1e-5)
    both = index.search(nct(12), 3, parts=["condition", "intervention"])
    assert index[both[0].nct_id].conditions == ("asthma",)


def test_search_by_part_against_the_same_section(index):
    hits = index.search(nct(12), 9, parts=["condition"], against="section")
    assert [illness(hit.nct_id) for hit in hits] == ["asthma"] * 9
    assert [hit.score for hit in hits] == pytest.approx([1] * 9, abs=2e-3)
    assert nct(12) not in [hit.nct_id for hit in hits]
    assert len(index.search(nct(12), 99, against="section")) == 59


def test_section_search_counts_an_absent_part_as_nothing(nlp):
    index = make_index(12)
    index.add([make_entry(Trial(nct(50), conditions=("gout",)))])
    index.add([make_entry(Trial(nct(51), title="nothing but a title"))])
    query = make_trial(1)
    parts = ["condition", "intervention"]
    found = index.search(query, 50, parts=parts, against="section", nlp=nlp)
    scores = {hit.nct_id: hit.score for hit in found}
    assert scores[nct(50)] == pytest.approx(0.5, abs=2e-3)
    assert nct(51) not in scores
    assert nct(1) not in scores
    merged = TrialIndex.build(index.entries())
    again = merged.search(query, 50, parts=parts, against="section", nlp=nlp)
    assert [hit.nct_id for hit in again] == [hit.nct_id for hit in found]


def test_a_bare_text_is_taken_as_the_part(index, nlp):
    hits = index.search("gout", 10, parts=["condition"], against="section", nlp=nlp)
    assert [hit.score for hit in hits] == pytest.approx([1] * 10, abs=2e-3)
    vector = text_vector("gout")
    found = index.search(vector, 10, parts=["condition"], against="section")
    assert [hit.nct_id for hit in found] == [hit.nct_id for hit in hits]


def test_the_query_lacks_the_part(index, nlp):
    message = r"T049.*\(outcome\).*condition, intervention, title"
    for query in (make_trial(3), nct(3), make_trial(3).to_text()):
        with pytest.raises(T2VError, match=message):
            index.search(query, parts=["outcome"], nlp=nlp)


@pytest.mark.parametrize("label", ["conditions", "Title", ""])
def test_unknown_part(index, label):
    with pytest.raises(T2VError, match=r"T008.*title, condition") as caught:
        index.search(nct(3), parts=[label])
    assert all(known in str(caught.value) for known in SECTION_LABELS)


@pytest.mark.parametrize("query", ["", "   \n", "...", Trial(nct(999))])
def test_blank_query(index, nlp, query):
    with pytest.raises(T2VError, match="T025"):
        index.search(query, nlp=nlp)


@pytest.mark.parametrize("raw", [nct(60), "NCT123", "90000007", " isrctn12345678 "])
def test_an_id_that_is_not_there(index, nlp, raw):
    with pytest.raises(T2VError) as caught:
        index.search(raw, nlp=nlp)
    expected = f"[T043] {raw.strip()} is not in this index (60 trials, toys)."
    assert str(caught.value) == expected


def test_text_without_a_pipeline(index):
    for query in ("gout", make_trial(3)):
        with pytest.raises(T2VError, match="T024.*trial2vec"):
            index.search(query)


def test_a_pipeline_without_trial_vectors(index):
    import spacy

    with pytest.raises(T2VError, match="T024.*trial2vec"):
        index.search("gout", nlp=spacy.blank("en"))


@pytest.mark.parametrize("width", [1, WIDTH - 1, 768])
def test_a_query_of_another_width(index, width):
    message = rf"T042.*width {WIDTH}.*width {width}\..*\(toy\)"
    with pytest.raises(T2VError, match=message):
        index.search(np.ones(width))


@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_a_query_vector_without_direction(index, value):
    with pytest.raises(T2VError, match="T026"):
        index.search(np.full(WIDTH, value))


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_one(index, k):
    with pytest.raises(T2VError, match=f"T047.*k = {k}"):
        index.search(nct(3), k)


def test_k_larger_than_the_index(index):
    assert len(index.search(nct(3), 1000)) == 59
    assert len(index.search(index.vector(nct(3)), 1000)) == 60
    assert len(index.search(nct(3), 59)) == 59


def test_unknown_against(index):
    with pytest.raises(T2VError, match="T026.*against"):
        index.search(nct(3), against="sections")


# saving


def same(one: TrialIndex, other: TrialIndex) -> None:
    assert one.ids() == other.ids()
    assert [e.trial for e in one.entries()] == [e.trial for e in other.entries()]
    for number in (0, 7, 31):
        assert one.search(nct(number)) == other.search(nct(number))


def test_round_trip_and_moved_folder(index, folder, tmp_path):
    same(index, TrialIndex.from_disk(folder))
    shutil.move(folder, tmp_path / "moved")
    same(index, TrialIndex.from_disk(str(tmp_path / "moved")))


def test_same_seed_same_files(tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        make_index(40, seed=seed).to_disk(tmp_path / name)
    names = sorted(f.name for f in (tmp_path / "a").rglob("*.*") if f.name != META)
    digests = {
        name: {f.name: digest(f) for f in (tmp_path / name).rglob("*") if f.is_file()}
        for name in "abc"
    }
    assert "vectors.ann" in names
    for name in names:
        assert digests["a"][name] == digests["b"][name]
    assert digests["a"]["vectors.ann"] != digests["c"]["vectors.ann"]


def test_bytes_and_pickle(index, folder):
    same(index, TrialIndex.from_bytes(index.to_bytes()))
    same(index, pickle.loads(pickle.dumps(index)))
    opened = TrialIndex.from_disk(folder)
    assert len(pickle.dumps(opened)) < 1_000
    same(index, pickle.loads(pickle.dumps(opened)))
    for data in (b"", b"junk", b"\x81\xa1a\xa1b"):
        with pytest.raises(T2VError, match="T04[01]"):
            TrialIndex.from_bytes(data)


def test_bytes_cannot_leave_their_folder(tmp_path):
    import srsly

    data = srsly.msgpack_dumps({"../../escaped.txt": b"x"})
    with pytest.raises(T2VError, match="T041"):
        TrialIndex.from_bytes(data)


def test_a_pickle_whose_folder_was_replaced(folder):
    state = pickle.dumps(TrialIndex.from_disk(folder))
    make_index(20).to_disk(folder)
    with pytest.raises(T2VError, match="T041.*taken its place"):
        pickle.loads(state)


def ask_in_worker(index: TrialIndex, nct_id: str) -> list[str]:
    return [hit.nct_id for hit in index.search(nct_id, 5)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.timeout(120)
def test_sent_to_a_worker(index, folder, method):
    expected = ask_in_worker(index, nct(4))
    with multiprocessing.get_context(method).Pool(1) as pool:
        jobs = [(index, nct(4)), (TrialIndex.from_disk(folder), nct(4))]
        assert pool.starmap(ask_in_worker, jobs) == [expected, expected]


def test_temporary_files_go_with_the_index():
    index = make_index(5)
    path = index.path
    assert path.is_dir()
    del index
    assert not path.exists()


def test_to_disk_replaces_an_older_index(folder):
    make_index(20).to_disk(folder)
    assert len(TrialIndex.from_disk(folder)) == 20
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_failed_write_leaves_the_older_index(folder, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    other = make_index(20)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", fail)
        with pytest.raises(T2VError, match="T010.*No space left"):
            other.to_disk(folder)
    assert len(TrialIndex.from_disk(folder)) == 60
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_is_no_index_is_not_replaced(index, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(T2VError, match="T010.*not a trial index"):
        index.to_disk(tmp_path)
    with pytest.raises(T2VError, match="T010"):
        index.to_disk(tmp_path / "thesis.txt")
    with pytest.raises(T2VError, match="T010"):
        index.to_disk(tmp_path / "thesis.txt" / "index")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


# damage


def test_missing_and_other_folders(tmp_path):
    with pytest.raises(T2VError, match="T001"):
        TrialIndex.from_disk(tmp_path / "nowhere")
    with pytest.raises(T2VError, match="T040.*no meta.json"):
        TrialIndex.from_disk(tmp_path)
    (tmp_path / META).write_text('{"lang": "en", "name": "a spaCy pipeline"}')
    with pytest.raises(T2VError, match="T040"):
        TrialIndex.from_disk(tmp_path)
    (tmp_path / META).write_text('{"format": ')
    with pytest.raises(T2VError, match="T041.*not JSON"):
        TrialIndex.from_disk(tmp_path)


def change_meta(folder, **values):
    meta = json.loads((folder / META).read_text())
    (folder / META).write_text(json.dumps(meta | values))


def test_another_format_version(folder):
    change_meta(folder, format_version=3)
    with pytest.raises(
        T2VError, match="T040.*format version 3.*reads versions 1 and 2"
    ):
        TrialIndex.from_disk(folder)


def test_an_incomplete_description(folder):
    meta = json.loads((folder / META).read_text())
    del meta["store"]
    (folder / META).write_text(json.dumps(meta))
    with pytest.raises(T2VError, match="T041.*store"):
        TrialIndex.from_disk(folder)


FILES = (
    "vectors.ann",
    "vectors.npy",
    "records.sqlite",
    "sections/title.npy",
    "sections/title.rows.npy",
)


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(T2VError, match=f"T041.*{path.name} has a wrong checksum"):
        TrialIndex.from_disk(folder)
    path.write_bytes(content[:-8])
    for verify in (True, False):
        with pytest.raises(T2VError, match=f"T041.*{path.name} has .* bytes instead"):
            TrialIndex.from_disk(folder, verify=verify)
    path.unlink()
    with pytest.raises(T2VError, match=f"T041.*{path.name} is missing"):
        TrialIndex.from_disk(folder)


def test_annoys_file_is_checked_in_full_always(folder):
    path = folder / "vectors.ann"
    content = bytearray(path.read_bytes())
    content[-5] ^= 255
    path.write_bytes(content)
    with pytest.raises(T2VError, match="T041.*vectors.ann has a wrong checksum"):
        TrialIndex.from_disk(folder, verify=False)


def test_another_width_in_the_description(folder):
    meta = json.loads((folder / META).read_text())
    change_meta(folder, store=meta["store"] | {"width": WIDTH + 1})
    with pytest.raises(T2VError, match="T041.*shape"):
        TrialIndex.from_disk(folder)
    change_meta(folder, store=meta["store"] | {"metric": "dot"})
    with pytest.raises(T2VError, match="T046.*dot"):
        TrialIndex.from_disk(folder)


def test_records_that_are_no_database(folder):
    (folder / "records.sqlite").write_bytes(b"not a database" * 100)
    size = (folder / "records.sqlite").stat().st_size
    meta = json.loads((folder / META).read_text())
    meta["files"]["records.sqlite"]["size"] = size
    change_meta(folder, files=meta["files"])
    with pytest.raises(T2VError, match="T041.*records.sqlite cannot be read"):
        TrialIndex.from_disk(folder, verify=False)


def test_records_that_do_not_fit_the_vectors(folder):
    db = sqlite3.connect(folder / "records.sqlite")
    db.execute("DELETE FROM trial WHERE position = 59")
    db.commit()
    db.close()
    with pytest.raises(T2VError, match="T041.*60 vectors but 59 records"):
        TrialIndex.from_disk(folder, verify=False)


# changing


def test_add_and_remove(tmp_path):
    """Index 100, add 10, remove 5, move the folder: all the same as built at once."""
    index = make_index(100, exact_below=0)
    new = [make_entry(make_trial(n)) for n in range(100, 110)]
    gone = [nct(n) for n in (0, 50, 99, 101, 104)]
    assert index.add(new) == {"added": 10, "replaced": 0, "left_out": 0}
    assert index.remove(gone) == 5
    left = [n for n in range(110) if nct(n) not in gone]
    once = TrialIndex.build(map(make_entry, map(make_trial, left)), exact_below=0)
    assert len(index) == 105
    assert index.info()["added"] == 8
    assert index.info()["removed"] == 3
    for nct_id in gone:
        assert nct_id not in index
        with pytest.raises(T2VError, match="T043"):
            index.search(nct_id)
    assert index[nct(105)] == make_trial(105)
    index.to_disk(tmp_path / "index")
    shutil.move(tmp_path / "index", tmp_path / "moved")
    opened = TrialIndex.from_disk(tmp_path / "moved")
    assert opened.info()["added"] == 0
    for other in (index, opened, pickle.loads(pickle.dumps(index))):
        assert other.ids() == once.ids()
        for number in (1, 51, 100, 109):
            found = [hit.nct_id for hit in other.search(nct(number), 20)]
            assert found == [hit.nct_id for hit in once.search(nct(number), 20)]
            assert len(other.search(nct(number), 500)) == 104
    assert opened.info()["source"] == "toys"
    assert opened.info()["search"] == "annoy"


def test_changes_written_over_the_index_itself(folder):
    index = TrialIndex.from_disk(folder)
    index.remove([nct(n) for n in range(10)])
    index.to_disk(folder)
    assert index.info()["removed"] == 0
    assert len(index) == len(TrialIndex.from_disk(folder)) == 50
    assert index.search(nct(10)) == TrialIndex.from_disk(folder).search(nct(10))


def test_adding_a_trial_again_replaces_it():
    index = make_index(10)
    newer = make_entry(make_trial(3, acronym="NEWER"))
    for _ in range(2):
        with pytest.warns(
            UserWarning, match=rf"T045\] {nct(3)} was given twice; the n"
        ):
            assert index.add([newer])["replaced"] == 1
        assert len(index) == 10
        assert index[nct(3)].acronym == "NEWER"


def test_adding_aliases():
    index = make_index(10)
    with pytest.warns(UserWarning, match=f"{nct(3)} was given twice; it is an alias"):
        index.add([make_entry(make_trial(30, aliases=(nct(3),)))])
    assert len(index) == 10
    assert index[nct(3)].nct_id == nct(30)
    with pytest.warns(UserWarning, match="alias"):
        assert index.add([make_entry(make_trial(3))])["left_out"] == 1
    assert index[nct(3)].nct_id == nct(30)
    assert index.remove([nct(3)]) == 1
    assert nct(30) not in index
    assert nct(3) not in index


def test_adding_what_has_no_vector_or_another_width():
    index = make_index(10)
    with pytest.warns(UserWarning, match="T044.*no text"):
        assert index.add([IndexEntry(Trial(nct(50)), None)])["left_out"] == 1
    with pytest.raises(T2VError, match="T044"):
        index.add([entry(nct(51), [1, 2, 3])])
    assert len(index) == 10


def test_removing_an_unknown_id_removes_nothing():
    index = make_index(10)
    with pytest.raises(T2VError, match="T043"):
        index.remove([nct(1), nct(77)])
    assert len(index) == 10
    assert index.remove([nct(1), nct(1).lower()]) == 1


def test_removing_everything(tmp_path):
    index = make_index(3)
    index.remove(index.ids())
    assert len(index) == 0
    assert index.search(np.ones(WIDTH)) == []
    assert index.search(np.ones(WIDTH), parts=["title"], against="section") == []
    with pytest.raises(T2VError, match="T048"):
        index.to_disk(tmp_path / "index")


def test_a_listed_trial_that_was_added_later_is_listed_no_more(tmp_path):
    bare = IndexEntry(Trial(nct(50)), None)
    index = TrialIndex.build([*make_entries(5), bare])
    assert index.meta["not_indexed"] == {"no text": [nct(50)]}
    index.add([make_entry(make_trial(50))])
    index.to_disk(tmp_path / "index")
    opened = TrialIndex.from_disk(tmp_path / "index")
    assert nct(50) in opened
    assert opened.meta["not_indexed"] == {}


def test_building_warns_of_nothing_by_itself():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_index(5)


def test_section_search_follows_every_change():
    index = make_index(6)
    vector = text_vector("gout")

    def ids() -> list[str]:
        hits = index.search(vector, 99, parts=["condition"], against="section")
        return [hit.nct_id for hit in hits if hit.score > 0.99]

    assert ids() == [nct(1)]
    index.add([make_entry(make_trial(7))])
    assert ids() == [nct(1), nct(7)]
    index.add([make_entry(make_trial(8)), make_entry(make_trial(13))])
    assert ids() == [nct(1), nct(7), nct(13)]
    index.remove([nct(7)])
    assert ids() == [nct(1), nct(13)]
