"""Updates of an index from newer records."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import digest, locked
from t2v_spacy.readers import ReadReport
from t2v_spacy.search import TrialIndex, build_index
from t2v_spacy.search.build import META
from t2v_spacy.search.update import UpdateReport, is_older, update_index
from t2v_spacy.trial import Trial
from t2v_spacy.values import PartialDate

from .test_encode import Counting
from .test_update_changes import make_old, names
from .toys import make_nlp, make_trial, nct

N = 60
SIZES = {"shard_size": 5, "batch_size": 2, "progress": False}


def day(text: str) -> PartialDate:
    return PartialDate(text, ("year", "month", "day")[text.count("-")])


def records(numbers=range(N), **values) -> list[Trial]:
    return [make_trial(n, **{"snapshot": day("2024-05-01"), **values}) for n in numbers]


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("indexes") / "index"
    build_index(make_nlp(), records(), path, progress=False, meta={"source": "may"})
    return path


@pytest.fixture
def folder(original, tmp_path) -> Path:
    TrialIndex.from_disk(original).to_disk(tmp_path / "my index")
    return tmp_path / "my index"


def update(folder, given, counting: Counting | None = None, **settings) -> UpdateReport:
    nlp = (counting or Counting()).nlp
    return update_index(nlp, iter(given), folder, **{**SIZES, **settings})


def test_only_what_is_new_or_changed_is_encoded(folder):
    newer = records(snapshot=day("2024-06-01"))
    newer[3] = replace(newer[3], title="Study 3 of gout and of something else")
    newer[4] = replace(newer[4], status="COMPLETED")
    newer[5] = replace(newer[5], snapshot=day("2024-04"), title="Old title")
    newer += [make_trial(100), Trial(nct(101))]
    before = TrialIndex.from_disk(folder)
    vectors = digest(folder / "vectors.npy")
    counting = Counting()
    with pytest.warns(UserWarning, match=rf"T044.*{nct(101)}.*no text"):
        found = update(folder, newer, counting, meta={"source": "june"})
    assert found == UpdateReport(
        new=1,
        changed=1,
        record_only=1,
        unchanged=57,
        older=1,
        left_out=1,
        saved="changes",
    )
    assert counting.seen == 3  # the one without text too
    index = TrialIndex.from_disk(folder)
    assert index.info()["source"] == "june"
    assert index.info()["not_indexed"] == {"no text": 1}
    assert index[nct(3)] == newer[3]
    assert np.abs(index.vector(nct(3)) - before.vector(nct(3))).max() > 0.1
    assert index[nct(4)].status == "COMPLETED"
    assert np.array_equal(index.vector(nct(4)), before.vector(nct(4)))
    assert index.section_vectors(nct(4)).keys() == before.section_vectors(nct(4)).keys()
    assert index[nct(5)].title == "Study 5 of anaemia"
    assert digest(folder / "vectors.npy") == vectors
    assert names(folder.parent) == ["my index"]
    with pytest.warns(UserWarning, match="T044"):
        again = update(folder, newer)
    assert again == UpdateReport(unchanged=60, older=1, left_out=1)


def test_the_same_as_an_index_of_the_newer_records(folder, tmp_path):
    draw = random.Random(4)
    newer = [
        replace(trial, title=f"{trial.title}, part {draw.randint(0, 9)}")
        if draw.random() < 0.3
        else trial
        for trial in records([n for n in range(90) if draw.random() < 0.8])
    ]
    found = update(folder, newer, remove_missing=True)
    assert found.saved == "rebuilt"
    assert found.new + found.changed + found.unchanged == len(newer)
    assert found.removed == N - sum(int(t.nct_id[4:]) < N for t in newer)
    index = TrialIndex.from_disk(folder)
    fresh = build_index(make_nlp(), newer, tmp_path / "fresh", progress=False)
    assert sorted(index.ids()) == sorted(fresh.ids())
    for trial in newer:
        assert index[trial.nct_id] == fresh[trial.nct_id] == trial
        scores = {h.nct_id: h.score for h in fresh.search(trial.nct_id, 99)}
        for hit in index.search(trial.nct_id, 99):
            assert hit.score == pytest.approx(scores[hit.nct_id], abs=1e-6)


def test_nothing_new_writes_nothing(folder):
    before = digest(folder / META)
    assert update(folder, records()) == UpdateReport(unchanged=N)
    assert update(folder, []) == UpdateReport()
    assert digest(folder / META) == before
    assert UpdateReport().line() == "no trials"


def test_older_records_never_replace_newer_ones():
    def of(snapshot: str | None, updated: str | None = None) -> Trial:
        return Trial(
            nct(1),
            snapshot=snapshot and day(snapshot),
            last_updated=updated and day(updated),
        )

    assert is_older(of("2024-04-30"), of("2024-05-01"))
    assert is_older(of("2024-04"), of("2024-05-01"))
    assert not is_older(of("2024-05"), of("2024-05-01"))  # may be later in the month
    assert not is_older(of("2024-05-01"), of("2024-05-01"))
    assert not is_older(of("2024-05-02", "2023-01-01"), of("2024-05-01", "2023-02-01"))
    assert is_older(of("2024-05-01", "2023-01-01"), of("2024-05-01", "2023-02-01"))
    assert is_older(of(None, "2023-01-01"), of("2024-05-01", "2023-02-01"))
    assert not is_older(of(None), of("2024-05-01"))
    assert not is_older(of("2024-05-01"), of(None))
    invalid = replace(of(None), snapshot=PartialDate("", "invalid", raw="soon"))
    assert not is_older(invalid, of("2024-05-01"))


def test_given_twice_the_newest_counts(folder):
    old = make_trial(100, acronym="OLD", snapshot=day("2024-01"))
    new = replace(old, acronym="NEW", snapshot=day("2024-02"))
    newest = replace(old, acronym="NEWEST", snapshot=day("2024-03"))
    found = update(folder, [new, newest, old, newest])
    assert (found.new, found.left_out) == (1, 3)
    assert TrialIndex.from_disk(folder)[nct(100)].acronym == "NEWEST"


def test_aliases(folder):
    """A record under an old id is left out, one that claims an id takes its place."""
    merged = make_trial(100, aliases=(nct(3),), snapshot=day("2024-06"))
    given = [t for t in records() if t.nct_id != nct(3)]
    with pytest.warns(UserWarning, match=f"T045.*{nct(3)}.*alias of {nct(100)}"):
        found = update(folder, [*given, merged], remove_missing=True)
    assert (found.new, found.removed, found.left_out) == (1, 0, 0)
    index = TrialIndex.from_disk(folder)
    assert len(index) == N
    assert index[nct(3)].nct_id == nct(100)
    counting = Counting()
    with pytest.warns(UserWarning, match=f"T045.*{nct(3)}.*alias of {nct(100)}"):
        found = update(folder, records(), counting, remove_missing=True)
    assert (found.left_out, found.unchanged, found.removed) == (1, N - 1, 0)
    assert counting.seen == 0
    assert nct(100) in TrialIndex.from_disk(folder)


def test_remove_a_list(folder):
    with pytest.warns(UserWarning, match=rf"T167.*not removed: {nct(777)}, NCT1\."):
        found = update(
            folder, [], remove=[nct(1), f" {nct(2).lower()}", nct(777), "NCT1"]
        )
    assert found == UpdateReport(removed=2, saved="changes")
    assert len(TrialIndex.from_disk(folder)) == N - 2


def test_remove_what_the_download_lacks(folder):
    found = update(folder, records(range(5, N)), remove_missing=True)
    assert found == UpdateReport(unchanged=N - 5, removed=5, saved="changes")
    assert TrialIndex.from_disk(folder).ids() == [nct(n) for n in range(5, N)]
    assert update(folder, records(range(5, N)), remove_missing=True).removed == 0


@pytest.mark.parametrize("given", [[], records(range(29)), records(range(100, 200))])
def test_a_download_that_lacks_most_is_refused(folder, given):
    counting = Counting()
    with pytest.raises(T2VError, match=r"T166.*of 60 are missing.*max_missing"):
        update(folder, given, counting, remove_missing=True)
    assert counting.seen == 0
    assert len(TrialIndex.from_disk(folder)) == N
    update(folder, records(range(29)), remove_missing=True, max_missing=1)
    assert len(TrialIndex.from_disk(folder)) == 29


def test_refused_records_are_not_missing(folder):
    report = ReadReport()
    report.refuse("download.json", "record 7", "no NCT id")
    with pytest.warns(UserWarning, match=r"T166.*1 records could not be read"):
        found = update(folder, records(range(50)), remove_missing=True, report=report)
    assert found.removed == 0
    assert len(TrialIndex.from_disk(folder)) == N


@pytest.mark.parametrize(("above", "saved"), [(1, "changes"), (0.1, "rebuilt")])
def test_many_changes_are_a_rebuild(folder, above, saved):
    found = update(folder, records(range(100, 120)), rebuild_above=above)
    assert found.saved == saved
    assert TrialIndex.from_disk(folder).info()["added"] == (20 if above == 1 else 0)


def test_an_index_without_stamps(folder):
    make_old(folder)
    newer = records()
    newer[3] = replace(newer[3], status="COMPLETED")
    found = update(folder, newer)
    assert found == UpdateReport(record_only=1, unchanged=N - 1, saved="changes")
    assert update(folder, newer) == UpdateReport(unchanged=N)


def test_another_pipeline_is_refused(folder, tiny_nlp):
    with pytest.raises(T2VError, match="T164.*en_pipeline.*do not compare"):
        update_index(tiny_nlp, records([100]), folder)
    assert len(TrialIndex.from_disk(folder)) == N


def test_another_base_of_concepts_is_said(folder):
    index = TrialIndex.from_disk(folder)
    index.meta["kb"] = "base 2024"
    index.remove([nct(0)])
    index.save_changes()
    with pytest.warns(UserWarning, match="T169.*base 2024.*none"):
        update(folder, records([100]))


def test_two_updates_at_a_time(folder):
    counting = Counting()
    work = folder.with_name(f".{folder.name}.update")
    for busy in (folder, work):
        with locked(busy), pytest.raises(T2VError, match="T051"):
            update(folder, records([100]), counting)
    assert counting.seen == 0


def test_no_index(tmp_path):
    with pytest.raises(T2VError, match="T001"):
        update(tmp_path / "nowhere", records())
    assert names(tmp_path) == []


def test_the_counts_in_words():
    report = UpdateReport(new=2, older=1, removed=3)
    assert report.line() == (
        "2 new, 1 older than in the index, which stay as they are there, 3 removed"
    )
    assert report.to_dict()["new"] == 2


KILLED = """
import sys
from pathlib import Path
from t2v_spacy.search.update import update_index
from tests.search.test_encode import Counting
from tests.search.test_update import SIZES, records

