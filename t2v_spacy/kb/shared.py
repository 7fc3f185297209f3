"""What the concepts of two trials have in common."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

# To have a placebo arm, or healthy volunteers, makes no two trials alike.
NO_EVIDENCE = ("placebo", "sham", "standard of care", "healthy volunteers")
MAX_DEPTH = 3


class SharedConcept(NamedTuple):
    """a of the one trial and b of the other; relation is "same", "ancestor" (one is
    broader than the other) or "sibling"; name is that of the concept they share: the
    concept, the broader one, or the parent."""

    a: str
    b: str
    relation: str
    name: str


def shared_concepts(
    kb: KnowledgeBase,
    a: Iterable[str],
    b: Iterable[str],
    *,
    max_depth: int = MAX_DEPTH,
) -> list[SharedConcept]:
    """The pairs of concepts of two trials that are related: the same ones first, then
    broader ones, then siblings; within each in the order given.

    A concept that both have is not also paired with others. Ids that the base does not
    know can only be the same. Placebo and the like are left out.

    max_depth (int): How many steps up a broader concept may be.
    """
    ignored = no_evidence(kb)
    ones = [i for i in dict.fromkeys(a) if i not in ignored]
    others = [i for i in dict.fromkeys(b) if i not in ignored]
    same = [i for i in ones if i in set(others)]
    found = [SharedConcept(i, i, "same", _name(kb, i)) for i in same]
    ones = [i for i in ones if i not in same and i in kb]
    others = [i for i in others if i not in same and i in kb]
    above = {i: kb.ancestors(i, max_depth) for i in (*ones, *others)}
    siblings = []
    for one in ones:
        beside = set(kb.siblings(one)) if others else ()
        for other in others:
            if other in above[one]:
                found.append(SharedConcept(one, other, "ancestor", kb.name(other)))
            elif one in above[other]:
                found.append(SharedConcept(one, other, "ancestor", kb.name(one)))
            elif other in beside:
                parent = _parent(kb, one, other)
                siblings.append(SharedConcept(one, other, "sibling", parent))
    return found + siblings


def _parent(kb: KnowledgeBase, one: str, other: str) -> str:
    """Name of the parent both have: of several, the one with the fewest children."""
    both = set(kb.parents(one)) & set(kb.parents(other))
    return kb.name(min(both, key=lambda i: (len(kb.children(i)), i)))


def _name(kb: KnowledgeBase, concept_id: str) -> str:
    return kb.name(concept_id) if concept_id in kb else concept_id


# One base is in use at a time, and none should be kept for ever.
@lru_cache(maxsize=1)
def no_evidence(kb: KnowledgeBase) -> frozenset[str]:
    """Concepts that make no two trials alike: placebo and the like."""
    return frozenset(i for name in NO_EVIDENCE for i in kb.lookup(name)[:1])
