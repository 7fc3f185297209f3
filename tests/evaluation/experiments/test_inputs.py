from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.experiments.inputs import Inputs


def test_records_are_chosen_by_fields_and_drawn_under_the_seed(make_settings):
    few = {"records": {"few": {"path": "${TOY_DATA}/records.jsonl", "most": 5}}}
    some = [t.nct_id for t in Inputs(make_settings(**few)).records("few")]
    assert len(some) == 5
    assert some == sorted(some)
    assert some == [t.nct_id for t in Inputs(make_settings(**few)).records("few")]
    other = Inputs(make_settings(seed=1, **few)).records("few")
    assert some != [t.nct_id for t in other]
    whole = Inputs(make_settings()).records("toy")
    assert len(whole) == 24
    needed = {"records": {"toy": {"require": ["acronym"]}}}
    assert (
        len(Inputs(make_settings(**needed)).records("toy"))
        == sum(bool(t.acronym) for t in whole)
        < 24
    )


def test_the_first_record_of_an_id_is_taken(make_settings, sample):
    path = sample / "records.jsonl"
    text = path.read_text("utf8")
    path.write_text(text + text.replace("Palbociclib", "Second"), "utf8")
    found = Inputs(make_settings()).records("toy")
    assert len(found) == 24
    assert "Palbociclib" in found[0].title


def test_judged_trials_are_found_whatever_is_drawn(make_settings):
    found = Inputs(make_settings(records={"toy": {"most": 1}}))
    assert len(found.records("toy")) == 1
    assert found.benchmark("toy").report.complete == 3
    assert found.distractors("toy") == []


def test_what_decides_is_known_before_anything_is_read(make_settings, sample):
    settings = make_settings()
    before = Inputs(settings).about_benchmark("toy")
    assert Inputs(make_settings()).about_benchmark("toy") == before
    with (sample / "records.jsonl").open("a") as file:
        file.write("\n")
    after = Inputs(settings).about_benchmark("toy")
    assert after["sha256"] == before["sha256"]
    assert after["trials"]["sha256"] != before["trials"]["sha256"]
    assert str(sample) not in str(after)


def test_a_missing_file_is_named_at_once(make_settings, sample):
    inputs = Inputs(
        make_settings(pairs={"path": "${TOY_DATA}/none.tsv", "systems": []})
    )
    with pytest.raises(T2VError, match=r"T001.*none\.tsv"):
        inputs.check()
