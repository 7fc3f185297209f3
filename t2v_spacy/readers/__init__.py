"""Read trial records of any known format: `read_trials(path)`."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors, error
from ..trial import Trial
from .detect import FORMATS, Reader, UnknownFormat, detect, reader_for
from .report import ReadReport, Refusal
from .source import Source, iter_parts, open_file

__all__ = [
    "FORMATS",
    "ReadReport",
    "Refusal",
    "Source",
    "read_trials",
]
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError)


def read_trials(
    path: str | Path, *, format: str | None = None, report: ReadReport | None = None
) -> Iterator[Trial]:
    """Trials of a file, archive or folder, one at a time and in order.

    format (str | None): One of FORMATS; None detects it for each file.
    report (ReadReport | None): Filled while reading. A record that cannot be read is
        refused there and reading goes on; a record whose id came before is read too
        and counted in `report.duplicates`.
    RAISES T001 (no such path), T002 (empty), T003 (one file of unknown format), T004
    (one file of another registry), T006 (nothing could be read), T007 (no such format).
    """
    path = Path(path)
    if not path.exists():
        raise error(Errors.T001, path=path)
    reader = reader_for(format) if format else None
    return _read(path, reader, ReadReport() if report is None else report)


def _read(path: Path, reader: Reader | None, report: ReadReport) -> Iterator[Trial]:
    seen = len(report.refused)
    before = report.read
    for trial in _read_parts(path, reader, report):
        report.count(trial)
        yield trial
    if report.read == before:
        reasons = [str(refusal) for refusal in report.refused[seen:]]
        reason = "; ".join(reasons[:3]) or "it holds no record files"
        raise error(Errors.T006, path=path, reason=reason)


def _read_parts(
    path: Path, reader: Reader | None, report: ReadReport
) -> Iterator[Trial]:
    from . import aact
    from .aact_tables import find_units

    # Tables of one database are read together, unless another format is asked for.
    by_table = reader is None or reader.FORMAT == aact.FORMAT
    taken: set[str] = set()
    for part in iter_parts(path, report):
        for unit in find_units(part, report) if by_table else ():
            taken |= unit.names
            tables = aact.read_tables(unit.tables, report)
            yield from _guarded(str(part), tables, report)
        if part.is_dir() or str(part) in taken:
            continue
        for source in open_file(part, report):
            if source.name not in taken:
                alone = part == path and source.name == str(path)
                yield from _read_source(source, reader, report, alone)


def _read_source(
    source: Source, reader: Reader | None, report: ReadReport, alone: bool
) -> Iterator[Trial]:
    try:
        reader = reader or detect(source)
    except UnknownFormat as err:
        if alone:
            raise
        report.refuse(source.name, "file", err.reason)
    except _DAMAGED as err:
        report.refuse(source.name, "file", f"damaged ({err})")
    else:
        yield from _guarded(source.name, reader.read(source, report), report)


def _guarded(name: str, trials: Iterator[Trial], report: ReadReport) -> Iterator[Trial]:
    """The trials up to the place where the file turns out to be damaged."""
    number = 0
    try:
        for trial in trials:
            number += 1
            yield trial
    except _DAMAGED as err:
        report.refuse(name, f"after {number} records", f"damaged ({err})")
