"""Where records come from: a file, a .gz, the members of a .zip, a folder of these."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from ..errors import Errors, error
from .report import ReadReport

HEAD_BYTES = 1 << 16
# Real records unpack to less than 50 times their size, sparse tables included.
_RATIO = 200
_ALWAYS_ALLOWED = 1 << 26
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


def iter_parts(path: Path, report: ReadReport) -> Iterator[Path]:
    """Folders and record files under a path in order of name, each folder before what
    is in it. What cannot hold records goes to `report.skipped`, what cannot be opened
    to `report.refused`. RAISES T001 for a missing path, T002 for an empty folder."""
    if not path.exists():
        raise error(Errors.T001, path=path)
    if path.is_dir():
        yield from _walk(path, report, set())
    else:
        yield path


def _walk(folder: Path, report: ReadReport, seen: set[Path]) -> Iterator[Path]:
    try:
        real, children = folder.resolve(), sorted(folder.iterdir())
    except OSError as err:
        report.refuse(str(folder), "folder", _plain(err))
        return
    if real in seen:
        report.skip(str(folder), "a link to a folder that is read already")
        return
    if not seen and not children:
        raise error(Errors.T002, path=folder)
    seen.add(real)
    yield folder
    for child in children:
        if reason := why_skipped(child.name):
            report.skip(str(child), reason)
        elif _is_folder(child):
            yield from _walk(child, report, seen)
        else:
            yield child


def _is_folder(path: Path) -> bool:
    with suppress(OSError):
        return path.is_dir()
    return False


def open_file(path: Path, report: ReadReport) -> Iterator[Source]:
    """The streams of one file; compression is known by content, not by name."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        if magic == _ZIP:
            yield from _members(path, report)
        else:
            size = path.stat().st_size
            yield _source(str(path), magic, lambda: path.open("rb"), size)
    except (OSError, zipfile.BadZipFile) as err:
        report.refuse(str(path), "file", _plain(err))


def open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """The unpacked bytes of a member of a .zip."""
    return _bounded(cast(BinaryIO, archive.open(info)), info.compress_size)


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


def _source(
    name: str, magic: bytes, opener: Callable[[], BinaryIO], size: int
) -> Source:
    """size is that of the file or member as it is packed, in bytes."""
    if magic.startswith(_GZIP):
        return Source(name, lambda: _bounded(cast(BinaryIO, gzip.open(opener())), size))
    return Source(name, opener)


def _bounded(stream: BinaryIO, size: int) -> BinaryIO:
    limit = max(_ALWAYS_ALLOWED, _RATIO * size)
    return cast(BinaryIO, io.BufferedReader(_Bounded(stream, limit), HEAD_BYTES))


class _Bounded(io.RawIOBase):
    """An unpacked stream that ends with an OSError where it outgrows a limit, so that
    a small file cannot fill the memory."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise OSError(f"it unpacks to more than {_RATIO} times its size")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _members(path: Path, report: ReadReport) -> Iterator[Source]:
    # Left open on purpose: it closes with the last Source that uses it.
    archive = zipfile.ZipFile(path)
    names = set(archive.namelist())
    if "[Content_Types].xml" in names or path.suffix.lower() in _OFFICE:
        report.refuse(str(path), "file", "an Office document; save it as CSV")
        return
    for info in archive.infolist():
        name = f"{path}/{info.filename}"
        reason = next(filter(None, map(why_skipped, info.filename.split("/"))), None)
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
                opener = partial(open_member, archive, info)
                yield _source(name, magic, opener, info.compress_size)


def why_skipped(name: str) -> str | None:
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
