from __future__ import annotations

from collections import Counter

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite.tasks import TASKS, find_tasks

MAIN = {
    "ndcg@10": "ndcg_at_10",
    "accuracy": "accuracy",
    "spearman": "cosine_spearman",
    "v_measure": "v_measure",
}


def test_the_table_has_the_cards_twenty():
    assert len({task.name for task in TASKS}) == 20
    kinds = Counter(task.kind for task in TASKS)
    assert kinds == {"retrieval": 10, "probe": 7, "sts": 1, "clustering": 2}
    own = {task.name for task in TASKS if task.mteb is None}
    assert own == {
        "MTSamples",
        "Symptom2Diagnosis",
        "Medical Abstracts",
        "PubMed RCT 20k",
        "HoC",
    }
    assert all((task.hub is None) != (task.mteb is None) for task in TASKS)
    assert [task.name for task in TASKS if task.many] == ["HoC"]


def test_mteb_knows_the_fifteen_with_these_metrics_and_subsets():
    mteb = pytest.importorskip("mteb")
    for task in TASKS:
        if task.mteb is None:
            continue
        found = mteb.get_task(task.mteb, hf_subsets=list(task.subsets) or None)
        assert found.metadata.main_score == MAIN[task.metric], task
        languages = found.metadata.hf_subsets_to_langscripts
        kept = {lang for subset in found.hf_subsets for lang in languages[subset]}
        assert kept == {"eng-Latn"}, task


def test_tasks_are_found_by_either_name_in_the_order_of_the_card():
    found = find_tasks(["biosses", "birco-clinical trial", "TRECCOVID", "BIOSSES"])
    assert [t.name for t in found] == ["TREC-COVID", "BIRCO Clinical-Trial", "BIOSSES"]
    assert find_tasks([]) == list(TASKS)


def test_an_unknown_task_is_named():
    with pytest.raises(T2VError, match=r"T200.*'MedMCQA'.*SciFact"):
        find_tasks(["BIOSSES", "MedMCQA"])
