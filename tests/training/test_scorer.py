from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
import spacy
from spacy.training import Example

from t2v_spacy.errors import T2VError
from t2v_spacy.extensions import NCT_ID, install_extensions
from t2v_spacy.training.scorer import (
    effective_rank,
    make_trial2vec_scorer,
    mean_cosine,
    own_criteria,
)
from t2v_spacy.trial import Trial


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype="f")
    return vector / np.linalg.norm(vector)


def doc_of(nct_id="", vector=None, **sections):
    install_extensions()
    doc = spacy.blank("en").make_doc("a trial")
    doc._.trial_vector = vector
    doc._.section_vectors = sections
    if nct_id:
        doc.user_data[NCT_ID] = nct_id
    return doc


def score(docs, **settings):
    return make_trial2vec_scorer(**settings)([Example(doc, doc) for doc in docs])


def test_own_criteria_is_the_mean_reciprocal_rank():
    x, y, z = unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)
    docs = [
        doc_of(title=x, condition=x, eligibility=unit(2, 1, 0)),  # first
        doc_of(title=y, eligibility=unit(3, 1, 2)),  # third, after x and z
        doc_of(title=unit(0, 1, 1), condition=unit(0, -1, 1), eligibility=z),  # first
        doc_of(title=x),  # has no criteria: neither asks nor is found
        doc_of(eligibility=x),
    ]
    assert own_criteria(docs) == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert own_criteria(docs[:1]) is None
    assert own_criteria([]) is None


def test_ties_and_what_is_no_number_count_against_it():
    x = unit(1, 0)
    docs = [doc_of(title=x, eligibility=x) for _ in range(4)]
    assert own_criteria(docs) == pytest.approx(1 / 4)
    nan = x * math.nan
    docs = [doc_of(title=nan, eligibility=nan) for _ in range(4)]
    assert own_criteria(docs) == pytest.approx(1 / 4)


def test_mean_cosine_is_that_of_all_pairs():
    vectors = np.stack([unit(1, 0), unit(0, 1), unit(3, 4)])
    assert mean_cosine(vectors) == pytest.approx((0 + 0.6 + 0.8) / 3)
    assert mean_cosine(vectors[:1]) is None


def test_effective_rank_counts_the_directions_that_vary():
    square = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype="f")
    assert effective_rank(square) == pytest.approx(2.0)
    line = np.array([[1, 0, 5], [-1, 0, 5], [2, 0, 5]], dtype="f")
    assert effective_rank(line) == pytest.approx(1.0)
    uneven = np.array([[2, 0], [-2, 0], [0, 1], [0, -1]], dtype="f")  # 8 to 2
    expected = math.exp(-(0.8 * math.log(0.8) + 0.2 * math.log(0.2)))
    assert effective_rank(uneven) == pytest.approx(expected)
    assert effective_rank(np.ones((3, 2), dtype="f")) == 1.0
    assert effective_rank(square[:1]) is None
    assert math.isnan(effective_rank(square * math.nan))


def test_the_scores_without_labels():
    docs = [
        doc_of(vector=unit(1, 0), title=unit(1, 0), eligibility=unit(1, 0)),
        doc_of(vector=unit(0, 1), title=unit(0, 1), eligibility=unit(0, 1)),
        doc_of(),  # without a word
    ]
    assert score(docs) == {
        "trial2vec_own_criteria": 1.0,
        "trial2vec_mean_cosine": pytest.approx(0.0),
        "trial2vec_rank": pytest.approx(1.0),
    }
    assert set(score([doc_of()]).values()) == {None}
    assert set(score([]).values()) == {None}


@pytest.fixture
def labels(tmp_path):
    rows = [
        {
            "query": "NCT90000001",
            "candidates": ["NCT90000002", "NCT90000003", "NCT90000004", "NCT90000099"],
            "grades": [0, 2, 1, 2],
        },
        {"query": "NCT90000098", "candidates": ["NCT90000002"], "grades": [2]},
    ]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(rows))
    return path


def test_labels_are_scored_among_the_trials_at_hand(labels):
    docs = [
        doc_of("NCT90000001", unit(1, 0)),
        doc_of("NCT90000002", unit(4, 1)),  # grade 0, first
        doc_of("NCT90000003", unit(2, 1)),  # grade 2, second
        doc_of("NCT90000004", unit(1, 1)),  # grade 1, third
    ]
    found = score(docs, labels=labels)
    gains = [0, 3 / math.log2(3), 1 / math.log2(4)]
    best = 3 + 1 / math.log2(3)
    assert found["trial2vec_ndcg@5"] == pytest.approx(sum(gains) / best)
    assert found["trial2vec_map"] == pytest.approx(1 / 2)  # grade 2 is relevant
    # Docs made from records have their ids in the record.
    for doc in docs:
        doc._.trial = Trial(doc.user_data.pop(NCT_ID))
    assert score(docs, labels=labels) == found


def test_labels_of_other_trials_are_an_error_that_says_so(labels):
    docs = [doc_of(f"NCT9000070{i}", unit(1, i)) for i in range(3)]
    with pytest.raises(T2VError, match="T101.*labels.json"):
        score(docs, labels=labels)


def test_near_texts_score_above_far_ones(shipped_nlp, t2v_data):
    """Of an encoder for which everything looks alike they would not."""
    path = t2v_data / "cases" / "c33_texts.tsv"
    with path.open(encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts = [text for row in rows for text in (row["text_a"], row["text_b"])]
    vectors = np.stack([doc._.trial_vector for doc in shipped_nlp.pipe(texts)])
    cosines: dict[str, list[float]] = {"near": [], "far": []}
    for i, row in enumerate(rows):
        cosines[row["expected"]].append(float(vectors[2 * i] @ vectors[2 * i + 1]))
    assert len(cosines["far"]) == 3
    assert min(cosines["near"]) > max(cosines["far"])
    assert mean_cosine(vectors) < 0.5
    assert effective_rank(vectors) > 3
