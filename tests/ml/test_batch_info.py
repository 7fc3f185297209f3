from __future__ import annotations

import json

import numpy as np
import pytest
import spacy

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.ml.batch_info import BatchInfo, ViewInfo, read_batch
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.trial import Intervention, Trial
from tests.training.toys import ASTHMA, COLCHICINE, GOUT, PLACEBO, make_examples

AT = SECTION_LABELS.index
# The same text twice, an extension of it, another drug, another illness with and
# without a title, and nothing at all.
ROWS = [
    ("Balm X in sprains", "Sprain", "Balm X"),
    ("Balm X in sprains", "Sprain", "Balm X"),
    ("Balm X in sprains: follow-up", "Sprain", "Balm X"),
    ("Tape in sprains", "Sprain", "Tape"),
    ("Walks for low mood", "Low mood", "Walks"),
    ("", "Low mood", "Walks"),
    (None, None, None),
]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def docs_of(nlp, rows):
    return [
        make_trial_doc(
            nlp,
            Trial(
                f"NCT9000300{i}",
                title=title or None,
                conditions=(condition,) if condition else (),
                interventions=(Intervention(drug),) if drug else (),
            ),
        )
        for i, (title, condition, drug) in enumerate(rows)
    ]


def check_alike(docs) -> None:
    alike = read_batch(docs).alike()
    assert alike[:3, :3].all()
    assert alike[4, 5]
    assert alike[5, 4]
    expected = np.eye(7, dtype=bool)
    expected[:3, :3] = expected[4:6, 4:6] = True
    assert (alike == expected).all()


def test_trials_of_the_same_attributes_are_alike(nlp):
    check_alike(docs_of(nlp, ROWS))


def test_trials_of_the_same_attributes_are_alike_in_the_case_file(nlp, t2v_data):
    folder = t2v_data / "cases"
    rules = json.loads((folder / "c32_batch.expected.json").read_text())["rules"]
    assert "rows 0 and 1 are the same text" in rules[0]
    assert "row 2 shares all attributes but the title" in rules[1]
    lines = (folder / "c32_batch.jsonl").read_text().splitlines()
    rows = [
        [json.loads(line)[key] for key in ("title", "disease", "intervention_name")]
        for line in lines
    ]
    check_alike(docs_of(nlp, rows))


def test_equal_titles_make_alike_only_where_there_is_nothing_else(nlp):
    rows = [("Sprains", None, None), ("Sprains", None, None), ("Sprains", "Sprain", "")]
    alike = read_batch(docs_of(nlp, rows)).alike()
    assert alike[0, 1]
    assert not alike[0, 2]


def test_a_condition_and_an_intervention_in_common_make_alike():
    batch = BatchInfo(
        [frozenset({"a", "b"}), frozenset({"b"}), frozenset({"b"}), frozenset()],
        [frozenset({"x"}), frozenset({"x", "y"}), frozenset({"z"}), frozenset({"x"})],
        [(), (), (), ()],
        [],
    )
    alike = np.eye(4, dtype=bool)
    alike[0, 1] = alike[1, 0] = True
    assert (batch.alike() == alike).all()
    assert (batch.share_concepts() == (alike & ~np.eye(4, dtype=bool))).all()
    same = np.zeros((4, 4), dtype=bool)
    same[:3, :3] = ~np.eye(3, dtype=bool)
    assert (batch.same_condition() == same).all()


def test_concepts_and_views_are_read_from_the_docs(nlp):
    batch = read_batch(eg.predicted for eg in make_examples(nlp))
    assert batch.conditions[0] == {GOUT}
    assert batch.interventions[0] == {COLCHICINE, PLACEBO}
    assert batch.conditions[2:] == [{ASTHMA}, frozenset(), frozenset()]
    assert batch.views[:2] == [
        ViewInfo(0, AT("condition"), "positive", GOUT),
        ViewInfo(0, AT("condition"), "negative", ASTHMA),
    ]
    assert batch.views[3] == ViewInfo(0, AT("title"), "negative", "")
    assert batch.views[7] == ViewInfo(1, AT("title"), "positive", "R:2")
    assert [view.doc for view in batch.views] == [0] * 7 + [1] + [2] * 3


def test_docs_without_anything_are_no_partners(nlp):
    batch = read_batch([nlp.make_doc(""), nlp.make_doc("some words")])
    assert not batch.same_condition().any()
    assert (batch.alike() == np.eye(2, dtype=bool)).all()
    assert batch.views == []
