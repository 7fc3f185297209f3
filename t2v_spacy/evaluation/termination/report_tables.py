"""The tables of one kind of records and one split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..experiments.markdown import interval, p_value, safe, table
from .records import NOTHING_TO_LEARN, RECORD_SETS
from .rows import SHIPPED, TFIDF

Data = Mapping[str, Any]
NAMES = {"roc_auc": "ROC-AUC", "pr_auc": "PR-AUC", "brier": "Brier score"}
_AREAS = ("roc_auc", "pr_auc")
_ALIKE = {"required": "the fields each registration has", "all": "all fields"}


def figure(value: float | None, form: str = ".3f") -> str:
    return "undefined" if value is None else f"{value:{form}}"


def heading(part: Data) -> str:
    split = (
        "random split" if part["split"] == "random" else f"split at {part['cutoff']}"
    )
    return f"{RECORD_SETS[part['records']].capitalize()}, {split}"


def all_tables(part: Data, least: int) -> Iterator[str]:
    """part: Of the `tables` of a study. least: Trials of a group of like records."""
    yield from _parts(part)
    done = [row for row in part["rows"] if "mean" in row]
    yield from _failed(part["rows"])
    if not done:
        return
    mean = done[0]["mean"]
    yield (
        f"Test part: {figure(mean['n'], ',.0f')} trials, {figure(mean['prevalence'])} "
        "of them terminated. Chance gets this as PR-AUC; always saying it has a Brier "
        f"score of {figure(mean['prevalence_brier'])}; the majority has an accuracy of "
        f"{figure(mean['majority_accuracy'])}. In brackets 95 % intervals."
    )
    yield ""
    yield from _areas(done)
    yield from _decisions(done)
    yield from _seeds(done)
    yield from _against(done)
    yield from _calibration(done)
    yield from _within(done, least)


def _parts(part: Data) -> Iterator[str]:
    rows = [
        [str(about["seed"]), *(_size(about[p]) for p in ("train", "dev", "test"))]
        for about in part["parts"]
    ]
    yield from table(["seed", "train", "dev", "test"], rows)
    dropped = part["parts"][0]["dropped"]
    if part["split"] == "date":
        reasons = [f"{n:,} {safe(reason)}" for reason, n in dropped.items()]
        yield f"Left out by the split: {'; '.join(reasons) or 'none'}."
        yield ""


def _failed(rows: list[Data]) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["failed"]:
            what = "Not trained" if row["code"] == NOTHING_TO_LEARN else "Failed"
            reasons.setdefault((what, row["failed"]), []).append(row["system"])
    for (what, reason), names in reasons.items():
        yield f"{what}: {safe('; '.join(names), 400)}. {safe(reason, 400)}"
        yield ""


def _size(about: Data) -> str:
    return f"{about['n']:,} ({about['terminated']:,} terminated)"


def _areas(rows: list[Data]) -> Iterator[str]:
    yield from table(
        ["system", *NAMES.values()],
        (
            [safe(row["system"]), *(_with_interval(row, name) for name in NAMES)]
            for row in rows
        ),
    )


def _with_interval(row: Data, name: str) -> str:
    ends = row["intervals"][name]
    mean = row["mean"][name]
    return interval(mean, *ends) if ends and mean is not None else figure(mean)


def _decisions(rows: list[Data]) -> Iterator[str]:
    columns = {
        "accuracy at 0.5": "accuracy_at_half",
        "of the majority": "majority_accuracy",
        "accuracy at the threshold": "accuracy",
        "precision": "precision_terminated",
        "recall": "recall_terminated",
        "F of TERMINATED": "f_terminated",
        "threshold": "threshold",
        "calibration error": "calibration_error",
    }
    yield from table(
        ["system", *columns],
        (
            [safe(row["system"]), *(figure(row["mean"][c]) for c in columns.values())]
            for row in rows
        ),
    )


def _seeds(rows: list[Data]) -> Iterator[str]:
    """The range over the seeds of those that have some."""
    several = [row for row in rows if len(row["runs"]) > 1]
    if not several:
        return
    yield "Lowest and highest of the seeds:"
    yield ""
    cells = []
    for row in several:
        ranges = [_range(row, name) for name in NAMES]
        cells.append([safe(row["system"]), str(len(row["runs"])), *ranges])
    yield from table(["system", "runs", *NAMES.values()], cells)


def _range(row: Data, name: str) -> str:
    low, high = row["low"][name], row["high"][name]
    return figure(low) if low is None else f"{low:.3f} to {high:.3f}"


def _against(rows: list[Data]) -> Iterator[str]:
    compared = [row for row in rows if row["against"] and row["system"] != TFIDF]
    if not compared:
        return
    yield f"Less {TFIDF}, on the same trials (p: the highest of the seeds):"
    yield ""
    yield from table(
        ["system", *NAMES.values()],
        (
            [safe(row["system"]), *(_difference(row["against"][n]) for n in NAMES)]
            for row in compared
        ),
    )


def _difference(test: Data | None) -> str:
    if test is None:
        return figure(None)
    found = interval(test["difference"], test["low"], test["high"], sign=True)
    p = p_value(test["p"])
    return f"{found}, p {p if p.startswith('<') else f'= {p}'}"


def _calibration(rows: list[Data]) -> Iterator[str]:
    run = next((r["runs"][0] for r in rows if r["system"] == SHIPPED), None)
    if run is None or "failed" in run or not run["calibration"]["bins"]:
        return
    yield f"Calibration of {SHIPPED}, seed 0, the trials in bins of equal number:"
    yield ""
    yield from table(
        ["bin", "trials", "predicted", "terminated"],
        (
            [str(i), str(b["n"]), figure(b["predicted"]), figure(b["observed"])]
            for i, b in enumerate(run["calibration"]["bins"], 1)
        ),
    )


def _within(rows: list[Data], least: int) -> Iterator[str]:
    there = [row for row in rows if row["within"]]
    if not there:
        return
    head = [f"{NAMES[m]}, {h}" for m in _AREAS for h in ("together", "within")]
    for name, fields in _ALIKE.items():
        about = there[0]["within"][name]
        yield (
            f"Among records alike in which of {fields} are filled (groups of {least:,} "
            f"trials or more: {figure(about['groups'], '.3g')}; those with both labels "
            f"hold {figure(about['share'], '.0%')} of the test part):"
        )
        yield ""
        if about["roc_auc"] is None:
            continue
        yield (
            "`Together` is over the trials of these as one, `within` the mean over the "
            f"groups, by size. {figure(about['prevalence'])} are terminated."
        )
        yield ""
        cells = ([safe(row["system"]), *_both(row["within"][name])] for row in there)
        yield from table(["system", *head], cells)


def _both(found: Data) -> list[str]:
    return [figure(value) for m in _AREAS for value in (found["together"][m], found[m])]
