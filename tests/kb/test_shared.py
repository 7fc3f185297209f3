from __future__ import annotations

import pytest

from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.shared import SharedConcept, shared_concepts


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    """Disease > joint disease > {gout, arthritis > rheumatoid arthritis}."""
    return KnowledgeBase.from_concepts(
        [
            Concept("X:1", "Disease"),
            Concept("X:2", "Joint disease", parents=("X:1",)),
            Concept("X:3", "Gout", parents=("X:2",)),
            Concept("X:4", "Arthritis", parents=("X:2",)),
            Concept("X:5", "Rheumatoid arthritis", parents=("X:4",)),
            Concept("X:6", "Placebo"),
            Concept("X:7", "Asthma", parents=("X:1",)),
        ]
    )


def test_same_then_broader_then_siblings(kb):
    found = shared_concepts(kb, ["X:3", "X:7", "X:5"], ["X:7", "X:4"])
    assert found == [
        SharedConcept("X:7", "X:7", "same", "Asthma"),
        SharedConcept("X:5", "X:4", "ancestor", "Arthritis"),
        SharedConcept("X:3", "X:4", "sibling", "Joint disease"),
    ]
    assert kb.shared_concepts(["X:3"], ["X:3"]) == [
        SharedConcept("X:3", "X:3", "same", "Gout")
    ]


def test_it_is_the_same_in_both_directions(kb):
    one = shared_concepts(kb, ["X:4"], ["X:5"])
    other = shared_concepts(kb, ["X:5"], ["X:4"])
    assert [(s.relation, s.name) for s in one] == [(s.relation, s.name) for s in other]


def test_broader_ones_only_within_the_depth(kb):
    assert shared_concepts(kb, ["X:5"], ["X:1"], max_depth=2) == []
    (found,) = shared_concepts(kb, ["X:5"], ["X:1"], max_depth=3)
    assert found.name == "Disease"


def test_placebo_makes_no_two_trials_alike(kb):
    assert shared_concepts(kb, ["X:6"], ["X:6"]) == []


def test_unknown_ids_can_only_be_the_same(kb):
    assert shared_concepts(kb, ["Y:1"], ["Y:2", "X:3"]) == []
    (found,) = shared_concepts(kb, ["Y:1"], ["Y:1"])
    assert found == SharedConcept("Y:1", "Y:1", "same", "Y:1")


def test_nothing_shared(kb):
    assert shared_concepts(kb, [], ["X:3"]) == shared_concepts(kb, ["X:3"], []) == []
