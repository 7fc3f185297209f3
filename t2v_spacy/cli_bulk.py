"""The commands `t2v neighbors`, `t2v duplicates` and `t2v export`: all of an index."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import wasabi

from .cli_filters import filter_lines, with_filters
from .errors import Errors, error

if TYPE_CHECKING:
    from .search import TrialIndex
    from .search.duplicates import Pair

_SHOWN = 5
_FACTS = 60  # characters of a row of the table before its two texts
IndexFolder = Annotated[Path, typer.Argument(help="Folder of the index.")]
IdFile = Annotated[
    Path | None, typer.Option(help="File with an id or alias a line: these only.")
]


class TableFormat(StrEnum):
    table = "table"
    csv = "csv"
    jsonl = "jsonl"


class Kind(StrEnum):
    """duplicates.KINDS, which is not imported before it is needed."""

    duplicate = "duplicate"
    reregistration = "re-registration"
    extension = "extension"
    sister = "sister"


@with_filters
def neighbors(
    index: IndexFolder,
    out: Annotated[Path, typer.Argument(help="File to write: .jsonl or .csv.")],
    k: Annotated[int, typer.Option("-k", "--k", help="Neighbours of each trial.")] = 10,
    format: Annotated[
        str | None, typer.Option(help="jsonl or csv; by the file's name by default.")
    ] = None,
    ids: IdFile = None,
    batch: Annotated[
        int, typer.Option(help="Trials asked about at a time, and between two saves.")
    ] = 1024,
    filters: Any = None,
) -> None:
    """Write the k nearest of every trial. A run that was stopped goes on where it was
    when the same command is given again. Filters are of the trials to find."""
    from .search import TrialIndex
    from .search.neighbor_file import write_neighbors

    opened = TrialIndex.from_disk(index, verify=False)
    asked = read_ids(opened, ids) if ids else None
    _say(*filter_lines(opened, filters))
    with _progress("trials") as progress:
        n = write_neighbors(
            opened,
            out,
            k,
            format=format,
            filters=filters,
            ids=asked,
            batch=batch,
            progress=progress,
        )
    _say(f"Neighbours of {n} trials in {out}")


def duplicates(
    index: IndexFolder,
    format: Annotated[
        TableFormat, typer.Option(help="How to write the pairs.")
    ] = TableFormat.table,
    out: Annotated[
        Path | None, typer.Option(help="Write them to this file, not to the screen.")
    ] = None,
    kind: Annotated[
        list[Kind] | None, typer.Option(help="Only this kind of pair; repeatable.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", "--k", help="Neighbours that each is compared with.")
    ] = 10,
) -> None:
    """Find records that are probably one study registered twice, an extension of one
    another, or sister studies."""
    from .files import replaced_file, writing
    from .search import TrialIndex
    from .search.duplicates import KINDS, find_duplicates, same_study_groups

    kinds = [one.value for one in kind] if kind else KINDS
    opened = TrialIndex.from_disk(index, verify=False)
    with _progress("trials") as progress:
        pairs = find_duplicates(opened, k=k, kinds=kinds, progress=progress)
    text = _FORMS[format](pairs)
    if out:
        with writing(out), replaced_file(out) as new:
            new.write_text(text, encoding="utf8", errors="replace", newline="")
    else:
        sys.stdout.write(text)
    counts = [(name, sum(pair.kind == name for pair in pairs)) for name in KINDS]
    _say(", ".join(f"{n} {name}" for name, n in counts if n) or "No pair was found.")
    groups = same_study_groups(pairs)
    _say(*(f"One study: {', '.join(group)}" for group in groups if len(group) > 2))


@with_filters
def export(
    index: IndexFolder,
    out: Annotated[
        Path, typer.Argument(help="File to write: .csv, .jsonl, .xlsx or .ris.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, jsonl, xlsx, ris, or records (whole records as JSON lines); by "
            "the file's name by default."
        ),
    ] = None,
    ids: IdFile = None,
    column: Annotated[
        list[str] | None, typer.Option(help="Only this column; repeatable.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Address of a record, with {nct_id} where its id goes."),
    ] = None,
    bom: Annotated[
        bool, typer.Option(help="Mark CSV as UTF-8, which Excel asks for.")
    ] = False,
    filters: Any = None,
) -> None:
    """Write the trials of an index, all or those that pass filters, for a spreadsheet,
    a reference manager or another program."""
    from .search import TrialIndex
    from .search.export import export_trials

    opened = TrialIndex.from_disk(index, verify=False)
    chosen = opened.passing(filters)
    if ids:
        passing = set(chosen)
        chosen = [one for one in read_ids(opened, ids) if one in passing]
    _say(*filter_lines(opened, filters))
    with _progress("trials") as progress:
        trials = _read(opened, chosen, progress)
        written = export_trials(
            trials, out, format=format, columns=column, link=link, bom=bom
        )
    _say(*written.lines())


def read_ids(index: TrialIndex, path: Path) -> list[str]:
    """Main ids of the trials that a file names, in its order, each once: by the first
    word of each line. Those that are not in the index are said and left out.

    RAISES (T001): no such file. (T189): it names none.
    """
    if not path.is_file():
        raise error(Errors.T001, path=path)
    lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    words = (re.split(r"[\s,;]", line.strip().strip('"'))[0] for line in lines)
    # A word without a digit is the heading of a column.
    named = list(dict.fromkeys(w.strip('"') for w in words if re.search(r"\d", w)))
    known = [one for one in named if one in index]
    lost = [one for one in named if one not in index]
    if not known:
        reason = f"none of {len(named)} is in it" if named else "no line has one"
        raise error(Errors.T189, path=path, reason=reason)
    if lost:
        more = f" and {len(lost) - _SHOWN} more" * (len(lost) > _SHOWN)
        _say(f"Not in the index: {', '.join(lost[:_SHOWN])}{more}")
    return list(dict.fromkeys(index[one].nct_id for one in known))


def _read(
    index: TrialIndex, ids: Sequence[str], progress: Callable[[int, int], None]
) -> Iterator[Any]:
    for done, nct_id in enumerate(ids, start=1):
        yield index[nct_id]
        progress(done, len(ids))


def _table(pairs: Sequence[Pair]) -> str:
    if not pairs:
        return ""
    room = max(40, shutil.get_terminal_size((160, 24)).columns - _FACTS) // 2
    rows = [
        (
            p.first,
            p.second,
            p.kind,
            f"{p.score:.2f}",
            *(_shorten(t, room) for t in texts),
        )
        for p in pairs
        for texts in [(p.titles[1] or p.titles[0] or "-", "; ".join(p.evidence))]
    ]
    header = ("First", "Second", "Kind", "Score", "Title of the second", "Why")
    return (
        wasabi.table(rows, header=header, divider=True, max_col=room).strip("\n") + "\n"
    )


def _shorten(text: str, room: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _csv(pairs: Sequence[Pair]) -> str:
    from .search.export.tables import write_csv

    names = ("first", "second", "kind", "score", "first_title", "second_title", "why")
    text = io.StringIO(newline="")
    write_csv(text, names, (dict(zip(names, _cells(p), strict=True)) for p in pairs))
    return text.getvalue()


def _cells(pair: Pair) -> tuple[Any, ...]:
    score = round(pair.score, 3)
    return pair.first, pair.second, pair.kind, score, *pair.titles, pair.evidence


def _jsonl(pairs: Sequence[Pair]) -> str:
    lines = (json.dumps(pair.to_dict(), ensure_ascii=False) for pair in pairs)
    return "".join(f"{line}\n" for line in lines)


_FORMS: dict[TableFormat, Callable[[Sequence[Pair]], str]] = {
    TableFormat.table: _table,
    TableFormat.csv: _csv,
    TableFormat.jsonl: _jsonl,
}


@contextmanager
def _progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, if that is a screen."""
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", disable=None) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line, err=True)
