"""The parts of a report that rank benchmarks: tables, plots, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import plots
from .markdown import interval, p_value, safe, seconds, table
from .plots import measure_name

Data = Mapping[str, Any]


def complete(data: Data, figures: Path) -> Iterator[str]:
    """Each benchmark: facts, comparisons, all measures, plot; then costs."""
    for number, part in enumerate(data["tables"], 1):
        yield f"### {safe(part['benchmark'])}"
        yield ""
        yield from _facts(part)
        yield from _compared(part, data["shown"])
        yield from _all_measures(part)
        yield from failed(part)
        if part["rows"]:
            path = figures / f"{data['experiment']}_{number}.png"
            found = {m: _intervals(part, m) for m in data["shown"]}
            panels = {measure: rows for measure, rows in found.items() if rows}
            if panels:
                plots.plot_rows(path, panels, part["benchmark"])
                yield from image(path, part["benchmark"])
    yield from _costs(data)


def _facts(part: Data) -> Iterator[str]:
    facts = part["facts"]
    if facts is None:
        return
    ranked = (
        "candidates of the query are ranked"
        if facts["closed"]
        else f"all of {part['rows'][0]['ranked_among']:,} trials are ranked, and what "
        "is not judged counts as not relevant"
    )
    clusters = (
        f" in {facts['clusters']} clusters, which are resampled as a whole"
        if facts["clusters"]
        else ""
    )
    hashes = ", ".join(f"{k} {v[:16]}" for k, v in facts["sha256"].items())
    yield (
        f"{facts['queries']} queries{clusters}, {facts['judged']:,} judged documents; "
        f"{ranked}. Relevant: grade {facts['relevant_from']} or above. Labelled "
        f"{safe(facts['labelled_by'], 400)}. {safe('; '.join(facts['report']), 600)}. "
        f"sha256: {hashes}."
    )
    yield ""


def _compared(part: Data, shown: list[str]) -> Iterator[str]:
    others = list(dict.fromkeys(row["against"] for row in part["differences"]))
    for measure in shown:
        head = ["system", measure_name(measure)]
        head += [f"against {safe(other)} (p)" for other in others]
        rows = []
        for row in part["rows"]:
            cells = [safe(row["system"]), _figure(row, measure)]
            for other in others:
                cells.append(_difference(part, row["system"], other, measure))
            rows.append(cells)
        if rows:
            yield from table(head, rows)


def _difference(part: Data, system: str, other: str, measure: str) -> str:
    for row in part["differences"]:
        if (row["system"], row["against"], row["measure"]) == (system, other, measure):
            found = interval(row["difference"], row["low"], row["high"], sign=True)
            return f"{found}, p {p_value(row['p_permutation'])}"
    return "–"


def _all_measures(part: Data) -> Iterator[str]:
    if not part["rows"]:
        return
    names = [row["measure"] for row in part["rows"][0]["measures"]]
    rows = [
        [safe(row["system"]), *(_figure(row, name) for name in names)]
        for row in part["rows"]
    ]
    yield from table(["system", *map(measure_name, names)], rows)
    counts = [
        f"{measure_name(m['measure'])}: {m['queries']} queries"
        for m in part["rows"][0]["measures"]
        if m["left_out"]
    ]
    if counts:
        yield f"Queries without a relevant document do not count ({'; '.join(counts)})."
        yield ""


def _figure(row: Data, measure: str) -> str:
    found = next(m for m in row["measures"] if m["measure"] == measure)
    return interval(found["mean"], found["low"], found["high"])


def _intervals(part: Data, measure: str) -> dict[str, plots.Interval]:
    found = {}
    for row in part["rows"]:
        m = next(m for m in row["measures"] if m["measure"] == measure)
        if m["mean"] is not None:
            found[row["system"]] = (m["mean"], m["low"], m["high"])
    return found


def failed(part: Data) -> Iterator[str]:
    """Systems that could not be run, with the reason."""
    for row in part["failed"]:
        yield f"- **{safe(row['system'])} was not run**: {safe(row['failed'], 400)}"
    if part["failed"]:
        yield ""


def image(path: Path, title: str) -> Iterator[str]:
    yield f"![{safe(title)}]({path.parent.name}/{path.name})"
    yield ""


def data_rows(data: Data) -> Iterator[Data]:
    """Results of jobs in the data of an experiment."""
    if "ids" in data:  # the map is one result
        yield data
    yield from data.get("rows", ())
    for part in data.get("tables", ()):
        yield from part["rows"]


def _costs(data: Data) -> Iterator[str]:
    """Seconds of learning and ranking, and what becomes of long texts."""
    by_system: dict[str, list[Data]] = {}
    for row in data_rows(data):
        by_system.setdefault(row["system"], []).append(row)
    if not by_system:
        return
    rows = []
    for system, found in by_system.items():
        learned = found[0]["learned"]
        rows.append(
            [
                safe(system),
                f"{learned['trials']:,}",
                seconds(learned["seconds"]),
                seconds(sum(row["seconds"] for row in found)),
                safe(found[0]["long_text"], 200),
            ]
        )
    head = ["system", "trials learned from", "load and learn", "encode and rank"]
    yield from table([*head, "a long text"], rows)
    yield (
        "Wall time. Vectors that an earlier benchmark or run has made are taken from "
        "the cache and cost nothing here; of learning the longest time seen counts."
    )
    yield ""


def partial(data: Data, figures: Path) -> Iterator[str]:
    """Each benchmark: figures by part of the query, and a plot."""
    yield "Queries are some sections of a record alone; whole records are ranked."
    yield ""
    for number, benchmark in enumerate(
        dict.fromkeys(part["benchmark"] for part in data["tables"]), 1
    ):
        parts = [p for p in data["tables"] if p["benchmark"] == benchmark]
        yield f"### {safe(benchmark)}"
        yield ""
        for measure in data["shown"]:
            yield from _by_part(parts, measure)
        yield from _left_out(parts)
        lost = {str(row): row for part in parts for row in part["failed"]}
        yield from failed({"failed": list(lost.values())})
        measure = data["shown"][0]
        bars: dict[str, dict[str, plots.Interval]] = {}
        for part in parts:
            for system, found in _intervals(part, measure).items():
                bars.setdefault(system, {})[part["parts"]] = found
        if bars:
            path = figures / f"{data['experiment']}_{number}.png"
            plots.plot_parts(path, bars, measure, benchmark)
            yield from image(path, benchmark)


def _by_part(parts: list[Data], measure: str) -> Iterator[str]:
    systems = dict.fromkeys(row["system"] for part in parts for row in part["rows"])
    rows = []
    for system in systems:
        cells = [safe(system)]
        for part in parts:
            found = _intervals(part, measure).get(system)
            cells.append(interval(*found) if found else "–")
        rows.append(cells)
    if rows:
        first = f"system, {measure_name(measure)}"
        yield from table([first, *(safe(part["parts"]) for part in parts)], rows)


def _left_out(parts: list[Data]) -> Iterator[str]:
    for part in parts:
        lost = part["facts"]["left_out"] if part["facts"] else ()
        if lost:
            yield f"{len(lost)} queries have no {safe(part['parts'])} and are left out."
    yield ""
