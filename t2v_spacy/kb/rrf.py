"""Rows of UMLS Rich Release Format files: `|` after every field, no heading.

Files are read as a stream and may be packed with gzip (`MRCONSO.RRF.gz`).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import Errors, error

# Columns in order, for releases without MRFILES.RRF.
COLUMNS = {
    "MRCONSO": "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL "
    "SUPPRESS CVF",
    "MRREL": "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR "
    "SUPPRESS CVF",
    "MRSTY": "CUI TUI STN STY ATUI CVF",
    "MRDEF": "CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF",
    "MRRANK": "RANK SAB TTY SUPPRESS",
    "MRFILES": "FIL DES FMT CLS RWS BTS",
}
_TELL_EVERY = 1 << 16
_REMEDY = "unpack the release again, or delete MRFILES.RRF if it was cut on purpose"


class Release:
    """A folder of RRF files (the META folder of a UMLS release or subset)."""

    def __init__(self, meta: str | Path, *, progress: bool = False) -> None:
        """progress: Show a bar for each file. RAISES: T001 without the folder."""
        self.folder = Path(meta)
        self.progress = progress
        if not self.folder.is_dir():
            raise error(Errors.T001, path=self.folder)
        self._columns = dict(COLUMNS)
        self._stated: dict[str, int] = {}
        if self.path("MRFILES"):
            for file, columns, rows in self.rows("MRFILES", ("FIL", "FMT", "RWS")):
                name = file.removesuffix(".RRF")
                self._columns[name] = columns.replace(",", " ")
                if rows.isdigit():
                    self._stated[name] = int(rows)

    def path(self, name: str) -> Path | None:
        for ending in (".RRF", ".RRF.gz"):
            path = self.folder / f"{name}{ending}"
            if path.is_file():
                return path
        return None

    def rows(self, name: str, wanted: Sequence[str]) -> Iterator[list[str]]:
        """The wanted columns of each row.

        RAISES: T001 without the file; T005 for a row with another number of columns, a
        file that ends within a row or before its stated number of rows."""
        path = self.path(name)
        if path is None:
            raise error(Errors.T001, path=self.folder / f"{name}.RRF")
        columns = self._columns[name].split()
        if missing := [column for column in wanted if column not in columns]:
            reason = f"it states no column {missing[0]} for {name}.RRF"
            where = "column names"
            path = self.folder / "MRFILES.RRF"
            raise error(Errors.T005, path=path, where=where, reason=reason)
        places = [columns.index(column) for column in wanted]
        number = 0
        for number, line in enumerate(self._lines(path), 1):
            fields = line.split("|")
            # The `|` at the end makes one empty field more.
            if len(fields) != len(columns) + 1 or fields[-1]:
                where, reason = f"line {number}", _why(fields, columns)
                raise error(Errors.T005, path=path, where=where, reason=reason)
            yield [fields[place] for place in places]
        stated = self._stated.get(name, number)
        if stated != number:
            reason = f"MRFILES.RRF states {stated} rows; {_REMEDY}"
            raise error(Errors.T005, path=path, where=f"line {number}", reason=reason)

    def _lines(self, path: Path) -> Iterator[str]:
        from tqdm import tqdm

        packed = path.suffix == ".gz"
        number = 0
        try:
            with (
                path.open("rb") as raw,
                tqdm(
                    total=path.stat().st_size,
                    desc=path.name,
                    unit="B",
                    unit_scale=True,
                    disable=None if self.progress else True,
                ) as bar,
            ):
                file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
                for number, line in enumerate(file, 1):
                    if not line.endswith(b"\n"):
                        where = f"line {number}"
                        reason = "the file ends within this row; unpack it again"
                        raise error(Errors.T005, path=path, where=where, reason=reason)
                    if number % _TELL_EVERY == 0:
                        bar.update(raw.tell() - bar.n)
                    yield line.rstrip(b"\r\n").decode()
                bar.update(raw.tell() - bar.n)
        except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as err:
            where = f"after line {number}"
            raise error(Errors.T005, path=path, where=where, reason=err) from err


def _why(fields: Sequence[str], columns: Sequence[str]) -> str:
    if fields[-1]:
        return "it does not end with |"
    return f"{len(fields) - 1} columns, expected {len(columns)}"
