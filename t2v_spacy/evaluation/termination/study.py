"""Evaluate how well termination is predicted: every system on every kind of records and
split, each row made once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from tqdm import tqdm

from ...about import __version__
from ...errors import Errors, T2VError, error
from ...files import locked, replaced_file, writing
from ...termination.measures import calibration_table, termination_scores
from ..experiments.inputs import plain_hash
from ..experiments.machine import provenance
from ..experiments.results import Result, read_result, write_result
from .groups import within_groups
from .inputs import StudyInputs, StudySettings
from .predictions import Prediction
from .records import RECORD_SETS, SPLITS, Parts
from .report import write_report
from .resampling import bootstrap, paired_difference
from .rows import TFIDF, Row, make_rows
from .summary import summarise

RESULT = "termination.json"
RUNS = "runs"


def run_study(
    settings: StudySettings, out: Path, *, command: str | None = None
) -> Result:
    """Write termination.json, termination.md and its figure into `out`, and return the
    first. Rows that are there already, of the same inputs, are not made again.

    Each row is fitted on the train part; strength, stopping, calibration and threshold
    are chosen on the dev part; all figures are of the test part. What a system cannot
    do (a T2VError) is its result, as `failed` with its `code`; the others go on.
    T155 is of the records: there is nothing to learn from.

    command: As the reader of the report would repeat it.
    RAISES (T2VError): T001 for a missing file, T010 and T051 for a folder that cannot
        be written, T154 for records without trials of both labels.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out / RUNS):
        inputs = StudyInputs(settings, out / RUNS)
        study = _Study(inputs, out / RUNS)
        tables = list(study.tables())
        result = {
            "made": provenance(),
            "command": command,
            "settings": _plain(settings),
            "sha256": inputs.hashes,
            "counts": study.counts,
            "encoding": inputs.cost,
            "tables": tables,
        }
        write_result(out / RESULT, result)
    write_report(result, out)
    return result


