"""The labelled trials of an evaluation, and the parts they are dealt to."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import Errors, error
from ...readers import ReadReport, read_trials
from ...termination.fill import fill_by_label, fill_vectors, is_complete
from ...termination.labels import count_labels
from ...termination.splits import date_split, random_split
from ...training.termination_trials import LabelledTrial, labelled_trials
from ...trial import Trial

# In merged collections the filled fields tell the copy, and the copy the label.
RECORD_SETS = {"complete": "complete records", "all": "all records"}
SPLITS = ("random", "date")
NOTHING_TO_LEARN = Errors.T155[0]  # the code of a row for want of trials
_SEED = 0  # of the trials that are drawn under a limit


@dataclass(frozen=True)
class Parts:
    """Positions of the trials of each part; dropped: trials in none, by reason."""

    train: np.ndarray
    dev: np.ndarray
    test: np.ndarray
    dropped: dict[str, int]


@dataclass(frozen=True)
class Records:
    """Labelled trials in the order of the file.

    terminated, complete: bool (trials,). filled: bool (trials, len(FILL_FIELDS)).
    counts: `read`, `statuses` (name -> number and label) of the trials of the type
        that is evaluated, `left_out` (reason -> number), `labelled`, `terminated`,
        `complete`, `filled` (see `fill_by_label`).
    """

    trials: tuple[LabelledTrial, ...]
    views: tuple[Trial, ...]
    terminated: np.ndarray
    complete: np.ndarray
    filled: np.ndarray
    counts: dict[str, Any]

    def parts(self, which: str, split: str, *, seed: int, cutoff: str) -> Parts:
        """which: One of RECORD_SETS. split: One of SPLITS; the seed is of a random
        one, the cut-off of one by date. RAISES (T2VError T147): No cut-off."""
        chosen = [
            trial.split_by
            for trial, complete in zip(self.trials, self.complete, strict=True)
            if complete or which == "all"
        ]
        if split == "date":
            found = date_split(chosen, cutoff)
        else:
            found = random_split((trial.nct_id for trial in chosen), seed)
        place = {trial.split_by.nct_id: i for i, trial in enumerate(self.trials)}

        def rows(ids: Sequence[str]) -> np.ndarray:
            return np.array([place[nct_id] for nct_id in ids], dtype="int64")

        dropped = {reason: n for reason, n in found.dropped.items() if n}
        return Parts(rows(found.train), rows(found.dev), rows(found.test), dropped)


def read_records(
    path: Path, *, study_type: str | None = "INTERVENTIONAL", limit: int = 0
) -> Records:
    """The first record of each labelled trial that has text.

    path: In any format `read_trials` reads. study_type: Trials of another type, and
        those that do not say theirs, are left out; None keeps all.
    limit: Labelled trials, drawn at random; 0 for all.
    RAISES (T2VError): T001 for a missing file, T154 without trials of both labels.
    """
    report, lost = ReadReport(), Counter[str]()
    statuses: list[str | None] = []

    def of_type() -> Iterator[Trial]:
        for trial in read_trials(path, report=report):
            if study_type and trial.study_type != study_type:
                lost["of another study type" if trial.study_type else "of no type"] += 1
                continue
            statuses.append(trial.status)
            yield trial

    rows = list(labelled_trials(of_type(), lost))
    lost["refused by the reader"] = len(report.refused)
    if limit and limit < len(rows):
        lost["not drawn"] = len(rows) - limit
        kept = sorted(random.Random(_SEED).sample(range(len(rows)), limit))
        rows = [rows[i] for i in kept]
    terminated = sum(trial.terminated for trial in rows)
    if terminated in (0, len(rows)):
        values = {"terminated": terminated, "completed": len(rows) - terminated}
        raise error(Errors.T154, path=path, **values)
    views = tuple(trial.view for trial in rows if trial.view is not None)
    labels = np.array([trial.terminated for trial in rows])
    complete = np.array([is_complete(view) for view in views])
    filled = fill_vectors(views).astype(bool)
    counts = {
        "read": report.read,
        "statuses": count_labels(statuses),
        "left_out": {reason: n for reason, n in lost.items() if n},
        "labelled": len(rows),
        "terminated": terminated,
        "complete": int(complete.sum()),
        "filled": fill_by_label(filled, labels),
    }
    return Records(tuple(rows), views, labels, complete, filled, counts)
