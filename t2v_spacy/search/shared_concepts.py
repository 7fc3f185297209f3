"""Which concepts of two trials are the same, broader, narrower or beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kb.abbreviations import find_abbreviations
from ..kb.normalise import fold
from ..kb.semantic_groups import CONDITION_TYPES, INTERVENTION_TYPES, groups
from ..kb.shared import NO_EVIDENCE, shared_concepts
from ..trial import Trial
from .drug_classes import class_ids, drug_class

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase
    from ..kb.linker import ConceptLinker

SECTIONS = ("condition", "intervention")
# A broader concept with more narrower ones than this says nothing of likeness: all
# operations, all proteins. Diseases are told apart by coarser names.
_MOST_BELOW = {"condition": 5000, "intervention": 600}
# What siblings share has to be closer than that.
_SIBLINGS_BELOW = {"condition": 250, "intervention": 80}
_COUNTED = 6000  # narrower concepts are counted up to here
# Names of what a disease is like, not of which one it is.
_GENERAL = (
    ("disease", "syndrome", "chronic disease", "acute disease", "recurrence")
    + ("disease attributes", "pathologic processes", "signs and symptoms")
    + ("rare diseases", "critical illness", "disease progression", "emergencies")
    + ("pathological conditions, signs and symptoms", "therapeutics")
    + ("pharmaceutical preparations", "observation", "drug therapy", "biomarkers")
    + ("quality of life", "surveys and questionnaires", "specimen handling")
)


class Mention(NamedTuple):
    """A concept as a record names it; id and name are those of the base."""

    id: str
    name: str
    text: str


@dataclass(frozen=True)
class ConceptMatch:
    """section: "condition" or "intervention".
    relation: "same", "narrower" (the hit is narrower than the query), "broader" or
        "sibling". name, id: of the concept they share: the concept, the broader one of
        the two, or the parent; id is "" for a class of drugs that the base lacks."""

    section: str
    relation: str
    name: str
    id: str
    query: Mention
    hit: Mention

    def to_dict(self) -> dict[str, Any]:
        sides = {"query": self.query._asdict(), "hit": self.hit._asdict()}
        return {**vars(self), **sides}


Linked = Mapping[str, Mapping[str, Mention]]  # section -> id -> mention


def link_trial(linker: ConceptLinker, trial: Trial) -> Linked:
    """The concepts of conditions and interventions.

    A draft that has no list of these is asked for them in its title and summary.
    """
    text = trial.to_text()
    defined = {item.short: item.long for item in find_abbreviations(text)}
    lists = {
        "condition": trial.conditions,
        "intervention": [item.name for item in trial.interventions],
    }
    found: dict[str, dict[str, Mention]] = {}
    for section, names in lists.items():
        found[section] = {}
        for name in names:
            for link in linker.link(name, section, defined):
                _put(found[section], linker, link.ids[0], name[link.start : link.end])
    if trial.source == "text":
        for section in SECTIONS:
            found[section] = found[section] or _in_text(linker, trial, section, defined)
    return found


def _in_text(
    linker: ConceptLinker, trial: Trial, section: str, defined: Mapping[str, str]
) -> dict[str, Mention]:
    types = CONDITION_TYPES if section == "condition" else INTERVENTION_TYPES
    found: dict[str, Mention] = {}
    body = trial.brief_summary or trial.detailed_description
    for text in (trial.title or "", body or ""):
        for link in linker.link_text(text, section, defined):
            if types.intersection(linker.kb.types(link.ids[0])):
                _put(found, linker, link.ids[0], text[link.start : link.end])
        if found:
            break
    return found


def _put(
    found: dict[str, Mention], linker: ConceptLinker, concept_id: str, text: str
) -> None:
    """Of several mentions of a concept the shortest says it best."""
    mention = Mention(concept_id, linker.kb.name(concept_id), " ".join(text.split()))
    old = found.get(concept_id)
    if old is None or len(mention.text) < len(old.text):
        found[concept_id] = mention


def match_concepts(
    kb: KnowledgeBase, query: Linked, hit: Linked
) -> tuple[ConceptMatch, ...]:
    """Related concepts, conditions first; of each the closest relation first, and the
    most special of the same. Each concept is in one pair only. What says nothing
    (placebo, "disease") is left out."""
    found: list[ConceptMatch] = []
    for section in SECTIONS:
        matches = [*_matches(kb, section, query[section], hit[section])]
        if section == "intervention":
            matches += _of_a_class(kb, query[section], hit[section])
        found += _best(matches)
    return tuple(found)


# Distances to sort by: the same concepts first, then broader ones by steps.
_SAME, _CLASS, _SIBLING = -1.0, 20.0, 21.0
_Far = tuple[float, ConceptMatch]


def _matches(
    kb: KnowledgeBase,
    section: str,
    query: Mapping[str, Mention],
    hit: Mapping[str, Mention],
) -> Iterator[_Far]:
    general = _general(kb)
    ones = [i for i in query if i not in general]
    others = [i for i in hit if i not in general]
    for pair in shared_concepts(kb, ones, others):
        one, other = query[pair.a], hit[pair.b]
        relation, shared, far = pair.relation, pair.a, _SAME
        most = _MOST_BELOW[section]
        if relation == "ancestor":
            above = kb.ancestors(pair.a)
            relation = "broader" if pair.b in above else "narrower"
            shared = pair.b if pair.b in above else pair.a
            far = above[pair.b] if pair.b in above else kb.ancestors(pair.b)[pair.a]
        elif relation == "sibling":
            both = set(kb.parents(pair.a)) & set(kb.parents(pair.b)) - general
            if not both:
                continue
            shared = min(both, key=lambda i: (len(kb.children(i)), i))
            most, far = _SIBLINGS_BELOW[section], _SIBLING
        if _count(kb, shared) > most:
            continue
        if relation == "same":
            # 0.999 for the most general: less than a step.
            far += 0.999 * min(_count(kb, shared) / _COUNTED, 1.0)
            if section == "intervention" and _another_kind(one.text, other.text):
                relation = "sibling"
        elif relation != "sibling" and _is_substance(kb, shared):
            relation = "sibling"
        name = kb.name(shared) if shared in kb else one.name
        yield far, ConceptMatch(section, relation, name, shared, one, other)


def _of_a_class(
    kb: KnowledgeBase, query: Mapping[str, Mention], hit: Mapping[str, Mention]
) -> Iterator[_Far]:
    """Drugs whose names say that they are of one class, and names of that class."""
    for one in query.values():
        for other in hit.values():
            ours, theirs = drug_class(one.name), drug_class(other.name)
            if one.id == other.id or not (ours or theirs):
                continue
            name = ours or theirs or ""
            ids = class_ids(kb, name)
            if ours == theirs:
                relation = "sibling"
            elif ours and not theirs and other.id in ids:
                relation = "broader"
            elif theirs and not ours and one.id in ids:
                relation = "narrower"
            else:
                continue
            shared = ids[0] if ids else ""
            match = ConceptMatch("intervention", relation, name, shared, one, other)
            yield _CLASS, match


def _best(matches: Iterable[_Far]) -> Iterator[ConceptMatch]:
    """The nearest pairs, no concept twice."""
    seen: set[tuple[str, str]] = set()
    for _, match in sorted(matches, key=lambda item: item[0]):
        sides = {("query", match.query.id), ("hit", match.hit.id)}
        if not seen & sides:
            seen |= sides
            yield match


_KIND = re.compile(r"\d+[a-z]?")


def _another_kind(one: str, other: str) -> bool:
    """Whether two names differ in a number alone: interferon alfa-2a and alfa-2b."""
    folded = fold(one), fold(other)
    kinds = [_KIND.findall(name) for name in folded]
    rest = [_KIND.sub("", name) for name in folded]
    return rest[0] == rest[1] and kinds[0] != kinds[1]


def _is_substance(kb: KnowledgeBase, concept_id: str) -> bool:
    """Whether a broader drug is itself one drug: the base has simvastatin below
    lovastatin, since it is made of it. Classes have a name in the plural."""
    chemical = "CHEM" in groups(kb.types(concept_id))
    return chemical and not re.search(r"[^su]s\b", kb.name(concept_id))


@lru_cache(maxsize=4)
def _general(kb: KnowledgeBase) -> frozenset[str]:
    names = (*NO_EVIDENCE, *_GENERAL)
    return frozenset(i for name in names for i in kb.lookup(name)[:1])


@lru_cache(maxsize=1 << 14)
def _count(kb: KnowledgeBase, concept_id: str) -> int:
    """Narrower concepts at any depth, up to some thousands; 0 of an unknown one."""
    if concept_id not in kb:
        return 0
    seen, level = {concept_id}, [concept_id]
    while level and len(seen) <= _COUNTED:
        below = (child for one in level for child in kb.children(one))
        level = [child for child in dict.fromkeys(below) if child not in seen]
        seen.update(level)
    return len(seen) - 1
