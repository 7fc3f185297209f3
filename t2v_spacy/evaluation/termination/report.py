"""termination.md and its figure, made of the result of a study alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...files import replaced_file, writing
from ...termination.labels import NEGATIVE, POSITIVE
from ..experiments.markdown import safe, seconds, table
from .reliability import plot_reliability
from .report_tables import all_tables, heading
from .rows import SHIPPED, STACKED, TFIDF

REPORT, FIGURE = "termination.md", "reliability.png"
_PLOTTED = (TFIDF, SHIPPED, STACKED)
Data = Mapping[str, Any]


def write_report(result: Data, folder: Path) -> None:
    """Write the report of what `run_study` returns. RAISES (T2VError T010)."""
    lines = ["# Termination, predicted from registration", "", *_head(result)]
    lines += ["## Records", "", *_records(result)]
    for part in result["tables"]:
        least = result["settings"]["least"]
        lines += [f"## {heading(part)}", "", *all_tables(part, least)]
    lines += [*_plot(result, folder / FIGURE), "## Cost", "", *_costs(result)]
    lines += ["## Limits", "", *(f"- {text}" for text in _LIMITS)]
    if limit := result["settings"]["limit"]:
        lines.append(f"- Only {limit:,} trials were drawn: a trial run, no result.")
    with writing(folder), replaced_file(folder / REPORT) as new:
        new.write_text("\n".join(lines).rstrip() + "\n", "utf8")


def _head(result: Data) -> Iterator[str]:
    made, given, sha256 = result["made"], result["settings"], result["sha256"]
    yield f"{made['date']}. Made by `scripts/evaluate_termination.py`; do not edit."
    yield ""
    if result["command"]:
        yield from ("```bash", result["command"].replace("```", ""), "```", "")
    yield f"- Machine: {safe(made['machine'], 200)}"
    versions = ", ".join(f"{name} {v}" for name, v in made["versions"].items())
    yield f"- Versions: {versions}"
    files = {"records": "Records", "encoder": "Encoder", "config": "Classifier"}
    files |= {"finetuned": "Classifier, fine-tuned", "backbone": "TrialBERT"}
    for name, title in files.items():
        if given[name]:
            known = f", sha256 {sha256[name][:16]}" if sha256[name] else ""
            yield f"- {title}: {safe(given[name])}{known}"
    last = given["seeds"] - 1
    yield f"- Seeds: {f'0 to {last}' if last else '0'}"
    yield f"- Rounds of resampling: {given['rounds']:,}"
    yield ""
    yield _HOW
    yield ""


def _records(result: Data) -> Iterator[str]:
    counts, kind = result["counts"], result["settings"]["study_type"]
    kinds = f"that say they are {kind.lower()}" if kind else "of any study type"
    yield (
        f"{counts['read']:,} records were read; trials {kinds} count. "
        f"{counts['labelled']:,} have a label and text: {counts['terminated']:,} are "
        f"{POSITIVE}. {counts['complete']:,} are complete: they have every field that "
        "a registration must have."
    )
    yield ""
    labels = {True: POSITIVE, False: NEGATIVE, None: "none"}
    yield from table(
        ["status", "trials", "label"],
        (
            [safe(name) or "not said", f"{about['n']:,}", labels[about["label"]]]
            for name, about in counts["statuses"].items()
        ),
    )
    lost = [f"{n:,} {safe(reason)}" for reason, n in counts["left_out"].items()]
    yield f"Left out: {'; '.join(lost) or 'none'}."
    yield ""
    yield "Share of the trials that have a field, where it differs by a point or more:"
    yield ""
    yield from table(
        ["field", POSITIVE, NEGATIVE],
        (
            [safe(name), f"{ended:.1%}", f"{completed:.1%}"]
            for name, (ended, completed) in counts["filled"].items()
            if abs(ended - completed) >= 0.01
        ),
    )


def _plot(result: Data, path: Path) -> Iterator[str]:
    panels: dict[str, dict[str, Any]] = {}
    for part in result["tables"]:
        bins = {
            row["system"]: row["runs"][0]["calibration"]["bins"]
            for row in part["rows"]
            if row["system"] in _PLOTTED and "failed" not in row["runs"][0]
        }
        if any(bins.values()):
            panels[heading(part)] = bins
    if panels:
        plot_reliability(path, panels)
        yield from ("## Calibration", "", f"![Calibration, seed 0]({path.name})", "")


def _costs(result: Data) -> Iterator[str]:
    found: dict[str, list[float]] = {}
    for part in result["tables"]:
        for row in part["rows"]:
            own = (run["seconds"] for run in row["runs"] if "failed" not in run)
            found.setdefault(row["system"], []).extend(own)
    rows = [
        [safe(name), str(len(own)), seconds(sum(own) / len(own)), seconds(sum(own))]
        for name, own in found.items()
        if own
    ]
    yield from table(["system", "runs", "mean of a run", "all runs"], rows)
    if cost := result["encoding"]:
        per = cost["trials"] / max(cost["seconds"], 0.1)
        yield (
            f"Encoding {cost['trials']:,} trials, once for all runs: "
            f"{seconds(cost['seconds'])}, {per:.1f} trials/s. It is not in the table; "
            "that of TrialBERT is in its first run."
        )
        yield ""


_HOW = (
    f"The positive class is {POSITIVE}: terminated, withdrawn or suspended. {NEGATIVE} "
    "is completed or approved for marketing. Regularisation, stopping, calibration and "
    "threshold are chosen on the dev part, every figure is of the test part. A random "
    "split has 70, 10 and 20 of 100 trials and is drawn anew for each seed. The split "
    "by date learns from trials whose outcome was known before the day (those that "
    "started last are the dev part) and is tested on trials that started from then on; "
    "there, what no seed decides is run once. Figures are means over the seeds (of the "
    "fine-tuned row, of seed 0 alone), and so "
    "are the ends of the 95 % intervals: these say how far one test part can be "
    f"trusted. The threshold has the best F of {POSITIVE} on the dev part; accuracy "
    "there may well be below that of the majority."
)
_LIMITS = (
    "A registry shows a record as it is today: texts, design and sponsor may have been "
    "edited after the registration. Passages that tell the outcome are taken out; a "
    "plan that was changed to what came cannot be told.",
    "Trials with a field that only tells the outcome are left out: without it, its "
    "absence would tell. All of them were stopped or are over; of new trials there are "
    "none.",
    "No date, no location and no enrolment is read. The registry wants the actual "
    "enrolment of a trial that has ended, so that a planned one tells, among ended "
    "trials, the suspended ones: the planned size cannot be learnt from.",
    "In a collection merged from several copies of a registry the filled fields tell "
    "the copy, and the copy the label: how much, says the ROC-AUC of filled fields "
    "alone. Figures of all records mean what is left among like records, no more.",
    "In a split by date, of trials that started late only those that ended soon have a "
    "label, and more of them were stopped than will be in the end.",
    "An interval is of one test part whose trials are drawn one by one; trials of one "
    "sponsor are not independent. p is not corrected for the number of comparisons.",
    "The dev part stops the training, calibrates and chooses the threshold; with few "
    f"trials of {POSITIVE} there the threshold is itself uncertain.",
)
