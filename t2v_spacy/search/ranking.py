"""Several rankings as one: vectors, words and shared concepts, and codes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..errors import Errors, error
from ..kb.shared import no_evidence
from ..trial_text import parse_trial
from .codes import code_counts, exact_terms, is_short
from .concept_scores import ConceptScores
from .corpus import Corpus
from .facet_values import Concepts
from .fusion import CONCEPTS, DEPTH, HYBRID, VECTORS, WORDS, fuse
from .lexical import Lexical
from .linked import find_linker
from .part import Part
from .query import Query
from .shared_concepts import link_trial
from .vectors import Array, highest
from .words import lexical_text

RANKINGS = (VECTORS, WORDS, CONCEPTS)


class Found(NamedTuple):
    """places int64 (m,), best first; scores (m,): their cosines, or the mean of these
    over sections; ranks: name -> int64 (m,), see `Hit.ranks`."""

    places: Array
    scores: Array
    ranks: Mapping[str, Array] = MappingProxyType({})


@dataclass(frozen=True)
class Asked:
    """What a search asks of an index.

    among: bool (places,), the only ones to find; None for all. sections: bool, compare
    section by section. method, search_k: as in `AnnoyStore.nearest`.
    """

    query: Query
    k: int
    among: Array | None = None
    sections: bool = False
    method: str = "auto"
    search_k: int | None = None


def read_hybrid(
    hybrid: bool | Mapping[str, float], kept: Mapping[str, float] | None
) -> dict[str, float]:
    """Weights of the rankings, those of the index for True, {} for False.

    RAISES (T149): an unknown ranking, or weights that are not 0 or more.
    """
    if not isinstance(hybrid, Mapping):
        return dict(kept or HYBRID) if hybrid else {}
    for name, weight in hybrid.items():
        if name not in RANKINGS:
            reason = f"'{name}' is none of {', '.join(RANKINGS)}"
            raise error(Errors.T149, reason=reason)
        if not (isinstance(weight, int | float) and 0 <= weight < float("inf")):
            reason = f"the weight of {name} is {weight}, not 0 or more"
            raise error(Errors.T149, reason=reason)
    if not any(hybrid.values()):
        raise error(Errors.T149, reason="no weight is above 0")
    return {name: float(weight) for name, weight in hybrid.items()}


def find(corpus: Corpus, asked: Asked, weights: Mapping[str, float]) -> Found:
    """The k best trials, never the query itself. Without weights only codes may change
    the order of the vectors.

    RAISES (T158): a ranking by words, and there is no lexical index.
    """
    places = {corpus.find(nct_id) for nct_id in asked.query.ids}
    own = {place for place in places if place is not None}
    first = _codes(corpus, asked.query)
    passes = corpus.live()
    passes[list(own)] = False
    if asked.among is not None:
        passes &= asked.among
    if not weights and (first is None or not first[passes].any()):
        return _by_vectors(corpus, asked, own)
    weights = weights or {VECTORS: 1.0}
    if VECTORS not in weights and not asked.query.text:
        reason = "a bare vector has neither words nor concepts"
        raise error(Errors.T149, reason=reason)
    by_section = _section_scores(corpus, asked.query) if asked.sections else None
    if by_section is not None:  # a trial without any of them has no score
        passes &= ~np.isnan(by_section)
    scores: dict[str, Array] = {}
    if WORDS in weights:
        text = _text(asked.query)
        scores[WORDS] = corpus.over_parts(lambda part: _lexical(part).scores(text))
    if CONCEPTS in weights:
        scores[CONCEPTS] = _concept_scores(corpus, asked.query)
    groups = [passes] if first is None else [passes, passes & (first > 0)]
    forward = [
        np.where(group, found, np.nan) for group in groups for found in scores.values()
    ]
    cosines = by_section
    if cosines is None:
        cosines = _cosines(corpus, asked, own, groups, forward)
    if VECTORS in weights:
        scores[VECTORS] = cosines
    fused = fuse(scores, weights, asked.k, among=passes, first=first)
    return Found(fused.places, cosines[fused.places], fused.ranks)


def _by_vectors(corpus: Corpus, asked: Asked, own: set[int]) -> Found:
    query, among = asked.query, asked.among
    if not asked.sections:
        return Found(
            *corpus.nearest(
                query.vector, asked.k, own, asked.method, asked.search_k, among
            )
        )
    scores = _section_scores(corpus, query)
    if among is not None:
        scores[~among] = np.nan
    best = highest(scores, asked.k, own)
    return Found(best, scores[best])


def _section_scores(corpus: Corpus, query: Query) -> Array:
    return corpus.section_scores(query.parts or query.sections, query.weights)


def _codes(corpus: Corpus, query: Query) -> Array | None:
    """int (places,): codes of the query that each trial has; None if they decide
    nothing."""
    if not (corpus.has_words and query.text and is_short(query.text)):
        return None
    codes = exact_terms(query.text)
    if not codes:
        return None
    kb = find_linker(None, None).kb
    return corpus.over_parts(
        lambda part: code_counts(codes, _lexical(part), part.facets, kb)
    )


def _lexical(part: Part) -> Lexical:
    if part.lexical is None:
        raise error(Errors.T158, path="The index", reason="it was built without one")
    return part.lexical


def _cosines(
    corpus: Corpus,
    asked: Asked,
    own: set[int],
    groups: Sequence[Array],
    forward: Sequence[Array],
) -> Array:
    """Of all that the vectors or another ranking put forward, among all and among those
    that go first; -inf for the others."""
    query, depth = asked.query, max(asked.k, DEPTH)
    found = [highest(scores, depth) for scores in forward]
    for among in groups:
        near, _ = corpus.nearest(
            query.vector, depth, own, asked.method, asked.search_k, among
        )
        found.append(near)
    places = np.unique(np.concatenate(found))
    scores = np.full(len(corpus.live()), -np.inf, np.float32)
    scores[places] = np.clip(corpus.vectors(places) @ query.vector, -1, 1)
    return scores


def _text(query: Query) -> str:
    """The words to search with: of a record as the index reads records."""
    trial = query.trial
    if trial is None or query.parts or not (trial.conditions or trial.interventions):
        return query.text
    return lexical_text(trial)


def _concept_scores(corpus: Corpus, query: Query) -> Array:
    concepts = _concepts(corpus, query)
    ignored = no_evidence(find_linker(None, None).kb)
    base: ConceptScores | None = None
    found = []
    for part in corpus.parts:
        scorer = ConceptScores(part.facets.columns, base=base, ignored=ignored)
        base = base or scorer
        found.append(scorer.scores(concepts))
    return np.concatenate(found)


def _concepts(corpus: Corpus, query: Query) -> Concepts:
    """Those of a trial in the index, else what the built-in base has for the query."""
    if query.trial is not None and query.ids and not query.parts:
        place = corpus.find(query.trial.nct_id)
        known = None if place is None else corpus.concepts(place)
        if known is not None:
            return known
    linker = find_linker(None, None)
    linked = link_trial(linker, query.trial or parse_trial(query.text))
    return {
        section: {i: tuple(linker.kb.ancestors(i)) for i in mentions}
        for section, mentions in linked.items()
    }
