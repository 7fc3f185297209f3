"""Plots of results as PNG files. matplotlib draws into the file, without a display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...files import replaced_file, writing
from ..systems.base import library
from .concepts import OTHER

# Okabe and Ito's colours and lighter forms, told apart by most eyes; OTHER is grey.
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#8c510a", "#7b3294", "#b8b000", "#1b7837", "#b2182b", "#4d4d9f"),
)
GREY = "#bbbbbb"
NAMES = {"ndcg@5": "nDCG@5", "map": "MAP", "mrr": "MRR"}
Interval = tuple[float, float, float]  # mean, low, high


def measure_name(measure: str) -> str:
    return NAMES.get(measure, measure.replace("precision", "P").replace("recall", "R"))


def plot_rows(
    path: Path, panels: Mapping[str, Mapping[str, Interval]], title: str
) -> None:
    """One panel a measure: a point and its interval for each row."""
    figure, axes = figure_of(ncols=len(panels), width=4.6, rows=_most(panels))
    for axis, (measure, rows) in zip(axes, panels.items(), strict=True):
        mean, low, high = np.array(list(rows.values())).T
        axis.errorbar(
            mean, range(len(rows)), xerr=np.array([mean - low, high - mean]),
            fmt="o", capsize=3, color=COLORS[0],
        )  # fmt: skip
        axis.set_yticks(range(len(rows)), [plain_label(name) for name in rows])
        axis.invert_yaxis()
        axis.set_xlabel(f"{measure_name(measure)}, 95 % interval")
        axis.grid(axis="x", alpha=0.3)
    figure.suptitle(plain_label(title))
    save_figure(figure, path)


def plot_parts(
    path: Path, rows: Mapping[str, Mapping[str, Interval]], measure: str, title: str
) -> None:
    """A group of bars for each part, a bar for each system: rows[system][part]."""
    parts = list(dict.fromkeys(part for found in rows.values() for part in found))
    figure, (axis,) = figure_of(ncols=1, width=2.5 + 1.2 * len(parts), rows=8)
    width = 0.8 / len(rows)
    for number, (name, found) in enumerate(rows.items()):
        there = [i for i, part in enumerate(parts) if part in found]
        mean, low, high = np.array([found[parts[i]] for i in there]).T
        axis.bar(
            np.array(there) + (number - (len(rows) - 1) / 2) * width, mean, width,
            yerr=np.array([mean - low, high - mean]), capsize=2,
            label=plain_label(name), color=COLORS[number % len(COLORS)],
        )  # fmt: skip
    axis.set_xticks(range(len(parts)), [part.replace("+", "+\n") for part in parts])
    axis.set_ylabel(f"{measure_name(measure)}, 95 % interval")
    axis.set_ylim(0, 1)
    axis.legend(fontsize="small", ncols=2, loc="lower right")
    axis.set_title(plain_label(title))
    save_figure(figure, path)


def plot_map(path: Path, result: Mapping[str, Any]) -> None:
    """The trials as points in the colour of their group, the name of each group near
    the median of its points, moved up or down until no two names meet."""
    figure, (axis,) = figure_of(ncols=1, width=10, rows=26)
    points, groups = np.array(result["places"]), np.array(result["groups"])
    texts = []
    for name, color in group_colors(groups).items():
        own = points[groups == name]
        size = 6 if len(points) > 1000 else 14
        axis.scatter(
            *own.T, s=size, color=color, linewidths=0, alpha=0.75,
            label=f"{name} ({len(own)})", zorder=1 if name == OTHER else 2,
        )  # fmt: skip
        if name != OTHER:
            texts.append(_label(axis, name, np.median(own, axis=0), color))
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_title(plain_label(f"{len(points):,} trials by t-SNE, {result['system']}"))
    figure.legend(fontsize="small", loc="outside lower center", ncols=3)
    _part(figure, axis, texts)
    save_figure(figure, path)


def group_colors(groups: Sequence[str] | np.ndarray) -> dict[str, str]:
    """Groups, the biggest first and OTHER last, with their colours."""
    names, counts = np.unique(np.array(groups), return_counts=True)
    order = sorted(zip(-counts, names.tolist(), strict=True))
    named = [name for _, name in order if name != OTHER]
    colors = {name: COLORS[i % len(COLORS)] for i, name in enumerate(named)}
    return colors | ({OTHER: GREY} if OTHER in names else {})


def _label(axis: Any, name: str, place: np.ndarray, color: str) -> Any:
    effects = library("matplotlib.patheffects", "A plot")
    return axis.text(
        *place, name, ha="center", va="center", fontsize=9, weight="bold",
        color=color, zorder=3,
        path_effects=[effects.withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def _part(figure: Any, axis: Any, texts: list[Any]) -> None:
    """Move texts into the plot and, from the lowest up, each above those it meets."""
    figure.canvas.draw()
    inside = axis.get_window_extent()
    placed: list[Any] = []
    for text in sorted(texts, key=lambda text: text.get_position()[1]):
        box = text.get_window_extent()
        right, left = inside.x0 + 4 - box.x0, inside.x1 - 4 - box.x1
        box = box.translated(max(right, 0) or min(left, 0), 0)
        for other in sorted(placed, key=lambda box: box.y0):
            if box.overlaps(other):
                box = box.translated(0, other.y1 - box.y0 + 2)
        placed.append(box)
        middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        text.set_position(axis.transData.inverted().transform(middle))


def figure_of(*, ncols: int, width: float, rows: int) -> tuple[Any, Any]:
    figure = library("matplotlib.figure", "A plot").Figure(
        figsize=(width * ncols, 1.4 + 0.32 * rows), layout="constrained"
    )
    return figure, figure.subplots(1, ncols, squeeze=False)[0]


def _most(panels: Mapping[str, Mapping[str, Any]]) -> int:
    return max(map(len, panels.values()))


def plain_label(text: str) -> str:
    """A text in which matplotlib reads no formula."""
    return text.replace("$", r"\$")


def save_figure(figure: Any, path: Path) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as new:
            figure.savefig(new, format="png", dpi=130, metadata={"Software": None})
