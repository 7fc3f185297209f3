"""Where records come from: a file, a .gz, the members of a .zip, a folder of these."""

from __future__ import annotations

import codecs
import gzip
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from ..errors import Errors, error
from .report import ReadReport

HEAD_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_OFFICE = (".docx", ".odt", ".pptx", ".xlsm", ".xlsx")
# Files that lie beside downloads and hold no records.
_NOT_RECORDS = frozenset(
    (".ann", ".bib", ".cfg", ".gif", ".ipynb", ".jpg", ".jpeg", ".log", ".md", ".pdf")
    + (".png", ".py", ".r", ".rst", ".sh", ".sql", ".svg", ".toml", ".xls", ".yaml")
    + (".yml", *_OFFICE)
)
_NOT_RECORD_NAMES = frozenset(("readme", "license", "notice", "changelog", "makefile"))
_SIDECARS = (".meta.json", ".state.json", ".part")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Source:
    """One stream of bytes. name is what messages show: "trials.zip/NCT9….xml"."""

    name: str
    open: Callable[[], BinaryIO]


def iter_sources(path: Path, report: ReadReport | None = None) -> Iterator[Source]:
    """Streams of a file (plain, .gz, or each member of a .zip) or folder, in order.

    Files that cannot hold records go to `report.skipped`, damaged archives to
    `report.refused`. RAISES T001 for a missing path, T002 for a folder without files.
    """
    report = ReadReport() if report is None else report
    for part in iter_parts(path, report):
        yield from open_file(part, report)


def iter_parts(
    path: Path,
    report: ReadReport,
    is_unit: Callable[[Path], bool] = lambda _: False,
) -> Iterator[Path]:
    """Record files under a path, in order of name; a folder (or file) for which
    `is_unit` is true comes as a whole. RAISES T001, T002."""
    if not path.exists():
        raise error(Errors.T001, path=path)
    if is_unit(path) or not path.is_dir():
        yield path
        return
    children = sorted(child for child in path.iterdir())
    if not children:
        raise error(Errors.T002, path=path)
    for child in children:
        if reason := _why_skipped(child.name):
            report.skip(str(child), reason)
        elif not child.is_dir():
            yield child
        elif any(child.iterdir()):
            yield from iter_parts(child, report, is_unit)


def open_file(path: Path, report: ReadReport) -> Iterator[Source]:
    """The streams of one file; compression is known by content, not by name."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        if magic == _ZIP:
            yield from _members(path, report)
        else:
            yield _source(str(path), magic, lambda: path.open("rb"))
    except (OSError, zipfile.BadZipFile) as err:
        report.refuse(str(path), "file", _plain(err))


def decode(data: bytes) -> str:
    """Text of bytes: by its mark if it has one, else UTF-8, else Windows-1252."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def is_wide(data: bytes) -> bool:
    """Whether bytes are marked as UTF-16 or UTF-32, where a line is no run of bytes."""
    return any(data.startswith(mark) for mark, name in _BOMS if name != "utf-8-sig")


def read_text(source: Source) -> str:
    """All text of a source, decoded, with line ends made "\\n"."""
    with source.open() as file:
        return decode(file.read()).replace("\r\n", "\n")


def _source(name: str, magic: bytes, opener: Callable[[], BinaryIO]) -> Source:
    if magic.startswith(_GZIP):
        return Source(name, lambda: cast(BinaryIO, gzip.open(opener())))
    return Source(name, opener)


def _members(path: Path, report: ReadReport) -> Iterator[Source]:
    # Left open on purpose: it closes with the last Source that uses it.
    archive = zipfile.ZipFile(path)
    names = set(archive.namelist())
    if "[Content_Types].xml" in names or path.suffix.lower() in _OFFICE:
        report.refuse(str(path), "file", "an Office document; save it as CSV")
        return
    for info in archive.infolist():
        name = f"{path}/{info.filename}"
        reason = next(filter(None, map(_why_skipped, info.filename.split("/"))), None)
        if info.is_dir():
            continue
        if reason:
            report.skip(name, reason)
        elif info.flag_bits & 1:
            report.refuse(name, "file", "protected by a password")
        else:
            with archive.open(info) as file:
                magic = file.read(4)
            if magic == _ZIP:
                report.refuse(name, "file", "an archive in an archive; unpack it")
            else:
                yield _source(name, magic, partial(_member, archive, info))


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    return cast(BinaryIO, archive.open(info))


def _why_skipped(name: str) -> str | None:
    lower = name.lower()
    if name.startswith((".", "__MACOSX", "~$")):
        return "hidden"
    if lower.endswith(_SIDECARS):
        return "a note beside a download"
    path = PurePosixPath(lower)
    if path.suffix in _NOT_RECORDS or path.stem in _NOT_RECORD_NAMES:
        return "not a record file"
    return None


def _plain(err: Exception) -> str:
    return str(getattr(err, "strerror", None) or err) or type(err).__name__
