"""What experiments are run on: a YAML or JSON file, checked before anything runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import srsly

from ...errors import Errors, error
from ...plain import from_plain
from ...sections.labels import SECTION_LABELS
from ...trial import Trial
from ..evaluation import MEASURES
from ..loaders import BENCHMARKS
from ..systems import SYSTEMS

T = TypeVar("T")
TABLES = ("complete", "partial", "ablations", "widths")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class RecordsSettings:
    """Trial records. require: Fields of `Trial` that each must have.
    most: Trials drawn from them under the seed to learn from, to be ranked or mapped; 0
    is all. Judged trials are looked for among all of the file."""

    path: str
    require: tuple[str, ...] = ()
    most: int = 0


@dataclass(frozen=True)
class BenchmarkSettings:
    """A file for `load_benchmark`. trials: Records (by name) in which the judged trials
    are looked for. distractors: Records to be ranked beside them, where a benchmark has
    no candidates of its own. seen: What of it was used while systems were made, for
    the report's limits."""

    path: str
    format: str
    trials: str | None = None
    distractors: str | None = None
    relevant: int | None = None
    closed: bool | None = None
    labelled_by: str | None = None
    keep_partial: bool = True
    seen: str | None = None


@dataclass(frozen=True)
class SystemSettings:
    """A row of the tables. system: One of SYSTEMS. train: Records it learns from; it
    learns from what it ranks if None. optional: It may be left out where it cannot be
    made (a pipeline that is not trained yet, weights that are not at hand).
    settings: Of the system."""

    system: str
    train: str | None = None
    optional: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TableSettings:
    """Systems on benchmarks. against: Systems the others are compared with.
    parts: Queries by these sections alone, such as "title + condition". shown: Measures
    that are compared and plotted."""

    benchmarks: tuple[str, ...]
    systems: tuple[str, ...]
    against: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ("ndcg@5", "map")


@dataclass(frozen=True)
class PairsSettings:
    """Likeness of sentences (BIOSSES)."""

    path: str
    systems: tuple[str, ...]


@dataclass(frozen=True)
class MapSettings:
    """The map of trials. groups: Disease groups with a colour of their own.
    neighbours: Of the purity. repeats: Runs of k-means, each with its own seed."""

    records: str
    system: str
    groups: int = 10
    perplexity: float = 30.0
    neighbours: int = 10
    repeats: int = 20


@dataclass(frozen=True)
class CaseSettings:
    """Queries side by side. queries: Ids; none draws `drawn` of them under the seed."""

    benchmark: str
    systems: tuple[str, ...]
    queries: tuple[str, ...] = ()
    drawn: int = 3
    k: int = 5


@dataclass(frozen=True)
class Settings:
    """All of a file. tables: By their name, of TABLES. path: The file, for messages."""

    path: Path
    seed: int
    rounds: int
    cache: str | None
    records: Mapping[str, RecordsSettings]
    benchmarks: Mapping[str, BenchmarkSettings]
    systems: Mapping[str, SystemSettings]
    tables: Mapping[str, TableSettings]
    pairs: PairsSettings | None
    map: MapSettings | None
    cases: CaseSettings | None

    def expand(self, text: str) -> str:
        """The text with `${NAME}` replaced by the environment variable. RAISES (T141):
        It is not set."""

        def value(match: re.Match[str]) -> str:
            found = os.environ.get(match[1])
            if not found:
                raise error(Errors.T141, path=self.path, name=match[1])
            return found

        return _VARIABLE.sub(value, text)

    def hide(self, text: str) -> str:
        """The inverse, so that no result names a folder of this machine."""
        whole = self.path.read_text(encoding="utf8")
        for name in set(_VARIABLE.findall(whole)):
            text = text.replace(os.environ.get(name) or "\0", f"${{{name}}}")
        return text


def read_settings(path: str | Path, *, quick: bool = False) -> Settings:
    """Read a file of settings.

    quick (bool): Lay the file's block `quick` over the others: members of objects
        replace one by one, lists as a whole, and null takes a member away.
    RAISES (T001): No such file. (T140): It cannot be used; says why. (T141): An
    environment variable that it names is not set.
    """
    path = Path(path)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    try:
        # YAML's own classes become plain ones.
        data = json.loads(json.dumps(srsly.yaml_loads(path.read_text("utf8"))))
    except Exception as err:  # of whichever parser srsly brings
        reason = " ".join(str(err).split())[:200]
        raise error(Errors.T140, path=path, reason=reason) from err
    if not isinstance(data, dict):
        raise error(Errors.T140, path=path, reason="it holds no object")
    changes = data.pop("quick", None) or {}
    try:
        settings = _build(path, overlay(data, changes) if quick else data)
        for problem in _problems(settings):
            raise ValueError(problem)
    except ValueError as err:
        raise error(Errors.T140, path=path, reason=err) from err
    for text in _texts(data):
        settings.expand(text)
    return settings


