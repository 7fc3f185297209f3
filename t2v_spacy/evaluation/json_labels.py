"""Judgments in JSON: graded candidates, groups of like trials, BIRCO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import srsly

from ..errors import Errors, error
from ..trial import Trial
from ..trial_text import parse_trial
from .benchmark import Judged, LoadReport, normal

Documents = dict[str, Trial]


def read_graded(
    path: Path, report: LoadReport
) -> tuple[Iterator[Judged], Documents | None]:
    """A list of {"query": id, "candidates": [ids], "grades": [whole numbers]}."""
    return _graded(path, _load(path, list, "graded candidates"), report), None


def read_groups(
    path: Path, report: LoadReport
) -> tuple[Iterator[Judged], Documents | None]:
    """{group: [ids]}: each trial is a query for the others of its groups."""
    return _groups(path, _load(path, dict, "groups of trials"), report), None


def read_birco(
    path: Path, report: LoadReport
) -> tuple[Iterator[Judged], Documents | None]:
    """{"query": {id: text}, "corpus": {id: text}, "qrel": {query: {id: grade}}}, with
    the documents inside the file."""
    data = _load(path, dict, "BIRCO")
    if not all(isinstance(data.get(key), dict) for key in ("query", "corpus", "qrel")):
        reason = "it lacks 'query', 'corpus' or 'qrel'"
        raise error(Errors.T100, path=path, format="BIRCO", reason=reason)
    documents = {
        normal(name): parse_trial(text, normal(name))
        for name, text in data["corpus"].items()
        if isinstance(text, str)
    }
    return _birco(path, data, report), documents


def _load(path: Path, kind: type, format: str) -> Any:
    try:
        data = srsly.read_json(path)
    except (ValueError, UnicodeDecodeError) as err:
        reason = f"it is no JSON ({err})"
        raise error(Errors.T100, path=path, format=format, reason=reason) from err
    if not isinstance(data, kind):
        wanted = "a list" if kind is list else "an object"
        reason = f"it holds no {wanted.split()[1]} but {type(data).__name__}"
        raise error(Errors.T100, path=path, format=format, reason=reason)
    return data


def _graded(path: Path, data: list[Any], report: LoadReport) -> Iterator[Judged]:
    for number, entry in enumerate(data, 1):
        where = f"query {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("query"), str):
            report.refuse(path, where, "no object with a 'query'")
            continue
        where = entry["query"]
        docs, grades = entry.get("candidates"), entry.get("grades")
        if not isinstance(docs, list) or not isinstance(grades, list):
            report.refuse(path, where, "it lacks 'candidates' or 'grades'")
        elif len(docs) != len(grades):
            reason = f"{len(docs)} candidates but {len(grades)} grades"
            report.refuse(path, where, reason)
        else:
            pairs = list(zip(docs, grades, strict=True))
            yield judged(path, entry["query"], where, pairs, report)


def _groups(path: Path, data: dict[str, Any], report: LoadReport) -> Iterator[Judged]:
    grades: dict[str, dict[str, int]] = {}
    first: dict[str, str] = {}
    for group, members in data.items():
        if not isinstance(members, list) or not all(
            isinstance(name, str) for name in members
        ):
            report.refuse(path, group, "no list of ids")
            continue
        names = list(dict.fromkeys(map(normal, members)))
        if len(names) < 2:
            report.refuse(path, group, "a group of less than two trials")
        for name in names if len(names) > 1 else ():
            first.setdefault(name, group)
            others = (other for other in names if other != name)
            grades.setdefault(name, {}).update(dict.fromkeys(others, 1))
    for name, found in grades.items():
        yield Judged(name, found, name, cluster=first[name])


def _birco(path: Path, data: dict[str, Any], report: LoadReport) -> Iterator[Judged]:
    for query, grades in data["qrel"].items():
        text = data["query"].get(query)
        if not isinstance(text, str) or not isinstance(grades, dict):
            report.refuse(path, query, "it has no text or no grades")
            continue
        pairs = list(grades.items())
        yield replace(judged(path, query, query, pairs, report), text=text)


def judged(
    path: Path,
    query: str,
    where: str,
    pairs: Sequence[tuple[Any, Any]],
    report: LoadReport,
) -> Judged:
    """A query from pairs (document id, grade); what is no whole number from 0 on, and a
    document that came before, is refused."""
    kept: dict[str, int] = {}
    for doc, grade in pairs:
        name = normal(str(doc))
        if isinstance(grade, bool) or not isinstance(grade, int) or grade < 0:
            reason = f"the grade of {name} is no whole number from 0 on: {grade!r}"
            report.refuse(path, where, reason)
        elif name in kept:
            report.refuse(path, where, f"{name} is judged twice")
        else:
            kept[name] = grade
    return Judged(normal(query), kept, where, whole=len(kept) == len(pairs))
