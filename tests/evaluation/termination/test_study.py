"""The evaluation of termination on made-up records, from records to numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spacy.util import load_config

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.termination import inputs as inputs_module
from t2v_spacy.evaluation.termination import rows as rows_module
from t2v_spacy.evaluation.termination.groups import within_groups
from t2v_spacy.evaluation.termination.inputs import StudySettings
from t2v_spacy.evaluation.termination.predictions import fitted, log_odds, stacked
from t2v_spacy.evaluation.termination.records import read_records
from t2v_spacy.evaluation.termination.rows import FINETUNED, SHIPPED, STACKED, TFIDF
from t2v_spacy.evaluation.termination.study import run_study
from t2v_spacy.evaluation.termination.textcat import FORMS
from t2v_spacy.termination.calibration import calibrated
from t2v_spacy.termination.fill import FILL_FIELDS
from t2v_spacy.trial import Trial
from tests.evaluation.termination.toy import CONFIG, make_records, make_trial, write

ROOT = Path(__file__).parents[3]
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")
ALWAYS = ("Majority", "Filled fields, regression", "Facts, regression")


@pytest.fixture(scope="module")
def settings(tmp_path_factory, tiny_nlp, tiny_backbone) -> StudySettings:
    folder = tmp_path_factory.mktemp("my study")
    tiny_nlp.to_disk(folder / "encoder")
    config = folder / "short.cfg"
    text = CONFIG.read_text("utf8").replace("max_steps = 30", "max_steps = 10")
    config.write_text(text.replace('lang = "en"', 'lang = "xx"'))  # loads faster
    return StudySettings(
        write(folder / "records.jsonl", make_records()),
        folder / "encoder",
        config,
        seeds=2,
        rounds=20,
        least=3,
        word2vec=False,
        finetuned=along(folder, tiny_backbone),
    )


def along(folder: Path, backbone: str) -> Path:
    """The shipped config that trains the encoder along, small and short."""
    config = load_config(ROOT / "configs" / "termination_finetuned.cfg")
    config["paths"]["backbone"] = backbone
    config["components"]["transformer"]["model"] |= {"window": 32, "stride": 28}
    config["components"]["transformer"]["model"]["frozen_layers"] = 0
    config["components"]["textcat"]["model"]["encoder"]["n_heads"] = 2
    config["training"] |= {"max_steps": 2, "eval_frequency": 2}
    config.to_disk(folder / "along.cfg")
    return folder / "along.cfg"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def encoded(settings):
    """How many trials each call of the encoder was given."""
    return []


@pytest.fixture(scope="module")
def result(settings, out, encoded):
    from t2v_spacy.search import encode

    make = encode._encode

    def counted(nlp, trials, *args):
        encoded.append(len(trials))
        return make(nlp, trials, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode, "_encode", counted)
        return run_study(settings, out)


def row(result, records, split, system):
    (table,) = (
        t for t in result["tables"] if (t["records"], t["split"]) == (records, split)
    )
    return next(r for r in table["rows"] if r["system"] == system)


def test_each_system_has_a_row_everywhere(result):
    names = [TFIDF, *ALWAYS, *FORMS, FINETUNED, STACKED]
    for table in result["tables"]:
        assert [r["system"] for r in table["rows"]] == names
        assert not any(r["failed"] for r in table["rows"])
        along = next(r for r in table["rows"] if r["system"] == FINETUNED)
        assert [run["seed"] for run in along["runs"]] == [0]
    assert [(t["records"], t["split"]) for t in result["tables"]] == [
        ("complete", "random"),
        ("complete", "date"),
        ("all", "random"),
        ("all", "date"),
    ]


def test_parts_are_those_of_the_splits(result):
    """96 trials, 72 of them whole; 70, 10 and 20 of 100."""
    random = [t["parts"] for t in result["tables"] if t["split"] == "random"]
    for parts, sizes in zip(random, [(50, 8, 14), (67, 10, 19)], strict=True):
        assert [p["seed"] for p in parts] == [0, 1]
        for about in parts:
            found = tuple(about[part]["n"] for part in ("train", "dev", "test"))
            assert found == sizes
    (about,) = result["tables"][1]["parts"]
    # By date: starts of 2006 to 2010 have ended by 2012, those of 2011 have not.
    assert about["train"]["n"] + about["dev"]["n"] == 40
    assert about["dropped"] == {"unknown at cut-off": 8}
    assert about["test"] == {"n": 24, "terminated": 12}


def test_what_can_be_told_is_told_and_only_that(result):
    for records in ("complete", "all"):
        for split in ("random", "date"):
            assert row(result, records, split, TFIDF)["mean"]["roc_auc"] == 1
            assert row(result, records, split, "Majority")["mean"]["roc_auc"] == 0.5
    assert row(result, "complete", "random", SHIPPED)["mean"]["roc_auc"] > 0.8


def test_filled_fields_tell_the_copy_and_nothing_among_like_records(result):
    filled = "Filled fields, regression"
    assert row(result, "complete", "date", filled)["mean"]["roc_auc"] == 0.5
    found = row(result, "all", "date", filled)
    assert found["mean"]["roc_auc"] > 0.52
    for alike in ("required", "all"):
        assert found["within"][alike]["roc_auc"] == 0.5
        assert found["within"][alike]["share"] == 1
        assert found["within"][alike]["together"]["roc_auc"] == pytest.approx(
            found["mean"]["roc_auc"]
        )
    assert row(result, "complete", "date", filled)["within"] is None


def test_what_no_seed_decides_is_run_once_on_a_split_by_date(result):
    for system in (TFIDF, *ALWAYS):
        assert len(row(result, "all", "date", system)["runs"]) == 1
        assert len(row(result, "all", "random", system)["runs"]) == 2
    for system in (*FORMS, STACKED):
        runs = row(result, "all", "date", system)["runs"]
        assert [run["seed"] for run in runs] == [0, 1]
        assert runs[0]["scores"]["brier"] != runs[1]["scores"]["brier"]


def test_each_trial_is_encoded_once(result, encoded):
    assert sum(encoded) == 96
    assert result["encoding"]["trials"] == 96


def test_the_others_are_compared_with_tfidf_on_the_same_trials(result):
    found = row(result, "complete", "random", "Majority")
    for run in found["runs"]:
        assert run["against"]["roc_auc"]["difference"] == -0.5
        assert run["against"]["pr_auc"]["difference"] == pytest.approx(
            run["scores"]["prevalence"] - 1
        )
    assert row(result, "complete", "random", TFIDF)["against"] is None


def test_a_row_that_is_there_is_not_made_again(settings, out, result, monkeypatch):
    """Nothing is read, and no system is fitted."""
    monkeypatch.setattr(inputs_module, "read_records", None)
    monkeypatch.setattr(rows_module, "fitted", None)
    monkeypatch.setattr(rows_module, "train_textcat", None)
    again = run_study(settings, out)
    assert again["tables"] == result["tables"]
    assert again["counts"] == result["counts"]


def test_only_what_is_lost_or_new_is_made(settings, out, result, monkeypatch):
    """A lost row of TF-IDF is made again, and a system that fails stops no other."""
    monkeypatch.setattr(rows_module, "train_textcat", None)
    (lost,) = (out / "runs").glob("tf-idf-regression-all-date-0-*.json")
    lost.unlink()
    again = run_study(replace(settings, backbone=str(out / "no backbone")), out)
    before, after = (row(r, "all", "date", TFIDF) for r in (result, again))
    assert after["runs"][0]["scores"] == before["runs"][0]["scores"]
    failed = row(again, "all", "date", "TrialBERT, regression")
    assert "T110" in failed["failed"] and "mean" not in failed
    for name in (SHIPPED, STACKED):
        assert row(again, "all", "date", name) == row(result, "all", "date", name)


def test_what_rests_on_a_system_that_failed_fails_by_name(settings, out, result):
    found = run_study(replace(settings, encoder=out / "no encoder"), out)
    for name, code in ((SHIPPED, "T153"), (STACKED, f"T156.*{SHIPPED}")):
        assert re.search(code, row(found, "all", "random", name)["failed"])
    assert row(found, "all", "random", TFIDF) == row(result, "all", "random", TFIDF)


def test_a_part_of_one_label_fails_by_name(settings, tmp_path):
    early = [make_trial(i, ended=False, year=2006) for i in range(20)]
    late = [make_trial(i, ended=i % 2 == 0, year=2014) for i in range(20, 60)]
    found = run_study(
        replace(
            settings,
            records=write(tmp_path / "r.jsonl", early + late),
            encoder=tmp_path / "no encoder",
            seeds=1,
        ),
        tmp_path / "out",
    )
    for name in (TFIDF, SHIPPED):
        failed = row(found, "all", "date", name)
        reason = failed["failed"]
        assert re.search("T155.*'train' has 0 terminated and 18 completed", reason)
        assert failed["code"] == "T155"
    assert row(found, "all", "random", TFIDF)["failed"] is None


def test_a_row_without_a_comparison_gets_it_once_there_can_be_one(
    settings, tmp_path, monkeypatch
):
    given = replace(settings, encoder=tmp_path / "no encoder", seeds=1)

    def broken():
        raise T2VError("T999", "out of order")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "TfidfRegression", broken)
        found = run_study(given, tmp_path)
    assert row(found, "all", "random", TFIDF)["code"] == "T999"
    assert row(found, "all", "random", "Majority")["against"] is None
    found = run_study(given, tmp_path)
    assert row(found, "all", "random", TFIDF)["failed"] is None
    assert row(found, "all", "random", "Majority")["against"]["roc_auc"]


def test_what_is_installed_is_known_by_its_content(tmp_path, monkeypatch):
    package = tmp_path / "en_made_up-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: en_made_up\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    for checksum in ("one", "two", "two"):
        (package / "RECORD").write_text(f"en_made_up/model,sha256={checksum},1\n")
        found.append(inputs_module._place_hash(Path("en_made_up")))
    assert found[0] and found[0] != found[1] == found[2]
    for name in ("no_such_package", "no/such model", "/no/such folder"):
        assert inputs_module._place_hash(Path(name)) is None


def test_the_revision_of_a_hub_model_counts(tmp_path, monkeypatch):
    import huggingface_hub

    found = []
    for revision in ("one", "two"):
        config = str(tmp_path / revision / "config.json")
        monkeypatch.setattr(
            huggingface_hub, "try_to_load_from_cache", lambda *args, c=config: c
        )
        found.append(inputs_module._place_hash(Path("somebody/some-model")))
    assert found[0] and found[0] != found[1]


@pytest.mark.parametrize(
    ("change", "code"), [({"seeds": 0}, "T026"), ({"cutoff": "2012"}, "T147")]
)
def test_settings_out_of_range_are_refused_at_once(settings, change, code):
    with pytest.raises(T2VError, match=code):
        replace(settings, **change)


def test_what_is_left_out_is_counted(tmp_path):
    one = make_trial(1, ended=True, year=2010)
    given = [
        one,
        replace(make_trial(2, ended=False, year=2010), sponsor=None),
        one,
        replace(one, nct_id="NCT00000003", status="RECRUITING"),
        replace(one, nct_id="NCT00000004", study_type="OBSERVATIONAL"),
        replace(one, nct_id="NCT00000005", study_type=None),
        Trial("NCT00000006", status="WITHDRAWN"),
        replace(make_trial(7, ended=True, year=2010), brief_summary="Study withdrawn."),
    ]
    path = write(tmp_path / "r.jsonl", given)
    with path.open("a") as file:
        file.write("{broken\n")
    found = read_records(path)
    assert [view.nct_id for view in found.views] == ["NCT00000001", "NCT00000002"]
    assert found.terminated.tolist() == [True, False]
    assert found.complete.tolist() == [True, False]
    assert found.filled[0, FILL_FIELDS.index("sponsor")]
    assert not found.filled[1, FILL_FIELDS.index("sponsor")]
    assert found.views[0].status is None and found.views[0].start_date is None
    assert found.counts["left_out"] == {
        "given twice": 1,
        "with a status that gives no label": 1,
        "of another study type": 1,
        "of no type": 2,
        "with a field that only tells the outcome": 1,
        "refused by the reader": 1,
    }
    assert found.counts["statuses"]["TERMINATED"] == {"n": 3, "label": True}
    assert found.counts["statuses"]["RECRUITING"] == {"n": 1, "label": None}
    assert found.counts["filled"]["sponsor"] == (1, 0)
    counts = read_records(path, study_type=None).counts
    assert counts["labelled"] == 4 and counts["left_out"]["without text"] == 1
    with pytest.raises(T2VError, match="T154.*1 are terminated and 0 completed"):
        read_records(write(path, [one]))


def test_a_limit_draws_the_same_trials_each_time(tmp_path):
    path = write(tmp_path / "r.jsonl", make_records())
    first, second = (read_records(path, limit=30) for _ in range(2))
    ids = [view.nct_id for view in first.views]
    assert ids == [view.nct_id for view in second.views] == sorted(ids)
    assert len(ids) == 30 and ids[-1] > "NCT00000050"
    assert first.counts["left_out"] == {"not drawn": 66}


def test_calibration_and_threshold_do_not_depend_on_the_test_part():
    rng = np.random.default_rng(0)
    gold = rng.random(200) < 0.3
    dev = 4 * gold - 2 + rng.normal(size=200) * 4
    one, other = fitted(dev, np.zeros(3), gold), fitted(dev, np.array([9.0]), gold)
    assert one.threshold == other.threshold
    assert one.temperature == other.temperature > 1
    assert (one.dev == other.dev).all()
    assert calibrated(one.dev).mean() == pytest.approx(gold.mean(), abs=0.01)
    assert other.probabilities == pytest.approx(
        calibrated([9 / one.temperature + one.bias])
    )


def test_a_stack_is_the_mean_of_log_odds():
    gold = np.array([True, False] * 50)
    dev = np.where(gold, 1.0, -1.0) * np.linspace(0.2, 3, 100)
    one = fitted(dev, np.array([1.0, -2.0]), gold)
    other = fitted(dev[::-1] * -1, np.array([-1.0, -2.0]), gold)
    found = stacked([one, other], gold)
    middle = (one.test + other.test) / 2
    expected = middle / found.temperature + found.bias
    np.testing.assert_allclose(found.test, expected)
    assert log_odds([0.5, 0.8]) == pytest.approx([0, np.log(4)])
    assert np.isfinite(log_odds([0.0, 1.0])).all()


def test_areas_within_groups_are_those_computed_by_hand():
    """Two groups, by the sponsor: the first says nothing, in the second all is told; a
    third has one label, a fourth is small. As one, the groups mislead."""
    filled = np.zeros((15, len(FILL_FIELDS)), bool)
    sponsor, title, sex = (FILL_FIELDS.index(n) for n in ("sponsor", "title", "sex"))
    filled[4:10, sponsor] = True
    filled[10:13, title] = True
    filled[13:, [title, sponsor]] = True
    filled[0, sex] = True  # no registration must say it
    gold = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0], bool)
    p = np.array([0.1] * 4 + [0.9, 0.9, 0.5, 0.5, 0.5, 0.5] + [0.3] * 5)
    found = within_groups(gold, p, filled, least=3)
    required = found["required"]
    assert [group["n"] for group in required["groups"]] == [6, 4, 3]
    assert [group["roc_auc"] for group in required["groups"]] == [1, 0.5, None]
    assert "sponsor" not in required["groups"][0]["lacking"]
    assert "title" in required["groups"][0]["lacking"]
    assert required["n"] == 10 and required["share"] == pytest.approx(10 / 15)
    assert required["roc_auc"] == pytest.approx((6 * 1 + 4 * 0.5) / 10)
    assert required["pr_auc"] == pytest.approx((6 * 1 + 4 * 0.5) / 10)
    assert required["prevalence"] == pytest.approx((6 * 2 / 6 + 4 * 0.5) / 10)
    # Of 4 terminated and 6 completed: the two of 0.9 are above all; those of 0.1 are
    # below four and tie with two.
    assert required["together"]["roc_auc"] == pytest.approx((2 * 6 + 2 * 2 / 2) / 24)
    assert [group["n"] for group in found["all"]["groups"]] == [6, 3, 3]
    none = within_groups(gold, p, filled, least=100)["all"]
    assert none["groups"] == [] and none["n"] == 0
    assert none["roc_auc"] is none["together"]["pr_auc"] is none["prevalence"] is None


def test_tables_of_complete_records_alone(settings, out, result):
    """Their rows are there already."""
    few = run_study(replace(settings, complete_only=True), out)
    assert [(t["records"], t["split"]) for t in few["tables"]] == [
        ("complete", "random"),
        ("complete", "date"),
    ]
    assert few["tables"] == result["tables"][:2]
