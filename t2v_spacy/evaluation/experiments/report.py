"""`report.md` with its figures, made of the results of the experiments alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import Errors, error
from ...files import replaced_file, writing
from .limits import limits
from .markdown import safe
from .report_others import cases, pairs, trial_map
from .report_tables import complete, data_rows, partial
from .results import read_result

Data = Mapping[str, Any]
FIGURES = "figures"
_SECTIONS: dict[str, tuple[str, Callable[[Data, Path], Iterator[str]]]] = {
    "complete": ("Complete retrieval (Table 3 of the paper)", complete),
    "partial": ("Partial retrieval (Figure 2)", partial),
    "ablations": ("Ablations (Figure 3)", complete),
    "widths": ("Widths (Figure 4)", complete),
    "pairs": ("Sentence pairs", pairs),
    "map": ("Map of trials (Figure 5)", trial_map),
    "cases": ("Case study (Table 5)", cases),
}


def write_report(results: Path, report: Path) -> None:
    """Write report.md and figures/ from the JSON files of a folder of results.

    RAISES (T010): The folder cannot be written. (T144): There are no results.
    """
    paths = {name: results / f"{name}.json" for name in _SECTIONS}
    found = {name: read_result(p) for name, p in paths.items() if p.is_file()}
    if not found:
        raise error(Errors.T144, path=results)
    lines = ["# Experiments", "", *_head(found)]
    for name, data in found.items():
        title, section = _SECTIONS[name]
        lines += [f"## {title}", "", *section(data, report / FIGURES)]
    lines += ["## Limits", "", *limits(found), ""]
    with writing(report):
        report.mkdir(parents=True, exist_ok=True)
        with replaced_file(report / "report.md") as new:
            new.write_text("\n".join(lines).rstrip() + "\n", "utf8")


def _head(found: Mapping[str, Data]) -> Iterator[str]:
    """Date, seed, machine, versions, corpora."""
    one = next(iter(found.values()))
    rows = [row for data in found.values() for row in data_rows(data)]
    made = [row["made"] for row in rows] or [one["made"]]
    dates = sorted(row["date"] for row in made)
    days = " to ".join(dict.fromkeys((dates[0][:10], dates[-1][:10])))
    yield (
        f"Results of {days}, report of {one['made']['date']}; seed {one['seed']}, "
        f"{one['rounds']} rounds of resampling. Made by `scripts/run_experiments.py` "
        "alone; do not edit."
    )
    yield ""
    for machine in dict.fromkeys(row["machine"] for row in made):
        yield f"- Machine: {safe(machine, 200)}"
    for versions in dict.fromkeys(tuple(row["versions"].items()) for row in made):
        yield "- Versions: " + ", ".join(f"{name} {v}" for name, v in versions)
    corpora: dict[str, Data] = {}
    for data in found.values():
        corpora |= data.get("corpora") or {}
    for name, about in corpora.items():
        needed = f", with {' and '.join(about['require'])}" if about["require"] else ""
        most = f", {about['most']} of them drawn" if about["most"] else ""
        yield (
            f"- Systems learn from {safe(name)}: {safe(about['path'], 200)}{needed}"
            f"{most}; sha256 {about['sha256'][:16]}"
        )
    yield ""