counting = Counting(int(sys.argv[2]) or None)
given = records(range(10, 83))
update_index(counting.nlp, given, Path(sys.argv[1]), remove_missing=True, **SIZES)
print(counting.seen)
"""


def run(folder: Path, dies_at: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", KILLED, str(folder), str(dies_at)]
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def test_an_update_that_was_killed_goes_on(folder):
    assert run(folder, dies_at=13).returncode == -signal.SIGKILL
    assert len(TrialIndex.from_disk(folder)) == N
    last = run(folder)
    assert last.returncode == 0, last.stderr
    assert last.stdout.split() == [str(23 - 10)]  # two shards of 5 were there
    assert TrialIndex.from_disk(folder).ids() == [nct(n) for n in range(10, 83)]
    assert names(folder.parent) == ["my index"]


def test_it_warns_of_nothing_by_itself(folder):
    newer = [replace(trial, title=f"{trial.title}!!") for trial in records()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert update(folder, newer).changed == N


def test_a_failure_of_the_reader_leaves_the_index(folder):
    def broken():
        yield make_trial(100)
        raise OSError("the disk of the records is gone")

    with pytest.raises(OSError, match="of the records is gone"):
        update(folder, broken())
    assert len(TrialIndex.from_disk(folder)) == N
    assert names(folder.parent) == ["my index"]
