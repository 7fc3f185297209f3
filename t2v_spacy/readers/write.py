"""Write trials as JSON lines in our own layout, which the jsonl reader reads back."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from ..errors import Errors, error
from ..trial import Trial
from .report import ReadReport


def write_trials(
    path: str | Path, trials: Iterable[Trial], report: ReadReport | None = None
) -> int:
    """Write one record a line, compressed if the name ends in .gz; returns the number.

    The file appears only when it is complete: an error leaves an older one as it was.
    `report.written` counts the records. RAISES T010 if the file cannot be written.
    """
    path = Path(path)
    number = 0
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _open(partial, zipped=path.suffix == ".gz") as file:
            for trial in trials:
                file.write(json.dumps(trial.to_dict(), ensure_ascii=False) + "\n")
                number += 1
        partial.replace(path)
    except OSError as err:
        raise error(Errors.T010, path=path, reason=err.strerror or err) from err
    finally:
        with suppress(OSError):
            partial.unlink()
    if report is not None:
        report.written += number
    return number


@contextmanager
def _open(path: Path, zipped: bool) -> Iterator[TextIO]:
    with path.open("wb") as raw:
        # No name and time inside, so that equal records make equal files.
        target = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if zipped else raw
        # A lone surrogate of a broken source goes out as the JSON escape it came from.
        with io.TextIOWrapper(target, "utf-8", errors="backslashreplace") as file:
            yield file
