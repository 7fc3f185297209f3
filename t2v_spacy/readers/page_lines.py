"""Lines of printed pages as running text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from ..sections.patterns import starts_with_mark
from .document_headings import MarkedHeadings, is_known_heading

_EDGE = 3  # lines at the top and at the bottom of a page that may be running ones
_SHARE = 0.4  # of the pages; those on left and right pages may differ
_GAP = re.compile(r"\s{3,}")
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite|página)\s*\d+(?:\s*(?:of|/|von|de)\s*\d+)?|[-–]\s*\d+\s*[-–]",
    re.IGNORECASE,
)
_APART = re.compile(r"(?:^|\s{3})\s*(\d{1,4})$")
_LONGEST_LABEL = 45
_SLACK = 0.05  # by which a full line may be shorter, of the width
_HALF_FULL = 0.35  # room that a line may have which goes on with a small letter
_NARROW = 40  # a page whose lines are all shorter has no full line
_HYPHEN = re.compile(r"(\w*)[-‐\u00ad]$")
_ENDS = (".", ":", ";", "?", "!")
_ONE_LINE_LABELS = 3
_CONTENTS = re.compile(r"(?:[.…·_]\s?){4,}\s*\d*$")
# First halves that keep their hyphen wherever the line ends.
_COMPOUND = re.compile(
    r"age|cancer|cross|dose|double|drug|event|first|follow|health|high|intent|"
    r"investigator|involved|long|low|non|once|open|patient|phase|placebo|quality|"
    r"risk|second|self|short|single|third|time|triple|twice"
)
Key = str | int


@dataclass(frozen=True)
class Line:
    """text is free of outer blanks; room: characters left to the right margin, as a
    share of the width; width: of the page or column; heading: known to be one."""

    text: str
    room: float = 1.0
    width: int = 0
    heading: bool = False


def pages_text(pages: Sequence[Sequence[str]]) -> str:
    """The text of pages, given as lines in which blanks stand for distances: running
    headers, footers and page numbers are left out, label and content of a table of two
    columns are set one under the other, and lines of a paragraph are joined."""
    headings = MarkedHeadings()
    lines: list[Line] = []
    for page in without_running_lines(pages):
        kept = [line for line in page if not _CONTENTS.search(line.rstrip())]
        lines += _read_page(kept, headings)
    words = _words(lines)
    out: list[str] = []
    before: Line | None = None
    for line in lines:
        if before and out and _goes_on(before, line):
            out[-1] = _joined(out[-1], line.text, words)
        else:
            out.append(line.text)
        before = line
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def is_two_columns(lines: Sequence[str]) -> bool:
    """Whether a page is set in two columns of prose, as journals are."""
    there = [line for line in lines if line.strip()]
    parts = [_GAP.split(line.strip()) for line in there]
    left = [len(part[0]) for part in parts if len(part) == 2]
    return len(left) > 0.5 * len(there) and len(left) > 10 and median(left) > 30


# running lines


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Pages without the lines at their edges that most pages share, digits aside, or
    that have the number of the page, and without blank lines there."""
    kept = [_stripped(page) for page in pages]
    least = max(2, ceil(_SHARE * sum(1 for page in kept if page)))
    for last in (False, True):
        edges = [
            {key for line in _edge(page, last) for key in _keys(line, number)}
            for number, page in enumerate(kept)
        ]
        counts = Counter(key for edge in edges for key in edge)
        running = {key for key, count in counts.items() if count >= least}
        kept = [_peeled(page, n, running, last) for n, page in enumerate(kept)]
    return kept


def _peeled(page: list[str], number: int, running: set[Key], last: bool) -> list[str]:
    for _ in range(_EDGE):
        if not page:
            break
        line = page[-1 if last else 0]
        if running.isdisjoint(_keys(line, number)) and not _is_page_number(line):
            break
        page = _stripped(page[:-1] if last else page[1:])
    return page


def _keys(line: str, page: int) -> Iterator[Key]:
    """What a running line has in common with those of other pages: its words, and how
    far a number that stands apart is from that of the page."""
    words = " ".join(line.split())
    if any(char.isalpha() for char in words):
        yield re.sub(r"\d+", "#", words)
    if match := _APART.search(line.rstrip()):
        yield int(match[1]) - page


def _is_page_number(line: str) -> bool:
    return _PAGE_NUMBER.fullmatch(line.strip()) is not None


def _edge(page: list[str], last: bool) -> list[str]:
    there = [line for line in page if line.strip()]
    return there[-_EDGE:] if last else there[:_EDGE]