class _Study:
    def __init__(self, inputs: StudyInputs, folder: Path) -> None:
        self.inputs, self.folder = inputs, folder
        self.rows = make_rows(inputs)

    @property
    def record_sets(self) -> list[str]:
        if self.inputs.settings.complete_only:
            return ["complete"]
        return list(RECORD_SETS)

    @property
    def counts(self) -> Result:
        path = self._path("counts", [self.inputs.about_records])
        if not path.is_file():
            write_result(path, self.inputs.records.counts)
        return read_result(path)

    def tables(self) -> Iterator[Result]:
        seeds = self.inputs.settings.seeds
        each = sum(min(seeds, row.runs or seeds) for row in self.rows)
        total = len(self.record_sets) * len(SPLITS) * each
        with tqdm(total=total, desc="Evaluation", unit="row", disable=None) as bar:
            for which in self.record_sets:
                for split in SPLITS:
                    runs: dict[str, list[Result]] = {r.name: [] for r in self.rows}
                    parts = []
                    for seed in range(seeds):
                        if split == "random" or not seed:
                            parts.append(self._about_parts(which, split, seed))
                        for row, found in self._cell(which, split, seed, bar):
                            runs[row.name].append(found)
                    yield {
                        "records": which,
                        "split": split,
                        "cutoff": self._cutoff(split),
                        "parts": parts,
                        "rows": [
                            {"system": name, **summarise(found)}
                            for name, found in runs.items()
                        ],
                    }

    def _cell(
        self, which: str, split: str, seed: int, bar: tqdm
    ) -> Iterator[tuple[Row, Result]]:
        """The rows of one split. Of one by date, what no seed decides is made once."""
        earlier: dict[str, Prediction] = {}
        for row in self.rows:
            if row.runs and seed >= row.runs:
                continue
            own = seed if row.seeded or split == "random" else 0
            key = [self.inputs.about_records, which, split, self._cutoff(split), own]
            name = f"{row.name} {which} {split} {own}"
            # Figures made without a comparison are made anew once there can be one.
            key.append(TFIDF in earlier)
            path = self._path(name, [row.made_of, *key, *self._measured])
            try:
                found, earlier[row.name] = self._run(
                    row, path, which, split, own, earlier
                )
            except T2VError as err:
                found = {"system": row.name, "seed": own, "failed": str(err)}
                found["code"] = err.code
            if own == seed:
                yield row, found
            bar.update()

    def _run(
        self,
        row: Row,
        path: Path,
        which: str,
        split: str,
        seed: int,
        earlier: dict[str, Prediction],
    ) -> tuple[Result, Prediction]:
        kept = path.with_suffix(".npz")
        if path.is_file() and kept.is_file():
            return read_result(path), _read_prediction(kept)
        parts = self._parts(which, split, seed)
        self._check(parts, which, split)
        row.prepare()
        start = perf_counter()
        prediction = row.predict(parts, seed, earlier)
        seconds = perf_counter() - start
        other = earlier.get(TFIDF)
        found = {
            "system": row.name,
            "seed": seed,
            "seconds": round(seconds, 2),
            **self._measure(parts, prediction, other, groups=which == "all"),
            "made": provenance(),
        }
        _write_prediction(kept, prediction)
        write_result(path, found)
        return read_result(path), prediction

    def _measure(
        self,
        parts: Parts,
        prediction: Prediction,
        other: Prediction | None,
        *,
        groups: bool,
    ) -> Result:
        records, given = self.inputs.records, self.inputs.settings
        gold, p = records.terminated[parts.test], prediction.probabilities
        compared = None
        if other is not None:
            tests = paired_difference(gold, p, other.probabilities, rounds=given.rounds)
            compared = {name: test and asdict(test) for name, test in tests.items()}
        filled = records.filled[parts.test]
        return {
            "scores": termination_scores(gold, p, prediction.threshold),
            "accuracy_at_half": termination_scores(gold, p)["accuracy"],
            "intervals": bootstrap(gold, p, rounds=given.rounds),
            "against": compared,
            "calibration": asdict(calibration_table(gold, p)),
            "within": within_groups(gold, p, filled, given.least) if groups else None,
            "temperature": prediction.temperature,
            "bias": prediction.bias,
        }

    @property
    def _measured(self) -> list[Any]:
        """What decides figures of the same predictions."""
        return [self.inputs.settings.rounds, self.inputs.settings.least]

    def _cutoff(self, split: str) -> str | None:
        return self.inputs.settings.cutoff if split == "date" else None

    def _parts(self, which: str, split: str, seed: int) -> Parts:
        cutoff = self.inputs.settings.cutoff
        return self.inputs.records.parts(which, split, seed=seed, cutoff=cutoff)

    def _about_parts(self, which: str, split: str, seed: int) -> Result:
        """Numbers of trials of each part, kept as the rows are."""
        key = [self.inputs.about_records, which, split, self._cutoff(split), seed]
        path = self._path(f"parts {which} {split} {seed}", key)
        if not path.is_file():
            parts = self._parts(which, split, seed)
            found: Result = {"seed": seed, "dropped": parts.dropped}
            for name in ("train", "dev", "test"):
                labels = self.inputs.records.terminated[getattr(parts, name)]
                found[name] = {"n": len(labels), "terminated": int(labels.sum())}
            write_result(path, found)
        return read_result(path)

    def _check(self, parts: Parts, which: str, split: str) -> None:
        for part in ("train", "dev"):
            labels = self.inputs.records.terminated[getattr(parts, part)]
            if labels.all() or not labels.any():
                raise error(
                    Errors.T155,
                    records=RECORD_SETS[which],
                    split=split,
                    part=part,
                    terminated=int(labels.sum()),
                    completed=int((~labels).sum()),
                )

    def _path(self, name: str, decides: list[Any]) -> Path:
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        key = plain_hash([__version__, name, *decides])
        return self.folder / f"{slug}-{key[:12]}.json"


def _plain(settings: StudySettings) -> Result:
    """Without the folders of this machine."""
    values = asdict(settings) | {"cache": None}
    for name in ("records", "encoder", "config", "backbone", "finetuned"):
        values[name] = values[name] and Path(values[name]).name
    return values


def _write_prediction(path: Path, found: Prediction) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as new, new.open("wb") as file:
            np.savez(file, **{k: np.array(v) for k, v in asdict(found).items()})


def _read_prediction(path: Path) -> Prediction:
    with np.load(path, allow_pickle=False) as file:
        numbers = (file[name].item() for name in ("threshold", "temperature", "bias"))
        return Prediction(file["dev"], file["test"], *numbers)
