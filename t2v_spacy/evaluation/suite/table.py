"""The card's table in Markdown: 20 tasks down, systems and published models across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .runner import RAN, Row
from .tasks import SuiteTask

Published = Mapping[str, Mapping[str, float]]
_NOTHING = "–"


def markdown(
    tasks: Sequence[SuiteTask],
    systems: Mapping[str, Sequence[Row]],
    published: Published | None = None,
) -> str:
    """A row for each task; below it the mean of what ran, and why the rest did not.

    The mean is over the tasks that every system ran, and stands beside no published
    figure: those are means of other tasks.
    """
    published = published or {}
    found = {name: {row.task: row for row in rows} for name, rows in systems.items()}
    heads = [*found, *(f"{name} (published)" for name in published)]
    notes: list[str] = []
    lines = [
        f"| task | metric | {' | '.join(heads)} |",
        f"|---|---|{'---:|' * len(heads)}",
    ]
    for task in tasks:
        cells = [_cell(rows.get(task.name), notes) for rows in found.values()]
        for known in published.values():
            figure = known.get(task.name)
            cells.append(_NOTHING if figure is None else f"{figure:.3f}")
        lines.append(f"| {task.name} | {task.metric} | {' | '.join(cells)} |")
    shared = _shared(tasks, found)
    if shared:
        means = [
            f"{sum(values) / len(values):.3f}"
            for values in (_values(rows, shared) for rows in found.values())
        ]
        label = f"mean of the {len(shared)} that ran, of {len(tasks)}"
        blank = [""] * len(published)
        lines.append(f"| {label} | | {' | '.join([*means, *blank])} |")
    if notes:
        lines += ["", *(f"{n}. {note}" for n, note in enumerate(notes, 1))]
    return "\n".join(lines)


def _cell(row: Row | None, notes: list[str]) -> str:
    if row is None:
        return _NOTHING
    if row.score is None:
        return f"{row.status} ({_noted(f'{row.status}: {row.why}', notes)})"
    score = row.score
    said = []
    if score.low is not None and score.high is not None:
        said.append(f"{score.low:.3f} to {score.high:.3f}")
    if row.protocol == "mteb":
        said.append(_noted("as mteb evaluates it, which gives no interval", notes))
    if score.note:
        said.append(_noted(f"{row.task}, {score.items} items: {score.note}", notes))
    return f"{score.value:.3f}" + (f" ({', '.join(said)})" if said else "")


def _noted(note: str, notes: list[str]) -> str:
    if note not in notes:
        notes.append(note)
    return f"note {notes.index(note) + 1}"


def _shared(
    tasks: Sequence[SuiteTask], found: Mapping[str, Mapping[str, Row]]
) -> list[str]:
    return [
        task.name
        for task in tasks
        if found and all(_ran(rows.get(task.name)) for rows in found.values())
    ]


def _ran(row: Row | None) -> bool:
    return row is not None and row.status == RAN


def _values(rows: Mapping[str, Row], names: Sequence[str]) -> list[float]:
    scores = [rows[name].score for name in names]
    return [score.value for score in scores if score is not None]