def _stripped(page: Sequence[str]) -> list[str]:
    there = [i for i, line in enumerate(page) if line.strip()]
    return list(page[there[0] : there[-1] + 1]) if there else []


# tables of two columns


def _read_page(page: Sequence[str], headings: MarkedHeadings) -> Iterator[Line]:
    """The lines of a page, those of a table of labels and contents in their order."""
    margin = max((len(line.rstrip()) for line in page), default=0)
    column = _content_column(page)
    at = 0
    while at < len(page):
        label, used = _label(page[at:], column) if column else ("", 0)
        if label:
            yield Line("")
            yield Line(headings.line(label), heading=True)
            for line in page[at : at + used]:
                yield _line(line[column:], margin - column)
        else:
            used = 1
            yield _line(page[at], margin)
        at += used


def _line(line: str, margin: int) -> Line:
    room = 1 - len(line.rstrip()) / max(margin, 1)
    text = re.sub(r"\s{4,}", "\t", line.strip())
    text = re.sub(r" {2,}", " ", text)
    prose = text[:1].islower() or text.endswith(".")
    return Line(text, room, margin, not prose and is_known_heading(text))


def _content_column(page: Sequence[str]) -> int:
    """Where the contents of a table begin whose labels are headings; 0 if there is no
    such table."""
    starts: Counter[int] = Counter()
    labelled: set[int] = set()
    for line in page:
        words = line.strip()
        if not words:
            continue
        indent = len(line) - len(line.lstrip())
        gap = _GAP.search(line, indent)
        if gap and gap.start() - indent <= _LONGEST_LABEL:
            starts[gap.end()] += 1
            labelled.add(gap.end())
        else:
            starts[indent] += 1
    found = [column for column in labelled if starts[column] > 1]
    column = max(found, key=lambda column: starts[column], default=0)
    rows = [_label(page[at:], column) for at in range(len(page))] if column else []
    return column if any(label for label, _ in rows) else 0


def _label(lines: Sequence[str], column: int) -> tuple[str, int]:
    """The label that starts in the first of some lines, and how many lines it has; its
    words may stand under one another."""
    found, used = "", 0
    words: list[str] = []
    for n, line in enumerate(lines[:_ONE_LINE_LABELS], start=1):
        left, content = line[:column].strip(), line[column:].strip()
        beside = line[column - 1 : column] in ("", " ")
        if not left or not beside or (n == 1 and not content):
            break
        if n > 1 and used and is_known_heading(left) and left.lower() != "criteria":
            break
        words.append(left)
        joined = " ".join(words)
        if len(joined) <= _LONGEST_LABEL and is_known_heading(joined):
            found, used = joined, n
    return found, used


# paragraphs


def _goes_on(before: Line, line: Line) -> bool:
    """Whether a line goes on with the paragraph of the line before it."""
    if not (before.text and line.text) or before.heading or line.heading:
        return False
    if starts_with_mark(line.text):
        return False
    if _HYPHEN.search(before.text) and line.text[0].isalnum():
        return True
    if before.width < _NARROW:
        return False
    if not before.text.endswith(_ENDS) and line.text[0].islower():
        return before.room < _HALF_FULL
    first = len(line.text.split()[0]) + 1
    return before.room - _SLACK < first / before.width


def _joined(before: str, line: str, words: set[str]) -> str:
    match = _HYPHEN.search(before)
    if not match or not match[1]:
        return f"{before} {line}"
    first = match[1]
    rest = re.match(r"\w*", line)[0]  # type: ignore[index]
    whole = (first + rest).lower()
    parts = {first.lower(), rest.lower()}
    compound = _COMPOUND.fullmatch(first.lower()) or parts <= words
    compound = compound or f"{first}-{rest}".lower() in words
    parted = first[-1].isalpha() and rest[:1].islower()
    parted = parted and (whole in words or not compound)
    parted = parted or before.endswith("\u00ad")
    return f"{before[:-1] if parted else before}{line}"


def _words(lines: Sequence[Line]) -> set[str]:
    """Words of the text, and compounds with a hyphen, without those that a line end
    divides."""
    found: set[str] = set()
    divided = False
    for line in lines:
        words = re.findall(r"\w+(?:[-‐]\w+)*", line.text.lower())
        words = words[divided:]
        divided = _HYPHEN.search(line.text) is not None
        for word in words[: len(words) - divided]:
            found.update((word, *re.split(r"[-‐]", word)))
    return found
