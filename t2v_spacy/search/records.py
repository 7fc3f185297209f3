"""The trials of an index in one sqlite file, found by id or alias.

One row a trial: its position among the vectors, the whole record as JSON, and the
fields that filters and lists need as columns. Lists are kept as "|A|B|".
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import Errors, T2VError, error
from ..trial import Trial
from ..values import PartialDate, parse_id

RECORDS = "records.sqlite"
COLUMNS = (
    "nct_id",
    "title",
    "status",
    "phases",
    "study_type",
    "start_date",
    "completion_date",
    "countries",
    "min_age",
    "max_age",
    "sex",
    "healthy_volunteers",
    "sponsor_class",
    "has_results",
)
_SCHEMA = f"""
CREATE TABLE trial (position INTEGER PRIMARY KEY, {", ".join(COLUMNS)}, record TEXT);
CREATE UNIQUE INDEX trial_id ON trial (nct_id);
CREATE TABLE alias (alias TEXT PRIMARY KEY, nct_id TEXT) WITHOUT ROWID;
"""
_INSERT = f"INSERT INTO trial VALUES ({', '.join('?' * (len(COLUMNS) + 2))})"
_BATCH = 500  # ids asked for in one statement


def normal_id(raw: str) -> str:
    """The id in the form that is stored: no outer blanks, upper case."""
    return _text(parse_id(raw)[0])


def alias_ids(trial: Trial) -> set[str]:
    """Other ids of a trial, in the form that is stored."""
    return {normal_id(alias) for alias in trial.aliases} - {normal_id(trial.nct_id)}


class RecordWriter:
    """Write a new records file. Each trial is kept once, under its main id."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._db = sqlite3.connect(path)
        # The file becomes part of an index only when it is whole: no journal needed.
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.executescript(_SCHEMA)
        self.notes: list[T2VError] = []
        self.dropped: list[str] = []

    def add(self, position: int, trial: Trial) -> bool:
        """Add a trial unless it is there already; says whether it was added.

        The first record of an id is kept. A record whose id is an alias of another
        record gives way to that one, whichever comes first. `notes` (T045) says each.
        """
        nct_id = normal_id(trial.nct_id)
        if self._find("SELECT 1 FROM trial WHERE nct_id = ?", nct_id):
            self._drop(nct_id, "the first record is kept")
            return False
        main = self._find("SELECT nct_id FROM alias WHERE alias = ?", nct_id)
        if main:
            self._drop(nct_id, f"it is an alias of {main}, whose record is kept")
        else:
            columns = [_text(v) if isinstance(v, str) else v for v in _columns(trial)]
            self._db.execute(_INSERT, (position, nct_id, *columns))
        self._claim(main or nct_id, alias_ids(trial))
        return not main

    def _claim(self, main: str, aliases: Iterable[str]) -> None:
        for alias in sorted(set(aliases) - {main}):
            removed = self._db.execute("DELETE FROM trial WHERE nct_id = ?", (alias,))
            if removed.rowcount:
                self._drop(alias, f"it is an alias of {main}, whose record is kept")
                self._db.execute(
                    "UPDATE alias SET nct_id = ? WHERE nct_id = ?", (main, alias)
                )
            self._db.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (alias, main))

    def _drop(self, nct_id: str, action: str) -> None:
        self.dropped.append(nct_id)
        self.notes.append(error(Errors.T045, nct_id=nct_id, action=action))

    def _find(self, statement: str, value: str) -> Any:
        row = self._db.execute(statement, (value,)).fetchone()
        return row and row[0]

    def renumber(self) -> list[int]:
        """Close the gaps between positions; returns the old position of each."""
        rows = self._db.execute("SELECT position FROM trial ORDER BY position")
        old = [position for (position,) in rows]
        # Ascending, and new <= old: a position is free before it is taken.
        moves = [(n, position) for n, position in enumerate(old) if n != position]
        for move in moves:
            self._db.execute("UPDATE trial SET position = ? WHERE position = ?", move)
        return old

    def close(self) -> None:
        self._db.commit()
        self._db.close()


class RecordStore:
    """Read a records file. Nothing here raises for an id that is not there.

    RAISES (T041): Another process, forked from the one that opened it, finds another
    file in its place.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._uri = f"{self._path.as_uri()}?mode=ro&immutable=1"
        self._file = _identity(self._path)
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._len = self._all("SELECT COUNT(*) FROM trial")[0][0]

    def __len__(self) -> int:
        return self._len

    def position(self, raw: str) -> int | None:
        """Position of an id or alias; case and outer blanks do not matter."""
        nct_id = normal_id(raw)
        rows = self._all(
            "SELECT position FROM trial WHERE nct_id = ? UNION ALL SELECT position "
            "FROM alias JOIN trial USING (nct_id) WHERE alias = ?",
            (nct_id, nct_id),
        )
        return rows[0][0] if rows else None

    def trial(self, position: int) -> Trial:
        rows = self._all("SELECT record FROM trial WHERE position = ?", (position,))
        return Trial.from_dict(json.loads(rows[0][0]))

    def trials(self) -> Iterator[Trial]:
        """All trials in order, a few held at a time."""
        for start in range(0, len(self), _BATCH):
            rows = self._all(
                "SELECT record FROM trial WHERE position >= ? AND position < ? "
                "ORDER BY position",
                (start, start + _BATCH),
            )
            yield from (Trial.from_dict(json.loads(record)) for (record,) in rows)

    def heads(self, positions: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(nct_id, title) of each position."""
        found = {}
        for start in range(0, len(positions), _BATCH):
            part = [int(position) for position in positions[start : start + _BATCH]]
            marks = ", ".join("?" * len(part))
            rows = self._all(
                "SELECT position, nct_id, title FROM trial "
                f"WHERE position IN ({marks})",
                part,
            )
            found.update(
                {position: (nct_id, title) for position, nct_id, title in rows}
            )
        return found

    def ids(self) -> list[str]:
        """Main ids in the order of their positions."""
        rows = self._all("SELECT nct_id FROM trial ORDER BY position")
        return [nct_id for (nct_id,) in rows]

    def _all(self, statement: str, values: Sequence[Any] = ()) -> list[tuple]:
        # A connection must not cross a fork: each process opens its own.
        if self._open is None or self._open[0] != os.getpid():
            if _identity(self._path) != self._file:
                reason = "another index has taken its place meanwhile"
                raise error(Errors.T041, path=self._path.parent, reason=reason)
            db = sqlite3.connect(self._uri, uri=True, check_same_thread=False)
            self._open = (os.getpid(), db)
        return self._open[1].execute(statement, values).fetchall()


def _identity(path: Path) -> tuple[int, int] | None:
    """None if it is not there."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _columns(trial: Trial) -> tuple:
    """Values of COLUMNS after nct_id, then the record."""
    countries = {place.country for place in trial.locations if place.country}
    return (
        trial.title,
        trial.status,
        _list(trial.phases),
        trial.study_type,
        _date(trial.start_date),
        _date(trial.completion_date or trial.primary_completion_date),
        _list(countries),
        trial.min_age,
        trial.max_age,
        trial.sex,
        trial.healthy_volunteers,
        trial.sponsor_class,
        trial.has_results,
        json.dumps(trial.to_dict(), separators=(",", ":")),
    )


def _text(value: str) -> str:
    """Half of a surrogate pair, which sqlite refuses, becomes a question mark."""
    return value.encode("utf-8", "replace").decode()


def _list(values: Iterable[str]) -> str | None:
    joined = "|".join(sorted(values))
    return f"|{joined}|" if joined else None


def _date(value: PartialDate | None) -> str | None:
    return (value and value.value) or None
