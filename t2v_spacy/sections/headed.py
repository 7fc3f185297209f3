"""Our own headed text: `## Heading` lines, which read back exactly.

A body line that looks like a heading of ours is written with a backslash before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .labels import HEADINGS

_HEADING = re.compile(rf"^## ({'|'.join(HEADINGS)})[ \t]*$", re.MULTILINE)
_TO_ESCAPE = re.compile(rf"^(?=\\*## (?:{'|'.join(HEADINGS)})[ \t]*$)", re.MULTILINE)
_ESCAPED = re.compile(rf"^\\(?=\\*## (?:{'|'.join(HEADINGS)})[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A stretch of a text, in characters: heading and body; `text[start:end]`.

    label is one of SECTION_LABELS; heading is the heading as found, "" if none;
    body_start is where the body begins (`start` if there is no heading).
    The sections of a text follow one another without gap: they cover each character
    exactly once.
    """

    label: str
    start: int
    end: int
    heading: str = ""
    body_start: int = -1

    def body(self, text: str) -> str:
        start = self.start if self.body_start < 0 else self.body_start
        return text[start : self.end].strip()


def write_headed_text(sections: Iterable[tuple[str, str]]) -> str:
    """Join (heading, body) pairs; headings are the keys of HEADINGS."""
    return "\n\n".join(
        f"## {heading}\n{_TO_ESCAPE.sub(lambda _: chr(92), body)}"
        for heading, body in sections
    )


def is_headed_text(text: str) -> bool:
    """Whether the text starts with a heading of ours."""
    return _HEADING.match(text.lstrip()) is not None


def read_headed_text(text: str) -> list[Section]:
    """Sections of a text written by `write_headed_text`."""
    found = list(_HEADING.finditer(text))
    starts = [0, *(match.start() for match in found[1:]), len(text)]
    return [
        Section(HEADINGS[m[1]], starts[i], starts[i + 1], m[1], m.end())
        for i, m in enumerate(found)
    ]


def unescape(body: str) -> str:
    """A body as it was before `write_headed_text` escaped it."""
    return _ESCAPED.sub("", body)
