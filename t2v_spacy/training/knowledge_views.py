"""Texts that medical knowledge makes near to a trial's attribute, or far from it.

Trial2Vec, section 3.3: a mention is replaced by another name of its concept or by a
sibling (near), deleted or replaced by something unlike (far).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy

from ..errors import Errors, error
from ..kb.shared import no_evidence
from ..sections.labels import KEY_ATTRIBUTES

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase

POSITIVES = ("canonical", "alias", "sibling")
NEGATIVES = ("deletion", "dissimilar")
_HELD_OUT_PARTS = 1000
_DRAWS = 3  # of something unlike, since one may be held out


class Mention(NamedTuple):
    """A linked mention: id of its concept, label of its section, its text there."""

    concept: str
    section: str
    text: str


class View(NamedTuple):
    """A text to learn from, with a letter or digit. label: the attribute; kind:
    "positive", "negative" or "name" (which come in pairs); concept: what it names now,
    "" after a deletion."""

    label: str
    kind: str
    text: str
    concept: str


# sections of a trial, its mentions, the base, rng -> views
KnowledgeViews = Callable[
    [dict[str, str], Sequence[Mention], "KnowledgeBase", numpy.random.Generator],
    list[View],
]


def knowledge_views(
    attributes: Iterable[str] = ("title", "condition", "intervention", "keyword"),
    positives: Iterable[str] = POSITIVES,
    negatives: Iterable[str] = NEGATIVES,
    attributes_per_trial: int = 2,
    names_per_trial: int = 0,
    held_out: float = 0.0,
) -> KnowledgeViews:
    """Views `t2v.KnowledgeViews.v1` for t2v.TrialCorpus.v1.

    attributes (Iterable[str]): Sections whose mentions are renamed.
    positives: Of "canonical", "alias", "sibling"; one that the concept has is drawn.
    negatives: Of "deletion", "dissimilar"; each gives a text where it can.
        Placebo and the like are neither renamed nor put in.
    attributes_per_trial (int): Most attributes of one trial that get views.
    names_per_trial (int): Concepts of the whole base of which two names each are added,
        every second one a sibling of the one before. Defaults to 0.
    held_out (float): Share of concepts, chosen by a hash of their ids, whose names are
        never used: to test what was learnt. Defaults to 0.
    RAISES (T2VError): T008 for a label that is no key attribute, T026 for another
        setting out of range.
    """
    attributes, positives, negatives = map(tuple, (attributes, positives, negatives))
    for label in attributes:
        if label not in KEY_ATTRIBUTES:
            labels = ", ".join(KEY_ATTRIBUTES)
            raise error(Errors.T008, value=label, labels=labels)
    for setting, values, known in (
        ("positives", positives, POSITIVES),
        ("negatives", negatives, NEGATIVES),
    ):
        for value in values:
            if value not in known:
                reason = f"one of {', '.join(known)}"
                raise error(Errors.T026, setting=setting, value=value, reason=reason)
    for setting, number in (
        ("attributes_per_trial", attributes_per_trial),
        ("names_per_trial", names_per_trial),
    ):
        if number < 0:
            reason = "0 or more"
            raise error(Errors.T026, setting=setting, value=number, reason=reason)
    if not 0 <= held_out < 1:
        reason = "0 or more and below 1"
        raise error(Errors.T026, setting="held_out", value=held_out, reason=reason)

    def make_views(
        sections: dict[str, str],
        mentions: Sequence[Mention],
        kb: KnowledgeBase,
        rng: numpy.random.Generator,
    ) -> list[View]:
        views: list[View] = []
        usable = [label for label in attributes if label in sections]
        for label in rng.permutation(usable).tolist():
            if len({view.label for view in views}) == attributes_per_trial:
                break
            found = [
                mention
                for mention in mentions
                if mention.section == label
                and mention.concept in kb
                and _usable(mention.concept, kb)
                and place(mention.text, sections[label])
            ]
            if found:
                mention = found[rng.integers(len(found))]
                views += _of_mention(mention, sections[label], kb, rng)
        return views + _names(kb, rng)

    def _of_mention(
        mention: Mention, text: str, kb: KnowledgeBase, rng: numpy.random.Generator
    ) -> list[View]:
        concept, label, old = mention
        positive = None
        for how in rng.permutation(positives).tolist():
            positive = _rename(how, concept, old, kb, rng)
            if positive is not None:
                break
        if positive is None:
            return []
        name, other = positive
        start, end = place(old, text)  # type: ignore[misc]
        before, after = text[:start], text[end:]
        views = [View(label, "positive", before + name + after, other)]
        if "deletion" in negatives:
            rest = _tidy(before + after)
            if is_readable(rest):
                views.append(View(label, "negative", rest, ""))
        if "dissimilar" in negatives:
            drawn = kb.dissimilar(concept, _DRAWS, rng)
            for unlike in [i for i in drawn if _usable(i, kb)][:1]:
                new = before + kb.name(unlike) + after
                views.append(View(label, "negative", new, unlike))
        return views

    def _rename(
        how: str, concept: str, old: str, kb: KnowledgeBase, rng: numpy.random.Generator
    ) -> tuple[str, str] | None:
        if how == "sibling":
            ids = [i for i in kb.siblings(concept) if _usable(i, kb)]
            if not ids:
                return None
            other = ids[rng.integers(len(ids))]
            return kb.name(other), other
        names = [kb.name(concept)] if how == "canonical" else kb[concept].aliases
        names = [name for name in names if name.casefold() != old.casefold()]
        return (names[rng.integers(len(names))], concept) if names else None

    def _names(kb: KnowledgeBase, rng: numpy.random.Generator) -> list[View]:
        views: list[View] = []
        ids = _all_ids(kb) if names_per_trial else []
        last = None
        for k in range(names_per_trial):
            beside = kb.siblings(last) if last and k % 2 else ()
            last = (
                beside[rng.integers(len(beside))]
                if beside
                else ids[rng.integers(len(ids))]
            )
            concept = kb[last]
            if not concept.aliases or not _usable(last, kb):
                continue
            names = [concept.canonical_name, *concept.aliases]
            one, two = rng.choice(len(names), 2, replace=False).tolist()
            views += [View("other", "name", names[i], last) for i in (one, two)]
        return views

    def _usable(concept: str, kb: KnowledgeBase) -> bool:
        return not is_held_out(concept, held_out) and concept not in no_evidence(kb)

    return make_views


def is_held_out(concept: str, share: float) -> bool:
    """Whether a concept belongs to the share that is kept out of training."""
    if not share:
        return False
    digest = hashlib.blake2b(concept.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % _HELD_OUT_PARTS < share * _HELD_OUT_PARTS


def place(mention: str, text: str) -> tuple[int, int] | None:
    """Where a mention first stands in a text as words of its own: "RA" is not in
    "RANDOMISED"."""
    found = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", text)
    return found.span() if found else None


def is_readable(text: str) -> bool:
    """Whether a text has a letter or digit, and so something to encode."""
    return any(map(str.isalnum, text))


def _tidy(text: str) -> str:
    """A text without the blanks and commas that a deletion leaves behind."""
    text = re.sub(r"\s+", " ", re.sub(r"\(\s*\)", "", text))
    return re.sub(r" ?,(?: ?,)*", ",", text).strip(" ,")


# One base is in use at a time, and none should be kept for ever.
@lru_cache(maxsize=1)
def _all_ids(kb: KnowledgeBase) -> list[str]:
    return list(kb.ids())
