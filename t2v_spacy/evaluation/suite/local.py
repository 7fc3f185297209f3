"""Tasks from a folder: FOLDER/<task>/ in simple formats, or one file FOLDER/<task>.*"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..sentence_pairs import read_biosses
from .clustering import read_clustering
from .jsonl import bad
from .probe import read_probe
from .retrieval import read_birco, read_retrieval
from .score import NoData
from .tasks import SuiteTask, plain_name, task_names

FORMS = {
    "retrieval": ("corpus.jsonl", "queries.jsonl"),
    "probe": ("train.jsonl", "test.jsonl"),
    "sts": ("test.tsv",),
    "clustering": ("test.jsonl",),
}
_FILES = {"retrieval": ".json", "sts": ".tsv"}


def find_local(folder: Path, task: SuiteTask) -> Path:
    """The folder or file of a task, by the card's or mteb's name in any spelling.

    RAISES (NoData): It is not there, or lacks a file.
    """
    names = task_names(task)
    single = _FILES.get(task.kind)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and plain_name(path.name) in names:
            lacking = [name for name in FORMS[task.kind] if not (path / name).is_file()]
            if lacking:
                raise NoData(f"{path.name} lacks {' and '.join(lacking)}")
            return path
        if path.suffix == single and plain_name(path.stem) in names and path.is_file():
            return path
    if task.part and (folder / task.part).is_file():
        return folder / task.part
    raise NoData("the folder of data has nothing of that name")


def read_local(path: Path, task: SuiteTask) -> Any:
    """The data at a path that `find_local` found. RAISES (T2VError): T201, T100, T101
    for data of another form, which name the file and the line."""
    if task.kind == "retrieval":
        return read_retrieval(path) if path.is_dir() else read_birco(path)
    if task.kind == "probe":
        return read_probe(path, task.many)
    if task.kind == "sts":
        return read_biosses(path / "test.tsv" if path.is_dir() else path)
    if task.kind == "clustering":
        return read_clustering(path)
    raise bad(path, f"there is no kind {task.kind}")
