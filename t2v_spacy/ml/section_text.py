"""What the encoder reads of a section, and where each character of it came from."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy
from spacy.tokens import Span

from ..sections.labels import KEY_ATTRIBUTES
from ..values import INTERVENTION_TYPES, display

_TYPES = "|".join(display(kind).replace(" ", "[ _]") for kind in INTERVENTION_TYPES)
# A line break with the list mark, and for interventions the type, that follows it.
_BREAK = re.compile(rf"\s*\n\s*(?:[-*•]\s+)?(?:(?:{_TYPES}):\s+)?|\s{{2,}}", re.I)
_START = re.compile(rf"\s*(?:[-*•]\s+)?(?:(?:{_TYPES}):\s+)?", re.I)


@dataclass(frozen=True)
class SectionText:
    """text is read by the encoder; pieces (n, 2) holds, for each run of it that was
    kept, its start in `text` and its start in the Doc's text."""

    text: str
    pieces: numpy.ndarray

    def doc_offsets(self, offsets: numpy.ndarray) -> numpy.ndarray:
        """Characters of `text` as characters of the Doc's text."""
        run = numpy.searchsorted(self.pieces[:, 0], offsets, side="right") - 1
        return offsets - self.pieces[run, 0] + self.pieces[run, 1]


def read_section(span: Span, text: str, heading_end: int = 0) -> SectionText:
    """Text of a section for the encoder: without heading, list marks and intervention
    types; items of a key attribute are joined by a comma, runs of blanks squeezed.

    span (Span): The whole section, heading included.
    text (str): The Doc's text.
    heading_end (int): First character of the Doc after the heading, or 0.
    """
    start = max(span.start_char, heading_end)
    body = text[start : span.end_char]
    joint = ", " if span.label_ in KEY_ATTRIBUTES else " "
    parts: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    begin = _START.match(body).end()  # type: ignore[union-attr]
    for match in _BREAK.finditer(body, begin):
        if match.start() > begin:
            runs.append((length, start + begin))
            parts.append(body[begin : match.start()])
            length += match.start() - begin + len(joint)
        begin = match.end()
    if begin < len(body):
        tail = body[begin:].rstrip()
        runs.append((length, start + begin))
        parts.append(tail)
    return SectionText(
        joint.join(part for part in parts), numpy.array(runs or [(0, start)], dtype="i")
    )
