from __future__ import annotations

import csv

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.termination.splits import Split, date_split, random_split
from t2v_spacy.trial import Trial
from t2v_spacy.values import parse_date

IDS = [f"NCT{n:08}" for n in range(200)]


def dated(nct_id, start, end=None, *, actual=None, updated=None) -> Trial:
    return Trial(
        nct_id,
        start_date=parse_date(start),
        completion_date=parse_date(end, actual),
        last_updated=parse_date(updated),
    )


def part_of(trial) -> str:
    """The part a trial is in, or the reason why it is in none."""
    split = date_split([trial], "2018-01-01")
    parts = {name: len(getattr(split, name)) for name in ("train", "dev", "test")}
    (where,) = [name for name, n in (parts | split.dropped).items() if n]
    return where


def test_a_random_split_has_the_shares_asked_for():
    split = random_split(IDS, 0)
    assert [len(split.train), len(split.dev), len(split.test)] == [140, 20, 40]
    assert sorted(split.train + split.dev + split.test) == IDS
    assert split.dropped == {}


def test_the_seed_and_the_ids_decide_not_their_order():
    split = random_split(IDS, 1)
    assert random_split(IDS[::-1] + IDS[:5], 1) == split
    assert random_split(IDS, 2) != split


def test_a_group_stays_together():
    groups = {nct_id: n // 5 if n < 150 else None for n, nct_id in enumerate(IDS)}
    split = random_split(IDS, 0, groups=groups)
    parts = [{groups[i] for i in part} - {None} for part in (split.train, split.dev, split.test)]  # fmt: skip
    assert all(parts)
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert len(split.train) == pytest.approx(140, abs=3)
    assert len(split.test) == pytest.approx(40, abs=3)


@pytest.mark.parametrize(
    ("trial", "part"),
    [
        (dated("A", "2012-05", "2014-01-01"), "train"),
        (dated("A", "2016-03-01", "2019-07-01"), "unknown at cut-off"),
        (dated("A", "2018-01-01", "2020-02"), "test"),
        (dated("A", "2019", "2021-01-01"), "test"),
        (dated("A", "2018"), "test"),
        (dated("A", "2017-12-31", "2017-12-31"), "train"),
        # A year or month that the cut-off lies in is not before it.
        (dated("A", "2012", "2018"), "unknown at cut-off"),
        (dated("A", "2012", "2017-12"), "train"),
        # Withdrawn long before it was to be completed.
        (dated("A", "2016", "2019-07", actual=False, updated="2016-09-01"), "train"),
        (dated("A", "2016", "2017-07", actual=False, updated="2019-09-01"), "unknown at cut-off"),
        (dated("A", "2016", "2017-07", actual=True, updated="2019-09-01"), "train"),
        (dated("A", "2016", updated="2017-12-31"), "train"),
        (dated("A", "2016", updated="2018-01-01"), "unknown at cut-off"),
        (dated("A", "2016"), "undated"),
        (dated("A", None, "2014-01-01"), "undated"),
        (dated("A", "2014-99", "2015"), "undated"),
    ],
)  # fmt: skip
def test_a_trial_is_where_its_dates_put_it(trial, part):
    assert part_of(trial) == part


def test_a_start_that_is_not_exact_enough_is_in_no_part():
    trial = dated("A", "2018", "2018-02-01")
    split = date_split([trial], "2018-06-15")
    assert split.dropped["astride the cut-off"] == 1
    assert split == Split((), (), (), split.dropped)


def test_dev_trials_are_the_last_to_start():
    trials = [dated(f"{n:02}", f"20{n:02}", "2017-01-01") for n in range(16)]
    split = date_split([*trials, trials[0]], "2018-01-01")
    assert split.dev == ("14", "15")
    assert split.train == tuple(f"{n:02}" for n in range(14))


def test_a_cut_off_is_a_day():
    for value in ("2018", "2018-02-30", "yesterday"):
        with pytest.raises(T2VError, match="T147"):
            date_split([], value)


def test_the_shared_case(t2v_data):
    path = t2v_data / "cases" / "c43_split.tsv"
    rows = list(csv.DictReader(path.open(encoding="utf8"), delimiter="\t"))
    assert len(rows) == 4
    for row in rows:
        trial = dated(row["nct_id"], row["start"], row["completion"])
        expected = row["expected_split_if_cutoff_2018-01-01"]
        found = "drop" if part_of(trial) == "unknown at cut-off" else part_of(trial)
        assert found == expected.split(" ")[0], row
