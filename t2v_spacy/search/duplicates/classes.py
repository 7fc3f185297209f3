"""What two records are to one another. Rather nothing is said than something wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...trial import Trial
from .card import normal_code, texts_of
from .evidence import Evidence, dice, months_between
from .words import Words, words

DUPLICATE = "duplicate"
REREGISTRATION = "re-registration"
EXTENSION = "extension"
SISTER = "sister"
KINDS = (DUPLICATE, REREGISTRATION, EXTENSION, SISTER)

# What says in a title that a study follows another, surely and perhaps.
_LATER = re.compile(
    r"\bextension\b|\broll[- ]?over\b|\bfollow[- ]?on\b|\bcontinuation\b|"
    r"\bpart (?:2|b|ii)\b|\b(?:japan\w*|chin\w+|asia\w*|korea\w*) (?:cohort|part)\b",
    re.IGNORECASE,
)
_MAYBE_LATER = re.compile(
    r"\blong[- ]?term\b(?=[\s,]+(?:open|study|safety|efficacy|follow|trial|evaluat))|"
    r"\bfollow(?:ing)?[- ]?up\b(?=\s+(?:study|of|trial|to)\b)|\bcontinued access\b",
    re.IGNORECASE,
)
# A later part of the study itself.
_OWN_PART = re.compile(
    r"(?:with|and|plus|followed by|including)\s+(?:an?\s+)?(?:[\w-]+\s+){0,3}"
    r"(?:extension|follow[- ]?up|continuation)|part (?:1|a|i)\b.*",
    re.IGNORECASE,
)
_SAYING_SO = words("extension rollover roll over follow on up long term open year")
_CAME_FROM = re.compile(
    r"extension|roll[- ]?over|complet|continu|follow[- ]?(?:up|on)|long[- ]?term|"
    r"parent|originating|participated|participation in|eligible to (?:enter|enrol)",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"re-?registered|previously registered|also registered|duplicate (?:record|regist)|"
    r"registered (?:again|under|as)\b",
    re.IGNORECASE,
)
_AROUND = 120  # characters before and after an id that tell why it is named
_MONTHS = 6  # between the starts of one study, as two records have them


def promising(found: Evidence) -> bool:
    """Whether it is worth to read the records. Of two sponsors a study is only what is
    the same in every word, or named."""
    named = found.org_id or names_other(found)
    least = 0.95 if found.sponsor is False and not found.partners else 0.5
    return named or found.title >= least


def names_other(found: Evidence) -> bool:
    """Whether one record has an id of the other in its texts."""
    first, second = found.first, found.second
    return bool(
        set(first.named).intersection(second.ids)
        or set(second.named).intersection(first.ids)
        or first.org_id in second.codes
        or second.org_id in first.codes
    )


def classify(
    found: Evidence, first: Trial, second: Trial
) -> tuple[str, list[str]] | None:
    """(one of KINDS, why) or None. found: of these two records, with their texts."""
    places = list(_mentions(found, first, second))
    for who, text in places:
        if _SAME.search(text) and found.title >= 0.6:
            return REREGISTRATION, [f"the {who} says that the other is the same study"]
    if found.sponsor is not False or found.partners:
        if reason := _follows(found, first, second, places):
            return EXTENSION, [reason]
        if _one_began(found):
            return REREGISTRATION, ["nobody took part in one of them"]
    if reason := _is_same(found):
        return _same(found), [reason]
    if _is_sister(found):
        return SISTER, []
    return None


def _follows(
    found: Evidence, first: Trial, second: Trial, places: list[tuple[str, str]]
) -> str | None:
    kin = found.title >= 0.35 or bool(found.interventions)
    for who, text in places:
        if kin and _CAME_FROM.search(text):
            return f"the {who} names the other, where its participants come from or go"
    if not _same_drug(found):
        return None
    months = months_between(found.first.start, found.second.start)
    for pattern, least in ((_LATER, 0.6), (_MAYBE_LATER, 0.75)):
        left, right = (_said(pattern, trial) for trial in (first, second))
        if bool(left) == bool(right) or _title_without(found) < least:
            continue
        ahead = months and (-months if left else months)
        late = pattern is _LATER if ahead is None else ahead >= (pattern is not _LATER)
        if late and not (found.first if left else found.second).named:
            which = "first" if left else "second"
            return f"the title of the {which} says {', '.join(sorted(left or right))}"
    return None


def _said(pattern: re.Pattern[str], trial: Trial) -> Words:
    titles = (trial.title, trial.official_title)
    others = (_OWN_PART.sub(" ", title or "") for title in titles)
    found = (one for title in others for one in pattern.findall(title))
    return frozenset(re.sub(r"[-\s]+", "-", one.lower()) for one in found)


def _title_without(found: Evidence) -> float:
    """How alike titles are but for what says that one follows the other."""
    titles = (found.first.titles, found.second.titles)
    left, right = ([set(t) - _SAYING_SO for t in both] for both in titles)
    return max(dice(a, b) for a in left for b in right)


def _one_began(found: Evidence) -> bool:
    """One study, registered again after a record under which nobody took part."""
    return (
        found.empty[0] != found.empty[1]
        and _near_title(found, 0.9)
        and not _clash(found)
        and (found.sponsor is True or found.partners)
        and max(found.interventions or 0, found.text or 0) >= 0.7
        and not found.together
    )


def _is_same(found: Evidence) -> str | None:
    if _clash(found) or found.together:
        return None
    if found.org_id and found.title >= 0.6 and found.sponsor is not False:
        return "one id of the organisation"
    # Studies planned as twins differ in little else.
    if found.enrollment is False or (
        found.start is False and found.completion is False
    ):
        return None
    facts = (found.enrollment, found.start, found.completion)
    agreeing = sum(fact is True for fact in facts) + ((found.text or 0) >= 0.9)
    known = found.sponsor is True or found.partners
    needed = 2 + (not known) + (found.title < 1)
    if _near_title(found, 0.85 if known else 1) and agreeing >= needed:
        return "title, facts and text agree"
    return None


def _is_sister(found: Evidence) -> bool:
    near = max(found.title, found.text or 0) >= 0.7 and found.title >= 0.6
    return found.sponsor is True and near and _same_drug(found, 0.75)


def _same(found: Evidence) -> str:
    return REREGISTRATION if found.empty[0] != found.empty[1] else DUPLICATE


def _same_drug(found: Evidence, least: float = 0.6) -> bool:
    """By one sponsor, of the same intervention in the same condition."""
    known = found.sponsor is True or found.partners
    shared = (found.interventions or 0) >= least and (found.conditions or 0) >= 0.6
    return known and shared


def _near_title(found: Evidence, least: float) -> bool:
    """Alike, and no number and no word on both sides tells them apart."""
    return found.title >= least and not found.numbered and not all(found.only)


def _clash(found: Evidence) -> bool:
    """What one study cannot have twice."""
    months = months_between(found.first.start, found.second.start)
    moved = months is not None and abs(months) > _MONTHS and not any(found.empty)
    return (
        found.two_counts
        or found.phases is False
        or moved
        or (found.interventions or 1) < 0.5
        or (found.conditions is not None and not found.conditions)
    )


def _mentions(
    found: Evidence, first: Trial, second: Trial
) -> Iterator[tuple[str, str]]:
    """(who, text) around each place where one, "first" or "second", names the other."""
    sides = (("first", first, found.second), ("second", second, found.first))
    for who, trial, card in sides:
        for text in texts_of(trial):
            for match in re.finditer(r"[\w./-]+", text):
                word = match[0].strip("./-").upper()
                if word in card.ids or (
                    card.org_id and normal_code(word) == card.org_id
                ):
                    start = max(0, match.start() - _AROUND)
                    yield who, text[start : match.end() + _AROUND]
