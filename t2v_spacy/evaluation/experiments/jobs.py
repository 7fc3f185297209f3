"""One thing to be asked of one system; its result on disk, made once."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from thinc.api import Config
from tqdm import tqdm

from ...about import __version__
from ...errors import Errors, T2VError, error
from ...ml.backbone import find_backbone
from ..systems import SYSTEMS, System, make_system
from .inputs import Inputs, content_hash, plain_hash
from .machine import provenance
from .results import Result, read_result, write_result
from .settings import SystemSettings

_PLACES = ("model", "backbone", "checkpoint", "tokenizer")


class Job(Hashable, Protocol):
    """system: Name of the row in the settings; title: names the file of the result."""

    @property
    def system(self) -> str: ...

    @property
    def title(self) -> str: ...

    def about(self, inputs: Inputs) -> Any:
        """Plain values that decide the result, beside those of the system."""

    def run(self, system: System, inputs: Inputs) -> Result:
        """Plain values."""


def run_jobs(
    jobs: Iterable[Job], inputs: Inputs, folder: Path, *, again: bool = False
) -> dict[Job, Result]:
    """Result of each job, from the folder if it is there and nothing has changed.

    A system is made and trained once for all of its jobs, one system at a time. What a
    system cannot do (a T2VError) is its result, as `failed`, which is tried again in
    the next run; the other jobs go on.

    again (bool): Do all jobs anew.
    """
    by_system: dict[str, list[Job]] = {}
    for job in dict.fromkeys(jobs):
        by_system.setdefault(job.system, []).append(job)
    results: dict[Job, Result] = {}
    total = sum(map(len, by_system.values()))
    with tqdm(total=total, desc="Experiments", unit="job", disable=None) as bar:
        for name, own in by_system.items():
            for job, result in _run_system(name, own, inputs, folder, again):
                results[job] = result
                bar.update()
    return results


def _run_system(
    name: str, jobs: list[Job], inputs: Inputs, folder: Path, again: bool
) -> Iterable[tuple[Job, Result]]:
    settings = inputs.settings
    try:
        made_of = about_system(name, inputs)
    except T2VError as err:
        yield from ((job, _failed(job, err, inputs)) for job in jobs)
        return
    todo: list[tuple[Job, Path]] = []
    for job in jobs:
        decides = [made_of, job.about(inputs), settings.seed, settings.rounds]
        key = plain_hash([__version__, type(job).__name__, *decides])
        path = folder / f"{_slug(job)}-{key[:12]}.json"
        if path.is_file() and not again:
            yield job, read_result(path)
        else:
            todo.append((job, path))
    if not todo:
        return
    try:
        system, cost = _trained(
            name, inputs, folder / f"cost-{plain_hash(made_of)[:12]}.json"
        )
    except T2VError as err:
        yield from ((job, _failed(job, err, inputs)) for job, _ in todo)
        return
    for job, path in todo:
        start = time.perf_counter()
        try:
            found = job.run(system, inputs)
        except T2VError as err:
            yield job, _failed(job, err, inputs)
            continue
        result = {
            "system": name,
            **found,
            "long_text": getattr(system, "long_text", ""),
            "learned": cost,
            "seconds": round(time.perf_counter() - start, 2),
            "made": provenance(),
        }
        write_result(path, result)
        yield job, result


def _trained(name: str, inputs: Inputs, cost_file: Path) -> tuple[System, Result]:
    """The system and what learning cost: trials, seconds, date. The highest cost seen
    counts, since a cache of an earlier run may have spared the work."""
    row = inputs.settings.systems[name]
    given = {key: _expanded(value, inputs) for key, value in row.settings.items()}
    if inputs.settings.cache and "cache" in _parameters(row):
        given["cache"] = Path(inputs.settings.expand(inputs.settings.cache))
    trials = [] if row.train is None else inputs.records(row.train)
    start = time.perf_counter()
    system = make_system(row.system, **given)
    if trials:
        system.train(trials)
    seconds = round(time.perf_counter() - start, 2)
    cost: Result = {"trials": len(trials), "seconds": seconds, "made": provenance()}
    if cost_file.is_file():
        before: Result = read_result(cost_file)
        if before["seconds"] > seconds:
            cost = before
    write_result(cost_file, cost)
    return system, cost


def about_system(name: str, inputs: Inputs) -> dict[str, Any]:
    """Plain values that decide a system: settings, contents of the files they name,
    and what it learns from."""
    row = inputs.settings.systems[name]
    unknown = sorted(row.settings.keys() - _parameters(row).keys())
    if unknown:
        reason = f"'systems.{name}.settings' has unknown {', '.join(unknown)}"
        raise error(Errors.T140, path=inputs.settings.path, reason=reason)
    defaults = {key: p.default for key, p in _parameters(row).items()}
    given = {**defaults, **row.settings}
    files = {
        key: _place_hash(_expanded(given[key], inputs))
        for key in _PLACES
        if given.get(key) and isinstance(given[key], str)
    }
    return {
        "system": row.system,
        "settings": dict(row.settings),
        "files": files,
        "train": inputs.about_records(row.train),
    }


def _place_hash(place: str) -> str:
    """Hash of a pipeline, a config with its backbone, or a backbone. The name itself
    where no such file is there, as with a hub name."""
    path = Path(place)
    if path.suffix == ".cfg" and path.is_file():
        transformer = Config().from_disk(path)["components"]["transformer"]
        backbone = _place_hash(transformer["model"]["name"])
        return plain_hash([content_hash(path), backbone])
    if not path.exists():
        path = Path(find_backbone(place))
    return content_hash(path) if path.exists() else place


def _parameters(row: SystemSettings) -> Mapping[str, inspect.Parameter]:
    """Those of the class behind the name, which SYSTEMS imports when it is called."""
    factory: Callable[..., System] = SYSTEMS[row.system]
    if args := getattr(factory, "args", ()):
        module, kind = args
        factory = getattr(import_module(f"...systems.{module}", __name__), kind)
    return inspect.signature(factory).parameters


def _expanded(value: Any, inputs: Inputs) -> Any:
    return inputs.settings.expand(value) if isinstance(value, str) else value


def _failed(job: Job, err: T2VError, inputs: Inputs) -> Result:
    row = inputs.settings.systems[job.system]
    reason = inputs.settings.hide(str(err))
    return {"system": job.system, "failed": reason, "optional": row.optional}


def _slug(job: Job) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{job.system} {job.title}".lower()).strip("-")
