"""Which reader a source needs, told by its content; what fits none is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Protocol

from ..errors import Errors, T2VError, error
from ..trial import Trial
from .report import ReadReport
from .source import HEAD_BYTES, Source, decode, is_wide

# Format -> module that reads it, in the order they are tried.
FORMATS = {
    "ctgov-json-v2": "ctgov_json",
    "ctgov-json-v1": "ctgov_json_v1",
    "jsonl": "jsonl",
    "ctgov-xml": "ctgov_xml",
    "ctgov-search-xml": "ctgov_xml",
    "trial2vec-table": "table",
    "ctgov-csv": "ctgov_csv",
    "aact": "aact",
}
# Registries we know by name only: JSON keys, XML roots and first lines of theirs. A
# line "EudraCT Number: …" alone does not tell: a draft protocol has it too.
_OTHER_REGISTRIES = {
    "EU CTIS": rb'"(ctNumber|ctTitle|ctPublicStatusCode|authorizedApplication)"\s*:',
    "ISRCTN": rb"67bricks\.com/isrctn|<isrctn[\s>]|\"isrctn\"\s*:",
    "the EU Clinical Trials Register": (
        rb"(?ms)\A(?=.*^\W*EudraCT Number\s*:)(?=.*^\W*Sponsor Protocol Number\s*:)"
        rb".*(^Population Age\s*:|^[A-F]\.\d[\d.]* .*^[A-F]\.\d)"
    ),
    "WHO ICTRP": rb"<Trials_downloaded_from_ICTRP|(?i:\A\W*TrialID\"?\s*[,;\t])",
    "ANZCTR": rb"<ANZCTR_Trial|<actrnumber>",
    "DRKS": rb"\"drksId\"\s*:|<drksId>|\A\W*(DRKS-ID|drksId)\"?\s*[,;\t]",
    "ChiCTR": rb"(?i)<trial_id>\s*chictr|\A\W*registration number\"?\s*[,;\t]",
    "CTRI": rb"\A\W*CTRI Number\b[^\n]*(\n[^\n]*)?Registered on\b",
    "jRCT": rb"\A\W*jRCT (ID|No\.?)\"?\s*[,;\t]",
}
_HTML = re.compile(
    rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", re.I | re.S
)
_BINARY = {
    b"%PDF": "a PDF document",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
}
_KEYS = re.compile(rb'"([^"\\]{1,40})"\s*:')


class Reader(Protocol):
    """A module that reads one format. `head` is the start of the content as UTF-8."""

    FORMAT: str

    def sniff(self, head: bytes, name: str) -> bool: ...

    def read(self, source: Source, report: ReadReport) -> Iterator[Trial]: ...


class UnknownFormat(T2VError):
    """A file that holds no records we read. reason: the cause, for a batch report."""

    reason: str = ""


def reader_for(name: str) -> Reader:
    """The reader of a format. RAISES T007 for an unknown name."""
    if name not in FORMATS:
        raise error(Errors.T007, value=name, formats=", ".join(FORMATS))
    return import_module(f".{FORMATS[name]}", __package__)  # type: ignore[return-value]


def detect(source: Source) -> Reader:
    """The reader for a source. RAISES UnknownFormat with the code T002 (empty), T003
    (unknown) or T004 (another registry); OSError or EOFError for a damaged archive."""
    with source.open() as file:
        head = file.read(HEAD_BYTES)
    if is_wide(head):
        head = decode(head).encode()
    head = head.removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        raise _refusal(source, Errors.T002, "the file is empty")
    if reason := _why_no_text(head):
        raise _refusal(source, Errors.T003, reason)
    for name in dict.fromkeys(FORMATS.values()):
        reader: Reader = import_module(f".{name}", __package__)  # type: ignore
        if reader.sniff(head, source.name):
            return reader
    for registry, pattern in _OTHER_REGISTRIES.items():
        if re.search(pattern, head):
            raise _refusal(source, Errors.T004, "", registry=registry)
    raise _refusal(source, Errors.T003, _describe(head))


def _why_no_text(head: bytes) -> str | None:
    for magic, kind in _BINARY.items():
        if head.startswith(magic):
            return kind
    if b"\0" in head:
        return "binary data"
    if _HTML.match(head):
        return "an HTML page; a download may have failed"
    return None


def _describe(head: bytes) -> str:
    """What an unknown text looks like, so that the user knows why it was refused."""
    start = head.lstrip()
    if start[:1] in b"{[":
        keys = dict.fromkeys(decode(key) for key in _KEYS.findall(head))
        shown = ", ".join(list(keys)[:5])
        return f"JSON without trial fields; its first keys: {shown or 'none'}"
    if start[:1] == b"<":
        root = re.search(rb"<([A-Za-z][\w:.-]*)", start)
        return f"XML of another kind, root <{root[1].decode() if root else '?'}>"
    line = decode(start.split(b"\n", 1)[0]).strip()
    return f"text that begins with '{line[:60]}'"


def _refusal(
    source: Source, message: tuple[str, str], reason: str, **values: str
) -> UnknownFormat:
    code, text = message
    filled = text.format(
        path=source.name, hint=reason, formats=", ".join(FORMATS), **values
    )
    err = UnknownFormat(code, filled)
    named = filled.removeprefix(f"{source.name} ")
    err.reason = reason or named
    return err
