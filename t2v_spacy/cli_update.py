"""The commands `t2v add`, `t2v remove`, `t2v update`: change an index that is there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from .errors import Errors, error
from .readers import ReadReport, read_trials

Index = Annotated[Path, typer.Argument(help="Folder of the index.")]
Source = Annotated[Path, typer.Argument(help="File, archive or folder of records.")]
Format = Annotated[
    str | None, typer.Option(help="Format of the records; detected by default.")
]
Model = Annotated[
    str | None,
    typer.Option(help="Pipeline that encodes; by default the one of the index."),
]
Precision = Annotated[
    str | None,
    typer.Option(help="Number format of the encoder: auto, float32, bf16, int8."),
]
Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="Merge all changes and build the trees anew.")
]
Above = Annotated[
    float,
    typer.Option(
        help="Share of the trials that may be changed before the index is rebuilt.",
        min=0,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")]


def add(
    index: Index,
    source: Source,
    model: Model = None,
    format: Format = None,
    precision: Precision = None,
    rebuild_above: Above = 0.1,
    as_json: Json = False,
) -> None:
    """Add records to an index; newer ones take the place of those that are there."""
    settings = {"rebuild_above": rebuild_above}
    _update(index, source, model, format, precision, as_json, settings)


def update(
    index: Index,
    source: Source,
    model: Model = None,
    format: Format = None,
    precision: Precision = None,
    remove_missing: Annotated[
        bool,
        typer.Option("--remove-missing", help="Remove trials that the source lacks."),
    ] = False,
    max_missing: Annotated[
        float,
        typer.Option(help="Share of the index that the source may lack.", min=0, max=1),
    ] = 0.5,
    rebuild: Rebuild = False,
    rebuild_above: Above = 0.1,
    as_json: Json = False,
) -> None:
    """Bring an index up to date with a newer download. Only what is new or changed is
    encoded; a run that was stopped goes on where it was."""
    settings = {
        "remove_missing": remove_missing,
        "max_missing": max_missing,
        "rebuild_above": 0 if rebuild else rebuild_above,
        "meta": {"source": source.name},
    }
    _update(index, source, model, format, precision, as_json, settings, rebuild)


def remove(
    index: Index,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of trials.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="Text file with one id a line; # is a remark.")
    ] = None,
    rebuild: Rebuild = False,
    rebuild_above: Above = 0.1,
    as_json: Json = False,
) -> None:
    """Remove trials from an index. Ids that are not there are said."""
    from .search import TrialIndex
    from .search.update import not_there

    asked = dict.fromkeys([*(ids or ()), *(_read_ids(file) if file else ())])
    if not asked:
        reason = "give ids, or a file that has some"
        raise error(Errors.T026, setting="ID", value="(none)", reason=reason)
    opened = TrialIndex.from_disk(index, verify=False)
    absent = [nct_id for nct_id in asked if nct_id not in opened]
    if len(absent) == len(asked):
        raise not_there(absent, index)
    if absent:
        _say(str(not_there(absent, index)))
    removed = opened.remove(nct_id for nct_id in asked if nct_id not in absent)
    saved = opened.save_changes(rebuild_above=0 if rebuild else rebuild_above)
    _say(f"{removed} removed; {len(opened)} trials in {index}")
    if as_json:
        counts = {"removed": removed, "absent": len(absent), "saved": saved}
        typer.echo(srsly.json_dumps(counts, indent=2))


def _update(
    index: Path,
    source: Path,
    model: str | None,
    format: str | None,
    precision: str | None,
    as_json: bool,
    settings: dict[str, Any],
    rebuild: bool = False,
) -> None:
    from .cli import load_pipeline
    from .search import TrialIndex
    from .search.update import update_index

    before = TrialIndex.from_disk(index, verify=False).meta
    linked = before.get("kb") is not None
    nlp = load_pipeline(model or before.get("pipeline"), precision, linked)
    counts = ReadReport()
    trials = read_trials(source, format=format, report=counts)
    found = update_index(nlp, trials, index, report=counts, **settings)
    opened = TrialIndex.from_disk(index, verify=False)
    if rebuild and "changes" in opened.meta:  # of earlier runs
        opened.to_disk(index)
        found.saved = "rebuilt"
    counts.written = found.new + found.changed + found.record_only
    _say(*counts.lines(), f"{found.line()}; {len(opened)} trials in {index}")
    if as_json:
        typer.echo(srsly.json_dumps(found.to_dict(), indent=2))


def _read_ids(path: Path) -> Iterable[str]:
    if not path.is_file():
        raise error(Errors.T001, path=path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as err:
        reason = "it is no text in UTF-8"
        raise error(Errors.T006, path=path, reason=reason) from err
    return [word for line in lines if (word := line.split("#")[0].strip())]


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line, err=True)
