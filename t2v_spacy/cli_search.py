"""The command `t2v search`: what to search with, and the results as a table or JSON."""

from __future__ import annotations

import inspect
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer
import wasabi

from .cli_filters import filter_lines, with_filters
from .errors import Errors, error
from .readers import read_trials
from .readers.detect import UnknownFormat
from .readers.source import decode
from .trial import Trial
from .values import display

if TYPE_CHECKING:
    from .search import Composed
    from .search.hit import Hit

_PANEL = "Search by texts of parts (several are one query)"
# Option -> label of the section, help.
_PARTS = {
    "title": ("title", "Title of the trial."),
    "condition": ("condition", "Condition; a semicolon parts several."),
    "intervention": ("intervention", "Drug, device and so on; likewise."),
    "outcome": ("outcome", "What is measured; likewise."),
    "keyword": ("keyword", "Keywords; likewise."),
    "summary": ("summary", "Summary or objectives."),
    "description": ("description", "Detailed description."),
    "criteria": ("eligibility", "Eligibility criteria, with or without headings."),
    "inclusion": ("inclusion", "Inclusion criteria."),
    "exclusion": ("exclusion", "Exclusion criteria."),
}
# A word that ends so is the name of a file.
_FILES = (
    *(".txt", ".md", ".docx", ".doc", ".odt", ".pdf", ".rtf", ".html", ".htm"),
    *(".json", ".jsonl", ".xml", ".csv", ".tsv", ".gz", ".zip"),
)


