"""The files of one folder of trials, opened: an index, or the changes beside it."""

from __future__ import annotations

import io
import sqlite3
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, error
from ..trial import Trial
from .annoy_store import AnnoyStore
from .facet_values import Concepts
from .facets import FACETS, Facets, FacetWriter
from .lexical import LEXICAL, Lexical
from .records import RECORDS, RecordStore
from .section_vectors import SectionVectors
from .stamps import STAMPS, snapshot_range, stamps_of
from .vectors import Array


class Saved:
    """n trials by their positions. All files are opened, or mapped, at once: another
    run that takes the folder away meanwhile changes nothing here.

    facts (Mapping): What was said of the files when they were written.
    exact_below (int): As in AnnoyStore; None for files without trees.
    beside (Saved): The index that these are changes of.
    RAISES (T041): files that are damaged or do not fit each other. (T046): another
    metric than angular.
    """

    def __init__(
        self,
        folder: Path,
        facts: Mapping[str, Any],
        exact_below: int | None = None,
        beside: Saved | None = None,
    ) -> None:
        self.folder = folder
        self.n: int = facts["n_items"]
        self.width: int = facts["width"]
        self._snapshots: list[str] | None = facts["snapshots"]
        self.store = AnnoyStore.load(
            folder,
            facts["store"],
            exact_below=self.n if exact_below is None else exact_below,
        )
        self.sections = SectionVectors(folder, facts["sections"], self.n, self.width)
        self._facets = _mapped(folder, FACETS) if FACETS in facts["files"] else None
        self._stamps = _mapped(folder, STAMPS) if STAMPS in facts["files"] else None
        self.lexical: Lexical | None = None
        if LEXICAL in facts["files"] and (beside is None or beside.lexical):
            self.lexical = Lexical.open(folder, base=beside and beside.lexical)
        try:
            self.records = RecordStore(folder / RECORDS)
        except sqlite3.Error as err:
            reason = f"{RECORDS} cannot be read ({err})"
            raise error(Errors.T041, path=folder, reason=reason) from err
        if not len(self.store) == len(self.records) == self.n:
            reason = f"{len(self.store)} vectors but {len(self.records)} records"
            raise error(Errors.T041, path=folder, reason=reason)

    def position(self, nct_id: str) -> int | None:
        """Of an id or alias."""
        return self.records.position(nct_id)

    def heads(self, positions: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(nct_id, title) of each position."""
        return self.records.heads(positions)

    def ids(self) -> list[str]:
        return self.records.ids()

    def trial(self, position: int) -> Trial:
        return self.records.trial(position)

    def concepts(self, position: int) -> Concepts | None:
        return None if self._facets is None else self.facets.concepts(position)

    @cached_property
    def facets(self) -> Facets:
        """What filters ask. An index from before there were filters is read whole."""
        if self._facets is None:
            message = error(Errors.T163, path=self.folder)
            warnings.warn(str(message), stacklevel=5)
            writer = FacetWriter()
            for trial in self.records.trials():
                writer.append(trial)
            return Facets(writer.columns())
        return Facets(self._columns(FACETS, self._facets))

    def content_hash(self, position: int) -> int:
        """Of the record. An index from before there were hashes is read whole."""
        return int(self._all_stamps["hash"][position])

    def snapshots(self, live: Array) -> list[str] | None:
        """First and last snapshot of some trials; of all if no file says it of each."""
        if self._stamps is None:
            return self._snapshots
        return snapshot_range(self._all_stamps["snapshot"][live])

    @cached_property
    def _all_stamps(self) -> dict[str, Array]:
        if self._stamps is None:
            return stamps_of(self.records.trials())
        return self._columns(STAMPS, self._stamps)

    def _columns(self, name: str, data: Array) -> dict[str, Array]:
        try:
            with np.load(io.BytesIO(data.tobytes()), allow_pickle=False) as file:
                columns = dict(file)
            n = int(columns["n"]) if "n" in columns else len(columns["hash"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as err:
            reason = f"{name} cannot be read ({err})"
            raise error(Errors.T041, path=self.folder, reason=reason) from err
        if n != self.n:
            reason = f"{name} is of {n} trials instead of {self.n}"
            raise error(Errors.T041, path=self.folder, reason=reason)
        return columns


def _mapped(folder: Path, name: str) -> Array:
    try:
        return np.memmap(folder / name, np.uint8, "r")
    except (OSError, ValueError) as err:
        reason = f"{name} cannot be read ({err})"
        raise error(Errors.T041, path=folder, reason=reason) from err
