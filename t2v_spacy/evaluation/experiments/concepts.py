"""Concepts of a record's conditions and interventions, and its disease group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from ...kb import KnowledgeBase, load_builtin
from ...kb.linker import ConceptLinker
from ...kb.semantic_groups import groups as semantic_groups
from ...trial import Trial

OTHER = "Other"
# Says how an illness shows, not which it is.
_NO_GROUP = ("pathological conditions, signs and symptoms", "animal diseases")


@cache
def linker() -> ConceptLinker:
    return ConceptLinker(load_builtin())


def concepts(trial: Trial) -> list[str]:
    """Ids of what is linked in conditions and interventions, each once."""
    found = [*condition_concepts(trial)]
    for item in trial.interventions:
        found += [link.ids[0] for link in linker().link(item.name, "intervention")]
    return list(dict.fromkeys(found))


def condition_concepts(trial: Trial) -> list[str]:
    found = [
        link.ids[0]
        for name in trial.conditions
        for link in linker().link(name, "condition")
    ]
    return list(dict.fromkeys(found))


def shared_names(one: Trial, other: Trial) -> list[str]:
    """Names of the concepts two trials share, see `kb.shared_concepts`."""
    found = linker().kb.shared_concepts(concepts(one), concepts(other))
    return list(dict.fromkeys(shared.name for shared in found))


def disease_groups(trials: Sequence[Trial], most: int) -> list[str]:
    """The group of each trial: the branch of diseases, such as Neoplasms, that most of
    its condition's concepts lie under.

    A branch is a disease at the top of the knowledge base (MeSH's trees C and F03). Of
    several branches with as many concepts the one that is commonest among these trials
    counts. The `most` commonest groups keep their name; the others, and trials without
    a linked disease, are OTHER.
    """
    kb = linker().kb
    roots = _roots(kb)
    votes = [_votes(kb, condition_concepts(trial), roots) for trial in trials]
    common = Counter(root for found in votes for root in found)
    chosen = [
        max(found, key=lambda root: (found[root], common[root], root), default=None)
        for found in votes
    ]
    sizes = Counter(root for root in chosen if root is not None)
    kept = {root for root, _ in sizes.most_common(most)}
    return [kb.name(root) if root in kept else OTHER for root in chosen]  # type: ignore[arg-type]


def _votes(
    kb: KnowledgeBase, ids: Iterable[str], roots: frozenset[str]
) -> Counter[str]:
    """Branches over some concepts, with the number of concepts under each."""
    return Counter(
        above for i in ids for above in (i, *kb.ancestors(i)) if above in roots
    )


@cache
def _roots(kb: KnowledgeBase) -> frozenset[str]:
    left_out = {i for name in _NO_GROUP for i in kb.lookup(name)}
    return frozenset(
        i
        for i in kb.ids()
        if not kb.parents(i)
        and kb.children(i)
        and "DISO" in semantic_groups(kb.types(i))
        and i not in left_out
    )
