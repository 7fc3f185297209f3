"""The Doc and Span extensions of the package, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from spacy.tokens import Doc, Span

from .trial import Trial

SECTIONS, HEADINGS, VIEWS = "sections", "headings", "views"
# Where a Doc without a record keeps the id of its trial.
NCT_ID = "t2v_nct_id"
_TRIAL_KEY = "t2v_trial"


def get_trial(doc: Doc) -> Trial | None:
    data = doc.user_data.get(_TRIAL_KEY)
    return None if data is None else Trial.from_dict(data)


def set_trial(doc: Doc, trial: Trial | None) -> None:
    """Keep the record as plain values, which survive `to_bytes`, DocBin and workers."""
    if trial is None:
        doc.user_data.pop(_TRIAL_KEY, None)
    else:
        doc.user_data[_TRIAL_KEY] = trial.to_dict()


def trial_similarity(doc: Doc, other: Doc) -> float:
    """Cosine of the two trial vectors; 0.0 if either Doc has none."""
    one, two = doc._.trial_vector, other._.trial_vector
    if one is None or two is None:
        return 0.0
    norm = float(numpy.linalg.norm(one) * numpy.linalg.norm(two))
    return float(numpy.dot(one, two)) / norm if norm else 0.0


def get_section(span: Span) -> str | None:
    """Label of the section that contains the span; None outside of sections."""
    for section in _group(span.doc, SECTIONS):
        if section.start <= span.start and span.end <= section.end:
            return section.label_
    return None


def get_body(span: Span) -> Span:
    """The span without the heading it starts with."""
    for heading in _group(span.doc, HEADINGS):
        if heading.start == span.start and heading.end <= span.end:
            return span.doc[heading.end : span.end]
    return span


def _group(doc: Doc, key: str) -> Any:
    return doc.spans.get(key, ())


# trial_vector: float32 array (width,), L2-normalised. section_vectors: label -> float32
# array (width,). similar_trials: hits of the index. truncated: labels of the sections
# of which a part was not encoded.
DOC_EXTENSIONS: dict[str, dict[str, Any]] = {
    "trial": {"getter": get_trial, "setter": set_trial},
    "trial_vector": {"default": None},
    "section_vectors": {"default": None},
    "similar_trials": {"default": None},
    "truncated": {"default": None},
    "concepts": {"default": None},
    "trial_similarity": {"method": trial_similarity},
}
SPAN_EXTENSIONS: dict[str, dict[str, Any]] = {
    "section": {"getter": get_section},
    "body": {"getter": get_body},
}


def install_extensions() -> None:
    """Register what is missing. One of ours (after a reload) is replaced; one that
    another package registered under the same name is left as it is."""
    for owner, table in ((Doc, DOC_EXTENSIONS), (Span, SPAN_EXTENSIONS)):
        for name, how in table.items():
            if not owner.has_extension(name):
                owner.set_extension(name, **how)
            elif _is_old(owner.get_extension(name), how):
                owner.set_extension(name, force=True, **how)


def _is_old(existing: tuple, how: dict[str, Any]) -> bool:
    """Whether the extension there is an earlier version of ours."""
    functions: list[Callable] = [f for f in existing[1:] if f is not None]
    new = set(how.values())
    return any(f.__module__ == __name__ and f not in new for f in functions)
