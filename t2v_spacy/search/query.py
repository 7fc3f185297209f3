"""What a search starts from: a trial, a doc, a text, an id, a vector or several of
these, read as one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors, error
from ..sections.labels import CRITERIA
from ..sections.parse import parse_sections
from ..trial import Trial
from .composed import (
    Composed,
    check_labels,
    check_weights,
    composed_vector,
    parts_text,
    reweighed,
    section_weights,
)
from .fingerprint import warn_if_other
from .query_ids import is_id, read_ids
from .records import alias_ids, normal_id
from .vectors import Array, defect, unit

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["Query", "Stored", "extension", "is_id", "needs_pipeline", "read_query"]

Texts = Sequence[tuple[str, str]]
_BARE = frozenset(("title", "description"))  # sections of a text with no heading
_NO_DIRECTION = 1e-3


class Stored(Protocol):
    """The part of an index that a query needs."""

    meta: dict[str, Any]

    def __contains__(self, nct_id: object) -> bool: ...
    def __getitem__(self, nct_id: str) -> Trial: ...
    def vector(self, nct_id: str) -> Array: ...
    def section_vectors(self, nct_id: str) -> dict[str, Array]: ...


@dataclass(frozen=True, eq=False)
class Query:
    """vector: unit float32 (width,). sections: label -> unit (width,) of the query's
    sections. parts: the sections searched by, {} for the whole. ids: ids of the query
    itself, which are no results. weights: label -> how much a section counts more than
    usual, where they are compared one by one; 1 is as usual. read_texts: (label, text)
    of its sections. read_trial: its record."""

    vector: Array
    sections: Mapping[str, Array] = field(default_factory=dict)
    parts: Mapping[str, Array] = field(default_factory=dict)
    ids: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)
    read_texts: Callable[[], Texts] = field(default=lambda: (), repr=False)
    read_trial: Callable[[], Trial | None] = field(default=lambda: None, repr=False)

    @cached_property
    def text(self) -> str:
        """The words of the query without headings, of its parts only where it is
        searched by these; without what is to be unlike. "" for a bare vector."""
        wanted = {"", *self.parts}
        if "eligibility" in wanted:
            wanted.update(CRITERIA)
        texts = self.read_texts()
        found = [text for label, text in texts if label in wanted or not self.parts]
        return "\n\n".join(text for text in found if text)

    @cached_property
    def trial(self) -> Trial | None:
        """The record that is searched with, or as which the text was read."""
        return self.read_trial()


def read_query(
    index: Stored,
    query: Trial | Doc | Array | str | Composed,
    parts: Sequence[str] | Mapping[str, float] | None,
    nlp: Language | None,
) -> Query:
    """Read a query of any kind, as `TrialIndex.search` describes.

    RAISES (T008): unknown part. (T024): a text or record and no pipeline. (T025): no
    words. (T026): a vector without direction. (T042): wrong width. (T043): an id that
    is not there. (T049): none of the parts. (T173): several that leave nothing to
    search with. (T174): a weight that is not above 0.
    """
    weights = dict(parts) if isinstance(parts, Mapping) else {}
    check_labels(parts or ())
    check_weights(weights)
    free_text = False
    if isinstance(query, str):
        ids = read_ids(index, query)
        if len(ids) > 1:
            found = _from_composed(index, Composed(like=ids), nlp)
        elif ids:
            found = _from_id(index, ids[0])
        else:
            free_text = True
            found = _from_text(index, query, nlp)
    elif isinstance(query, Composed):
        found = _from_composed(index, query, nlp)
    elif isinstance(query, Trial):
        found = _from_trial(index, query, nlp)
    elif isinstance(query, Doc):
        found = _from_doc(query)
    else:
        vector = np.asarray(query, dtype=np.float32)
        found = Query(_checked(vector[0] if vector.shape[:-1] == (1,) else vector))
    _check_width(found.vector, index.meta)
    bare = not found.sections or (free_text and _BARE.issuperset(found.sections))
    return _limit(found, parts, weights, bare) if parts else found


def needs_pipeline(index: Stored, query: Trial | Doc | Array | str | Composed) -> bool:
    """Whether a pipeline has to encode something of a query."""
    if isinstance(query, Composed):
        several = (*query.like, *query.unlike)
        more = any(needs_pipeline(index, one) for one in several)
        return bool(query.parts or query.weights) or more
    if isinstance(query, str):
        return not read_ids(index, query)
    return isinstance(query, Trial)


def _limit(
    query: Query, parts: Collection[str], weights: Mapping[str, float], bare: bool
) -> Query:
    """The query by some of its sections only. A text or vector without these sections
    is itself taken as what was named."""
    there = {label: query.sections[label] for label in parts if label in query.sections}
    if not there and not bare:
        present = ", ".join(sorted(query.sections))
        raise error(Errors.T049, parts=", ".join(parts), present=present)
    if not there:
        there = dict.fromkeys(parts, query.vector)
        texts = query.read_texts
        query = replace(query, read_texts=lambda: _unlabelled(texts()))
    weights = weights or {k: v for k, v in query.weights.items() if k in there}
    counts = [weights.get(label, 1.0) for label in there]
    mean = np.average(list(there.values()), axis=0, weights=counts)
    return replace(query, vector=_checked(mean), parts=there, weights=weights)


def _from_id(index: Stored, raw: str) -> Query:
    return Query(
        index.vector(raw),
        index.section_vectors(raw),
        ids=frozenset((normal_id(raw),)),
        read_texts=lambda: _texts(index[raw].to_text()),
        read_trial=lambda: index[raw],
    )


def _from_text(index: Stored, text: str, nlp: Language | None) -> Query:
    if not any(char.isalnum() for char in text):
        raise error(Errors.T025)
    return _from_doc(_encoded(text, index, nlp))


def _from_trial(index: Stored, trial: Trial, nlp: Language | None) -> Query:
    from ..doc import make_trial_doc

    pipeline = _pipeline(index, nlp)
    found = _from_doc(pipeline(make_trial_doc(pipeline, trial)))
    return replace(found, ids=_own_ids(trial), read_trial=lambda: trial)


def _from_doc(doc: Doc) -> Query:
    vector = extension(doc, "trial_vector")
    if vector is None and any(char.isalnum() for char in doc.text):
        task = "search by a text or a record"
        raise error(Errors.T024, pipe="trial2vec", task=task)
    if vector is None or not np.any(vector):
        raise error(Errors.T025)
    trial = extension(doc, "trial")
    known = trial if isinstance(trial, Trial) else None
    text = doc.text
    return Query(
        _checked(np.asarray(vector)),
        _sections(doc),
        ids=_own_ids(known) if known else frozenset(),
        read_texts=lambda: _texts(text),
        read_trial=lambda: known,
    )


def _from_composed(index: Stored, asked: Composed, nlp: Language | None) -> Query:
    """The mean of what the query is to be like, less of what it is to be unlike."""
    like = [read_query(index, one, None, nlp) for one in asked.like]
    unlike = [read_query(index, one, None, nlp) for one in asked.unlike]
    if asked.weights:
        counts = section_weights(nlp)
        like = [_reweighed(one, asked.weights, counts) for one in like]
        unlike = [_reweighed(one, asked.weights, counts) for one in unlike]
    if asked.parts:
        like.append(_from_parts(index, asked, nlp))
    _check_composed(asked, like, unlike)
    labels = dict.fromkeys(label for one in like for label in one.sections)
    found = {label: _sections_of(like, unlike, label, asked) for label in labels}
    sections = {k: unit(v) for k, v in found.items() if _has_direction(v)}
    vectors = [one.vector for one in like], [one.vector for one in unlike]
    vector = composed_vector(*vectors, asked.unlike_weight)
    if not _has_direction(vector):
        raise error(Errors.T173, reason="nothing is left without what is unlike")
    return Query(
        unit(vector),
        sections,
        {k: v for k, v in sections.items() if k in asked.parts and len(like) == 1},
        frozenset().union(*(one.ids for one in (*like, *unlike))),
        asked.weights,
        lambda: [pair for one in like for pair in one.read_texts()],
        like[0].read_trial if len(like) == 1 else lambda: None,
    )


def _from_parts(index: Stored, asked: Composed, nlp: Language | None) -> Query:
    """Texts of parts as one record, in which each counts as much as the model and the
    user say."""
    text = parts_text(asked.parts)
    doc = _encoded(text, index, nlp)
    sections = _sections(doc)
    vector = extension(doc, "trial_vector")
    if vector is None or not sections:
        return _from_doc(doc)
    if lacking := [label for label in asked.parts if label not in sections]:
        present = ", ".join(sorted(sections))
        raise error(Errors.T049, parts=", ".join(lacking), present=present)
    vector = np.asarray(vector, dtype=np.float32)
    _check_width(vector, index.meta)
    trial = extension(doc, "trial")
    query = Query(
        vector,
        sections,
        read_texts=lambda: _texts(text),
        read_trial=lambda: trial,
    )
    return _reweighed(query, asked.weights, section_weights(nlp), asked.parts)


def _reweighed(
    query: Query,
    weights: Mapping[str, float],
    counts: Mapping[str, float],
    asked: Collection[str] = (),
) -> Query:
    labels = {*asked, *weights}
    vector = reweighed(query.vector, query.sections, weights, counts, labels)
    return replace(query, vector=_checked(vector))


def _sections_of(
    like: Iterable[Query], unlike: Iterable[Query], label: str, asked: Composed
) -> Array:
    wanted, unwanted = (
        [one.sections[label] for one in several if label in one.sections]
        for several in (like, unlike)
    )
    return composed_vector(wanted, unwanted, asked.unlike_weight)


def _check_composed(
    asked: Composed, like: Sequence[Query], unlike: Sequence[Query]
) -> None:
    if not like:
        reason = "all that is given is unlike" if unlike else "all of it is blank"
        raise error(Errors.T173, reason=reason)
    ids, other_ids = (
        {nct_id for one in several for nct_id in one.ids if nct_id}
        for several in (like, unlike)
    )
    if both := ids & other_ids:
        reason = f"{', '.join(sorted(both))} is both like and unlike"
        raise error(Errors.T173, reason=reason)
    present = {label for one in like for label in one.sections}
    if lacking := [label for label in asked.weights if label not in present]:
        shown = ", ".join(sorted(present))
        raise error(Errors.T049, parts=", ".join(lacking), present=shown)


def _has_direction(vector: Array) -> bool:
    """Whether enough is left of unit vectors that were subtracted."""
    return float(np.linalg.norm(vector)) > _NO_DIRECTION


def _encoded(text: str, index: Stored, nlp: Language | None) -> Doc:
    """Only the tokenizer is called by itself: a long text is no error then."""
    pipeline = _pipeline(index, nlp)
    return pipeline(pipeline.tokenizer(text))


def _sections(doc: Doc) -> dict[str, Array]:
    return {
        label: unit(section)
        for label, section in (extension(doc, "section_vectors") or {}).items()
        if not defect(np.asarray(section))
    }


def _texts(text: str) -> Texts:
    """(label, text without its heading) of the sections of a text."""
    return [(part.label, part.body(text)) for part in parse_sections(text)]


def _unlabelled(texts: Texts) -> Texts:
    return [("", text) for _, text in texts]


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
