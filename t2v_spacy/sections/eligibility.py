"""Eligibility text split into blocks of one kind and into single criteria.

All offsets refer to the text as given. The work is done on a `view` of it: a string of
the same length in which entities, escapes and unusual blanks are already resolved and
what they took up is filled with "\\0".
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .patterns import BULLETS, GLUED_HEADING, MARK, eligibility_heading, glued_heading
from .text import BOLD, ENTITY, ESCAPED, ODD_SPACE, continues, odd_space, wrap_limit


@dataclass(frozen=True)
class Item:
    """One criterion. text is free of its list mark; start and end are its characters in
    the eligibility text; kind is "inclusion", "exclusion" or "unspecified"; parent is
    the position (in `Eligibility.items`) of the item it is nested under, or None."""

    text: str
    kind: str
    start: int
    end: int
    parent: int | None = None


@dataclass(frozen=True)
class Block:
    """A stretch of the eligibility text of one kind; heading ends at body_start.
    The blocks cover the text without gap."""

    kind: str
    start: int
    end: int
    body_start: int


@dataclass(frozen=True)
class Eligibility:
    """Criteria in the order of the text. No text, no items and no blocks."""

    items: tuple[Item, ...] = ()
    blocks: tuple[Block, ...] = ()

    @property
    def inclusion(self) -> tuple[str, ...]:
        return self._texts("inclusion")

    @property
    def exclusion(self) -> tuple[str, ...]:
        return self._texts("exclusion")

    @property
    def unspecified(self) -> tuple[str, ...]:
        """Criteria that stand under no heading that tells their kind."""
        return self._texts("unspecified")

    def _texts(self, kind: str) -> tuple[str, ...]:
        return tuple(item.text for item in self.items if item.kind == kind)


# Line breaks of the view: one of the text, and one set where a heading, mark or
# sentence starts in the middle of a line.
_HARD = "\x1e"
_LINE = re.compile(r"[^\n\x1e]+")
_CONTROL = re.compile("[\0-\x09\x0b-\x1f\x7f]")
_ONLY_MARKS = re.compile(rf"[ \0{BULLETS}*–—-]*")
_GLUED_BULLET = re.compile(rf"(?<! )[ ]+(?=[{BULLETS}][ ]*\w)")
_GLUED_DASH = re.compile(r"(?<!\d)[ ](?=[-–*][ ]+\w)|[ ](?=[-–*][ ]+[A-Za-z])")
_SENTENCE = re.compile(r"(?:(?<=[^\W\d_]{3}[.;])|(?<=[)%\d][.;]))[ ]+(?=[A-Z])")
_GLUED_NUMBER = re.compile(r"(\S{1,12})([ ]+)\(?(\d{1,2})[.)][ ]*(?=[A-Za-z<>≥≤=\"(])")
# Words after which a number belongs to the sentence: "grade 2. Patients …".
_COUNTED = re.compile(
    r"(?:grade|stage|type|phase|class|level|day|week|month|version|visit|part|cohort|"
    r"least|most|than|of|to|and|or|score|[<>≥≤=/-]|criteri\w+|arm|group|hiv|ecog|ps|status|class)",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"(?:[mkµu]?g|ml|mmol|mg\S*|x|×|%|to|and|or|cm|mm|-|years?|times)\b", re.IGNORECASE
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_PLAIN = ("plain",)
Style = tuple[str, ...]


def split_eligibility(text: str | None) -> Eligibility:
    """Split an eligibility text into criteria, by its headings and list marks.

    No character of a criterion is lost; what stands under no heading is "unspecified".
    Time is linear in the length of the text.
    """
    if not text:
        return Eligibility()
    return _Splitter(_view(text)).split()


def _view(text: str) -> str:
    """The text resolved, at the same length."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    text = _CONTROL.sub(" ", text)
    if not text.isascii():
        text = ODD_SPACE.sub(lambda m: odd_space(m[0]) or "\0", text)
    if "**" in text:
        text = BOLD.sub("\0\0\\1\0\0", text)
    if "&" in text:
        text = ENTITY.sub(_resolved, text)
    if "\\" in text:
        text = ESCAPED.sub("\\1\0", text)
    return _break_lines(text)


def _break_lines(text: str) -> str:
    """Put a line break, for the blank there is, before headings inside a line."""
    parts, done = [], 0
    for match in GLUED_HEADING.finditer(text):
        window = max(match.start() - 80, 0)
        line_start = max(text.rfind("\n", window, match.start()) + 1, window)
        at = glued_heading(text[line_start : match.start()])
        if at > 0:
            parts += [text[done : line_start + at - 1], _HARD]
            done = line_start + at
    return "".join([*parts, text[done:]]) if parts else text


def _resolved(match: re.Match[str]) -> str:
    char = html.unescape(match[0])
    char = ODD_SPACE.sub(lambda m: odd_space(m[0]), char).replace("\r", "")
    return char.replace("\t", " ").ljust(len(match[0]), "\0")


