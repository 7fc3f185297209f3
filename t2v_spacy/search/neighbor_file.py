"""Neighbours of every trial as a file, by a run that can be stopped and go on."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors, error
from ..files import locked, replaced_file, writing
from .filters import Given
from .neighbors import BATCH, NeighborRun, Neighbors

if TYPE_CHECKING:
    from .trial_index import TrialIndex

_HEADER = ("nct_id", "rank", "neighbor", "score")


def write_neighbors(
    index: TrialIndex,
    path: Path | str,
    k: int = 10,
    *,
    format: str | None = None,
    filters: Given = None,
    ids: Iterable[str] | None = None,
    batch: int = BATCH,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write `neighbors` to a file; returns how many trials were asked about.

    A run that was stopped goes on where it was if vectors and settings are the same,
    else it begins anew. The file appears when it is complete.

    format: "jsonl", one line a trial, or "csv", one line a neighbour (nct_id, rank,
        neighbor, score); by default what the name of the file ends in.
    progress: called with (trials done, all trials) at the start and after each batch.
    RAISES (T010): not writable. (T051): another run is writing it. (T181): no such
    format. And as `neighbors`.
    """
    path = Path(path)
    format = format or path.suffix.lstrip(".").lower()
    if format not in _FORMS:
        known = ", ".join(_FORMS)
        raise error(Errors.T181, path=path, value=format, known=known)
    task = NeighborRun(index, k, filters=filters, ids=ids, batch=batch)
    with locked(path):
        part = _Part(path, f"{format} {task.stamp()}")
        rows = task.run(part.done)
        if not part.size:
            part.append(_csv([_HEADER]) if format == "csv" else b"", 0)
        while part.done < len(task.asked):
            if progress:
                progress(part.done, len(task.asked))
            chunk = list(islice(rows, batch))
            part.append(_FORMS[format](chunk), len(chunk))
        if progress:
            progress(part.done, part.done)
        part.finish()
    return len(task.asked)


class _Part:
    """The file as far as it is written, and beside it how far that is sure.

    done (int): Trials in it. size (int): Bytes that hold them.
    """

    def __init__(self, path: Path, stamp: str) -> None:
        self.done, self.size = 0, 0
        self._path, self._stamp = path, stamp
        self._part = path.with_name(f".{path.name}.part")
        self._state = path.with_name(f".{path.name}.part.json")
        with writing(path):
            if self._part.exists() and self._state.exists():
                self._resume(json.loads(self._state.read_text("utf8")))

    def _resume(self, state: Mapping[str, Any]) -> None:
        if state["stamp"] == self._stamp and state["size"] <= self._part.stat().st_size:
            self.done, self.size = state["done"], state["size"]

    def append(self, content: bytes, trials: int) -> None:
        with writing(self._path):
            with self._part.open("r+b" if self.size else "wb") as file:
                file.truncate(self.size)
                file.seek(self.size)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self.done, self.size = self.done + trials, self.size + len(content)
            state = {"stamp": self._stamp, "done": self.done, "size": self.size}
            with replaced_file(self._state) as new:
                new.write_text(json.dumps(state), "utf8")

    def finish(self) -> None:
        with writing(self._path):
            self._part.replace(self._path)
            self._state.unlink(missing_ok=True)


def _jsonl(rows: Sequence[Neighbors]) -> bytes:
    return b"".join(json.dumps(row.to_dict()).encode() + b"\n" for row in rows)


def _csv(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _csv_rows(rows: Sequence[Neighbors]) -> bytes:
    return _csv(
        (row.nct_id, rank, one, f"{score:.6f}")
        for row in rows
        for rank, (one, score) in enumerate(
            zip(row.ids, row.scores, strict=True), start=1
        )
    )


_FORMS: dict[str, Callable[[Sequence[Neighbors]], bytes]] = {
    "jsonl": _jsonl,
    "csv": _csv_rows,
}
