from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.experiments.settings import overlay, read_settings

from .conftest import ROOT


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(
    "name", ["experiments.yml", "experiments_full.yml", "experiments_ablations.yml"]
)
def test_the_settings_that_are_shipped_can_be_read(name, quick, monkeypatch):
    monkeypatch.setenv("T2V_DATA", "somewhere")
    found = read_settings(ROOT / "configs" / name, quick=quick)
    if name == "experiments_ablations.yml":
        assert found.tables.keys() == {"ablations", "widths"}
    else:
        assert set(found.tables["complete"].against) == {"BM25", "Sectioned mean"}
        assert found.map and found.cases


def test_quick_takes_other_systems_and_settings():
    path = ROOT / "configs/experiments.yml"
    whole, quick = read_settings(path), read_settings(path, quick=True)
    assert set(quick.tables["complete"].systems) < set(whole.tables["complete"].systems)
    assert whole.systems["Word2Vec"].settings == {}
    assert quick.systems["Word2Vec"].settings == {"width": 32, "epochs": 2}
    assert quick.systems["Word2Vec"].train == "sample"


def test_overlay():
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert overlay(base, {"a": {"c": [3]}, "d": None, "e": 2}) == {
        "a": {"b": 1, "c": [3]},
        "e": 2,
    }
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sytems": {}}, "unknown 'sytems'"),
        ({"seed": "1"}, "'seed' and 'rounds'"),
        ({"rounds": 0}, "'seed' and 'rounds'"),
        ({"systems": {"BM25": {"system": "bm26"}}}, "'systems.BM25' names 'bm26'; known: tfidf, bm25"),
        ({"systems": {"BM25": {"train": "others"}}}, "'systems.BM25.train' names 'others'; known: toy"),
        ({"systems": {"BM25": {"settings": [1]}}}, "'systems.BM25.settings'"),
        ({"systems": {"BM25": {"k1": 2}}}, r"unknown field 'systems\.BM25\.k1'"),
        ({"records": {"toy": {"most": "5"}}}, r"'records\.toy\.most' is not a whole number"),
        ({"records": {"toy": {"require": ["summary"]}}}, "names 'summary'"),
        ({"benchmarks": {"toy": {"format": "qrels"}}}, "names 'qrels'"),
        ({"complete": {"systems": ["BM26"]}}, "'complete' names 'BM26'"),
        ({"complete": {"parts": ["title"]}}, "'partial', and no other table"),
        ({"complete": {"shown": ["ndcg@7"]}}, r"names 'ndcg@7'"),
        ({"partial": {"benchmarks": ["toy"], "systems": ["BM25"], "parts": ["title + disease"]}}, "names 'disease'"),
        ({"pairs": {"path": "x"}}, r"'pairs\.systems' is absent"),
        ({"map": {"records": "toy", "system": "BM26"}}, "'map' names 'BM26'"),
        ({"cases": {"benchmark": "toys", "systems": []}}, "'cases' names 'toys'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(make_settings, changes, reason):
    with pytest.raises(T2VError, match=rf"T140.*settings\.json.*{reason}"):
        make_settings(**changes)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(T2VError, match="T001"):
        read_settings(tmp_path / "none.yml")
    path = tmp_path / "bad.yml"
    for text in ("a: [1", "- 1", ""):
        path.write_text(text)
        with pytest.raises(T2VError, match="T140"):
            read_settings(path)


def test_an_environment_variable_is_needed_and_hidden_again(
    make_settings, monkeypatch, sample
):
    settings = make_settings()
    assert settings.expand("${TOY_DATA}/x") == f"{sample}/x"
    assert settings.hide(f"no file {sample}/x") == "no file ${TOY_DATA}/x"
    monkeypatch.delenv("TOY_DATA")
    with pytest.raises(T2VError, match="T141.*TOY_DATA"):
        make_settings()
