"""The index that is served: opened anew when it changed on disk, none cut short.

A request works with one `Edition` from its beginning to its end; a new one takes its
place only when it is wholly open.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..search import TrialIndex
from ..search.build import META
from .facet_counts import facet_counts
from .trial_map import MapMaker

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Edition:
    """An opened index, what filters can ask of it, its map, and since when it is
    served."""

    index: TrialIndex
    facets: dict[str, Any]
    map: MapMaker
    opened: str


class Library:
    """RAISES as `TrialIndex.from_disk`, at the start only.

    failure (str | None): Why a changed index could not be opened; the old one is
        served on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure: str | None = None
        self._opening = threading.Lock()
        self._seen = _stamp(path)
        self._edition = open_edition(path)

    def current(self) -> Edition:
        """What is served now. Starts to open a changed index, and does not wait."""
        stamp = _stamp(self.path)
        if stamp not in (None, self._seen) and self._opening.acquire(blocking=False):
            threading.Thread(target=self._reopen, args=(stamp,), daemon=True).start()
        return self._edition

    def _reopen(self, stamp: Stamp) -> None:
        try:
            edition = open_edition(self.path)
            # A folder replaced meanwhile may be open by halves: it is opened once more.
            if _stamp(self.path) == stamp:
                self._edition, self._seen, self.failure = edition, stamp, None
        except Exception as err:  # whatever is wrong with it, the old one is served
            self.failure = str(err)
            if _stamp(self.path) == stamp:
                self._seen = stamp
        finally:
            self._opening.release()


def open_edition(path: Path) -> Edition:
    """RAISES as `TrialIndex.from_disk`."""
    index = TrialIndex.from_disk(path, verify=False)
    # Counting reads all that filters ask about: nothing is left to be read from the
    # folder later, when it may be another's.
    facets = facet_counts(index)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Edition(index, facets, MapMaker(index), now)


def _stamp(path: Path) -> Stamp | None:
    """What tells one state of the index from another, None while it is replaced."""
    try:
        found = (path / META).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
