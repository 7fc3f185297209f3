"""ClinicalTrials.gov table exports: CSV and TSV, headers before and after 2023."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from ..sections.text import clean_line, clean_text, unescape_markdown
from ..trial import Enrollment, Intervention, Outcome, Trial
from ..values import (
    PartialDate,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
    split_type,
)
from .report import ReadReport
from .rows import read_header, read_rows
from .source import Source
from .terms import parse_class, read_design_text, read_id, split_location

FORMAT = "ctgov-csv"
_ID = "nct number"
_RESULTS = {"has results": True, "no results available": False}
# The registry's own limits of its age groups, in years.
_GROUPS = {"child": (None, 17.0), "adult": (18.0, 64.0), "older adult": (65.0, None)}
_NUMERIC = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})")
# Rows looked at to learn how a file writes its dates.
_SAMPLE = 500
_AGES = re.compile(
    r"(?:(?P<low>\d[\w. ]*?) (?:to (?P<high>\d.*)|and older))|up to (?P<top>\d.*)", re.I
)


def sniff(head: bytes, name: str) -> bool:
    """Whether the header has the export's id column."""
    return _ID in map(_key, read_header(head))


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of one export; unknown columns are passed over."""
    rows = read_rows(source, report)
    first = list(islice(rows, _SAMPLE))
    order = _date_order(cell for _, cells in first for cell in cells.values())
    for where, cells in chain(first, rows):
        row = {_key(name): cell for name, cell in cells.items()}
        if _ID not in row:
            report.refuse(source.name, "line 1", "there is no column 'NCT Number'")
            return
        nct_id, reason = read_id(row[_ID])
        if reason:
            report.refuse(source.name, where, reason)
        else:
            yield _trial(nct_id, row, order)


def _key(name: str) -> str:
    return name.strip().lower().replace("_", " ")


def _date_order(cells: Iterable[str]) -> str | None:
    """ "dmy" or "mdy" if the numeric dates of a file prove it, else None.

    Spreadsheet programs rewrite all dates in one local order, so that a day past the
    12th tells how to read the others.
    """
    dates = [match for cell in cells if (match := _NUMERIC.fullmatch(cell.strip()))]
    orders = {"dmy" for date in dates if int(date[1]) > 12}
    orders |= {"mdy" for date in dates if int(date[2]) > 12}
    return orders.pop() if len(orders) == 1 else None


def _date(cell: str | None, order: str | None) -> PartialDate | None:
    match = _NUMERIC.fullmatch((cell or "").strip())
    if not match or not order:
        return parse_date(cell)
    day, month = (match[1], match[2]) if order == "dmy" else (match[2], match[1])
    return parse_date(f"{match[3]}-{month}-{day}")


def _trial(nct_id: str, row: dict[str, str], order: str | None) -> Trial:
    if "study title" in row:
        # The exports of the present site carry its markdown escapes.
        row = {name: unescape_markdown(cell) or "" for name, cell in row.items()}
    get = row.get
    sponsors = _list(get("sponsor")) or _list(get("sponsor/collaborators"))
    collaborators = sponsors[1:] + _list(get("collaborators"))
    classes = _list(get("funder type") or get("funded bys"))
    other_ids = _list(get("other ids"))
    count = parse_count(get("enrollment"))
    min_age, max_age = _age_limits(get("age"))
    results = (get("study results") or "").strip().lower()
    places = (split_location(place) for place in _list(get("locations")))
    return Trial(
        nct_id=nct_id,
        org_study_id=other_ids[0] if other_ids else None,
        title=clean_line(get("study title") or get("title")),
        acronym=clean_line(get("acronym")),
        brief_summary=clean_text(get("brief summary")),
        conditions=_list(get("conditions")),
        interventions=tuple(_interventions(get("interventions"))),
        outcomes=tuple(_outcomes(row)),
        sex=parse_sex(get("sex") or get("gender")),
        min_age=min_age,
        max_age=max_age,
        phases=parse_phases(_list(get("phases"))),
        study_type=parse_study_type(get("study type")),
        design=read_design_text(get("study design") or get("study designs")),
        status=parse_status(get("study status") or get("status")),
        start_date=_date(get("start date"), order),
        primary_completion_date=_date(get("primary completion date"), order),
        completion_date=_date(get("completion date"), order),
        first_posted=_date(get("first posted"), order),
        last_updated=_date(get("last update posted"), order),
        enrollment=None if count is None else Enrollment(count),
        sponsor=sponsors[0] if sponsors else None,
        sponsor_class=parse_class(classes[0]) if classes else None,
        collaborators=collaborators,
        locations=tuple(place for place in places if place),
        has_results=_RESULTS.get(results, parse_bool(results)),
        source=FORMAT,
    )


def _list(cell: str | None) -> tuple[str, ...]:
    items = (cell or "").split("|")
    return tuple(line for item in items if (line := clean_line(item)))


def _interventions(cell: str | None) -> Iterator[Intervention]:
    """Each item starts with its type, so one that does not is the rest of a name that
    holds a bar."""
    items: list[tuple[str | None, str]] = []
    for text in _list(cell):
        kind, name = split_type(text)
        if kind or not items:
            items.append((kind, name))
        else:
            items[-1] = (items[-1][0], f"{items[-1][1]}|{name}")
    for kind, name in items:
        yield Intervention(name, kind)


def _outcomes(row: Mapping[str, str]) -> Iterator[Outcome]:
    """The present site joins measure, description and time frame by a comma, which all
    three may hold: they stay together as the measure. The former site mixed the roles,
    and Outcome's default stands."""
    for measure in _list(row.get("outcome measures")):
        yield Outcome(measure)
    for role in ("primary", "secondary", "other"):
        for measure in _list(row.get(f"{role} outcome measures")):
            yield Outcome(measure, role)


def _age_limits(cell: str | None) -> tuple[float | None, float | None]:
    """Limits in years of "18 Years to 65 Years (Adult, …)", or of the groups alone."""
    text = " ".join((cell or "").split())
    if match := _AGES.match(text):
        return parse_age(match["low"]), parse_age(match["high"] or match["top"])
    names = [part.strip() for part in text.lower().replace("_", " ").split(",")]
    groups = [_GROUPS[name] for name in names if name in _GROUPS]
    if not groups:
        return None, None
    lows = [low for low, _ in groups]
    highs = [high for _, high in groups]
    return (
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )
