"""Markdown without its marks, so that headings and lists are read as such."""

from __future__ import annotations

import re

from ..sections.text import unescape_markdown
from .document_headings import MarkedHeadings

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DIVIDER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_BORDER = re.compile(r"(?<!\\)\|")
_QUOTE = re.compile(r"^[ ]{0,3}(>(?![=\d])[ ]?)+")
_BOX = re.compile(r"^(\s*[-*+][ ]+)\[[ xX]\][ ]+")
_PLUS = re.compile(r"^(\s*)\+(?=[ ])")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:[ ]\"[^\"]*\")?\)|\[[^\[\]]*\])")
_ADDRESS = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|sup|sub|span|p|div|font)\b[^<>]*>", re.I)
_BREAK = re.compile(r"<br[ ]*/?>", re.I)
_STRONG = re.compile(r"(?<![\w\\])(\*{2,3}|_{2,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_\n]*[^\s*_\\])\1(?![\w*])")
_CODE = re.compile(r"`+([^`\n]+)`+")


def markdown_text(text: str) -> str:
    """The text of a Markdown document: headings in lines of their own between blank
    lines, rows of tables as lines with tabs, no marks of emphasis, links by their
    words."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    text = _FRONT_MATTER.sub(r"\1\n\n", _COMMENT.sub("", text))
    headings = MarkedHeadings()
    out: list[str] = []
    for line in text.split("\n"):
        line = _QUOTE.sub("", line)
        if _FENCE.match(line):
            continue
        if match := _HEADING.match(line):
            out += ["", headings.line(_plain(match[2])), ""]
        elif _UNDERLINE.match(line) and out and out[-1].strip():
            out[-1:] = ["", headings.line(out[-1].strip()), ""]
        elif (cells := _cells(line)) and not _DIVIDER.match(line):
            out += headings.row([_plain(cell) for cell in cells])
        elif not cells and not _RULE.match(line):
            out += _plain(line).split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def _cells(line: str) -> list[str]:
    """Cells of a row of a table, [] for any other line."""
    words = line.strip()
    if not words.startswith("|") and words.count("|") < 2:
        return []
    return _BORDER.split(words.strip("|"))


def _plain(line: str) -> str:
    line = _BOX.sub(r"\1", _PLUS.sub(r"\1-", line))
    for pattern, replacement in (
        (_LINK, r"\1"),
        (_ADDRESS, r"\1"),
        (_BREAK, "\n"),
        (_TAG, ""),
        (_STRONG, r"\2"),
        (_EMPHASIS, r"\2"),
        (_CODE, r"\1"),
    ):
        line = pattern.sub(replacement, line)
    return unescape_markdown(line).rstrip()
