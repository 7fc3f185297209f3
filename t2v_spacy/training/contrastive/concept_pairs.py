"""Pairs from a knowledge base: names of one concept, and what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...kb.normalise import fold, norm
from ...kb.shared import no_evidence
from ...search.trial_words import trial_words, weight
from ..knowledge_views import is_held_out, is_readable
from .pairs import Pair
from .texts import rank

if TYPE_CHECKING:
    from ...kb.knowledge_base import Concept, KnowledgeBase

CONCEPT_SOURCES = ("alias_name", "name_definition")
_ALIASES = 3  # of one concept
_NEW = 4  # telling words that a definition adds to the name
_TELLING = 0.3  # weight of a word that one trial in seven has
# "Any X in which the cause of the disease is a mutation in Y": the name once more.
_MADE_OF_NAME = re.compile(r"(?:Any|An?) .{3,120} (?:in which the cause|caused by)")
_SEE = re.compile(r" ?\(see (?:also )?[^)]*\)", re.I)


def concept_pairs(
    kb: KnowledgeBase, sources: Iterable[str], *, held_out: float, seed: int
) -> Iterator[tuple[str, Pair]]:
    """(source, pair) for the concepts of a base that are not held out.

    held_out (float): Share of concepts left out by a hash of their ids; with the same
        share `scripts/evaluate_synonyms.py` asks for concepts that no pair has named.
    """
    sources = set(sources)
    passed_over = no_evidence(kb)
    for concept in kb:
        identifier = concept.concept_id
        if identifier in passed_over or is_held_out(identifier, held_out):
            continue
        if "alias_name" in sources:
            for alias in _different(concept, seed):
                pair = Pair(alias, concept.canonical_name, groups=(identifier,))
                yield "alias_name", pair
        if "name_definition" in sources and (text := _definition(concept)):
            pair = Pair(concept.canonical_name, text, groups=(identifier,))
            yield "name_definition", pair


def _different(concept: Concept, seed: int) -> list[str]:
    """Aliases that are more than another order, number or spelling of the name."""
    seen = _keys(concept.canonical_name)
    aliases = []
    for alias in concept.aliases:
        if is_readable(alias) and seen.isdisjoint(_keys(alias)):
            aliases.append(alias)
            seen |= _keys(alias)
    return sorted(aliases, key=lambda alias: rank(seed, alias))[:_ALIASES]


def _keys(name: str) -> set[str]:
    """A name in any order and number, and without its blanks: "XY-145", "XY145"."""
    return {norm(name), fold(name).replace(" ", "")}


def _definition(concept: Concept) -> str | None:
    text = " ".join(_SEE.sub("", concept.definition or "").split())
    said = {word.key for word in trial_words(concept.canonical_name)}
    new = {word.key for word in trial_words(text)} - said
    if sum(weight(key) >= _TELLING for key in new) < _NEW or _MADE_OF_NAME.match(text):
        return None
    return text
