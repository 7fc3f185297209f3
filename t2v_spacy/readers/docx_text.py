"""The text of a Word document."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import Errors, T2VError, error
from ..sections.patterns import starts_with_mark
from .document_headings import MarkedHeadings

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BOX = f"{_W}txbxContent"
_DELETED = (f"{_W}del", f"{_W}moveFrom")
_NO_WORDS = frozenset((*_DELETED, _BOX, f"{_W}pPr", f"{_W}rPr", _FALLBACK))
_CHARS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
# Signs that Word keeps as characters of the font Symbol.
_SYMBOLS = {"B3": "≥", "A3": "≤", "B1": "±", "B7": "•", "B0": "°", "6D": "µ", "B4": "×"}
_BODY_TEXT = "9"  # level of an outline that is none
_DEEPEST = 8  # level of a list
_UNPACKED = 10  # pictures too are unpacked: so many times as much as of text
_CONTENTS = re.compile(r"toc\b|table of figures|index \d", re.IGNORECASE)
_HEADING = re.compile(r"heading|(?:sub)?title", re.IGNORECASE)


def docx_text(path: Path, max_bytes: int) -> str:
    """Paragraphs and tables in their order; a heading stands between blank lines, an
    item of a list starts with "- ". What was inserted with changes tracked is read,
    what was deleted or is hidden is not. RAISES (T170, T171, T172): as
    `read_document`."""
    try:
        text = "\n".join(_Reader(*_open(path, max_bytes)).body())
    except T2VError:
        raise
    except Exception as err:  # damage shows itself in many ways
        from .documents import KINDS

        reason, remedy = f"it is damaged ({err})", "Open it in Word and save it again."
        values = {"kind": KINDS["docx"], "reason": reason, "remedy": remedy}
        raise error(Errors.T170, path=path, **values) from err
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _open(path: Path, max_bytes: int) -> tuple[Any, Any]:
    """The elements of the body and of the styles."""
    from .documents import KINDS, check_size

    kind = KINDS["docx"]
    try:
        import docx
    except ImportError as err:
        raise error(Errors.T172, path=path, kind=kind, library="python-docx") from err
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
    check_size(path, sum(i.file_size for i in parts if _is_xml(i.filename)), max_bytes)
    check_size(path, sum(i.file_size for i in parts) // _UNPACKED, max_bytes)
    document = docx.Document(str(path))
    return document.element.body, document.styles.element


def _is_outline(paragraph: Any) -> bool:
    return _value(paragraph, "pPr/outlineLvl") not in (None, "", _BODY_TEXT)


def _is_xml(name: str) -> bool:
    return name.endswith((".xml", ".rels"))


class _Reader:
    """Reads the elements of one document."""

    def __init__(self, body: Any, styles: Any) -> None:
        self._body = body
        self._styles = {style.get(f"{_W}styleId"): style for style in styles}
        self._headings = MarkedHeadings()

    def body(self) -> Iterator[str]:
        return self._blocks(self._body)

    def _blocks(self, element: Any) -> Iterator[str]:
        """Lines of the paragraphs and tables in an element."""
        for child in element:
            if child.tag == f"{_W}p":
                yield from self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                yield from self._table(child)
            elif child.tag not in _DELETED and not _is_contents(child):
                yield from self._blocks(child)

    def _paragraph(self, paragraph: Any) -> Iterator[str]:
        text = "".join(_words(paragraph)).strip()
        style = _value(paragraph, "pPr/pStyle")
        name = _value(self._styles.get(style), "name") or ""
        if text and not _CONTENTS.match(name):
            if _HEADING.match(name) or _is_outline(paragraph):
                yield from ("", self._headings.line(" ".join(text.split())), "")
            elif starts_with_mark(text) or not self._is_item(paragraph, style):
                yield text
            else:
                level = _value(paragraph, "pPr/numPr/ilvl") or ""
                indent = min(int(level), _DEEPEST) if level.isdecimal() else 0
                yield f"{'  ' * indent}- {text}"
        elif not text:
            yield ""
        for box in paragraph.iter(_BOX):
            around = next(box.iterancestors(_BOX, f"{_W}p"), None)
            while around is not None and around.tag != _BOX and around is not paragraph:
                around = next(around.iterancestors(_BOX, f"{_W}p"), None)
            # A box within a box is read with that one.
            if around is paragraph and next(box.iterancestors(_FALLBACK), None) is None:
                yield from self._blocks(box)

    def _is_item(self, paragraph: Any, style: str | None) -> bool:
        """Whether the paragraph, its style or one that this is based on is numbered."""
        number = _value(paragraph, "pPr/numPr/numId")
        seen: set[str | None] = set()
        while number is None and style in self._styles and style not in seen:
            seen.add(style)
            number = _value(self._styles[style], "pPr/numPr/numId")
            style = _value(self._styles[style], "basedOn")
        return number not in (None, "0")

    def _table(self, table: Any) -> Iterator[str]:
        yield ""
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not table:
                continue  # of a table within a cell
            if row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            cells = ["\n".join(self._blocks(cell)) for cell in _cells(row)]
            yield from self._headings.row(cells)
        yield ""


def _cells(row: Any) -> Iterator[Any]:
    for cell in row.iter(f"{_W}tc"):
        if next(cell.iterancestors(f"{_W}tr")) is row:
            yield cell


def _words(element: Any) -> Iterator[str]:
    for child in element:
        if child.tag in _NO_WORDS:
            continue
        if child.tag in _CHARS:
            yield _CHARS[child.tag]
        elif child.tag == f"{_W}sym":
            yield _SYMBOLS.get(child.get(f"{_W}char", "")[-2:].upper(), " ")
        elif isinstance(child.tag, str) and child.tag.endswith("}t"):
            yield child.text or ""
        elif not _is_hidden(child):
            yield from _words(child)


def _is_hidden(run: Any) -> bool:
    found = run.find(f"{_W}rPr/{_W}vanish")
    return found is not None and found.get(f"{_W}val") not in ("0", "false")


def _is_contents(element: Any) -> bool:
    """Whether this is a table of contents that Word made."""
    gallery = _value(element, "sdtPr/docPartObj/docPartGallery") or ""
    return gallery == "Table of Contents"


def _value(element: Any, path: str) -> str | None:
    """The value of the element at a path, None where there is none."""
    if element is None:
        return None
    found = element.find("/".join(f"{_W}{name}" for name in path.split("/")))
    return None if found is None else found.get(f"{_W}val", "")
