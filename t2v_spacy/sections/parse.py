"""Any text about a trial as sections.

Read are our own headed text, text pasted from the registry's pages, printed records and
protocol synopses; a text without known headings is a title and a description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .eligibility import split_eligibility
from .headed import Section, is_headed_text, read_headed_text
from .headings import heading_key, section_heading
from .labels import CRITERIA
from .patterns import eligibility_heading
from .text import is_blank

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_INLINE = re.compile(r"[^:\t]{2,80}?(?=[ ]?[:\t])")
_LONGEST_HEADING = 90


def parse_sections(text: str) -> list[Section]:
    """Sections of a text, in order; together they cover each character exactly once.

    A blank text has none. Eligibility text is divided by its own headings into
    inclusion, exclusion and (where these say nothing) eligibility sections.
    """
    if is_blank(text):
        return []
    if is_headed_text(text):
        found: Iterable[Section] = read_headed_text(text)
    else:
        found = _read_headings(text)
    return [part for section in found for part in _divided(text, section)]


def _divided(text: str, section: Section) -> Iterator[Section]:
    """An eligibility section in parts of one kind; its heading goes with the first."""
    if section.label not in CRITERIA:
        yield section
        return
    offset = max(section.body_start, section.start)
    start, body_start = section.start, offset
    blocks = split_eligibility(text[offset : section.end]).blocks
    for i, block in enumerate(blocks):
        label = block.kind
        if label == "unspecified":
            label = section.label if i == 0 else "eligibility"
        body_start = offset + block.body_start
        heading = text[offset + block.start : body_start].strip()
        if i == 0 and block.body_start == 0:
            heading = section.heading
        yield Section(label, start, offset + block.end, heading, body_start)
        start = offset + block.end
    if not blocks:
        yield section


def _read_headings(text: str) -> list[Section]:
    heads = [*_headings(text)]
    if len(heads) == 1 and not text[heads[0].body_start :].strip():
        heads = []
    first = heads[0].start if heads else len(text)
    sections = []
    if text[:first].strip():
        sections = _preamble(text, first, any(head.label == "title" for head in heads))
    elif heads:
        heads[0] = _moved(heads[0], start=0)
    ends = [*(head.start for head in heads[1:]), len(text)]
    return sections + [
        _moved(head, end=end) for head, end in zip(heads, ends, strict=False)
    ]


def _moved(
    section: Section, start: int | None = None, end: int | None = None
) -> Section:
    return Section(
        section.label,
        section.start if start is None else start,
        section.end if end is None else end,
        section.heading,
        section.body_start,
    )


def _preamble(text: str, end: int, titled: bool) -> list[Section]:
    """What stands before the first heading: a title line, then a description."""
    if titled:
        return [Section("other", 0, end)]
    start = len(text) - len(text.lstrip())
    at = text.find("\n", start, end) + 1 or end
    if not text[at:end].strip():
        return [Section("title", 0, end)]
    return [Section("title", 0, at), Section("description", at, end)]


def _headings(text: str) -> Iterator[Section]:
    """Sections that end nowhere yet, one for each heading line."""
    inside = ""  # the label of the section the line is in
    for line in _LINE.finditer(text):
        words = line[0].strip()
        if not words:
            continue
        start = line.start()
        at = start + line[0].index(words)
        label, length = _heading(words, inside) or ("", 0)
        if label:
            inside = label
            heading = words[:length].strip(" \t:*#")
            yield Section(label, start, start, heading, at + length)


def _heading(words: str, inside: str) -> tuple[str, int] | None:
    """(label, length) of the heading a line starts with."""
    weak = inside not in CRITERIA
    match = _INLINE.match(words)
    if match and (label := section_heading(match[0], weak)):
        length = match.end()
        while length < len(words) and words[length] in " :\t*":
            length += 1
        return label, length
    if len(words) <= _LONGEST_HEADING:
        if label := section_heading(words, weak):
            return label, len(words)
        if inside == "eligibility" and heading_key(words) == "description":
            return inside, len(words)
    if weak and (found := eligibility_heading(words, marked=True)) and found[0]:
        kind, length = found
        return ("eligibility" if kind == "unspecified" else str(kind)), length
    return None
