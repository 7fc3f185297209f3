"""Protocols and drafts as people keep them: the text of a .docx, .pdf, .md or .txt."""

from __future__ import annotations

import re
import zipfile
from contextlib import suppress
from pathlib import Path

from ..errors import Errors, T2VError, error
from ..sections.headed import is_headed_text
from .markdown_text import markdown_text
from .source import decode

MAX_BYTES = 50_000_000
MAX_PAGES = 2_000
KINDS = {
    "docx": "a Word document",
    "pdf": "a PDF document",
    "markdown": "a Markdown text",
    "text": "a text",
}
_SUFFIXES = {
    ".docx": "docx",
    ".pdf": "pdf",
    ".md": "markdown",
    ".markdown": "markdown",
}
_SAVE = "Save it as .docx, .pdf with text, or plain text."
# First bytes -> what cannot be read, with the reason.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "it is a file of an old Office, or protected by a password",
    b"{\\rtf": "it is in rich text format",
}
_HTML = re.compile(rb"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)
_WORD_PART = "word/document.xml"
_PDF, _ZIP = b"%PDF", b"PK\x03\x04"
_DOCUMENTS = (*_SUFFIXES, ".doc", ".odt", ".rtf")


def read_document(
    path: Path | str, *, max_bytes: int = MAX_BYTES, max_pages: int = MAX_PAGES
) -> str:
    """The text of a document, with each heading in a line of its own, for `parse_trial`
    or a pipeline.

    path: .docx, .pdf, .md, .txt or any other text; known by content first. Left out
        are headers, footers, page numbers, tables of contents and what was deleted with
        changes tracked. Rows of a table are lines, their cells parted by a tab.
    max_bytes: of the file, and of the text it unpacks to.
    max_pages: of a PDF.
    RAISES (T001): no such file. (T002): empty. (T030): a folder, or of another kind,
    such as an HTML page. (T170): broken, encrypted, scanned, without words. (T171): too
    large. (T172): a package is missing, see the extra `documents`.
    """
    path = Path(path)
    kind = document_kind(path)
    check_size(path, path.stat().st_size, max_bytes)
    if kind == "docx":
        from .docx_text import docx_text

        text = docx_text(path, max_bytes)
    elif kind == "pdf":
        from .pdf_text import pdf_text

        text = pdf_text(path, max_pages)
    else:
        text = decode(path.read_bytes())
        if kind == "markdown" and not is_headed_text(text):
            text = markdown_text(text)
    if not any(char.isalnum() for char in text):
        raise _unreadable(path, KINDS[kind], "it has no words")
    return text


def is_document(path: Path) -> bool:
    """Whether a file is a document rather than records or a plain text, by its name or
    first bytes."""
    if path.suffix.lower() in _DOCUMENTS:
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(_ZIP):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return _WORD_PART in archive.namelist()
    return head.startswith((_PDF, *_FOREIGN))


def document_kind(path: Path) -> str:
    """One of KINDS. RAISES as `read_document` for what is none of them."""
    if not path.exists():
        raise error(Errors.T001, path=path)
    if path.is_dir():
        raise error(Errors.T030, path=path, reason="a folder")
    with path.open("rb") as file:
        head = file.read(2048)
    if not head.strip():
        raise error(Errors.T002, path=path)
    named = _SUFFIXES.get(path.suffix.lower(), "text")
    if head.lstrip().startswith(_PDF):
        return "pdf"
    if head.startswith(_ZIP):
        return _zip_kind(path)
    for magic, reason in _FOREIGN.items():
        if head.startswith(magic):
            raise _unreadable(path, "a document", reason)
    if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")):
        raise error(Errors.T030, path=path, reason="an HTML page")
    if named in ("docx", "pdf"):
        raise _unreadable(path, KINDS[named], "its content is something else")
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise error(Errors.T030, path=path, reason="binary data")
    return named


def check_size(path: Path, size: int, limit: int) -> None:
    """RAISES (T171): more bytes than a limit."""
    if size > limit:
        shown = f"{size / 1e6:.1f} MB"
        raise error(
            Errors.T171, path=path, size=shown, setting="max_bytes", limit=limit
        )


def _zip_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile as err:
        raise _unreadable(path, "a Word document", f"it is damaged ({err})") from err
    if _WORD_PART in names:
        return "docx"
    what = "an Office document" if "[Content_Types].xml" in names else "an archive"
    if "mimetype" in names:
        what = "an OpenDocument file"
    raise error(Errors.T030, path=path, reason=what)


def _unreadable(path: Path, kind: str, reason: str) -> T2VError:
    return error(Errors.T170, path=path, kind=kind, reason=reason, remedy=_SAVE)
