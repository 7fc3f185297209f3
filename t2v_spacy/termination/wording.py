"""Passages of a record that tell how the trial ended.

Registry texts are edited for years: "(TERMINATED)" at the end of a title, "The study
was stopped early for lack of recruitment." in a description. A model that reads them
looks up the answer. The patterns want the trial itself (or its recruitment) as what
ended, in the past, and no condition before it, so that rules of the protocol ("the
study will be terminated if ..."), what befalls participants and words such as
"termination of pregnancy" stay. They would rather miss a passage than take away what
was planned. "Results showed" is none of them: it mostly tells of earlier trials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_STUDY = r"(?:study|trial|project|investigation)"
_KIND = (
    r"(?:(?:present|current|entire|whole|overall|main|clinical|research|extension|"
    r"open[- ]label|randomi[sz]ed|controlled|placebo[- ]controlled|"
    r"double[- ]blind(?:ed)?|multi-?cent(?:er|re)|phase\s+[\w/]+)\s+){0,4}"
)
_THE = rf"(?:this|the|our)\s+{_KIND}{_STUDY}"
# "study" alone is the trial itself only where no word before it says which one.
_ALONE = rf"(?:(?<![\w-])(?<!\w\s)|(?<=\band\s)|(?<=\bthat\s)){_STUDY}"
_NUMBER = r"(?:\s+[\w/-]*\d[\w/-]*)?(?:\s+\([^()]{1,40}\))?"
_OWN = rf"(?:{_THE}|{_ALONE}){_NUMBER}"
_WAS = (
    r"(?:was|were|ha(?:s|ve|d)(?:\s+now)?\s+been|had\s+to\s+be|is\s+(?:now|currently))"
)
_HOW = (
    r"(?:\s+(?:not|also|then|now|since|later|already|recently|therefore|thus|early|"
    r"ultimately|eventually|finally|subsequently|prematurely|permanently|temporarily|"
    r"voluntarily|officially|immediately|indefinitely|unexpectedly|long-term))*\s+"
)
_ENDED = (
    r"(?:terminated|withdrawn|suspended|stopped|halted|discontinued|cancell?ed|"
    r"abandoned|aborted|ceased|closed|ended\s+(?:early|prematurely)|"
    r"put\s+on\s+hold|placed\s+on\s+(?:clinical\s+)?hold|not\s+(?:started|initiated))"
)
_END = r"(?:terminate|stop|close|halt|discontinue|cancel|withdraw|suspend|abandon)"
_ENDING = r"(?:closure|termination|cancellation|suspension|cessation|discontinuation)"
_SOONER = (
    r"\s+(?:early|prematurely|due\s+to|because|owing\s+to|for\s+(?:lack|futility)|"
    r"by\s+(?:the\s+)?sponsor|before\s+(?!the\s+end\b)|prior\s+to)\b"
)
_PEOPLE = r"(?:patients?|participants?|subjects?|individuals?)"
_ENTRY = (
    r"(?:accrual|enrol?lment|"
    r"(?<!lung\s)(?<!alveolar\s)(?<!cell\s)(?<!unit\s)recruitment)"
)
_TOO_LITTLE = r"(?:slow|poor|low|insufficient|inadequate|lack\s+of)"
_OTHER_THING = (
    r"(?!\s+(?:drugs?|medications?|treatments?|products?|agents?|therap\w+|devices?|"
    r"vaccines?|procedures?|interventions?|visits?|participation)\b)"
)
_THAT = rf"(?:the|this)\s+{_KIND}{_STUDY}{_OTHER_THING}"
_BODY = (
    r"(?:sponsor|company|manufacturer|investigators?|committee|board|DS?M[BC]|IDMC|we)"
)
_TOLD = re.compile(
    "|".join(
        (
            rf"\b{_OWN}\s+{_WAS}{_HOW}{_ENDED}\b",
            rf"\b(?:this|the)\s+protocol\s+{_WAS}{_HOW}(?:terminated|withdrawn|closed)\b",
            rf"\b{_OWN}{_HOW}(?:stopped|ended|closed|terminated|halted|discontinued)"
            rf"(?:\s+{_ENTRY})?{_SOONER}",
            r"\bit\s+(?:was\s+)?terminated\s+(?:early|prematurely)\b",
            rf"\b{_ALONE}{_HOW}(?:{_ENDED}{_SOONER}|"
            r"(?:terminated|withdrawn|suspended)(?=\s*(?:[.!;]|\Z)))",
            rf"\b{_ENTRY}(?:\s+(?:to|in|into|of|for|onto)\s+[^.;:()]{{1,50}}?)?\s+"
            rf"{_WAS}{_HOW}(?:stopped|halted|suspended|terminated|closed|completed|"
            r"discontinued)\b",
            rf"\b(?:stopped|suspended|halted)\s+(?:patient\s+)?{_ENTRY}\b"
            rf"(?!\s+of\s+(?!{_PEOPLE}\b))",
            rf"(?<!\bbe\s)(?<!\bis\s)(?<!\bare\s)\bclosed\s+(?:to|for)\s+"
            rf"(?:(?:further|new|additional|patient)\s+){{0,2}}(?:{_ENTRY}|{_PEOPLE})\b",
            rf"\b{_ENTRY}\b[^.;:()]{{0,40}}?\bclosed\s+(?:as\s+of|effective)\b",
            rf"\b(?:led|resulted)\s+(?:to|in)\s+(?:the\s+|an?\s+)?(?:early\s+|premature\s+)?"
            rf"{_ENDING}\s+of\s+{_THAT}",
            rf"\b{_TOO_LITTLE}\s+(?:patient\s+)?{_ENTRY}\s+(?:rates?\s+)?(?:has\s+)?"
            r"(?:led|resulted|forced|caused|prompted)\b",
            rf"\b(?:it\s+was|{_BODY}(?:\s+ha[sd])?)\s+decided\s+(?:\w+\s+){{0,3}}?to\s+"
            rf"(?:\w+ly\s+)?{_END}\s+{_THAT}",
            rf"\bdecision\s+(?:was|has\s+been)\s+(?:made|taken)[^.;]{{0,60}}?\bto\s+"
            rf"(?:\w+ly\s+)?{_END}\s+{_THAT}",
            rf"\bdecision\s+to\s+(?:\w+ly\s+)?{_END}\s+{_THAT}"
            r"(?!\s+(?:will|can|may|is|rests|must|shall))",
            rf"\brecommended\s+(?:that\s+)?{_THAT}(?:\s+should)?\s+be{_HOW}{_ENDED}\b",
            rf"\brecommended\s+(?:\w+\s+){{0,3}}?{_ENDING}\s+of\s+{_THAT}",
            rf"\b{_ENDING}\s+of\s+{_THAT}\s+(?:was|is)\s+(?:not|un)",
            rf"\bcauses?\s+of\s+(?:the\s+|this\s+)?{_STUDY}\s+{_ENDING}\b",
            rf"\b{_OWN}\s+(?:was\s+|has\s+)?never\s+(?:been\s+)?(?:started|opened|began|"
            r"initiated|begun|enrol?led|recruited|activated|commenced|continued|conducted)\b"
            r"(?!\s+(?:the\s+|study\s+)?(?:treatment|therap|drug|medication|dosing))",
            rf"\bno\s+{_PEOPLE}\s+(?:was|were|ha(?:s|ve))\s+(?:(?:been|ever)\s+)?"
            r"(?:enrol?led|recruited|accrued|randomi[sz]ed)\b(?!\s+to\b)",
            r"(?<!\w\s)(?<![\w-])(?:terminated\s+(?:early|prematurely|by\s+(?:the\s+)?"
            rf"sponsor|due\s+to\s+{_TOO_LITTLE})|prematurely\s+(?:terminated|closed))\b",
            rf"(?<!\w\s)(?<![\w-])withdrawn\s+(?:prior\s+to|before)\s+(?:{_ENTRY}|"
            r"activation|study\s+(?:start|initiation))\b",
            r"\b(?:sponsor|company|manufacturer|funder)\s+(?:has\s+|had\s+)?(?:withdrew|"
            r"withdrawn|pulled|cancell?ed|terminated|stopped|discontinued)\s+(?:its\s+|the\s+|"
            r"this\s+)?(?:financial\s+)?(?:support|funding|study|trial|program|development)\b"
            + _OTHER_THING,
            r"(?<!\bfor\s)(?<!\bon\s)(?<!\bof\s)(?<!\bin\s)(?<!\binto\s)(?<!\bto\s)"
            rf"\b{_OWN}\s+(?:was|has(?:\s+now)?\s+been|is\s+now)\s+"
            r"(?:(?:successfully|already|recently|now)\s+)?completed\b"
            r"(?!\s+(?:by|to|within|at|in\s+(?:a|the|an|two|three)\b))",
        )
    ),
    re.IGNORECASE,
)
# Every match of _TOLD holds one of these. Most sentences hold none and cost one look.
_HINT = re.compile(
    r"terminat|withdr|suspen|stop|halt|discontinu|cancel|abandon|abort|ceas|clos|ended|"
    r"on (?:clinical )?hold|never|completed|pulled|not (?:started|initiated)|"
    r"no (?:patients?|participants?|subjects?|individuals?) |"
    r"(?:accrual|ment) (?:rates? )?(?:has )?(?:led|resulted|forced|caused|prompted)"
)
# A rule, not what happened; or it happened to another trial, or to a participant.
_RULE = re.compile(
    r"\b(?:if|unless|until|whenever|whether|in\s+case|in\s+the\s+event|will|would|may|"
    r"might|can|could|should|shall|must|previous(?:ly)?|prior(?!\s+to)|earlier|another|"
    r"adverse|AEs?|(?:number|percentage|proportion|percent)\s+of|whom|whose)\b",
    re.IGNORECASE,
)
# "After the study has been terminated, samples are destroyed" is a rule as well.
_TIME = re.compile(
    r"\b(?:after|when|once|as\s+soon\s+as|before|by\s+the\s+time)\s+[^,]*$",
    re.IGNORECASE,
)
_RULE_AFTER = re.compile(
    r"\s+(?:if|when|whenever|unless|once|as\s+soon)\b", re.IGNORECASE
)
_CAUSE = re.compile(_SOONER, re.IGNORECASE)
_STATUS = r"(?:terminated|withdrawn|suspended|cancell?ed)"
# What can only be said of the trial, and so is a tag after a comma or a colon as well.
_STATUS_SAID = (
    r"(?:"
    # Without the study before it, "stopped" and the like may be said of a drug.
    rf"(?:(?:study|trial)\s+(?:(?:was|has\s+been)\s+)?{_ENDED}|{_STATUS}|closed)\s+"
    rf"(?:early|prematurely|(?:prior\s+to|before)\s+(?:{_ENTRY}|activation|"
    r"(?:study\s+)?(?:start|initiation)))|"
    rf"(?:study\s+|trial\s+)?prematurely\s+(?:{_STATUS}|closed))"
    r"(?:\s+(?:due\s+to|because|owing\s+to|by|for)\b[^.;:,\n]{1,80})?"
)
_TAG = re.compile(
    r"[(\[]\s*(?:study\s+)?(?:TERMINATED|WITHDRAWN|SUSPENDED|COMPLETED|CANCELL?ED|STOPPED)"
    rf"\s*[)\]]|[(\[]\s*(?i:(?:study\s+|trial\s+)?(?:early\s+)?{_STATUS}"
    r"(?:\s+early|\s+study)?)\s*[)\]](?=\W*\Z)|"
    rf"\A\W*(?i:(?:study\s+|trial\s+)?{_STATUS})\s*[:\u2013\u2014]\s*(?=\S)|"
    rf"\s[-:\u2013\u2014]\s*(?i:(?:study\s+|trial\s+)?{_STATUS})\s*\Z|"
    rf"\A\W*(?i:{_STATUS_SAID})\s*(?:[:\u2013\u2014]|\s-\s)\s*(?=\S)|"
    rf"(?:\s[-\u2013\u2014]|\s*[:;,])\s*(?i:{_STATUS_SAID})\W*\Z"
)
# Where a sentence ends; "U.S. FDA" and "vs. Placebo" do not. A line break in a sentence
# is followed by a small letter.
_STOP = re.compile(
    r"(?<!\b[A-Z]\.[A-Z])(?<!\bDr)(?<!\bvs)[.!?][\"')\]]*(?:[\s~]+(?=[^a-z\s])|(?=[A-Z][a-z]))|"
    r"\n+(?=\s*[^a-z\s])|(?<=[.!?])~"
)
_BRACKET = 300  # characters within which the two brackets of a pair are looked for


def without_outcome(text: str | None) -> str | None:
    """The text without the passages that tell how the trial ended; None if nothing else
    was there. A passage is a whole sentence, or what stands in brackets within one, or
    a tag at either end of a title."""
    if not text:
        return None
    spans = outcome_spans(text)
    if not spans:
        return text
    kept, end = "", 0
    for start, stop in spans:
        kept = _joined(kept, text[end:start])
        end = stop
    return _joined(kept, text[end:]).strip() or None


def _joined(before: str, after: str) -> str:
    """Two texts between which a passage was cut out, with the blanks of one side."""
    if before[-1:] in ("", "\n"):
        after = after.lstrip(" ")
        trailing = len(before) - len(before.rstrip("\n"))
        leading = len(after) - len(after.lstrip("\n"))
        return before + after[min(trailing, leading) :]
    after = after.lstrip(" ") if before[-1] == " " else after
    return (before.rstrip(" ") if after[:1] in ".,:;)]\n" else before) + after


def outcome_spans(text: str) -> list[Span]:
    """(start, end) of these passages in order, none overlapping another."""
    found = [match.span() for match in _TAG.finditer(text)]
    # A title is not told by its own tag.
    rest = _TAG.sub(lambda tag: " " * len(tag[0]), text) if found else text
    if _HINT.search(_folded(rest)):
        for start, end in _sentences(rest):
            if _HINT.search(_folded(rest[start:end])):
                found += _told(rest, start, end)
    spans: list[Span] = []
    for start, end in sorted(found):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _sentences(text: str) -> Iterator[Span]:
    """Each with its full stop, without the blanks after it."""
    start = 0
    for stop in _STOP.finditer(text):
        yield start, stop.start() + len(stop[0].rstrip(" \n~"))
        start = stop.end()
    yield start, len(text)


def _told(text: str, first: int, last: int) -> Iterator[Span]:
    """The passages of one sentence, which is looked at without those before it."""
    sentence = text[first:last]
    for match in _TOLD.finditer(sentence):
        start, end = _bracket(sentence, *match.span()) or (0, len(sentence))
        before = sentence[start : match.start()]
        if _RULE.search(before) or _RULE_AFTER.match(sentence, match.end()):
            continue
        strong = _CAUSE.search(match[0]) or _CAUSE.match(sentence, match.end())
        if strong or not _TIME.search(before):
            yield first + start, first + end


def _bracket(text: str, start: int, end: int) -> Span | None:
    """The innermost pair of brackets around a match, with the brackets."""
    depth = 0
    for opening in range(start - 1, max(-1, start - _BRACKET), -1):
        depth += (text[opening] in ")]") - (text[opening] in "([")
        if depth < 0:
            break
    else:
        return None
    depth = 0
    for closing in range(opening, min(len(text), opening + 2 * _BRACKET)):
        depth += (text[closing] in "([") - (text[closing] in ")]")
        if not depth:
            return (opening, closing + 1) if closing >= end else None
    return None
