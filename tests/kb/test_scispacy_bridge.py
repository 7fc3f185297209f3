"""To scispaCy's KnowledgeBase and back."""

from __future__ import annotations

import sys

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.scispacy_bridge import (
    from_scispacy,
    to_scispacy,
    write_scispacy_jsonl,
)

ROWS = [
    Concept("C9100001", "Gout", ("Podagra",), ("T047",), "Painful."),
    Concept("C9100002", "Chronic gout", (), ("T047",), None, ("C9100001",)),
]


@pytest.fixture
def kb() -> KnowledgeBase:
    return KnowledgeBase.from_concepts(ROWS)


def test_to_scispacy_and_back(kb):
    pytest.importorskip("scispacy")
    theirs = to_scispacy(kb)
    assert set(theirs.cui_to_entity) == {"C9100001", "C9100002"}
    assert theirs.alias_to_cuis["Podagra"] == {"C9100001"}
    back = from_scispacy(theirs, name="back")
    assert list(back) == [row._replace(parents=()) for row in ROWS]
    assert back.version == "back"


def test_scispacy_reads_our_lines(kb, tmp_path):
    linking = pytest.importorskip("scispacy.linking_utils")
    path = tmp_path / "kb.jsonl"
    write_scispacy_jsonl(kb, path)
    theirs = linking.KnowledgeBase(str(path))
    assert theirs.cui_to_entity["C9100001"].definition == "Painful."
    assert [row.concept_id for row in KnowledgeBase.open(path)] == list(
        theirs.cui_to_entity
    )


def test_without_scispacy_the_remedy_is_named(kb, monkeypatch):
    monkeypatch.setitem(sys.modules, "scispacy.linking_utils", None)
    with pytest.raises(T2VError, match="pip install") as err:
        to_scispacy(kb)
    assert err.value.code == "T086"