def overlay(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """base with changes laid over it, see `read_settings`."""
    found = dict(base)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = overlay(found[key], value)
        else:
            found[key] = value
    return {key: value for key, value in found.items() if value is not None}


def _build(path: Path, data: Mapping[str, Any]) -> Settings:
    known = (
        *("seed", "rounds", "cache", "records", "benchmarks", "systems"),
        *(*TABLES, "pairs", "map", "cases"),
    )
    for key in data:
        if key not in known:
            raise ValueError(f"unknown '{key}'; known: {', '.join(known)}")
    one = {"pairs": PairsSettings, "map": MapSettings, "cases": CaseSettings}
    seed, rounds = (data.get(key, given) for key, given in _NUMBERS.items())
    if type(seed) is not int or type(rounds) is not int or seed < 0 or rounds < 1:
        raise ValueError("'seed' and 'rounds' are whole numbers, rounds from 1 on")
    return Settings(
        path,
        seed,
        rounds,
        data.get("cache"),
        records=_many(RecordsSettings, data, "records"),
        benchmarks=_many(BenchmarkSettings, data, "benchmarks"),
        systems=dict(_systems(data.get("systems", {}))),
        tables={
            name: from_plain(TableSettings, data[name], name)
            for name in TABLES
            if name in data
        },
        **{  # type: ignore[arg-type]
            name: from_plain(kind, data[name], name) if name in data else None
            for name, kind in one.items()
        },
    )


_NUMBERS = {"seed": 0, "rounds": 2000}


def _many(kind: type[T], data: Mapping[str, Any], key: str) -> dict[str, T]:
    members = data.get(key, {})
    if not isinstance(members, dict):
        raise ValueError(f"'{key}' is not an object of names")
    return {name: from_plain(kind, v, f"{key}.{name}") for name, v in members.items()}


def _systems(data: Any) -> Iterator[tuple[str, SystemSettings]]:
    if not isinstance(data, dict):
        raise ValueError("'systems' is not an object of names")
    for name, entry in data.items():
        rest = dict(entry) if isinstance(entry, dict) else entry
        given = rest.pop("settings", {}) if isinstance(rest, dict) else {}
        if not isinstance(given, dict):
            raise ValueError(f"'systems.{name}.settings' is not an object")
        found = from_plain(_SystemRow, rest, f"systems.{name}")
        yield name, SystemSettings(found.system, found.train, found.optional, given)


@dataclass(frozen=True)
class _SystemRow:
    system: str
    train: str | None = None
    optional: bool = False


def _problems(settings: Settings) -> Iterator[str]:
    """Names of what is not there."""
    records, systems = settings.records, settings.systems
    for name, entry in records.items():
        fields = Trial.__dataclass_fields__
        yield from _unknown(f"records.{name}.require", entry.require, fields)
    for name, row in systems.items():
        yield from _unknown(f"systems.{name}", [row.system], SYSTEMS)
        yield from _unknown(f"systems.{name}.train", [row.train], records)
    for name, given in settings.benchmarks.items():
        yield from _unknown(f"benchmarks.{name}.format", [given.format], BENCHMARKS)
        wanted = [given.trials, given.distractors]
        yield from _unknown(f"benchmarks.{name}", wanted, records)
    for name, table in settings.tables.items():
        yield from _unknown(name, table.benchmarks, settings.benchmarks)
        yield from _unknown(name, (*table.systems, *table.against), systems)
        yield from _unknown(f"{name}.shown", table.shown, MEASURES)
        labels = [part.strip() for parts in table.parts for part in parts.split("+")]
        yield from _unknown(f"{name}.parts", labels, SECTION_LABELS)
        if (name == "partial") != bool(table.parts):
            yield "'partial', and no other table, needs 'parts'"
    if settings.pairs:
        yield from _unknown("pairs", settings.pairs.systems, systems)
    if settings.map:
        yield from _unknown("map", [settings.map.system], systems)
        yield from _unknown("map", [settings.map.records], records)
    if settings.cases:
        yield from _unknown("cases", [settings.cases.benchmark], settings.benchmarks)
        yield from _unknown("cases", settings.cases.systems, systems)


def _unknown(
    where: str, names: Iterable[str | None], known: Iterable[str]
) -> Iterator[str]:
    for name in names:
        if name is not None and name not in known:
            yield f"'{where}' names '{name}'; known: {', '.join(known)}"


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    for member in data.values() if isinstance(data, dict) else ():
        yield from _texts(member)
    for member in data if isinstance(data, list) else ():
        yield from _texts(member)