@dataclass
class _Draft:
    kind: str
    start: int
    end: int
    parent: int | None


@dataclass
class _Level:
    """An item that later items may be nested under."""

    indent: int
    style: Style
    value: int
    item: int


class _Splitter:
    """Goes through the lines of a view once."""

    def __init__(self, view: str) -> None:
        self.view = view
        self.limit = wrap_limit(view.split("\n"))
        self.kind = "unspecified"
        self.heads: list[tuple[str, int, int]] = []  # kind, start, body_start
        self.items: list[_Draft] = []
        self.levels: list[_Level] = []
        self.line_start = 0
        self.before = ""  # the line above; empty after a blank line or a heading
        self.marked = False  # whether the paragraph of that line has a list mark
        self.glue: re.Pattern[str] | int | None = None  # how this paragraph is split

    def split(self) -> Eligibility:
        for line in _LINE.finditer(self.view):
            start, end = line.span()
            if "\n\n" in self.view[max(start - 2, 0) : start]:
                self.before = ""
            hard = self.view[start - 1 : start] == _HARD
            self.line_start = self.line_start if hard else start
            self._line(start, end, hard)
        items = tuple(
            Item(self._text(d.start, d.end), d.kind, d.start, d.end, d.parent)
            for d in self.items
        )
        return Eligibility(items, tuple(self._blocks()))

    def _text(self, start: int, end: int) -> str:
        return " ".join(self.view[start:end].replace("\0", "").split())

    def _blocks(self) -> Iterator[Block]:
        heads = self.heads
        if not heads or self.view[: heads[0][1]].strip(" \n\0\x1e"):
            heads = [("unspecified", 0, 0), *heads]
        starts = [0, *(start for _, start, _ in heads[1:]), len(self.view)]
        for i, (kind, _, body_start) in enumerate(heads):
            yield Block(kind, starts[i], starts[i + 1], body_start)

    def _line(self, start: int, end: int, hard: bool) -> None:
        line = self.view[start:end].rstrip(" ")
        if _ONLY_MARKS.fullmatch(line):
            self.before = ""
            return
        if not self.before:
            self.glue = None
        mark = self._mark(line)
        indent, style, value, at = mark or (_indent(line), _PLAIN, 0, _indent(line))
        heading = eligibility_heading(line[at:].rstrip("\0"), mark is not None)
        if heading and not (line[at].islower() and self._is_open(hard)):
            self._heading(heading[0], start, start + at + heading[1], end)
            return
        if mark or not self._goes_on(line, indent, hard):
            self._add(start + at, start + len(line), indent, style, value)
            self.glue = value if style[0] == "number" else None
        else:
            self.items[-1].end = start + len(line)
        if self.glue is not None or _GLUED_BULLET.search(line):
            self._cut(start + at, start + len(line))
        self.before = self._above(start + len(line))

    def _heading(self, kind: str | None, start: int, body: int, end: int) -> None:
        self.kind = kind or self.kind
        self.heads.append((self.kind, start, body))
        self.levels, self.before, self.marked, self.glue = [], "", False, None
        rest = self.view[body:end]
        if not rest.strip(" \0"):
            return
        mark = self._mark(rest)
        self.glue = _SENTENCE if mark is None else _GLUED_DASH
        indent, style, value, at = mark or (_indent(rest), _PLAIN, 0, _indent(rest))
        if style[0] == "number":
            self.glue = value
        end = body + len(rest.rstrip(" "))
        self._add(body + at, end, 0, style, value)
        self._cut(body + at, end)
        self.before = self._above(end)
        self.marked = mark is not None

    def _above(self, end: int) -> str:
        """What counts of a line for the next one: it is never wrapped after 200."""
        return self.view[max(self.line_start, end - 200) : end]

    def _cut(self, start: int, end: int) -> None:
        """Split the last item, of which start..end is the newest line, where further
        items are glued to it."""
        cuts = [*self._cuts(start, end), end]
        for at, stop in zip(cuts, cuts[1:], strict=False):
            last, level = self.items[-1], self.levels[-1] if self.levels else None
            piece = self.view[at:stop].rstrip(" ")
            last.end = last.start + len(self.view[last.start : at].rstrip(" "))
            _, style, value, skip = self._mark(piece) or (0, _PLAIN, 0, _indent(piece))
            indent = level.indent if level else 0
            self._add(at + skip, at + len(piece), indent, style, value)

    def _cuts(self, start: int, end: int) -> Iterator[int]:
        if isinstance(self.glue, re.Pattern):
            for cut in self.glue.finditer(self.view, start, end):
                yield cut.end()
        elif self.glue is not None:
            for found in _GLUED_NUMBER.finditer(self.view, start, end):
                if int(found[3]) == self.glue + 1 and not _COUNTED.fullmatch(found[1]):
                    self.glue += 1
                    yield found.end(2)
        else:
            for cut in _GLUED_BULLET.finditer(self.view, start, end):
                yield cut.end()

    def _add(self, start: int, end: int, indent: int, style: Style, value: int) -> None:
        parent = self._parent(indent, style)
        self.items.append(_Draft(self.kind, start, end, parent))
        if style is not _PLAIN or self.view[end - 1] == ":":
            self.levels.append(_Level(indent, style, value, len(self.items) - 1))
        self.marked = style is not _PLAIN

    def _parent(self, indent: int, style: Style) -> int | None:
        levels = self.levels
        known = style is not _PLAIN and any(lev.style == style for lev in levels)
        while levels:
            top = levels[-1]
            if indent > top.indent + 1:
                break
            if indent >= top.indent - 1 and style is not _PLAIN:
                if style == top.style:
                    levels.pop()
                    break
                if not known and self._opens(top, style):
                    break
            levels.pop()
        return levels[-1].item if levels else None

    def _opens(self, top: _Level, style: Style) -> bool:
        """Whether an item can hold items of another style in its own column."""
        if self.view[self.items[top.item].end - 1] == ":":
            return True
        ranks = ("number", "decimal", "alpha", "roman", "bullet")
        return top.style[0] in ranks and ranks.index(style[0]) > ranks.index(
            top.style[0]
        )

    def _is_open(self, hard: bool) -> bool:
        """Whether the line above stops in the middle of a sentence."""
        if hard or self.limit is None or len(self.before) < self.limit - 15:
            return False
        return not self.before.endswith(_ENDS)

    def _goes_on(self, line: str, indent: int, hard: bool) -> bool:
        if not self.before or hard or not self.items:
            return False
        inner = self.marked and bool(self.levels) and indent > self.levels[-1].indent
        if inner and self.limit is None and line[indent].islower():
            return True
        return continues(self.before, line.strip("\0"), self.limit, self.marked)

    def _mark(self, line: str) -> tuple[int, Style, int, int] | None:
        """(indent, style, value, length) of the list mark a line starts with."""
        match = MARK.match(line)
        if match is None or match.end() == len(line):
            return None
        indent, at = len(match["indent"]), match.end()
        fresh = not self._is_open(False)
        if bullet := match["bullet"]:
            glued = at == match.end("bullet") and bullet in "*–—-"
            if glued and (self.before if line[at].isdigit() else not fresh):
                return None
            inner = MARK.match(line, at)
            if inner and inner["number"] and line[inner.end("number")] in ".)\0":
                at = inner.end() if inner.end() < len(line) else at
            return indent, ("bullet", bullet), 0, at
        if match["number"]:
            value = int(match["number"])
            form = line[indent : match.start("number")] + line[match.end("number")]
            next_to = self._follows("number", value)
            sure = value == 1 or next_to
            if not sure and (form == "-" or form == " " or not fresh or value > 40):
                return None
            return indent, ("number", form), value, at
        if match["decimal"]:
            return self._decimal(match, line, fresh)
        return self._letter(match, line, fresh)

    def _follows(self, family: str, value: int) -> bool:
        return any(
            lev.style[0] == family and lev.value in (value - 1, value - 2)
            for lev in self.levels
        )

    def _decimal(
        self, match: re.Match[str], line: str, fresh: bool
    ) -> tuple[int, Style, int, int] | None:
        """The "1.1" of "1.1 breast" is a mark, "7.0 - 10.0%" and "1.5 mg" are not."""
        *upper, value = map(int, match["decimal"].split("."))
        if not fresh or _UNIT.match(line, match.end()):
            return None
        open_number = any(
            lev.style[0] == "number" and lev.value == upper[0] for lev in self.levels
        )
        if not (value == 1 or open_number or self._follows("decimal", value)):
            return None
        style = ("decimal", str(len(upper)))
        return len(match["indent"]), style, value, match.end()

    def _letter(
        self, match: re.Match[str], line: str, fresh: bool
    ) -> tuple[int, Style, int, int] | None:
        """The letters of a list are marks while it goes on; "E. coli" has none."""
        letter, at = match["letter"], match.end()
        case = "upper" if letter.isupper() else "lower"
        alpha = ord(letter.lower()) - 96 if len(letter) == 1 else 0
        roman = _ROMAN.index(letter.lower()) + 1 if letter.lower() in _ROMAN else 0
        if alpha and self._follows("alpha", alpha):
            return len(match["indent"]), ("alpha", case), alpha, at
        if roman == 1 and fresh or roman and self._follows("roman", roman):
            return len(match["indent"]), ("roman", case), roman, at
        species = case == "upper" and line[at].islower()
        if alpha == 1 and fresh and not species:
            return len(match["indent"]), ("alpha", case), alpha, at
        return None


_ENDS = (".", ":", ";", "?", "!", ",")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \0"))
