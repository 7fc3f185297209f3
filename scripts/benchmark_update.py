"""Measure updates of an index beside full rebuilds, and kill writers at random moments.

The trials are those of an index, repeated under new ids to the number wanted, each with
a vector of its own: a real one with some of the difference of two others.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc

from t2v_spacy.load import load_nlp
from t2v_spacy.search import IndexEntry, TrialIndex, build_index
from t2v_spacy.search.update import update_index
from t2v_spacy.search.vectors import unit
from t2v_spacy.trial import Trial
from t2v_spacy.values import PartialDate

Array = np.ndarray
K = 10
State = dict[int, int]  # number of a trial -> version of its record


@dataclass(frozen=True)
class Changes:
    """How many trials are changed, added and removed at once."""

    changed: int
    added: int
    removed: int

    def apply(self, state: State, rng: np.random.Generator) -> State:
        there = rng.permutation(sorted(state)).tolist()
        removed = there[: self.removed]
        changed = there[self.removed : self.removed + self.changed]
        first = max(there) + 1
        new = dict.fromkeys(range(first, first + self.added), 0)
        kept = {n: version for n, version in state.items() if n not in set(removed)}
        return kept | {number: state[number] + 1 for number in changed} | new


class Trials:
    """Trials and vectors by number and version, made of those of an index."""

    def __init__(self, path: Path, noise: float, seed: int) -> None:
        self.index = TrialIndex.from_disk(path)
        self.real = list(self.index.entries())
        self.noise, self.seed = noise, seed

    def trial(self, number: int, version: int) -> Trial:
        """The record; the version stands in its title and is its snapshot."""
        real = self.real[number % len(self.real)].trial
        return replace(
            real,
            nct_id=f"NCT9{number:07}",
            aliases=(),
            title=f"{real.title or ''}, version {version}",
            snapshot=PartialDate(f"{2000 + version}-01-01", "day"),
        )

    def entry(self, number: int, version: int) -> IndexEntry:
        real = self.real[number % len(self.real)]
        rng = np.random.default_rng((self.seed, number, version))
        one, other = (self._vector(i) for i in rng.integers(len(self.real), size=2))
        vector = unit(self._vector(number) + self.noise * (one - other))
        trial = self.trial(number, version)
        return IndexEntry(trial, vector, real.section_vectors, real.concepts)

    def entries(self, state: State) -> Iterator[IndexEntry]:
        return (self.entry(number, version) for number, version in state.items())

    def records(self, state: State) -> Iterator[Trial]:
        return (self.trial(number, version) for number, version in state.items())

    def _vector(self, number: int) -> Array:
        vector = self.real[number % len(self.real)].vector
        assert vector is not None
        return vector

    def pipeline(self) -> Language:
        """Stands in for a pipeline that encodes: it knows the vector of each record."""

        def known_vectors(doc: Doc) -> Doc:
            entry = self.entry(*number_and_version(doc._.trial))
            doc._.trial_vector = entry.vector
            doc._.section_vectors = dict(entry.section_vectors)
            return doc

        Language.component("known_vectors", func=known_vectors)
        nlp = spacy.blank("en")
        nlp.add_pipe("known_vectors")
        return nlp


def number_and_version(trial: Trial) -> tuple[int, int]:
    return int(trial.nct_id[4:]), int((trial.title or "").rsplit(" ", 1)[1])


def main(
    index: Annotated[Path, typer.Argument(help="Folder of an index of real trials.")],
    model: Annotated[
        str | None, typer.Option(help="Pipeline; None: vectors with noise.")
    ] = None,
    items: Annotated[int, typer.Option(help="Trials in the index.")] = 50_000,
    changed: Annotated[int, typer.Option(help="Records that changed.")] = 1_000,
    added: Annotated[int, typer.Option(help="New records.")] = 500,
    removed: Annotated[int, typer.Option(help="Records that are gone.")] = 300,
    queries: Annotated[int, typer.Option(help="Searches that are compared.")] = 200,
    kills: Annotated[int, typer.Option(help="Writers that are killed.")] = 0,
    noise: Annotated[float, typer.Option(help="Share of the difference.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Print a markdown table: seconds of an update and of a full rebuild, and how many
    searches they answer alike. With --kills: how many of the writers that were killed
    left the old and the new index; exit code 1 if one left anything else."""
    warnings.simplefilter("ignore")
    trials = Trials(index, noise, seed)
    nlp = load_nlp(model, exclude=("umls_linker",)) if model else trials.pipeline()
    state = dict.fromkeys(range(items), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "index"
        build(trials, state, folder, nlp if model else None)
        if kills:
            fine = report_kills(trials, state, folder, kills, seed)
            raise typer.Exit(0 if fine else 1)
        changes = Changes(changed, added, removed)
        report_update(trials, state, folder, changes, nlp, bool(model), queries, seed)


def build(trials: Trials, state: State, out: Path, nlp: Language | None) -> None:
    """Of records that a pipeline encodes or, without one, of known vectors."""
    if nlp:
        build_index(nlp, trials.records(state), out, total=len(state))
    else:
        TrialIndex.build(trials.entries(state), work_dir=out.parent).to_disk(out)


def report_update(
    trials: Trials,
    state: State,
    folder: Path,
    changes: Changes,
    nlp: Language,
    encoding: bool,
    queries: int,
    seed: int,
) -> None:
    newer = changes.apply(state, np.random.default_rng(seed))
    update_seconds, report = timed(
        lambda: update_index(
            nlp,
            trials.records(newer),
            folder,
            remove_missing=True,
            rebuild_above=1.0,
        )
    )
    fresh = folder.with_name("fresh")
    fresh_seconds, _ = timed(
        lambda: build(trials, newer, fresh, nlp if encoding else None)
    )
    equal = count_equal(
        TrialIndex.from_disk(folder), TrialIndex.from_disk(fresh), queries, seed
    )
    merge_seconds, _ = timed(lambda: TrialIndex.from_disk(folder).to_disk(folder))
    merged = count_equal(
        TrialIndex.from_disk(folder), TrialIndex.from_disk(fresh), queries, seed
    )
    typer.echo(
        f"{len(state):,} trials, {'encoded' if encoding else 'vectors with noise'}, "
        f"seed {seed}: {report.line()}\n"
    )
    typer.echo("| | seconds | searches equal to a full rebuild's |")
    typer.echo("|---|---:|---:|")
    typer.echo(f"| update | {update_seconds:.1f} | {equal} of {queries} |")
    typer.echo(f"| merging it | {merge_seconds:.1f} | {merged} of {queries} |")
    typer.echo(f"| full rebuild | {fresh_seconds:.1f} | |")


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = action()
    return time.perf_counter() - start, found


def count_equal(one: TrialIndex, other: TrialIndex, queries: int, seed: int) -> int:
    """Exact searches by vectors near indexed ones, half of them with a filter, that
    find the same ids with the same scores."""
    rng = np.random.default_rng(seed)
    ids = np.array(one.ids())
    equal = 0
    for number in range(queries):
        first, second = (one.vector(nct_id) for nct_id in rng.choice(ids, 2))
        query = first + 0.3 * second
        filters = {"sex": "female", "age": "18-65"} if number % 2 else None
        found, expected = (
            [
                (hit.nct_id, round(hit.score, 5))
                for hit in index.search(query, K, exact=True, filters=filters)
            ]
            for index in (one, other)
        )
        equal += found == expected
    return equal


def report_kills(
    trials: Trials, state: State, folder: Path, kills: int, seed: int
) -> bool:
    """Kill writers one after the other, each going on from what the last one left."""
    changes = Changes(changed=5, added=3, removed=2)
    rng = np.random.default_rng(seed)
    seconds = {}
    for above in (1.0, 0.0):
        copy = shutil.copytree(folder, folder.with_name("copy"))
        index = changed_index(trials, copy, state, changes.apply(state, rng))
        seconds[above], _ = timed(
            lambda index=index, above=above: index.save_changes(rebuild_above=above)  # type: ignore[misc]
        )
        shutil.rmtree(copy)
    left: dict[str, int] = {"old": 0, "new": 0}
    finished = 0
    for number in range(kills):
        above = 0.0 if number % 2 else 1.0
        newer = changes.apply(state, rng)
        pause = float(rng.uniform(0, 1.6 * seconds[above]))
        finished += kill_writer(trials, folder, state, newer, above, pause)
        fault = defect(trials, folder, state) and defect(trials, folder, newer)
        if fault:
            typer.echo(f"Kill {number} after {pause:.3f} s: {fault}")
            return False
        is_new = defect(trials, folder, newer) is None
        left["new" if is_new else "old"] += 1
        state = newer if is_new else state
    typer.echo(
        f"{kills} writers of {len(state):,} trials, half of them rebuilding, killed "
        f"within {seconds[1.0]:.2f} s (changes) or {seconds[0.0]:.2f} s (rebuild) of "
        f"writing, seed {seed}: {left['old']} left the old index, {left['new']} the "
        f"new one ({finished} had finished), none anything else."
    )
    return True


def kill_writer(
    trials: Trials,
    folder: Path,
    state: State,
    newer: State,
    rebuild_above: float,
    pause: float,
) -> bool:
    """Kill a process some seconds after it began to write; whether it had finished."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            index = changed_index(trials, folder, state, newer)
            os.write(writing, b"!")
            index.save_changes(rebuild_above=rebuild_above)
        finally:
            os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    time.sleep(pause)
    os.kill(pid, signal.SIGKILL)
    return not os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def changed_index(
    trials: Trials, folder: Path, state: State, newer: State
) -> TrialIndex:
    """The index opened, with changes that are not saved."""
    index = TrialIndex.from_disk(folder, verify=False)
    index.remove(trials.trial(n, 0).nct_id for n in state if n not in newer)
    other = {n: version for n, version in newer.items() if state.get(n) != version}
    index.add(trials.entries(other))
    return index


def defect(trials: Trials, folder: Path, state: State) -> str | None:
    """What is wrong with an index that should have these trials, None if nothing."""
    try:
        index = TrialIndex.from_disk(folder)
    except Exception as err:
        return f"it does not open: {err}"
    found: Iterable[Trial] = map(index.__getitem__, index.ids())
    if dict(map(number_and_version, found)) != state:
        return "it has other trials"
    number, version = max(state.items(), key=lambda item: (item[1], item[0]))
    known = trials.entry(number, version)
    assert known.vector is not None
    hit = index.search(known.vector, 1, exact=True)[0]
    if hit.nct_id != known.trial.nct_id or hit.score < 0.9999:
        return f"{known.trial.nct_id} does not find itself"
    return None


if __name__ == "__main__":
    typer.run(main)
