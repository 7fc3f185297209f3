"""The command `t2v compare`: trials side by side, and what makes them alike."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from .errors import Errors, error
from .load import load_nlp
from .readers import read_trials
from .readers.detect import UnknownFormat
from .readers.source import decode
from .trial import Trial

if TYPE_CHECKING:
    from spacy.language import Language

    from .search.compare import Comparison, Row
    from .search.trial_index import TrialIndex

_LABEL = 20  # columns of the names of rows
_NARROWEST = 24  # a narrower column is not readable: then one trial below the other
_WIDE = 120  # where there is no terminal
_SHOWN = 5  # conditions and interventions that are named


def compare(
    trials: Annotated[
        list[str],
        typer.Argument(help="2 to 5 NCT ids of the index, or files: records, drafts."),
    ],
    index: Annotated[Path | None, typer.Option(help="Folder of the index.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Pipeline that compares criteria; default: their words."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON for programs.")
    ] = False,
) -> None:
    """Put trials side by side: the first, and what each other has in common with it."""
    from .search import TrialIndex
    from .search.compare import compare as compare_trials

    opened = TrialIndex.from_disk(index, verify=False) if index else None
    read = [_read(name, opened) for name in trials]
    nlp = load_nlp(model) if model else None
    found = compare_trials(
        read,
        names=_names(trials, read),
        nlp=nlp,
        cosines=list(_cosines(read, opened, nlp)),
    )
    if html:
        _write_page(html, found)
    if as_json:
        typer.echo(srsly.json_dumps(found.to_dict(), indent=2))
    elif not html:
        width = shutil.get_terminal_size((_WIDE, 24)).columns
        typer.echo("\n".join(comparison_lines(found, width)))


def _read(name: str, index: TrialIndex | None) -> Trial:
    """A record of the index, or that of a file. RAISES (T178, T179, T043)."""
    from .search.query_ids import is_id

    path = Path(name)
    if index is not None and (name in index or (is_id(name) and not path.exists())):
        return index[name]
    if is_id(name) and not path.exists():
        raise error(Errors.T178, name=name)
    if path.is_dir():
        raise error(Errors.T179, path=path, reason="it is a folder")
    return _read_file(path)


def _read_file(path: Path) -> Trial:
    from .trial_text import parse_trial

    try:
        trial = next(iter(read_trials(path)), None)
    except UnknownFormat as err:
        if err.code != Errors.T002[0] and not err.reason.startswith("text "):
            raise error(Errors.T179, path=path, reason=f"it is {err.reason}") from err
        text = decode(path.read_bytes())
        if not any(map(str.isalnum, text)):
            raise error(Errors.T179, path=path, reason="it has no words") from err
        return parse_trial(text)
    if trial is None:
        raise error(Errors.T179, path=path, reason="no record in it can be read")
    return trial


def _names(given: Sequence[str], trials: Sequence[Trial]) -> list[str]:
    return [
        trial.nct_id or Path(name).name
        for name, trial in zip(given, trials, strict=True)
    ]


def _cosines(
    trials: Sequence[Trial], index: TrialIndex | None, nlp: Language | None
) -> Iterator[Mapping[str, float]]:
    """Of each but the first, for the sections that both have a vector of."""
    vectors = [_vectors(trial, index, nlp) for trial in trials]
    for other in vectors[1:]:
        labels = vectors[0].keys() & other.keys()
        yield {label: float(vectors[0][label] @ other[label]) for label in labels}


def _vectors(
    trial: Trial, index: TrialIndex | None, nlp: Language | None
) -> Mapping[str, Any]:
    from .doc import make_trial_doc
    from .search.fingerprint import warn_if_other
    from .search.query import extension
    from .search.vectors import unit

    if index is not None and trial.nct_id in index and index[trial.nct_id] == trial:
        return index.section_vectors(trial.nct_id)
    if nlp is None:
        return {}
    if index is not None:
        warn_if_other(nlp, index.meta)
    doc = nlp(make_trial_doc(nlp, trial))
    found = extension(doc, "section_vectors") or {}
    return {label: unit(vector) for label, vector in found.items() if vector.any()}


def _write_page(path: Path, found: Comparison) -> None:
    from .compare_page import comparison_page
    from .files import replaced_file, writing

    with writing(path), replaced_file(path) as new:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(comparison_page(found), encoding="utf8")
    typer.echo(f"{len(found.trials)} trials in {path}", err=True)


def comparison_lines(found: Comparison, width: int = _WIDE) -> Iterator[str]:
    """A comparison as plain text, in columns where these are wide enough.

    A value that differs from that of the first trial has "≠" before it, one that
    agrees "=".
    """
    rows: list[tuple[str, list[str]]] = [("", list(found.names))]
    for label, values in _heads(found):
        rows.append((label, values))
    for row in found.facts:
        pairs = zip(row.values, row.agree, strict=True)
        rows.append(
            (row.name, [f"{_SIGN[agree]}{value or '-'}" for value, agree in pairs])
        )
    yield from _table(rows, found.names, width)
    for name, reasons in zip(found.names[1:], found.reasons, strict=True):
        yield ""
        yield from textwrap.wrap(
            plain(f"{name}: {reasons.line() or 'nothing in common'}"), width
        )
    for kind in ("inclusion", "exclusion", "unspecified"):
        of_kind = [row for row in found.criteria if row.kind == kind]
        alike = [row for row in of_kind if row.shared]
        if not of_kind:
            continue
        yield ""
        heading = "Criteria" if kind == "unspecified" else f"{kind.title()} criteria"
        counts = f"{len(alike)} alike, {len(of_kind) - len(alike)} in one alone"
        yield from textwrap.wrap(f"{heading}: {counts}", width)
        yield from _table(
            [(f"{i}.", _cells(row)) for i, row in enumerate(alike, 1)],
            found.names,
            width,
        )


_SIGN = {None: "", True: "= ", False: "≠ "}


def _heads(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    from .search.compare import title_of

    yield "title", [title_of(trial) or "-" for trial in found.trials]
    yield "conditions", [_listed(trial.conditions) for trial in found.trials]
    interventions = [[i.name for i in trial.interventions] for trial in found.trials]
    yield "interventions", [_listed(names) for names in interventions]


def _listed(names: Sequence[str]) -> str:
    more = f" +{len(names) - _SHOWN}" if len(names) > _SHOWN else ""
    return "; ".join(names[:_SHOWN]) + more or "-"


def _cells(row: Row) -> list[str]:
    first, *others = row.cells
    shown = [first.text if first else "-"]
    for cell in others:
        differs = cell is not None and (cell.differences or _alone(row))
        shown.append(f"{'≠ ' if differs else ''}{cell.text}" if cell else "-")
    return shown


def _alone(row: Row) -> bool:
    """Whether a number of the first stands in no other; of two trials that is sure."""
    return len(row.cells) == 2 and bool(row.cells[0] and row.cells[0].differences)


def _table(
    rows: Sequence[tuple[str, list[str]]], names: Sequence[str], width: int
) -> Iterator[str]:
    column = (width - _LABEL) // len(names) - 2
    for label, cells in rows:
        if column < _NARROWEST:
            yield from _stacked(label, cells, names, width)
            continue
        wrapped = [textwrap.wrap(plain(cell), column) or [""] for cell in cells]
        for line in range(max(map(len, wrapped))):
            parts = [part[line] if line < len(part) else "" for part in wrapped]
            start = label if line == 0 else ""
            padded = "  ".join(part.ljust(column) for part in parts)
            yield f"{start:<{_LABEL}}{padded}".rstrip()


def _stacked(
    label: str, cells: Sequence[str], names: Sequence[str], width: int
) -> Iterator[str]:
    if not label:
        return
    yield label
    for name, cell in zip(names, cells, strict=True):
        yield from textwrap.wrap(
            plain(f"{name}: {cell}"),
            max(width, _NARROWEST),
            initial_indent="  ",
            subsequent_indent="    ",
        )


def plain(text: str) -> str:
    """Without characters that move the cursor or turn the text round: it comes from
    strangers."""
    return "".join(char if char.isprintable() else " " for char in text)
