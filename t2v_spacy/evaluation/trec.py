"""Judgments and runs in the plain text forms of TREC."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors, error
from .benchmark import Judged, LoadReport, normal
from .json_labels import Documents
from .runs import Run


def read_qrels(
    path: Path, report: LoadReport
) -> tuple[Iterator[Judged], Documents | None]:
    """Lines "query iteration document grade". A grade below 0 counts as 0."""
    return _judged(path, report), None


def _judged(path: Path, report: LoadReport) -> Iterator[Judged]:
    qrels: dict[str, dict[str, int]] = {}
    for where, cells in _lines(path):
        grade = cells[3].removeprefix("-") if len(cells) == 4 else ""
        if not grade.isdecimal():
            report.refuse(path, where, "not 'query 0 document grade'")
            continue
        found = qrels.setdefault(normal(cells[0]), {})
        if (doc := normal(cells[2])) in found:
            report.refuse(path, where, f"{doc} is judged twice")
        else:
            found[doc] = max(0, int(cells[3]))
    for query, grades in qrels.items():
        yield Judged(query, grades, query)


def read_run(path: str | Path) -> Run:
    """Scores of lines "query Q0 document rank score tag"; the rank is not read.

    RAISES (T001): No such file. (T100): A line of another form, a document twice, or no
    line at all. (T102): A score that is no number.
    """
    path = Path(path)
    if not path.exists():
        raise error(Errors.T001, path=path)
    scores: dict[str, dict[str, float]] = {}
    tag = ""
    for where, cells in _lines(path):
        try:
            query, _, doc, _, number, tag = cells
            score = float(number)
        except ValueError as err:
            raise _refusal(
                path, f"{where} is not 'query Q0 document rank score tag'"
            ) from err
        query, doc = normal(query), normal(doc)
        if math.isnan(score):
            raise error(Errors.T102, source=path, query=query, document=doc)
        if doc in scores.setdefault(query, {}):
            raise _refusal(path, f"{where} ranks {doc} twice for query {query}")
        scores[query][doc] = score
    if not scores:
        raise _refusal(path, "it is empty")
    return Run(tag, scores)


def _refusal(path: Path, reason: str) -> Exception:
    return error(Errors.T100, path=path, format="a TREC run", reason=reason)


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield f"line {number}", line.split()
