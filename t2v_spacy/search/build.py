"""Write the files of an index from trials and their vectors, one at a time."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from ..about import __version__
from ..errors import Errors, T2VError, error
from ..files import describe, writing
from ..trial import Trial
from .annoy_store import EXACT_BELOW, METRIC, N_TREES, VECTORS, AnnoyStore
from .facet_values import Concepts
from .facets import FacetWriter
from .fusion import HYBRID
from .lexical_writer import LexicalWriter
from .records import RECORDS, RecordWriter, normal_id
from .section_vectors import SectionWriter
from .stamps import StampWriter
from .vectors import Array, RowWriter, defect, keep_rows, unit

META, FORMAT, FORMAT_VERSION = "meta.json", "t2v_spacy trial index", 1
NO_TEXT, NOT_ENCODED, TWICE = "no text", "not encoded", "given twice"
_SHOWN = 10  # warnings of one kind


@dataclass(frozen=True)
class IndexEntry:
    """A trial with what is searched: vector (width,), or None if it has no text, and
    a vector (width,) for each section it has.

    concepts (Mapping): For filters: "condition" and "intervention" -> id of a concept
        linked there -> ids of all broader ones. None if nothing was linked.
    """

    trial: Trial
    vector: Array | None
    section_vectors: Mapping[str, Array] = field(default_factory=dict)
    concepts: Concepts | None = None


def write_index(
    folder: Path,
    entries: Iterable[IndexEntry],
    *,
    n_trees: int = N_TREES,
    seed: int = 0,
    n_jobs: int = 1,
    exact_below: int = EXACT_BELOW,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Fill an empty folder with an index; returns its description, also in meta.json.

    Vectors go to their files as they come; one trial is held at a time. meta: more
    facts to keep, such as source, backbone and pipeline. RAISES (T048): nothing to
    index. (T044): a vector of another width. (T010): not writable.
    """
    refused = {k: list(v) for k, v in (meta or {}).get("not_indexed", {}).items()}
    refused = {reason: ids for reason, ids in refused.items() if ids}
    facts = write_entries(folder, entries, refused)
    store = AnnoyStore.build(
        np.load(folder / VECTORS, mmap_mode="r"),
        n_trees=n_trees,
        seed=seed,
        n_jobs=n_jobs,
        exact_below=exact_below,
    )
    facts["store"] = store.save(folder)
    full = {
        "backbone": None,
        "pipeline": None,
        "fingerprint": None,
        "source": None,
        "kb": None,
        "hybrid": HYBRID,
        **(meta or {}),
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "package_version": __version__,
        "created": date.today().isoformat(),
        "metric": METRIC,
        "seed": seed,
        "n_trees": n_trees,
        "exact_below": exact_below,
        **facts,
        "not_indexed": refused,
    }
    with writing(folder):
        full["files"] = describe(folder)
        srsly.write_json(folder / META, full)
    return full


def refusal(entry: IndexEntry) -> str | None:
    """Why an entry cannot be indexed, None if it can."""
    if entry.vector is not None:
        return defect(np.asarray(entry.vector))
    has_words = any(char.isalnum() for char in entry.trial.to_text())
    return NOT_ENCODED if has_words else NO_TEXT


def write_entries(
    folder: Path, entries: Iterable[IndexEntry], refused: dict[str, list[str]]
) -> dict[str, Any]:
    """Write all files of trials but the trees: of an index, or of changes to one.

    Returns what the reader of the files must be given. The trials not indexed go to
    `refused`.
    """
    notes: list[T2VError] = []
    facets, stamps, lexical = FacetWriter(), StampWriter(), LexicalWriter(folder)
    rows: RowWriter | None = None
    with ExitStack() as stack:
        with writing(folder):
            records = RecordWriter(folder / RECORDS)
        stack.callback(_close, records, folder)
        stack.callback(lexical.close)
        for entry in entries:
            trial, vector, reason = entry.trial, entry.vector, refusal(entry)
            if vector is None or reason:
                nct_id = normal_id(trial.nct_id)
                refused.setdefault(reason or NO_TEXT, []).append(nct_id)
                if reason != NO_TEXT:
                    notes.append(error(Errors.T044, nct_id=nct_id, reason=reason))
                continue
            # Only what is written here: the entries may fail to be read.
            with writing(folder):
                if rows is None:
                    rows = RowWriter(folder / VECTORS, len(vector))
                    stack.callback(_close, rows, folder)
                    sections = SectionWriter(folder, rows.width)
                check_width(entry, rows.width)
                if records.add(rows.n_rows, trial):
                    rows.append(unit(vector))
                    sections.append(entry.section_vectors)
                    facets.append(trial, entry.concepts)
                    stamps.append(trial)
                    lexical.append(trial)
        if rows is None:
            raise error(Errors.T048, reason=_nothing(refused))
        with writing(folder):
            kept = records.renumber()
            complete = len(kept) == rows.n_rows
            counts = sections.close(None if complete else kept)
            facets.save(folder, None if complete else kept)
            snapshots = stamps.save(folder, None if complete else kept)
            lexical.save(None if complete else kept)
    if not complete:
        with writing(folder):
            keep_rows(folder / VECTORS, np.array(kept))
    if records.dropped:
        refused.setdefault(TWICE, []).extend(records.dropped)
    warn_of(notes)
    warn_of(records.notes)
    return {
        "width": rows.width,
        "n_items": len(kept),
        "sections": counts,
        "snapshots": snapshots,
    }


def check_width(entry: IndexEntry, width: int) -> None:
    """RAISES (T044): a vector of the entry is not (width,)."""
    named: dict[str, Any] = {"vector": entry.vector, **entry.section_vectors}
    for name, vector in named.items():
        if np.shape(vector) != (width,):
            reason = f"{name} has shape {np.shape(vector)} instead of ({width},)"
            raise error(Errors.T044, nct_id=entry.trial.nct_id, reason=reason)


def _close(writer: RecordWriter | RowWriter, folder: Path) -> None:
    with writing(folder):
        writer.close()


def _nothing(refused: Mapping[str, list[str]]) -> str:
    if not refused:
        return "no trials were given"
    counts = ", ".join(f"{len(ids)} {reason}" for reason, ids in refused.items())
    return f"none of the trials has a usable vector ({counts})"


def warn_of(notes: list[T2VError]) -> None:
    """Warn of the first few, and of how many more there are."""
    for note in notes[:_SHOWN]:
        warnings.warn(str(note), stacklevel=2)
    if len(notes) > _SHOWN:
        more = f"{len(notes) - _SHOWN} more like this: see not_indexed in {META}."
        warnings.warn(more, stacklevel=2)
