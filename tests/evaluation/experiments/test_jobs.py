from __future__ import annotations

import json

import pytest

from t2v_spacy.evaluation.experiments.inputs import Inputs
from t2v_spacy.evaluation.experiments.jobs import about_system, run_jobs
from t2v_spacy.evaluation.experiments.retrieval import RankJob

WHOLE, TITLE = RankJob("Counting", "toy"), RankJob("Counting", "toy", "title")


def run(settings, folder, jobs=(WHOLE, TITLE), **options):
    return run_jobs(jobs, Inputs(settings), folder, **options)


def test_a_system_learns_once_and_nothing_is_done_twice(
    make_settings, counting, tmp_path
):
    first = run(make_settings(), tmp_path / "jobs")
    assert counting.learned == [24]
    assert len(counting.ranked) == 2
    assert first[WHOLE]["learned"]["trials"] == 24
    assert run(make_settings(), tmp_path / "jobs") == first
    assert len(counting.learned) == 1 and len(counting.ranked) == 2
    run(make_settings(), tmp_path / "jobs", again=True)
    assert len(counting.learned) == 2 and len(counting.ranked) == 4


def test_only_what_has_changed_is_done_again(make_settings, counting, tmp_path, sample):
    jobs = [WHOLE, RankJob("BM25", "toy")]
    run(make_settings(), tmp_path / "jobs", jobs)
    changed = make_settings(systems={"BM25": {"settings": {"k1": 1.5}}})
    run(changed, tmp_path / "jobs", jobs)
    assert len(counting.ranked) == 1
    run(
        make_settings(systems={"Counting": {"settings": {"noise": 0.2}}}),
        tmp_path / "jobs",
        jobs,
    )
    assert len(counting.ranked) == 2
    labels = json.loads((sample / "labels.json").read_text())
    (sample / "labels.json").write_text(json.dumps(labels[:2]))
    run(make_settings(), tmp_path / "jobs", jobs)
    assert len(counting.ranked) == 3
    run(make_settings(rounds=51), tmp_path / "jobs", jobs)
    assert len(counting.ranked) == 4


def test_the_files_that_a_system_names_decide_it(make_settings, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights").write_text("1")
    changes = {"systems": {"Counting": {"settings": {"model": str(model)}}}}

    def about():
        return about_system("Counting", Inputs(make_settings(**changes)))

    before = about()
    assert about() == before
    (model / "weights").write_text("2")
    assert about() != before


def test_a_system_that_fails_is_named_and_the_others_go_on(
    make_settings, counting, tmp_path, sample
):
    settings = make_settings(
        systems={
            "T5": {
                "system": "monot5",
                "optional": True,
                "settings": {"checkpoint": str(sample / "none")},
            }
        }
    )
    jobs = [RankJob("T5", "toy"), WHOLE]
    found = run(settings, tmp_path / "jobs", jobs)
    assert "T111" in found[jobs[0]]["failed"] and found[jobs[0]]["optional"]
    assert str(sample) not in found[jobs[0]]["failed"]
    assert "failed" not in found[WHOLE]
    again = run(settings, tmp_path / "jobs", jobs)
    assert "T111" in again[jobs[0]]["failed"]  # tried again


@pytest.mark.parametrize("seconds", [9000.0, -1.0])
def test_the_longest_time_of_learning_counts(make_settings, tmp_path, seconds):
    folder = tmp_path / "jobs"
    run(make_settings(), folder)
    (cost,) = folder.glob("cost-*.json")
    cost.write_text(json.dumps({"trials": 7, "seconds": seconds, "made": {}}))
    found = run(make_settings(), folder, again=True)
    assert found[WHOLE]["learned"]["trials"] == (7 if seconds > 0 else 24)
