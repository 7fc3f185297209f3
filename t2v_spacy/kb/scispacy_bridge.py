"""To and from scispaCy: its KnowledgeBase has no parents and no look-up by type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import Errors, error
from .jsonl import write_lines
from .knowledge_base import Concept, KnowledgeBase


def to_scispacy(kb: KnowledgeBase) -> Any:
    """scispaCy's KnowledgeBase with the same concepts, without hierarchy.

    It takes some ten times the memory. RAISES: T086 without scispacy.
    """
    try:
        from scispacy.linking_utils import Entity
        from scispacy.linking_utils import KnowledgeBase as Theirs
    except ImportError as err:
        raise error(Errors.T086, task="Handing the base over") from err
    return Theirs(Entity(**record) for record in _records(kb))


def from_scispacy(theirs: Any, *, name: str = "scispacy") -> KnowledgeBase:
    """Base of a scispaCy KnowledgeBase; it has no parents."""
    concepts = (
        Concept(
            entity.concept_id,
            entity.canonical_name,
            tuple(entity.aliases),
            tuple(entity.types),
            entity.definition,
        )
        for entity in theirs.cui_to_entity.values()
    )
    return KnowledgeBase.from_concepts(concepts, info={"name": name})


def write_scispacy_jsonl(kb: KnowledgeBase, path: str | Path) -> None:
    """JSON lines that scispaCy's KnowledgeBase reads. RAISES: T010.

    Its reader stops at any field but its own, so parents and roles are left out.
    """
    write_lines(path, _records(kb))


def _records(kb: KnowledgeBase) -> Iterator[dict[str, Any]]:
    for concept in kb:
        yield {
            "concept_id": concept.concept_id,
            "canonical_name": concept.canonical_name,
            "aliases": list(concept.aliases),
            "types": list(concept.types),
            "definition": concept.definition,
        }
