"""Plot of what was predicted against what came."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..experiments.plots import COLORS, GREY, figure_of, plain_label, save_figure

Bins = list[dict[str, float]]


def plot_reliability(path: Path, panels: Mapping[str, Mapping[str, Bins]]) -> None:
    """A PNG of one panel a split: panels[title][system], the bins of a calibration
    table (n, predicted, observed). A system on the grey line means what it says."""
    figure, axes = figure_of(ncols=len(panels), width=4.2, rows=9)
    for axis, (title, systems) in zip(axes, panels.items(), strict=True):
        most = 0.1
        for number, (name, bins) in enumerate(systems.items()):
            predicted = [row["predicted"] for row in bins]
            observed = [row["observed"] for row in bins]
            most = max(most, *predicted, *observed)
            axis.plot(
                predicted, observed, marker="o", markersize=4, linewidth=1.2,
                color=COLORS[number % len(COLORS)], label=plain_label(name),
            )  # fmt: skip
        _diagonal(axis, min(1.0, most * 1.05))
        axis.set_xlabel("predicted probability of TERMINATED")
        axis.set_ylabel("share that was terminated")
        axis.set_title(plain_label(title), fontsize="medium")
        axis.legend(fontsize="small", loc="best")
    save_figure(figure, path)


def _diagonal(axis: Any, most: float) -> None:
    axis.plot([0, most], [0, most], color=GREY, linestyle="--", zorder=0)
    axis.set_xlim(0, most)
    axis.set_ylim(0, most)
    axis.grid(alpha=0.3)
