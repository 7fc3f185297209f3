"""Cleaning of registry text. Pure functions; each costs little on clean text."""

from __future__ import annotations

import html
import re

from .patterns import ELIGIBILITY_HEADING, starts_with_mark

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
# Unusual blanks, and halves of surrogate pairs, which no text can hold.
ODD_SPACE = re.compile(
    "[\u0085\u00a0\u00ad\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
    "\ud800-\udfff]"
)
_ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_INK = re.compile(rf"[^\s{_ZERO_WIDTH}]")
_BREAKS = "\u0085\u2028\u2029"
_BLANK_LINES = re.compile(r"\n{3,}")
ESCAPED = re.compile(r"\\([\\`*_{}\[\]()<>#+\-.!~^|=&$%@'\",/:;?])")
BOLD = re.compile(r"(?<!\*)\*\*(?![\s*])([^*\n]+)(?<!\s)\*\*(?!\*)")
# A text is hard-wrapped if its longest line has one of these lengths.
_WRAPPED = range(70, 103)
_ENDED = tuple(".:;?!")


def unescape_entities(text: str) -> str:
    """Decode "&gt;=" as ">=". Only closed entities: "AT&T" and "A&para" stay."""
    return ENTITY.sub(lambda m: html.unescape(m[0]), text) if "&" in text else text


def odd_space(char: str) -> str:
    """What stands for an unusual blank: nothing, a line break or a blank."""
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return "" if char in _ZERO_WIDTH else "\n" if char in _BREAKS else " "


def is_blank(text: str) -> bool:
    """Whether there is nothing to read: only white space and zero-width characters."""
    return _INK.search(text) is None


def clean_text(text: str | None) -> str | None:
    """Text of several lines in normal form, None if nothing is left.

    Entities are decoded, line ends are "\\n", unusual blanks are blanks, trailing
    blanks and common indentation are gone, and no two lines in a row are blank.
    """
    if not text:
        return None
    text = unescape_entities(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = ODD_SPACE.sub(lambda m: odd_space(m[0]), text)
    if "\t" in text:
        text = text.expandtabs(4)
    if "\n " in text:
        text = _dedent(text)
    if " \n" in text:
        text = "\n".join([line.rstrip() for line in text.split("\n")])
    if "\n\n\n" in text:
        text = _BLANK_LINES.sub("\n\n", text)
    return text.strip() or None


def _dedent(text: str) -> str:
    """Remove the indentation all lines share. A first line that was stripped does not
    count, but then only a wide margin, made by a printer, is removed."""
    lines = text.split("\n")
    first, rest = lines[0], lines[1:]
    margin = min((len(r) - len(r.lstrip(" ")) for r in rest if r.strip()), default=0)
    if margin < (1 if not first.strip() else 6):
        return text
    return "\n".join([first, *(line[margin:] for line in rest)])


def clean_line(text: str | None) -> str | None:
    """Text of one line: white space folded, entities decoded, None if empty."""
    if not text:
        return None
    text = unescape_entities(text)
    if not text.isascii():
        text = ODD_SPACE.sub(lambda m: odd_space(m[0]), text)
    return " ".join(text.split()) or None


def unescape_markdown(text: str) -> str:
    """Take the markup out of API text: "\\>= 4" -> ">= 4", "**Bold:**" -> "Bold:"."""
    if "**" in text:
        text = BOLD.sub(r"\1", text)
    return ESCAPED.sub(r"\1", text) if "\\" in text else text


def wrap_limit(lines: list[str]) -> int | None:
    """Shortest length at which a line of hard-wrapped text is full; None if the text
    is not hard-wrapped."""
    width = max(map(len, lines), default=0)
    return min(75, width - 12) if width in _WRAPPED else None


def continues(before: str, line: str, limit: int | None, marked: bool) -> bool:
    """Whether an unmarked line goes on with the sentence of the line before it.

    before is the line directly above (not blank), marked tells whether its paragraph
    is a list item, limit comes from `wrap_limit`.
    """
    start = line.lstrip()
    open_end = not before.endswith(_ENDED)
    if limit is None:
        return marked and open_end and start[0].islower()
    size = len(before) + 1 + (start.find(" ") if " " in start else len(start))
    return size >= limit or (open_end and start[0].islower() and size >= limit - 15)


def unwrap(text: str) -> str:
    """Join hard-wrapped lines of prose and list items.

    A line break stays before a list mark, a heading or a blank line, and after a line
    that was not full. The indentation of the lines that stay is kept.
    """
    lines = text.split("\n")
    limit = wrap_limit(lines)
    if limit is None:
        return text
    out: list[str] = []
    before = ""
    for line in lines:
        if (
            before
            and line
            and len(before) + len(line) >= limit - 15
            and continues(before, line, limit, marked=True)
            and not starts_with_mark(line)
            and not (line[:60].isupper() and line.endswith(":"))
            and not _is_heading(line)
        ):
            out[-1] += " " + line.lstrip()
        else:
            out.append(line)
        before = line.rstrip()
    return "\n".join(out)


def _is_heading(line: str) -> bool:
    return "clusion" in line.lower() and ELIGIBILITY_HEADING.match(line) is not None


def restore_breaks(text: str) -> str:
    """Line breaks of database exports that write them as "~".

    A "~" that means "about" ("~500 mL") or a range ("50~90") stays.
    """
    if "~" not in text:
        return text
    return _TILDE.sub("\n", text)


# A bracket or a blank before the sign, or digits around it, speak for a number; doubled
# signs, a colon before, a list mark or a heading after, speak for a line break.
_TILDE = re.compile(
    r"~(?=~)|(?<=~)~|(?<=[:\n])~|^~|~$|"
    r"(?<![(\[=±])~(?=[ ]*(?:[-*•▪●○·–][ ]|\(?\d{1,2}[.)][ ]|(?i:(?:key[ ]|main[ ])?"
    r"(?:in|ex)clusion\b)))|"
    r"(?<=[^\s\d(=\[±~])~|(?<=\d)~(?=[^\d\s])|(?<=[ ])~(?=[A-Z])"
)
