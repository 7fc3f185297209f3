"""The concepts that a pipeline linked in trials, on their way into an index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .facet_values import CONCEPT_LISTS, Concepts
from .query import extension
from .vectors import Array

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..kb.knowledge_base import KnowledgeBase
    from ..kb.linker import ConceptLinker
    from ..pipeline.umls_linker import UmlsLinker


def find_kb(nlp: Language) -> KnowledgeBase | None:
    """The base of a pipeline's `umls_linker`, None without one."""
    pipe = _pipe(nlp)
    return None if pipe is None else pipe.kb


def _pipe(nlp: Language) -> UmlsLinker | None:
    for name, pipe in nlp.pipeline:
        if nlp.get_pipe_meta(name).factory == "umls_linker":
            return pipe  # type: ignore[return-value]
    return None


def find_linker(kb: KnowledgeBase | None, nlp: Language | None) -> ConceptLinker:
    """Links by a base, else as a pipeline does, else by the built-in base."""
    if kb is None and nlp is not None and (pipe := _pipe(nlp)) is not None:
        return pipe.linker
    if kb is None:
        from ..kb.builtin import load_builtin

        kb = load_builtin()
    return _linker(kb)


@lru_cache(maxsize=2)
def _linker(kb: KnowledgeBase) -> ConceptLinker:
    """That of a pipe `umls_linker`; its tables take a second to make."""
    from ..pipeline.umls_linker import UmlsLinker

    pipe = UmlsLinker()
    pipe.set_kb(kb)
    return pipe.linker


class ConceptReader:
    """Reads the concepts of Docs, with all that are broader in a base."""

    def __init__(self, kb: KnowledgeBase | None) -> None:
        self._kb = kb
        self._broader: dict[str, tuple[str, ...]] = {}

    def __call__(self, doc: Doc) -> Concepts | None:
        """Those of conditions and interventions, None if none were looked for."""
        linked = extension(doc, "concepts")
        if self._kb is None or linked is None:
            return None
        found: dict[str, dict[str, tuple[str, ...]]] = {k: {} for k in CONCEPT_LISTS}
        for concept in linked:
            if concept["section"] in found:
                concept_id = concept["id"]
                found[concept["section"]][concept_id] = self._above(concept_id)
        return found

    def _above(self, concept_id: str) -> tuple[str, ...]:
        if concept_id not in self._broader:
            known = self._kb is not None and concept_id in self._kb
            above = self._kb.ancestors(concept_id) if self._kb and known else ()
            self._broader[concept_id] = tuple(above)
        return self._broader[concept_id]


def pack_concepts(found: Sequence[Concepts | None]) -> Array:
    """The concepts of some trials as bytes, each concept's broader ones once."""
    broader: dict[str, tuple[str, ...]] = {}
    ids: list[dict[str, list[str]] | None] = []
    for concepts in found:
        for linked in (concepts or {}).values():
            broader.update(linked)
        plain = None
        if concepts is not None:
            plain = {label: list(linked) for label, linked in concepts.items()}
        ids.append(plain)
    return np.frombuffer(json.dumps([ids, broader]).encode(), np.uint8)


def unpack_concepts(data: Array) -> list[Concepts | None]:
    ids, broader = json.loads(data.tobytes())
    return [plain and _with_broader(plain, broader) for plain in ids]


def _with_broader(
    plain: Mapping[str, Sequence[str]], broader: Mapping[str, Any]
) -> Concepts:
    return {
        label: {concept_id: tuple(broader[concept_id]) for concept_id in linked}
        for label, linked in plain.items()
    }
