"""Pairs from trial records: what belongs together because one trial says both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ...trial import Trial
from .pairs import Pair
from .patients import patient_text
from .texts import plain

if TYPE_CHECKING:
    from ...kb.knowledge_base import KnowledgeBase

_WORDS = 200  # kept of a text; an encoder at length 128 reads fewer
_CONDITIONS = 4
_SHORTEST = 4  # words of a text that says something


def trial_pairs(
    trial: Trial, kb: KnowledgeBase, sources: Iterable[str]
) -> Iterator[tuple[str, Pair]]:
    """(source, pair) for each of the sources that the record has texts for."""
    for name in sources:
        pair = TRIAL_SOURCES[name](trial, kb)
        if pair is not None and plain(pair.anchor) != plain(pair.positive):
            yield name, pair


def title_summary(trial: Trial, kb: KnowledgeBase) -> Pair | None:
    title, summary = trial.title or trial.official_title, _cut(trial.brief_summary)
    if not _says(title) or not _says(summary):
        return None
    return Pair(title, summary, groups=_studied(trial, kb))  # type: ignore[arg-type]


def criteria_title(trial: Trial, kb: KnowledgeBase) -> Pair | None:
    criteria = trial.criteria
    text = _cut(" ".join(criteria.inclusion or criteria.unspecified))
    title = trial.title or trial.official_title
    if not _says(title) or not _says(text):
        return None
    named = plain(title or "")
    missing = [c for c in trial.conditions[:_CONDITIONS] if plain(c) not in named]
    about = ", ".join(missing)
    positive = f"{title} ({about})" if about else title
    return Pair(text, positive, groups=_studied(trial, kb))  # type: ignore[arg-type]


def patient_condition(trial: Trial, kb: KnowledgeBase) -> Pair | None:
    conditions = trial.conditions[:_CONDITIONS]
    known = any(kb.lookup(name) or kb.lookup_norm(name) for name in conditions)
    text = patient_text(trial, kb) if known else None
    if text is None:
        return None
    groups = tuple(sorted({_concept(name, kb) for name in conditions}))
    # The encoder reads the items of a condition section joined like this.
    return Pair(_cut(text), ", ".join(conditions), groups=groups)


TRIAL_SOURCES: dict[str, Callable[[Trial, KnowledgeBase], Pair | None]] = {
    "title_summary": title_summary,
    "criteria_title": criteria_title,
    "patient_condition": patient_condition,
}


def _studied(trial: Trial, kb: KnowledgeBase) -> tuple[str, ...]:
    """Each condition with each intervention: trials that share one are alike."""
    conditions = {_concept(name, kb) for name in trial.conditions[:_CONDITIONS]}
    drugs = {_concept(i.name, kb) for i in trial.interventions if not i.is_control}
    return tuple(sorted(f"{one} + {other}" for one in conditions for other in drugs))


def _concept(name: str, kb: KnowledgeBase) -> str:
    found = kb.lookup(name) or kb.lookup_norm(name)
    return found[0] if found else plain(name)


def _cut(text: str | None) -> str:
    return " ".join((text or "").split()[:_WORDS])


def _says(text: str | None) -> bool:
    return len((text or "").split()) >= _SHORTEST
