"""Trials as references for a reference manager (RIS), through rispy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from ...errors import Errors, error
from ...values import PartialDate, display
from .columns import Item


def write_ris(file: TextIO, items: Iterable[Item]) -> None:
    """One reference a trial, of the type "online database" (DBASE): RIS has none for
    the record of a registry, and registries themselves use this one.

    ID and AN are the id, TI the title, AU the sponsor, PY the year of registration,
    else of the start, AB the brief summary, KW conditions and keywords, UR the link, N1
    facts. file (TextIO): Opened with newline="". RAISES (T183): rispy is missing.
    """
    try:
        import rispy
    except ImportError as err:
        raise error(Errors.T183, format="ris", library="rispy") from err

    class Writer(rispy.RisWriter):
        NEWLINE = "\r\n"

        def set_header(self, count: int) -> str:
            return ""  # not a tag: some readers stumble over it

    for item in items:
        rispy.dump([reference(item)], file, implementation=Writer)
        file.write(Writer.NEWLINE)


def reference(item: Item) -> dict[str, Any]:
    """The fields of rispy; what a trial does not say is left out."""
    trial = item.trial
    keywords = {_line(k).casefold(): k for k in (*trial.conditions, *trial.keywords)}
    fields: dict[str, Any] = {
        "type_of_reference": "DBASE",
        "id": trial.nct_id,
        "accession_number": trial.nct_id,
        "title": trial.title or trial.official_title,
        "authors": [trial.sponsor] if trial.sponsor else [],
        "year": _year(trial.first_posted) or _year(trial.start_date),
        "abstract": trial.brief_summary,
        "keywords": list(keywords.values()),
        "notes": list(_notes(item)),
        "urls": [item.link] if item.link else [],
    }
    return {name: _lines(value) for name, value in fields.items() if value}


def _notes(item: Item) -> Iterable[str]:
    trial = item.trial
    facts = {
        "Status": trial.status and display(trial.status),
        "Phase": "/".join(sorted(map(display, trial.phases))),
        "Enrollment": trial.enrollment and str(trial.enrollment.count),
        "Other ids": ", ".join(trial.aliases),
        "Rank": item.rank and str(item.rank),
        "Why": item.reason,
    }
    return (f"{name}: {value}" for name, value in facts.items() if value)


def _year(date: PartialDate | None) -> str | None:
    return date.value[:4] if date and date.value else None


def _lines(value: str | list[str]) -> str | list[str]:
    return _line(value) if isinstance(value, str) else [_line(one) for one in value]


def _line(text: str) -> str:
    """A field is one line."""
    return " ".join(text.split())
