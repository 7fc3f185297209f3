"""What a search starts from: a trial, a doc, a text, an id or a vector, read as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors, error
from ..sections.labels import SECTION_LABELS
from ..trial import Trial
from ..values import parse_id
from .fingerprint import warn_if_other
from .records import alias_ids, normal_id
from .vectors import Array, defect, unit

if TYPE_CHECKING:
    from spacy.language import Language

_BARE = frozenset(("title", "description"))  # sections of a text with no heading
_DIGITS = re.compile(r"(NCT)?[\s-]*\d+", re.IGNORECASE)


class Stored(Protocol):
    """The part of an index that a query needs."""

    meta: dict[str, Any]

    def __contains__(self, nct_id: object) -> bool: ...
    def vector(self, nct_id: str) -> Array: ...
    def section_vectors(self, nct_id: str) -> dict[str, Array]: ...


@dataclass(frozen=True)
class Query:
    """vector: unit float32 (width,). sections: label -> unit (width,) of the query's
    sections. parts: the sections searched by, () for the whole. ids: ids of the query
    itself, which are no results."""

    vector: Array
    sections: Mapping[str, Array] = field(default_factory=dict)
    parts: Mapping[str, Array] = field(default_factory=dict)
    ids: frozenset[str] = frozenset()


def read_query(
    index: Stored,
    query: Trial | Doc | Array | str,
    parts: Sequence[str] | None,
    nlp: Language | None,
) -> Query:
    """Read a query of any kind, as `TrialIndex.search` describes.

    RAISES (T008): unknown part. (T024): a text or record and no pipeline. (T025): no
    words. (T026): a vector without direction. (T042): wrong width. (T043): an id that
    is not there. (T049): none of the parts.
    """
    for label in parts or ():
        if label not in SECTION_LABELS:
            known = ", ".join(SECTION_LABELS)
            raise error(Errors.T008, value=label, labels=known)
    free_text = False
    if isinstance(query, str):
        stored = query in index
        free_text = not stored and not is_id(query)
        found = _from_text(index, query, nlp) if free_text else _from_id(index, query)
    elif isinstance(query, Trial):
        found = _from_trial(index, query, nlp)
    elif isinstance(query, Doc):
        found = _from_doc(query)
    else:
        vector = np.asarray(query, dtype=np.float32)
        found = Query(_checked(vector[0] if vector.shape[:-1] == (1,) else vector))
    _check_width(found.vector, index.meta)
    bare = not found.sections or (free_text and _BARE.issuperset(found.sections))
    return _limit(found, parts, bare) if parts else found


def is_id(text: str) -> bool:
    """Whether a text can only be meant as an id: of a registry, or mere digits."""
    return parse_id(text)[1] != "invalid" or bool(_DIGITS.fullmatch(text.strip()))


def _limit(query: Query, parts: Sequence[str], bare: bool) -> Query:
    """The query by some of its sections only. A text or vector without these sections
    is itself taken as what was named."""
    there = {label: query.sections[label] for label in parts if label in query.sections}
    if not there and not bare:
        present = ", ".join(sorted(query.sections))
        raise error(Errors.T049, parts=", ".join(parts), present=present)
    there = there or dict.fromkeys(parts, query.vector)
    mean = np.mean(list(there.values()), axis=0)
    return Query(_checked(mean), query.sections, there, query.ids)


def _from_id(index: Stored, raw: str) -> Query:
    sections = index.section_vectors(raw)
    return Query(index.vector(raw), sections, ids=frozenset((normal_id(raw),)))


def _from_text(index: Stored, text: str, nlp: Language | None) -> Query:
    if not any(char.isalnum() for char in text):
        raise error(Errors.T025)
    return _from_doc(_pipeline(index, nlp)(text))


def _from_trial(index: Stored, trial: Trial, nlp: Language | None) -> Query:
    from ..doc import make_trial_doc

    pipeline = _pipeline(index, nlp)
    found = _from_doc(pipeline(make_trial_doc(pipeline, trial)))
    return Query(found.vector, found.sections, ids=_own_ids(trial))


def _from_doc(doc: Doc) -> Query:
    vector = extension(doc, "trial_vector")
    if vector is None and any(char.isalnum() for char in doc.text):
        task = "search by a text or a record"
        raise error(Errors.T024, pipe="trial2vec", task=task)
    if vector is None or not np.any(vector):
        raise error(Errors.T025)
    sections = {
        label: unit(section)
        for label, section in (extension(doc, "section_vectors") or {}).items()
        if not defect(np.asarray(section))
    }
    trial = extension(doc, "trial")
    ids = _own_ids(trial) if isinstance(trial, Trial) else frozenset()
    return Query(_checked(np.asarray(vector)), sections, ids=ids)


def _own_ids(trial: Trial) -> frozenset[str]:
    return frozenset({normal_id(trial.nct_id)} | alias_ids(trial))


def extension(doc: Doc, name: str) -> Any:
    """doc._.name, None where the extension is not registered."""
    return doc._.get(name) if Doc.has_extension(name) else None


def _pipeline(index: Stored, nlp: Language | None) -> Language:
    if nlp is None:
        task = "search by a text or a record"
        raise error(Errors.T024, pipe="trial2vec", task=task)
    warn_if_other(nlp, index.meta)
    return nlp


def _checked(vector: Array) -> Array:
    if reason := defect(vector):
        wanted = "a vector to search with is finite and not all 0"
        raise error(Errors.T026, setting="query", value=reason, reason=wanted)
    return unit(vector)


def _check_width(vector: Array, meta: Mapping[str, Any]) -> None:
    if vector.shape != (meta["width"],):
        model = meta.get("pipeline") or meta.get("backbone") or "not recorded"
        raise error(
            Errors.T042,
            index_width=meta["width"],
            query_width="x".join(map(str, vector.shape)) or "0",
            model=model,
        )
