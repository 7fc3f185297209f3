from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.training import Example

from t2v_spacy.termination.labels import NEGATIVE, POSITIVE
from t2v_spacy.training.termination_scorer import make_termination_scorer

BOTH = {"labels": (POSITIVE, NEGATIVE), "positive_label": POSITIVE}


def examples(*pairs: tuple[float, bool | None]) -> list[Example]:
    """Of (probability, terminated)."""
    nlp = spacy.blank("en")
    made = []
    for p, gold in pairs:
        predicted, reference = nlp.make_doc("trial"), nlp.make_doc("trial")
        predicted.cats = {POSITIVE: p, NEGATIVE: 1 - p}
        if gold is not None:
            reference.cats = {POSITIVE: float(gold), NEGATIVE: float(not gold)}
        made.append(Example(predicted, reference))
    return made


def test_scores_are_those_computed_by_hand():
    """Ranked: hit, miss, hit, miss, miss."""
    given = examples((0.9, True), (0.6, False), (0.4, True), (0.2, False), (0.1, False))
    found = make_termination_scorer()(given, threshold=0.3, **BOTH)
    assert found["termination_pr_auc"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["termination_roc_auc"] == pytest.approx(5 / 6)
    assert found["termination_brier"] == pytest.approx(
        (0.01 + 0.36 + 0.36 + 0.04 + 0.01) / 5
    )
    assert found["termination_accuracy"] == pytest.approx(4 / 5)
    assert found["termination_majority_accuracy"] == pytest.approx(3 / 5)
    assert found["termination_prevalence"] == pytest.approx(2 / 5)
    # spaCy's own go by the likelier class, whatever the threshold: 0.9 and 0.6.
    assert found["cats_score_desc"] == "F (TERMINATED)"
    assert found["cats_score"] == pytest.approx(1 / 2)


def test_one_kind_alone_leaves_areas_undefined():
    found = make_termination_scorer()(examples((0.2, False), (0.7, False)), **BOTH)
    assert found["termination_roc_auc"] is found["termination_pr_auc"] is None
    assert found["termination_accuracy"] == 0.5
    none = make_termination_scorer()([], **BOTH)
    assert none["termination_accuracy"] is None


def test_docs_without_a_label_are_not_scored():
    found = make_termination_scorer()(examples((0.9, True), (0.9, None)), **BOTH)
    assert found["termination_n"] == 1
    assert found["termination_accuracy"] == 1


def test_the_pipe_gives_its_own_threshold():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(
        "textcat", config={"scorer": {"@scorers": "t2v.termination_scorer.v1"}}
    )
    for label in (POSITIVE, NEGATIVE):
        pipe.add_label(label)
    pipe.cfg["threshold"] = 0.25
    found = nlp.get_pipe("textcat").score(examples((0.3, True), (0.2, False)))
    assert found["termination_accuracy"] == 1
    assert found["termination_threshold"] == 0.25
    assert np.isfinite(found["termination_brier"])
