"""Choose the format of an export and write it; the file appears when it is complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import Errors, error
from ...files import replaced_file, writing
from ...readers.write import write_trials
from ...stopping import go_on
from ...trial import Trial
from ..hit import Hit
from . import excel
from .columns import (
    COLUMNS,
    COSINE,
    TRIAL_COLUMNS,
    Item,
    Row,
    address,
    check_link,
    choose,
    row,
)
from .ris import write_ris
from .tables import write_csv, write_jsonl

FORMATS = ("csv", "jsonl", "xlsx", "ris", "records")
_SHOWN = 5


@dataclass(frozen=True)
class Export:
    """What was written. cut: (row of the sheet, column) of cells too long for Excel."""

    path: Path
    format: str
    rows: int
    cut: tuple[tuple[int, str], ...] = ()

    def lines(self) -> list[str]:
        """The report to read."""
        said = [f"{self.rows} trials in {self.path}"]
        if self.cut:
            shown = ", ".join(f"{name} in row {n}" for n, name in self.cut[:_SHOWN])
            more = f" and {len(self.cut) - _SHOWN} more" * (len(self.cut) > _SHOWN)
            said.append(
                f"Cut to {excel.LONGEST} characters, a full cell: {shown}{more}"
            )
        return said


def export_hits(
    hits: Sequence[Hit],
    path: Path | str,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    reasons: Sequence[str | None] | None = None,
    link: str | None = None,
    bom: bool = False,
) -> Export:
    """Write results of a search, in their order.

    columns: of COLUMNS, in this order; by default all, of the cosines those that a hit
        has.
    reasons: one line a hit, why it was found; by default its cosines in words.
    And as `export_trials`.
    """
    found = {COSINE + label for hit in hits for label in hit.why}
    default = [n for n in COLUMNS if not n.startswith(COSINE) or n in found]
    lines = reasons if reasons is not None else [_in_words(hit) for hit in hits]
    items = (
        Item(hit.trial, hit.rank, hit.score, hit.why, line)
        for hit, line in zip(hits, lines, strict=True)
    )
    return _write(items, path, format, choose(columns, default), link, bom)


def export_trials(
    trials: Iterable[Trial],
    path: Path | str,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    link: str | None = None,
    bom: bool = False,
) -> Export:
    """Write trials as they come; none is held.

    format: "csv"; "jsonl", one object of the columns a line; "xlsx"; "ris"; or
        "records", whole records as JSON lines that all commands read. By default what
        the name of the file ends in, and "records" for .jsonl.gz.
    columns: of COLUMNS, in this order; by default TRIAL_COLUMNS. RIS and records have
        fields of their own.
    link: address of a record, with {nct_id} where its id goes; by default that of the
        registry, for NCT ids.
    bom: begin CSV with the mark by which Excel knows UTF-8.
    RAISES (T010): not writable, or more rows than Excel takes. (T181): no such format.
    (T182): no such column. (T183): a library is missing. (T184): no link.
    """
    items = (Item(trial) for trial in trials)
    return _write(items, path, format, choose(columns, TRIAL_COLUMNS), link, bom)


def format_of(path: Path, format: str | None) -> str:
    """RAISES (T181): no such format."""
    name = path.name.lower()
    ending = "records" if name.endswith(".jsonl.gz") else name.rpartition(".")[2]
    chosen = format or ending
    if chosen not in FORMATS:
        known = ", ".join(FORMATS)
        raise error(Errors.T181, path=path, value=chosen, known=known)
    return chosen


def _write(
    items: Iterable[Item],
    path: Path | str,
    format: str | None,
    names: Sequence[str],
    template: str | None,
    bom: bool,
) -> Export:
    path = Path(path)
    format = format_of(path, format)
    check_link(template)
    counted = _Counted(items, template)
    rows = (row(item, names) for item in counted)
    if format == "records":
        write_trials(path, (item.trial for item in counted))
        return Export(path, format, counted.n)
    cut: tuple[tuple[int, str], ...] = ()
    with writing(path), replaced_file(path) as new:
        if format == "xlsx":
            cut = tuple(
                excel.write_excel(new, names, _at_most(excel.MOST_ROWS, rows, path))
            )
        else:
            encoding = "utf-8-sig" if bom and format == "csv" else "utf8"
            with new.open("w", encoding=encoding, errors="replace", newline="") as file:
                if format == "ris":
                    write_ris(file, counted)
                elif format == "csv":
                    write_csv(file, names, rows)
                else:
                    write_jsonl(file, names, rows)
    return Export(path, format, counted.n, cut)


class _Counted:
    """Items with their links. n (int): How many have gone by."""

    def __init__(self, items: Iterable[Item], template: str | None) -> None:
        self.n = 0
        self._items, self._template = items, template

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            go_on()
            self.n += 1
            yield replace(item, link=address(self._template, item.trial.nct_id))


def _at_most(number: int, rows: Iterable[Row], path: Path) -> Iterator[Row]:
    """RAISES (T010): there are more."""
    for count, one in enumerate(rows, start=1):
        if count > number:
            reason = f"a sheet of Excel has {number} rows; CSV has any number"
            raise error(Errors.T010, path=path, reason=reason)
        yield one


def _in_words(hit: Hit) -> str | None:
    said = (f"{label} {cosine:.2f}" for label, cosine in hit.why.items())
    return ", ".join(said) or None
