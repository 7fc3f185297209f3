"""What speaks for a pair and what differs, in words for a person."""

from __future__ import annotations

from collections.abc import Iterator

from ...trial import Trial
from ...values import display
from .evidence import Evidence

_SHOWN = 6  # words


def in_words(found: Evidence, first: Trial, second: Trial) -> Iterator[str]:
    """Agreements and differences that both records speak of, titles first."""
    yield from _titles(found)
    if found.org_id:
        yield f"same id of the organisation ({first.org_study_id})"
    yield from _either("sponsor", found.sponsor, first.sponsor, second.sponsor)
    if found.partners:
        yield "the sponsor of one collaborates in the other"
    yield from _part("interventions", found.interventions)
    yield from _part("conditions", found.conditions)
    phases = ["/".join(sorted(map(display, t.phases))) for t in (first, second)]
    yield from _either("phase", found.phases, *phases)
    counts = (found.first.enrollment, found.second.enrollment)
    yield from _either("enrolment", found.enrollment, *counts)
    yield from _either("start", found.start, found.first.start, found.second.start)
    days = (found.first.completion, found.second.completion)
    yield from _either("completion", found.completion, *days)
    if found.text is not None:
        yield f"text {found.text:.0%} the same words"
    if any(found.empty):
        which = [
            card
            for card, empty in zip((first, second), found.empty, strict=True)
            if empty
        ]
        yield f"nobody took part in {' and '.join(t.nct_id for t in which)}"


def _titles(found: Evidence) -> Iterator[str]:
    if found.title == 1:
        yield "same title"
        return
    yield f"titles {found.title:.0%} alike"
    for which, words in zip(("first", "second"), found.only, strict=True):
        if words:
            yield f"only the {which} title says {', '.join(sorted(words)[:_SHOWN])}"


def _either(what: str, same: bool | None, left: object, right: object) -> Iterator[str]:
    if same is not None:
        yield f"same {what} ({left})" if same else f"{what} {left} and {right}"


def _part(what: str, share: float | None) -> Iterator[str]:
    if share is not None:
        yield f"same {what}" if share == 1 else f"{what} {share:.0%} shared"
