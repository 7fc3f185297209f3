"""All experiments of a settings file: run what is new, write results and the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...files import locked, writing
from .case_study import case_jobs, case_result
from .inputs import Inputs
from .jobs import Job, run_jobs
from .machine import provenance
from .pairs import pairs_jobs, pairs_result
from .report import write_report
from .results import Result, write_result
from .retrieval import table_jobs, table_result
from .settings import TABLES, Settings
from .trial_map import MapJob

EXPERIMENTS = (*TABLES, "pairs", "map", "cases")
JOBS = "jobs"


def run_experiments(
    settings: Settings, out: Path, report: Path, *, again: bool = False
) -> list[Result]:
    """Run the experiments of the settings; what is done already is not done again.

    out (Path): Folder of the results: one JSON file an experiment, and in `jobs` one
        for each system and what it was asked.
    report (Path): Folder that gets report.md and figures/.
    again (bool): Do everything anew.
    RETURNS (list): What failed and is not optional, as dicts with `system` and
        `failed`.
    RAISES (T001): A file of the settings is not there. (T010): A folder cannot be
    written. (T051): Another run writes to `out`.
    """
    inputs = Inputs(settings)
    inputs.check()
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out / JOBS):
        jobs = [job for _, own in _experiments(settings) for job in own]
        results = run_jobs(jobs, inputs, out / JOBS, again=again)
        made = provenance()
        for name, own in _experiments(settings):
            found = {
                "experiment": name,
                "made": made,
                "seed": settings.seed,
                "rounds": settings.rounds,
                "corpora": _corpora(own, inputs),
                **_result(name, settings, own, results),
            }
            write_result(out / f"{name}.json", found)
        ran = [name for name, _ in _experiments(settings)]
        for name in set(EXPERIMENTS) - set(ran):  # of other settings
            (out / f"{name}.json").unlink(missing_ok=True)
    write_report(out, report)
    failed = (row for row in results.values() if "failed" in row)
    return [row for row in failed if not row["optional"]]


def _experiments(settings: Settings) -> Iterator[tuple[str, list[Job]]]:
    for name, table in settings.tables.items():
        yield name, list(table_jobs(table))
    if settings.pairs:
        yield "pairs", list(pairs_jobs(settings.pairs))
    if settings.map:
        yield "map", [MapJob(settings.map.system)]
    if settings.cases:
        yield "cases", list(case_jobs(settings.cases))


def _result(
    name: str, settings: Settings, jobs: list[Job], results: dict[Job, Result]
) -> dict[str, Any]:
    if name == "pairs":
        assert settings.pairs
        return pairs_result(settings.pairs, results)
    if name == "cases":
        assert settings.cases
        return case_result(settings.cases, results)
    if name == "map":
        return results[jobs[0]]
    return table_result(settings.tables[name], results, seed=settings.seed)


def _corpora(jobs: list[Job], inputs: Inputs) -> dict[str, Any]:
    """What each system of the experiment learned from."""
    rows = inputs.settings.systems
    found = {job.system: rows[job.system].train for job in jobs}
    return {
        name: inputs.about_records(name) for name in found.values() if name is not None
    }
