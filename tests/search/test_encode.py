from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from t2v_spacy.errors import T2VError
from t2v_spacy.files import digest, locked
from t2v_spacy.search import (
    TrialIndex,
    build_index,
    encode_corpus,
    pipeline_fingerprint,
)
from t2v_spacy.search.fingerprint import vector_fingerprint
from t2v_spacy.trial import Trial

from .toys import make_entry, make_nlp, make_trial, nct

N = 23
_NUMBERS = count()
SIZES = {"shard_size": 5, "batch_size": 2}


class Counting:
    """A toy pipeline that counts its docs, and dies at one of them if asked to."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.seen = 0
        self.dies_at = dies_at
        self.nlp = make_nlp()
        name = f"toy_counter_{next(_NUMBERS)}"  # a name is registered only once
        Language.component(name, func=self.count)
        self.nlp.add_pipe(name)

    def count(self, doc: Doc) -> Doc:
        self.seen += 1
        if self.seen == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return doc


def trials(n: int = N) -> list[Trial]:
    return [make_trial(number) for number in range(n)]


def encode(counting: Counting, work: Path, given=None, fingerprint: str = "f"):
    given = trials() if given is None else given
    return list(
        encode_corpus(counting.nlp, iter(given), work, fingerprint=fingerprint, **SIZES)
    )


def alike(one, other) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.trial == b.trial
        assert (a.vector is None) == (b.vector is None)
        if a.vector is not None:
            assert np.array_equal(a.vector, b.vector)
        assert set(a.section_vectors) == set(b.section_vectors)
        for label, vector in a.section_vectors.items():
            assert np.array_equal(vector, b.section_vectors[label])


def test_entries_come_in_order_and_again_from_the_work_folder(tmp_path):
    given = trials()
    given.insert(3, Trial(nct(500)))
    first = Counting()
    entries = encode(first, tmp_path / "work", given)
    assert [entry.trial for entry in entries] == given
    assert entries[3].vector is None
    assert entries[3].section_vectors == {}
    assert set(entries[4].section_vectors) == {"title", "condition", "intervention"}
    assert first.seen == N + 1
    second = Counting()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike(encode(second, tmp_path / "work", given), entries)
    assert second.seen == 0


def test_only_the_unfinished_shard_is_done_again(tmp_path):
    stream = encode_corpus(
        make_nlp(), iter(trials()), tmp_path, fingerprint="f", **SIZES
    )
    for _ in range(11):  # two shards of 5 are handed out, the third is finished
        next(stream)
    stream.close()
    again = Counting()
    assert len(encode(again, tmp_path)) == N
    assert again.seen == N - 15


def test_only_the_records_that_changed_are_done_again(tmp_path):
    encode(Counting(), tmp_path)
    changed = trials()
    changed[7] = make_trial(7, acronym="CHANGED", official_title="Another title")
    again = Counting()
    with pytest.warns(UserWarning, match="encoded again"):
        entries = encode(again, tmp_path, changed)
    assert again.seen == 5
    assert entries[7].trial.acronym == "CHANGED"


def test_more_records_than_before(tmp_path):
    encode(Counting(), tmp_path, trials(20))
    again = Counting()
    assert len(encode(again, tmp_path, trials())) == N
    assert again.seen == N - 20


def test_other_settings_do_all_again_and_say_so_once(tmp_path):
    encode(Counting(), tmp_path)
    again = Counting()
    with pytest.warns(UserWarning, match="other records or settings") as said:
        encode(again, tmp_path, fingerprint="g")
    assert again.seen == N
    assert len(said) == 1


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", None])
def test_a_broken_shard_is_done_again(tmp_path, content):
    expected = encode(Counting(), tmp_path)
    path = tmp_path / "000001.npz"
    path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    again = Counting()
    with pytest.warns(UserWarning, match="encoded again"):
        alike(encode(again, tmp_path), expected)
    assert again.seen == 5


def test_a_pipeline_without_vectors(tmp_path):
    with pytest.raises(T2VError, match="T024.*trial2vec"):
        build_index(spacy.blank("en"), trials(), tmp_path / "index", progress=False)
    assert not (tmp_path / "index").exists()


def test_output_that_cannot_be_written_is_said_first(tmp_path):
    (tmp_path / "file").write_text("x")
    counting = Counting()
    for out in (tmp_path / "file", tmp_path / "file" / "index", tmp_path):
        with pytest.raises(T2VError, match="T010"):
            build_index(counting.nlp, trials(), out)
    assert counting.seen == 0


def test_build_index(tmp_path):
    nlp = make_nlp()
    out = tmp_path / "a folder" / "index"
    index = build_index(nlp, iter(trials()), out, meta={"source": "toys"}, **SIZES)
    assert len(index) == N
    assert index.path == out
    assert index.meta["source"] == "toys"
    assert index.meta["pipeline"] == "en_pipeline"
    assert index.search("gout", 1)[0].score > 0
    assert [path.name for path in out.parent.iterdir()] == ["index"]


def test_the_index_says_what_made_it(tmp_path, tiny_nlp):
    made = build_index(tiny_nlp, trials(3), tmp_path / "tiny").meta
    assert made["backbone"] == tiny_nlp.get_pipe("transformer").model.attrs["name"]
    assert made["fingerprint"] == vector_fingerprint(tiny_nlp)
    toy = build_index(make_nlp(), trials(3), tmp_path / "toy").meta
    assert toy["backbone"] is None
    assert toy["fingerprint"] not in (None, made["fingerprint"])


def test_a_work_folder_of_the_user_keeps_what_it_holds(tmp_path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "thesis.txt").write_text("years of work")
    out = tmp_path / "index"
    build_index(make_nlp(), trials(), out, work_dir=tmp_path / "scratch", **SIZES)
    left = [path.name for path in (tmp_path / "scratch").iterdir()]
    assert left == ["thesis.txt"]
    assert len(TrialIndex.from_disk(out)) == N


def test_the_folder_can_be_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    index = build_index(make_nlp(), trials(), ".", **SIZES)
    monkeypatch.chdir(tmp_path)
    assert len(TrialIndex.from_disk("here")) == N
    monkeypatch.chdir(tmp_path / "here")
    index.remove([nct(1)])
    index.to_disk(".")
    monkeypatch.chdir(tmp_path)
    assert len(TrialIndex.from_disk("here")) == N - 1


def test_a_second_run_into_the_same_folder_is_refused(tmp_path):
    out = tmp_path / "index"
    (tmp_path / ".index.lock").touch()  # left by a run that was killed
    counting = Counting()
    with locked(out), pytest.raises(T2VError, match=r"T051.*\.index\.lock"):
        build_index(counting.nlp, trials(), out)
    assert counting.seen == 0
    built = build_index(counting.nlp, trials(), out)
    with locked(out), pytest.raises(T2VError, match="T051"):
        TrialIndex.build(built.entries()).to_disk(out)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def ignore(name, pipe, docs, err):
    assert "not this one" in str(err)


@pytest.mark.parametrize("lost", [[7], [0, 22], [20, 21, 22]])
def test_docs_that_an_error_handler_drops_are_listed(tmp_path, lost):
    name = f"toy_fails_{next(_NUMBERS)}"

    def fail(doc: Doc) -> Doc:
        if doc._.trial.nct_id in map(nct, lost):
            raise ValueError("not this one")
        return doc

    Language.component(name, func=fail)
    nlp = make_nlp()
    nlp.add_pipe(name)
    with pytest.raises(ValueError, match="not this one"):
        build_index(nlp, trials(), tmp_path / "index", **SIZES)
    nlp.set_error_handler(ignore)
    with pytest.warns(UserWarning, match="T044.*not encoded"):
        index = build_index(nlp, trials(), tmp_path / "index", **SIZES)
    assert index.meta["not_indexed"] == {"not encoded": [nct(i) for i in lost]}
    plain = build_index(make_nlp(), trials(), tmp_path / "plain", **SIZES)
    assert len(index) == N - len(lost)
    for nct_id in index.ids():
        assert np.array_equal(index.vector(nct_id), plain.vector(nct_id))


@pytest.mark.parametrize("size", [0, 25_000, 100_000])  # records: first, last; trees
def test_a_full_disk_is_one_line(tmp_path, size):
    resource = pytest.importorskip("resource")
    given = list(map(make_trial, range(300)))
    index = TrialIndex.build(map(make_entry, given))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(T2VError, match="T010") as to_disk:
            index.to_disk(tmp_path / "index")
        with pytest.raises(T2VError, match="T010") as built:
            TrialIndex.build(map(make_entry, given), work_dir=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "\n" not in f"{to_disk.value}{built.value}"
    assert list(tmp_path.iterdir()) == []


def test_a_failure_to_read_is_not_one_to_write(tmp_path):
    def broken():
        yield make_trial(0)
        raise OSError("the disk of the records is gone")

    with pytest.raises(OSError, match="of the records is gone"):
        build_index(make_nlp(), broken(), tmp_path / "index")


def test_fingerprint():
    nlp = make_nlp()
    first = pipeline_fingerprint(nlp)
    nlp("words that were never met before: qwyjibo")
    assert pipeline_fingerprint(nlp) == first == pipeline_fingerprint(make_nlp())
    nlp.add_pipe("sentencizer")
    assert pipeline_fingerprint(nlp) != first


KILLED = """
import sys
from pathlib import Path
from t2v_spacy.search import build_index
from tests.search.test_encode import SIZES, Counting, trials

dies_at = int(sys.argv[2]) or None
counting = Counting(dies_at)
build_index(counting.nlp, iter(trials()), Path(sys.argv[1]), fingerprint="f", **SIZES)
print(counting.seen)
"""


def run(out: Path, dies_at: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", KILLED, str(out), str(dies_at)]
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def test_a_build_that_was_killed_ends_as_an_undisturbed_one(tmp_path):
    """Killed at the first doc, in the middle of a shard, at its last doc, late."""
    plain = build_index(
        make_nlp(), trials(), tmp_path / "plain", fingerprint="f", **SIZES
    )
    out = tmp_path / "killed index"
    for dies_at in (1, 8, 4):  # shards finished before: 0, 0, 1
        assert run(out, dies_at).returncode == -signal.SIGKILL
        assert not out.exists()
    last = run(out)
    assert last.returncode == 0, last.stderr
    assert last.stdout.split() == [str(N - 5)]
    index = TrialIndex.from_disk(out)
    assert index.ids() == plain.ids()
    for name in ("vectors.npy", "vectors.ann", "sections/title.npy"):
        assert digest(out / name) == digest(tmp_path / "plain" / name)
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == ["killed index", "plain"]
