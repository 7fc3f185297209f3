"""Options of the program that keep only some trials: `--phase 2 --country Germany`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from .search import Filters, Hit, TrialIndex

_PANEL = "Filters (of several values of one, one is enough)"
# Why nothing was found although there are trials that pass.
_NO_OTHER = {
    "trial": "Only the query itself passes all filters; a search never finds that.",
    "section": "No other trial that passes all filters has a section to compare with.",
}
_MANY, _ONE, _FLAG = list[str], str, bool
# Name of the filter -> option, type, help.
_OPTIONS: dict[str, tuple[str, type, str]] = {
    "phases": ("--phase", _MANY, "1, 2, 2/3 and so on; 2 finds 1/2 and 2/3 too."),
    "statuses": ("--status", _MANY, "Such as recruiting, completed, terminated."),
    "recruiting": (
        "--recruiting/--no-recruiting",
        _FLAG,
        "Whether participants are taken now.",
    ),
    "study_type": ("--study-type", _MANY, "Interventional, observational …"),
    "intervention_types": ("--type", _MANY, "Of an intervention: drug, device …"),
    "started_after": ("--since", _ONE, "Started in this year, month, day or later."),
    "started_before": ("--until", _ONE, "Started in this year, month, day or earlier."),
    "completed_after": ("--completed-since", _ONE, "Completed then or later."),
    "completed_before": ("--completed-until", _ONE, "Completed then or earlier."),
    "country": ("--country", _MANY, "Country that the trial has a place in."),
    "age": ("--age", _ONE, "May admit this age in years, or one of a range: 18-65."),
    "sex": (
        "--sex",
        _MANY,
        "Female and male find trials for all too; all, only these.",
    ),
    "healthy_volunteers": (
        "--healthy-volunteers/--no-healthy-volunteers",
        _FLAG,
        "Whether healthy volunteers are taken.",
    ),
    "sponsor_class": ("--sponsor", _MANY, "Class of the sponsor: industry, NIH …"),
    "has_results": ("--results/--no-results", _FLAG, "Whether results are posted."),
    "condition_concept": (
        "--condition-concept",
        _MANY,
        "Id of a concept (`t2v kb show NAME`); narrower ones count too.",
    ),
    "intervention_concept": ("--intervention-concept", _MANY, "The same."),
}


def with_filters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options; it gets their values as its argument `filters`."""

    @wraps(command)
    def with_options(**values: Any) -> None:
        filters = read_options({name: values.pop(name) for name in _OPTIONS})
        command(**values, filters=filters)

    own = inspect.signature(command, eval_str=True)
    kept = [p for p in own.parameters.values() if p.name != "filters"]
    parameters = [*kept, *map(_parameter, _OPTIONS)]
    # What typer reads instead of the function.
    with_options.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_options


def read_options(values: Mapping[str, Any]) -> Filters:
    """RAISES (T160): a value that is not known, by the name of its option."""
    from .search.filters import Filters, check_order, read_value

    read = {n: read_value(n, value, shown(n)) for n, value in values.items()}
    check_order(read, shown)
    return Filters(**read)


def filter_lines(
    index: TrialIndex,
    filters: Filters,
    hits: Sequence[Hit] | None = None,
    against: str = "trial",
) -> list[str]:
    """What the filters left out unasked, or why they left nothing.

    hits: What the search with these filters found, None if there was none; against: as
        it was searched.
    """
    if not filters:
        return []
    report = index.filter_report(filters)
    said = report.lines(shown)
    if hits is not None and not hits and report.matching:
        said.append(_NO_OTHER[against])
    return said


def shown(name: str) -> str:
    """The option of a filter."""
    return _OPTIONS[name][0].split("/")[0]


def _parameter(name: str) -> inspect.Parameter:
    option, kind, help = _OPTIONS[name]
    info = typer.Option(option, help=help, rich_help_panel=_PANEL)
    annotation = Annotated[kind | None, info]  # type: ignore[valid-type]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
