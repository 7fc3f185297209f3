from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.fuzzy import INDEX_FILES, ScispacyCandidates


def candidate(concept_id: str, *similarities: float) -> SimpleNamespace:
    return SimpleNamespace(concept_id=concept_id, similarities=list(similarities))


def test_candidates_are_ranked_and_cut_at_the_threshold():
    fuzzy = ScispacyCandidates("index", "kb", threshold=0.7, k=5)
    asked = []

    def generator(texts, k):
        asked.append((texts, k))
        return [
            [
                candidate("X:3", 0.8),
                candidate("X:2", 0.1, 0.9),
                candidate("X:1", 0.8),
                candidate("X:4", 0.69),
            ],
            [],
        ]

    fuzzy.__dict__["generator"] = generator
    assert fuzzy(("one", "two")) == [[("X:2", 0.9), ("X:1", 0.8), ("X:3", 0.8)], []]
    assert asked == [(["one", "two"], 5)]
    assert "generator" not in pickle.loads(pickle.dumps(fuzzy)).__dict__


def test_missing_index_is_named(tmp_path):
    with pytest.raises(T2VError, match="T001.*nmslib_index.bin"):
        ScispacyCandidates(str(tmp_path), "kb")(["x"])


def test_damaged_index_is_named(tmp_path):
    pytest.importorskip("scispacy")
    for name in INDEX_FILES:
        (tmp_path / name).write_bytes(b"0123456789")
    kb = KnowledgeBase.from_concepts([Concept("X:1", "Gout")])
    kb.to_disk(tmp_path / "toy.kb")
    with pytest.raises(T2VError, match="T081"):
        ScispacyCandidates(str(tmp_path), str(tmp_path / "toy.kb"))(["x"])