def with_parts(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for the text of each part; it gets label -> text of
    those that were given as its argument `texts`."""

    @wraps(command)
    def with_options(**values: Any) -> None:
        given = {label: values.pop(name) for name, (label, _) in _PARTS.items()}
        command(**values, texts={k: v for k, v in given.items() if v is not None})

    own = inspect.signature(command, eval_str=True)
    kept = [p for p in own.parameters.values() if p.name != "texts"]
    parameters = [*kept, *map(_parameter, _PARTS)]
    # What typer reads instead of the function.
    with_options.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_options


def _parameter(name: str) -> inspect.Parameter:
    info = typer.Option(f"--{name}", help=_PARTS[name][1], rich_help_panel=_PANEL)
    annotation = Annotated[str | None, info]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


@with_filters
@with_parts
def search(
    index: Annotated[Path, typer.Argument(help="Folder of the index.")],
    query: Annotated[
        str | None,
        typer.Argument(
            help="Text, or ids of indexed trials; '-' reads a text from standard input."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Draft (.txt, .md, .docx, .pdf) or record to search with."),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(help="Id, file or text to be like as well; repeatable."),
    ] = None,
    unlike: Annotated[
        list[str] | None,
        typer.Option(help="Id, file or text to be unlike; repeatable."),
    ] = None,
    unlike_weight: Annotated[
        float | None,
        typer.Option(
            help="How much of what is in common with these is taken away, 0 to 1; 0.75 "
            "by default."
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(help="How much a part counts, as condition=2; repeatable."),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Search by this section of the query only; repeatable."),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            help="Compare with whole trials (trial) or same sections (section)."
        ),
    ] = "trial",
    k: Annotated[int, typer.Option("-k", "--k", help="Number of results.")] = 10,
    exact: Annotated[bool, typer.Option(help="Compare with every trial.")] = False,
    hybrid: Annotated[
        bool, typer.Option(help="Order by words (BM25) as well as by vectors.")
    ] = False,
    reasons: Annotated[bool, typer.Option(help="Say why each trial was found.")] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the results to .csv, .xlsx, .ris or .jsonl, too."),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Address of a record in an export, with {nct_id} in it."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Pipeline that encodes: an installed name or a path."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    texts: Any = None,
    filters: Any = None,
) -> None:
    """Find the trials that resemble a text, a draft, a record, an indexed trial, or
    several of these."""
    from .search import TrialIndex
    from .search.export import export_hits
    from .search.export.columns import check_link
    from .search.export.write import format_of
    from .search.query import needs_pipeline
    from .search.reasons import explain_hits

    if export is not None:  # before minutes are spent on a search
        format_of(export, None)
        check_link(link)
    opened = TrialIndex.from_disk(index, verify=False)
    weights = read_weights(weight or ())
    parts: Any = read_parts(part or (), weights, texts)
    given: list[str | Trial] = [read_text(query)] if query is not None else []
    given += [read_file(file)] if file is not None else []
    given += map(read_given, like or ())
    others = [read_given(one) for one in unlike or ()]
    asked = compose(given, others, texts, {} if parts else weights, unlike_weight)
    if needs_pipeline(opened, asked):
        from .cli import load_pipeline

        opened.nlp = load_pipeline(model or opened.meta.get("pipeline"))
    hits = opened.search(
        asked,
        k,
        parts=parts,
        against=against,
        exact=exact,
        filters=filters,
        hybrid=hybrid,
    )
    why = explain_hits(opened, asked, hits) if reasons else []
    lines = [one.line() or None for one in why] or [None] * len(hits)
    for line in filter_lines(opened, filters, hits, against):
        typer.echo(line, err=True)
    if json:
        rows = [{**hit.to_dict(), **facts(hit.trial)} for hit in hits]
        for row, one in zip(rows, why, strict=False):
            row["reasons"] = one.to_dict()
        typer.echo(srsly.json_dumps(rows, indent=2))
    else:
        typer.echo(table(hits, lines))
    if export is not None:
        for line in export_hits(hits, export, reasons=lines, link=link).lines():
            typer.echo(line, err=True)


# what to search with


def compose(
    given: Sequence[str | Trial],
    unlike: Sequence[str | Trial],
    texts: Mapping[str, str],
    weights: Mapping[str, float],
    unlike_weight: float | None = None,
) -> str | Trial | Composed:
    """One query of all. RAISES (T026): a weight that is not 0 to 1. (T028): nothing to
    search with. (T173): only what it is to be unlike. (T175): a weight of nothing."""
    if not (given or texts or unlike):
        raise error(Errors.T028)
    if unlike_weight is not None and not unlike:
        first, second = "--unlike-weight", "no --unlike"
        reason = "it is the weight of what is unlike"
        raise error(Errors.T175, first=first, second=second, reason=reason)
    if len(given) == 1 and not (texts or unlike or weights):
        return given[0]
    from .search import Composed

    found = Composed(texts, weights, like=given, unlike=unlike)
    if unlike_weight is None:
        return found
    return replace(found, unlike_weight=unlike_weight)


def read_weights(given: Sequence[str]) -> dict[str, float]:
    """ "condition=2" -> {"condition": 2.0}. RAISES (T008): unknown part. (T174): no
    weight."""
    from .search.composed import check_weights

    weights: dict[str, Any] = {}
    for pair in given:
        name, _, value = (part.strip() for part in pair.partition("="))
        label = _PARTS.get(name, (name,))[0]
        try:
            weights[label] = float(value)
        except ValueError as err:
            raise error(Errors.T174, label=name, value=value) from err
    check_weights(weights)
    return weights


def read_parts(
    part: Sequence[str], weights: Mapping[str, float], texts: Mapping[str, str]
) -> Sequence[str] | Mapping[str, float] | None:
    """Parts to search by, with their weights. RAISES (T175): texts of parts are given
    too, or a weight of another part."""
    if not part:
        return None
    if texts:
        first, second = "--part", _option(next(iter(texts)))
        reason = "one chooses among the sections of a query, the other is one"
        raise error(Errors.T175, first=first, second=second, reason=reason)
    labels = [_PARTS.get(name, (name,))[0] for name in part]
    if other := next((label for label in weights if label not in labels), None):
        first, second = f"--weight {other}", f"--part {part[0]}"
        reason = f"only the parts that are named count; add --part {other}"
        raise error(Errors.T175, first=first, second=second, reason=reason)
    return {label: weights.get(label, 1.0) for label in labels} if weights else labels


def _option(label: str) -> str:
    return next(f"--{name}" for name, (own, _) in _PARTS.items() if own == label)


def read_text(query: str) -> str:
    return decode(sys.stdin.buffer.read()) if query == "-" else query


def read_given(value: str) -> str | Trial:
    """An id or text, or what is in a file. RAISES (T001): the name of a file that is
    not there; as `read_file`."""
    path = Path(value)
    try:
        there = path.exists()
    except OSError:  # too long for a name
        there = False
    if there or value.strip().lower().endswith(_FILES):
        return read_file(path)
    return value


def read_file(path: Path) -> str | Trial:
    """The first record of a file, or the text of a document.

    RAISES (T025): an empty file. (T030): a folder, an archive, an HTML page. (T170 to
    T172): a document that cannot be read.
    """
    from .readers.documents import is_document, read_document

    if path.is_dir():
        raise error(Errors.T030, path=path, reason="a folder")
    if is_document(path):
        return read_document(path)
    try:
        trial = next(iter(read_trials(path)))
        typer.echo(
            f"Searching with {trial.nct_id}, the first record of {path}", err=True
        )
        return trial
    except UnknownFormat as err:
        if err.code == Errors.T002[0]:
            raise error(Errors.T025) from err
        if not err.reason.startswith("text "):  # an archive, an HTML page
            raise error(Errors.T030, path=path, reason=err.reason) from err
    return read_document(path)


# results


def facts(trial: Trial) -> dict[str, Any]:
    """What a person wants to know of a result at a glance."""
    return {
        "status": trial.status,
        "phases": sorted(trial.phases),
        "study_type": trial.study_type,
        "conditions": list(trial.conditions),
        "interventions": [i.name for i in trial.interventions],
        "start_date": str(trial.start_date) if trial.start_date else None,
        "enrollment": trial.enrollment.count if trial.enrollment else None,
    }


def table(hits: Sequence[Hit], reasons: Sequence[str | None]) -> str:
    """Rank, score, id, phase, status, why it was found (a reason, else the sections
    that match best), and the title."""
    rows = []
    for hit, reason in zip(hits, reasons, strict=True):
        trial = hit.trial
        best = list(hit.why.items())[:2]
        sections = ", ".join(f"{label} {value:.2f}" for label, value in best)
        phase = "/".join(p.removeprefix("PHASE") for p in sorted(trial.phases))
        rows.append(
            (
                hit.rank,
                f"{hit.score:.3f}",
                hit.nct_id,
                phase or "-",
                display(trial.status) if trial.status else "-",
                reason or sections,
                trial.title or trial.official_title or "-",
            )
        )
    header = ("#", "Score", "Trial", "Phase", "Status", "Why", "Title")
    width = shutil.get_terminal_size((200, 24)).columns
    used = sum(max(len(str(row[i])) for row in [header, *rows]) + 3 for i in range(5))
    room = max(30, (width - used) // 2)
    cut = [(*row[:5], _shorten(row[5], room), _shorten(row[6], room)) for row in rows]
    return wasabi.table(cut, header=header, divider=True, max_col=width).strip("\n")


def _shorten(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"
