"""A search put together: texts of parts, trials to be like, trials to be unlike."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors, error
from ..sections.headed import write_headed_text
from ..sections.labels import HEADINGS, SECTION_LABELS
from ..sections.patterns import strip_mark
from ..trial import Trial
from .vectors import Array

if TYPE_CHECKING:
    from spacy.language import Language

# Measured on real records: trials with the drug of the unwanted one are a fifth as many
# among the first ten, those with that of the wanted ones as many as before; a higher
# weight loses some of these.
UNLIKE_WEIGHT = 0.75
# A section that the model gives next to no weight still counts when it is asked for.
_NEXT_TO_NONE, _ASKED_FOR = 0.1, 0.5
_LISTS = ("condition", "intervention", "outcome", "keyword")
_ITEM = re.compile(r"[;\n]")
_HEADING = {label: heading for heading, label in reversed(HEADINGS.items())}


@dataclass(frozen=True, eq=False)
class Composed:
    """A query of several: like A and B but not C, this condition with that drug.

    parts: Section label -> its text; None or a blank text is left out. In conditions,
        interventions, outcomes and keywords a semicolon or line break parts the items.
    weights: Section label -> how much more than usual it counts; 1 is as usual.
    like: Trials, docs, texts or ids. The query is their mean; `parts`, if there are
        any, count as one more of them.
    unlike: The same of what is not wanted. All of them are taken from the query.
    unlike_weight: 0, nothing of them, to 1, all that the query has in common with them.
    RAISES (T008): unknown section. (T174): a weight that is not above 0.
    """

    parts: Mapping[str, str | None] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    like: Sequence[Trial | Doc | Array | str] = ()
    unlike: Sequence[Trial | Doc | Array | str] = ()
    unlike_weight: float = UNLIKE_WEIGHT

    def __post_init__(self) -> None:
        for name in ("like", "unlike"):
            given = getattr(self, name)
            alone = isinstance(given, str | Trial | Doc | np.ndarray)
            object.__setattr__(self, name, (given,) if alone else tuple(given))
        for label, text in self.parts.items():
            if not isinstance(text, str | None):
                reason = "the text of a part is one text"
                raise error(Errors.T026, setting=label, value=text, reason=reason)
        given = {k: v for k, v in self.parts.items() if v and v.strip()}
        object.__setattr__(self, "parts", given)
        check_labels(self.parts)
        check_weights(self.weights)
        if not 0 <= self.unlike_weight <= 1:
            reason = "it is 0 to 1"
            name, value = "unlike_weight", self.unlike_weight
            raise error(Errors.T026, setting=name, value=value, reason=reason)


def check_labels(labels: Collection[str]) -> None:
    """RAISES (T008): one is no section label."""
    for label in labels:
        if label not in SECTION_LABELS:
            known = ", ".join(SECTION_LABELS)
            raise error(Errors.T008, value=label, labels=known)


def check_weights(weights: Mapping[str, float]) -> None:
    """RAISES (T008): unknown section. (T174): not a number above 0."""
    check_labels(weights)
    for label, weight in weights.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight <= 0:
            raise error(Errors.T174, label=label, value=weight)


def parts_text(parts: Mapping[str, str | None]) -> str:
    """Texts of parts as the text of a record that has no more than these."""
    bodies: dict[str, list[str]] = {}
    for label in SECTION_LABELS:
        if text := parts.get(label):
            bodies.setdefault(_HEADING.get(label, "Eligibility"), []).append(
                _body(label, text)
            )
    return write_headed_text(
        (h, "\n\n".join(bodies[h])) for h in HEADINGS if h in bodies
    )


def _body(label: str, text: str) -> str:
    text = text.strip()
    if label in _LISTS:
        items = [strip_mark(item) for item in _ITEM.split(text)]
        return "\n".join(f"- {item}" for item in items if item)
    if label in ("inclusion", "exclusion"):
        return f"{label.capitalize()} Criteria:\n\n{text}"
    return " ".join(text.split()) if label == "title" else text


def section_weights(nlp: Language | None) -> dict[str, float]:
    """What each section counts in the trial vectors of a pipeline; without one, as the
    pipe trial2vec starts from."""
    from ..pipeline.trial2vec import DEFAULT_TRIAL2VEC_MODEL

    pipe: Any = None
    if nlp is not None and "trial2vec" in nlp.pipe_names:
        pipe = nlp.get_pipe("trial2vec")
    if pipe is not None and pipe.model.has_ref("encoder"):
        encoder = pipe.model.get_ref("encoder").shims[0]._model
        if encoder.aggregate == "residual":
            learnt = encoder.weights.detach().cpu().tolist()
            return dict(zip(SECTION_LABELS, learnt, strict=True))
    return dict(DEFAULT_TRIAL2VEC_MODEL["weights"])


def reweighed(
    vector: Array,
    sections: Mapping[str, Array],
    weights: Mapping[str, float],
    counts: Mapping[str, float],
    asked: Collection[str] = (),
) -> Array:
    """A trial vector as it were if its sections counted otherwise, not of unit length.

    vector: (width,) the pipeline's own, of unit length, or all 0. sections: label ->
    unit (width,). weights: label -> factor on what it counts. counts: what each section
    counts in the vector. asked: labels that count even where the model does not think
    so. With weights of 1 and sections that all count, the direction stays as it is.
    """
    if not sections:
        return vector
    counted = [counts.get(label, 0.0) * section for label, section in sections.items()]
    moved = vector * float(np.linalg.norm(np.sum(counted, axis=0)))
    for label, section in sections.items():
        own = counts.get(label, 0.0)
        within = label in ("inclusion", "exclusion") and "eligibility" in sections
        if within:  # already counted with all criteria
            own = counts.get("eligibility", 0.0)
        usual = own
        if label in asked and own < _NEXT_TO_NONE:
            usual = _ASKED_FOR
            own = usual if within else own
        moved = moved + (weights.get(label, 1.0) * usual - own) * section
    return moved


def composed_vector(
    like: Sequence[Array], unlike: Sequence[Array], weight: float
) -> Array:
    """The mean of some vectors, less of what it shares with others.

    It loses `weight` of its component along an unlike vector; along several, as a ridge
    regression on them does, so that near copies of one count little more than one.
    All are unit (width,), the result is (width,) of a length below 1; weight: 0 to 1.
    """
    mean = np.mean(np.stack(like), axis=0, dtype=np.float64)
    mean /= max(np.linalg.norm(mean), 1e-9)
    if not unlike or not weight:
        return mean
    rows = np.stack(unlike).astype(np.float64)
    ridge = (1 / weight - 1) * np.eye(len(rows))
    shares = np.linalg.lstsq(rows @ rows.T + ridge, rows @ mean, rcond=1e-6)[0]
    return mean - shares @ rows
