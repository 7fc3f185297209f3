"""What holds for every system."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems import SYSTEMS, document_text, make_system
from t2v_spacy.trial import Trial

EMPTY = Trial("NCT90000009")


@pytest.fixture(scope="module")
def settings(tiny_nlp, tiny_backbone, tiny_monot5, tmp_path_factory) -> dict[str, dict]:
    folder = str(tmp_path_factory.mktemp("model") / "tiny")
    tiny_nlp.to_disk(folder)
    bert = {"backbone": tiny_backbone, "window": 64, "precision": "float32"}
    return {
        "tfidf": {},
        "bm25": {},
        "word2vec": {"width": 16, "min_count": 1, "epochs": 2},
        "bert_mean": bert,
        "trialbert": bert,
        "bert_whitening": bert,
        "bert_simcse": bert | {"dropout": 0.1, "batch_size": 2},
        "monot5": {"checkpoint": tiny_monot5, "precision": "float32", "top_k": 1},
        "sectioned_mean": {"model": folder},
        "trial2vec": {"model": folder},
    }


@pytest.fixture(params=SYSTEMS)
def make(request, settings):
    return lambda: make_system(request.param, **settings[request.param])


def test_shape_batches_and_seeds(make, trials):
    system, again = make(), make()
    system.fit(trials)
    found = system.scores(trials[:3])
    assert found.shape == (3, len(trials))
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    assert system.scores([]).shape == (0, len(trials))
    again.fit(trials)
    one_by_one = [again.scores([trial])[0] for trial in trials[:3]]
    assert np.stack(one_by_one) == pytest.approx(found, abs=1e-5)


def test_a_trial_is_most_like_itself(make, trials):
    system = make()
    system.train(trials)
    system.fit(trials)
    assert list(system.scores(trials).argmax(axis=1)) == list(range(len(trials)))


def test_trials_without_words(make, trials):
    system = make()
    system.fit([EMPTY, *trials])
    with_words, without = system.scores([trials[0], EMPTY])
    assert with_words[0] < with_words[1:].min()
    assert np.ptp(without) == 0


def test_calls_out_of_order_and_without_trials(make, trials):
    system = make()
    assert system.name
    assert system.long_text
    with pytest.raises(T2VError, match="T113"):
        system.scores(trials)
    for call in (system.fit, system.train):
        with pytest.raises(T2VError, match="T114"):
            call([])


def test_an_unknown_system_is_named():
    with pytest.raises(T2VError, match="T116.*bm52.*bm25"):
        make_system("bm52")


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("bm25", "bm25s"),
        ("bm25", "Stemmer"),
        ("tfidf", "sklearn.feature_extraction.text"),
        ("word2vec", "gensim.models"),
    ],
)
def test_a_missing_library_is_named(monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(T2VError, match=f"T112.*{library}.*evaluation"):
        make_system(name)


def test_document_text_is_the_whole_record_without_control_characters():
    trial = Trial(
        "NCT90000001", title="Gout\0 and\tpain\x85", brief_summary="\ud800 a\n\nb"
    )
    assert document_text(trial) == (
        "## Title\nGout and pain \n\n## Brief Summary\n\ufffd a\n\nb"
    )
    assert document_text(EMPTY) == ""


def test_the_table_of_systems_imports_no_library():
    code = (
        "import sys, t2v_spacy.evaluation.systems\n"
        "heavy = {'torch', 'sklearn', 'gensim', 'bm25s', 'transformers', 'Stemmer'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
