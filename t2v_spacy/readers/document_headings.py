"""Headings that a document marks as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..sections.headings import section_heading
from ..sections.labels import CRITERIA
from ..sections.patterns import eligibility_heading

# In a plain text these words are believed anywhere.
_PLAIN = {
    "title": "Study title",
    "summary": "Brief summary",
    "description": "Detailed description",
    "condition": "Condition or disease",
    "intervention": "Study intervention",
    "outcome": "Outcome measures",
    "eligibility": "Eligibility criteria",
    "design": "Study design",
    "other": "Study details",
}


def is_known_heading(words: str) -> bool:
    """Whether the words alone are a heading of a section."""
    found = section_heading(words, weak=True) or eligibility_heading(words, marked=True)
    return found is not None


class MarkedHeadings:
    """The headings of one document, in order. A parser of plain text does not believe
    an ordinary word such as "Treatment" among criteria; here it is known to be a
    heading, and is written in words that the parser does believe."""

    def __init__(self) -> None:
        self._in_criteria = False

    def line(self, words: str) -> str:
        label = section_heading(words, weak=True)
        surely = section_heading(words, weak=False)
        if label:
            if self._in_criteria and not surely:
                words = _PLAIN.get(label, words)
            self._in_criteria = label in CRITERIA
        elif eligibility_heading(words, marked=True):
            self._in_criteria = True
        return words

    def row(self, cells: Sequence[str]) -> Iterator[str]:
        """Lines of a row of a table. A heading in the first of two cells starts a
        section; any other row is a line, its cells parted by tabs."""
        cells = [cell.strip() for cell in cells if cell.strip()]
        first = " ".join(cells[0].split()) if cells else ""
        if len(cells) == 2 and is_known_heading(first):
            yield from ("", self.line(first), cells[1], "")
        elif len(cells) > 1:
            yield "\t".join(" ".join(cell.split()) for cell in cells)
        else:
            yield from cells
