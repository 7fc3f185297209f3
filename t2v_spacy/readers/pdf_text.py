"""The text of a PDF document."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Errors, T2VError, error
from .page_lines import is_two_columns, pages_text

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)


def pdf_text(path: Path, max_pages: int) -> str:
    """Text of all pages as one: without running headers, footers and page numbers, with
    the lines of a paragraph joined. RAISES (T170, T171, T172): as `read_document`."""
    from .documents import KINDS

    kind = KINDS["pdf"]
    try:
        import pypdf
    except ImportError as err:
        raise error(Errors.T172, path=path, kind=kind, library="pypdf") from err
    with _quiet():
        try:
            reader = pypdf.PdfReader(path)
            if reader.is_encrypted and not reader.decrypt(""):
                raise _unreadable(
                    path, "it is protected by a password", "Save it without one."
                )
            n_pages = len(reader.pages)
            if n_pages > max_pages:
                size = f"{n_pages} pages"
                raise error(
                    Errors.T171,
                    path=path,
                    size=size,
                    setting="max_pages",
                    limit=max_pages,
                )
            pages = [_page_text(page).translate(_LIGATURES) for page in reader.pages]
        except T2VError:
            raise
        except pypdf.errors.DependencyError as err:
            reason, remedy = "it is encrypted", "Save it without protection."
            raise _unreadable(path, reason, remedy) from err
        except Exception as err:  # what a damaged file raises is not documented
            reason = f"it is damaged ({err or type(err).__name__})"
            remedy = "Print it to a new PDF, or save the document as .docx."
            raise _unreadable(path, reason, remedy) from err
    text = pages_text([page.split("\n") for page in pages])
    if not any(char.isalnum() for char in text):
        reason = "none of its pages has text, as when they were scanned"
        remedy = "Run text recognition (OCR) on it, or give the text itself."
        raise _unreadable(path, reason, remedy)
    return text


def _page_text(page: Any) -> str:
    """The lines of a page as they lie on it; in columns, one column after the other."""
    text = page.extract_text(
        extraction_mode="layout", layout_mode_space_vertically=True
    )
    return page.extract_text() if is_two_columns(text.split("\n")) else text


def _unreadable(path: Path, reason: str, remedy: str) -> T2VError:
    from .documents import KINDS

    kind = KINDS["pdf"]
    return error(Errors.T170, path=path, kind=kind, reason=reason, remedy=remedy)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the notes of pypdf on what is odd in a file that it can read."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
