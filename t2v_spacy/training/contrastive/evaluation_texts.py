"""Texts of evaluation sets, in whatever file they come: they must not be trained on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import Errors, error
from ...files import digest
from ...readers import ReadReport, read_trials
from ...readers.rows import decode_lines, read_rows
from ...readers.source import Source as File
from ...trial import Trial

_NCT = re.compile(r"NCT\d{8}")


class EvaluationText(NamedTuple):
    """where: "line 3", "corpus NCT90000001", "NCT90000001 title"."""

    where: str
    text: str


@dataclass(frozen=True)
class EvaluationSet:
    """unknown: trials that the file names by id and no record was found of."""

    name: str
    texts: tuple[EvaluationText, ...]
    sha256: str
    unknown: tuple[str, ...] = ()


def read_evaluation(
    paths: Iterable[Path | str], records: Path | str | None = None
) -> list[EvaluationSet]:
    """The texts of evaluation files.

    paths: By their ending: .json and .jsonl, every text of more than one word, however
        deep; .tsv and .csv, every such cell; others, every line. So BIRCO, BIOSSES and
        lists of queries are read as they are.
    records: Trials, for files that name trials by id (open TrialSim, review groups):
        their titles, summaries, descriptions and criteria are texts of the set.
    RAISES (T001): No such file. (T196): A file without a text; it is damaged; or it
    names trials and `records` is not given or holds none of them.
    """
    files = [Path(path) for path in paths]
    found = {path: list(_texts(path)) for path in files}
    named = {p: {w.text for w in t if _NCT.fullmatch(w.text)} for p, t in found.items()}
    wanted = set().union(*named.values())
    trials: dict[str, list[EvaluationText]] = {}
    if wanted and records is not None:
        for trial in read_trials(records):
            if trial.nct_id in wanted:
                trials[trial.nct_id] = list(trial_texts(trial))
    sets = []
    for path in files:
        texts = [w for w in found[path] if len(w.text.split()) > 1]
        for nct_id in sorted(named[path]):
            texts += trials.get(nct_id, [])
        if not texts:
            reason = "it holds no text of more than one word"
            if named[path]:
                reason = "it names trials by id: give their records with --records"
                if records is not None:
                    reason = f"{records} holds none of the trials it names"
            raise error(Errors.T196, path=path, reason=reason)
        unknown = tuple(sorted(named[path] - trials.keys()))
        sets.append(EvaluationSet(path.name, tuple(texts), digest(path), unknown))
    return sets


def trial_texts(trial: Trial) -> Iterator[EvaluationText]:
    """What a record says in sentences. Names of conditions and drugs are no secret."""
    fields = (
        ("title", trial.title),
        ("official title", trial.official_title),
        ("summary", trial.brief_summary),
        ("description", trial.detailed_description),
        ("criteria", trial.eligibility),
    )
    for name, text in fields:
        if text and len(text.split()) > 1:
            yield EvaluationText(f"{trial.nct_id} {name}", text)


def _texts(path: Path) -> Iterator[EvaluationText]:
    """Texts and ids of a file, one word long or more."""
    if not path.is_file():
        raise error(Errors.T001, path=path)
    kind = path.suffix.lower()
    try:
        if kind == ".json":
            yield from _leaves(json.loads(path.read_bytes()), "")
        elif kind == ".jsonl":
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield from _leaves(json.loads(line), f"line {number}")
        elif kind in (".tsv", ".csv"):
            source = File(str(path), lambda: path.open("rb"))
            for where, row in read_rows(source, ReadReport()):
                for cell in row.values():
                    yield from _leaves(cell, where)
        else:
            with path.open("rb") as file:
                for number, text in enumerate(decode_lines(file), 1):
                    yield from _leaves(text, f"line {number}")
    except (OSError, ValueError, RecursionError) as err:
        if hasattr(err, "code"):
            raise
        raise error(Errors.T196, path=path, reason=f"damaged ({err})") from err


def _leaves(value: Any, where: str) -> Iterator[EvaluationText]:
    if isinstance(value, str):
        text = value.strip()
        if text:
            yield EvaluationText(where, text)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{where} {key}".strip())
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, where)
