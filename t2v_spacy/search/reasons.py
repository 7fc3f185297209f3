"""Why a trial was found: what it and the query have in common, and what not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from ..stopping import go_on
from ..trial import Trial
from ..trial_text import parse_trial
from .compared_facts import Fact, compare_facts
from .composed import Composed, parts_text
from .criteria_pairs import CriteriaMatch, compared_items, match_criteria
from .highlight import Term, query_keys, shared_terms
from .item_encoder import ItemEncoder
from .linked import find_linker
from .query import extension
from .query_ids import read_ids
from .reason_line import reason_line
from .shared_concepts import ConceptMatch, link_trial, match_concepts

if TYPE_CHECKING:
    from spacy.language import Language

    from ..kb.knowledge_base import KnowledgeBase
    from .hit import Hit
    from .trial_index import TrialIndex
    from .vectors import Array


@dataclass(frozen=True)
class Reasons:
    """What a query and a trial that was found have in common.

    nct_id: of the trial. query_id: of the query, None for a text.
    sections: label -> cosine, highest first; of sections that both have.
    concepts: conditions first, the closest relation first.
    criteria: pairs of criteria that are alike. terms: shared words, the rarest first.
    facts: what the records say of their design, side by side.
    """

    nct_id: str
    query_id: str | None = None
    sections: Mapping[str, float] = field(default_factory=dict)
    concepts: tuple[ConceptMatch, ...] = ()
    criteria: CriteriaMatch = CriteriaMatch("words", 0, 0)
    terms: tuple[Term, ...] = ()
    facts: tuple[Fact, ...] = ()

    def line(self) -> str:
        """The main reasons in at most 100 characters; "" if there are none."""
        return reason_line(self.concepts, self.criteria, self.terms, self.sections)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, with all detail."""
        return {
            "nct_id": self.nct_id,
            "query_id": self.query_id,
            "line": self.line(),
            "sections": {k: round(v, 4) for k, v in self.sections.items()},
            "concepts": [match.to_dict() for match in self.concepts],
            "criteria": self.criteria.to_dict(),
            "terms": [term.to_dict() for term in self.terms],
            "facts": [fact.to_dict() for fact in self.facts],
        }


class Explainer:
    """Explains many trials for one query, which is read and linked once.

    query (Trial | Doc | str): A record, a Doc, or the text of a draft.
    kb (KnowledgeBase | None): Whose concepts are linked. Default: that of the
        pipeline's `umls_linker`, else the built-in one.
    nlp (Language | None): Encodes the criteria; without it their words are compared.
    """

    def __init__(
        self,
        query: Trial | Doc | str,
        *,
        kb: KnowledgeBase | None = None,
        nlp: Language | None = None,
    ) -> None:
        self.query = read_trial(query)
        self._linker = find_linker(kb, nlp)
        self._encode = ItemEncoder(nlp) if _encodes(nlp) else None  # type: ignore[arg-type]
        self._linked = link_trial(self._linker, self.query)
        self._keys = query_keys(self.query)

    def encode(self, trials: Sequence[Trial]) -> None:
        """Encode the criteria of some trials at once, which is faster."""
        if self._encode is not None:
            both = (self.query, *trials)
            texts = [item.text for trial in both for _, item in compared_items(trial)]
            if texts:
                self._encode(texts)

    def __call__(
        self, trial: Trial, section_cosines: Mapping[str, float] | None = None
    ) -> Reasons:
        """section_cosines: label -> cosine, such as `Hit.why`."""
        go_on()
        sections = sorted((section_cosines or {}).items(), key=lambda item: -item[1])
        linked = link_trial(self._linker, trial)
        return Reasons(
            nct_id=trial.nct_id,
            query_id=self.query.nct_id or None,
            sections=dict(sections),
            concepts=match_concepts(self._linker.kb, self._linked, linked),
            criteria=match_criteria(self.query, trial, self._encode),
            terms=shared_terms(self._keys, trial),
            facts=compare_facts(self.query, trial),
        )


def explain(
    query: Trial | Doc | str,
    trial: Trial,
    *,
    kb: KnowledgeBase | None = None,
    nlp: Language | None = None,
    section_cosines: Mapping[str, float] | None = None,
) -> Reasons:
    """Why a trial resembles a query; `Explainer` says what is taken.

    section_cosines (Mapping | None): Label -> cosine, such as `Hit.why`.
    """
    return Explainer(query, kb=kb, nlp=nlp)(trial, section_cosines)


def explain_hits(
    index: TrialIndex,
    query: Trial | Doc | Array | str | Composed,
    hits: Sequence[Hit],
    nlp: Language | None = None,
    *,
    kb: KnowledgeBase | None = None,
) -> list[Reasons]:
    """The reasons of each hit of `index.search(query)`, in the order of the hits.

    query: As `TrialIndex.search` takes it. Of several trials, the one that says most
        of a hit explains it (`query_id`). Of a vector nothing is known but cosines.
    nlp: Encodes the criteria; without it their words are compared.
    RAISES (T043): An id that is not in the index.
    """
    asked = _queries(index, query)
    if not hits or not asked:
        return [Reasons(hit.nct_id, sections=dict(hit.why)) for hit in hits]
    trials = [index[hit.nct_id] for hit in hits]
    explainers = [Explainer(one, kb=kb, nlp=nlp) for one in asked]
    for explainer in explainers:
        explainer.encode(trials)
    return [
        max((explainer(trial, hit.why) for explainer in explainers), key=_says)
        for trial, hit in zip(trials, hits, strict=True)
    ]


def _queries(
    index: TrialIndex, query: Trial | Doc | Array | str | Composed
) -> list[Trial | Doc | str]:
    """What is searched with; what is searched away from is no reason."""
    if isinstance(query, str):
        return [index[nct_id] for nct_id in read_ids(index, query)] or [query]
    if isinstance(query, Composed):
        parts: list[Trial | Doc | str] = []
        if query.parts:
            parts.append(parts_text(query.parts))
        return parts + [one for like in query.like for one in _queries(index, like)]
    return [query] if isinstance(query, Trial | Doc) else []


def _says(reasons: Reasons) -> tuple[int, int, int]:
    same = sum(match.relation == "same" for match in reasons.concepts)
    return same, len(reasons.concepts), len(reasons.criteria.pairs)


def read_trial(query: Trial | Doc | str) -> Trial:
    """The record of a query: its own, or what its text says."""
    if isinstance(query, Trial):
        return query
    if isinstance(query, str):
        return parse_trial(query)
    found = extension(query, "trial")
    return found if isinstance(found, Trial) else parse_trial(query.text)


def _encodes(nlp: Language | None) -> bool:
    return nlp is not None and any(
        "doc._.section_vectors" in nlp.get_pipe_meta(name).assigns
        for name in nlp.pipe_names
    )
