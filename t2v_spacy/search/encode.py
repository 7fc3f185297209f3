"""Encode many trials in shards that survive a kill, then index them.

A shard is one .npz file with the vectors and concepts of some trials and a key: a hash
of the pipeline's fingerprint, of the knowledge base that it links to and of the records
themselves. A later run with the same key takes vectors and concepts from the file; the
records come from the input again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from ..errors import Errors, error
from ..files import locked, replaced_file, replaced_folder, writing
from ..trial import Trial
from .annoy_store import EXACT_BELOW, N_TREES
from .build import IndexEntry, write_index
from .fingerprint import (
    backbone_name,
    kb_fingerprint,
    pipeline_fingerprint,
    vector_fingerprint,
)
from .linked import ConceptReader, find_kb, pack_concepts, unpack_concepts
from .query import extension
from .storage import check_replaceable
from .trial_index import TrialIndex
from .vectors import Array

if TYPE_CHECKING:
    from spacy.language import Language


def encode_corpus(
    nlp: Language,
    trials: Iterable[Trial],
    work_dir: Path,
    *,
    fingerprint: str,
    shard_size: int = 256,
    batch_size: int = 128,
    total: int | None = None,
    progress: bool = True,
) -> Iterator[IndexEntry]:
    """Encode trials with a pipeline; entries come in the order of the trials.

    work_dir: keeps the finished shards. A run that was killed, started again with the
        same fingerprint, knowledge base, settings and trials, encodes only what is not
        there yet.
    fingerprint: says which pipeline and settings made the vectors.
    progress: show a bar with trials/s on stderr if it is a terminal; total: its end.
    RAISES (T010): not writable. (T024): the pipeline makes no trial vectors.
    """
    with writing(work_dir):
        work_dir.mkdir(parents=True, exist_ok=True)
    stream, stale = iter(trials), False
    kb = find_kb(nlp)
    concepts = ConceptReader(kb)
    made_by = fingerprint if kb is None else f"{fingerprint}\n{kb_fingerprint(kb)}"
    with tqdm(
        total=total,
        desc="Encoding",
        unit="trial",
        disable=None if progress else True,
    ) as bar:
        number = 0
        while batch := list(islice(stream, shard_size)):
            path = work_dir / f"{number:06}.npz"
            key = _key(made_by, batch)
            entries = _read_shard(path, key, batch)
            if entries is None:
                if path.exists() and not stale:
                    stale = True
                    warnings.warn(
                        f"{work_dir} holds vectors of other records or settings, or "
                        "broken files; these are encoded again.",
                        stacklevel=2,
                    )
                entries = _encode(nlp, batch, batch_size, bar, concepts)
                with writing(path):
                    _write_shard(path, key, entries)
            else:
                bar.update(len(batch))
            yield from entries
            number += 1


def build_index(
    nlp: Language,
    trials: Iterable[Trial],
    out: Path | str,
    *,
    work_dir: Path | str | None = None,
    fingerprint: str | None = None,
    n_trees: int = N_TREES,
    seed: int = 0,
    n_jobs: int = 1,
    exact_below: int = EXACT_BELOW,
    shard_size: int = 256,
    batch_size: int = 128,
    total: int | None = None,
    meta: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> TrialIndex:
    """Encode trials, index them, write the index to `out` and open it.

    Started again after a kill it goes on where it was: the work is kept in a folder
    `.NAME.work` inside `work_dir` (default: beside `out`), which goes when the index
    is written. fingerprint: as in `encode_corpus`, default `pipeline_fingerprint(nlp)`.
    RAISES: as `encode_corpus`, `TrialIndex.build` and `TrialIndex.to_disk`.
    """
    out = Path(out).resolve()
    # Say at once, not after hours, that there is no place to write to.
    check_replaceable(out)
    work = (Path(work_dir) if work_dir else out.parent) / f".{out.name}.work"
    entries = encode_corpus(
        nlp,
        trials,
        work,
        fingerprint=fingerprint or pipeline_fingerprint(nlp),
        shard_size=shard_size,
        batch_size=batch_size,
        total=total,
        progress=progress,
    )
    kb = find_kb(nlp)
    facts = {
        "kb": None if kb is None else kb.version,
        "pipeline": f"{nlp.meta['lang']}_{nlp.meta['name']}",
        "backbone": backbone_name(nlp),
        "fingerprint": vector_fingerprint(nlp),
        **(meta or {}),
    }
    try:
        with replaced_folder(out) as new, locked(work):
            write_index(
                new,
                entries,
                n_trees=n_trees,
                seed=seed,
                n_jobs=n_jobs,
                exact_below=exact_below,
                meta=facts,
            )
    except BaseException:
        with suppress(OSError):
            work.rmdir()  # nothing was finished that a later run could use
        raise
    shutil.rmtree(work, ignore_errors=True)
    opened = TrialIndex.from_disk(out, verify=False)
    opened.nlp = nlp
    return opened


def _encode(
    nlp: Language,
    trials: list[Trial],
    batch_size: int,
    bar: tqdm,
    concepts: ConceptReader,
) -> list[IndexEntry]:
    from ..doc import make_trial_doc

    # An error handler may drop docs: each says itself which trial it is of.
    docs = ((make_trial_doc(nlp, trial), i) for i, trial in enumerate(trials))
    entries = [IndexEntry(trial, None) for trial in trials]
    has_words = False
    for doc, i in nlp.pipe(docs, as_tuples=True, batch_size=batch_size):
        vector = extension(doc, "trial_vector")
        sections = extension(doc, "section_vectors") or {}
        has_words = has_words or any(char.isalnum() for char in doc.text)
        entries[i] = IndexEntry(trials[i], vector, dict(sections), concepts(doc))
        bar.update()
    if has_words and all(entry.vector is None for entry in entries):
        raise error(Errors.T024, pipe="trial2vec", task="index trials")
    return entries


def _key(made_by: str, trials: list[Trial]) -> str:
    found = hashlib.sha256(made_by.encode())
    for trial in trials:
        found.update(json.dumps(trial.to_dict(), sort_keys=True).encode())
    return found.hexdigest()


def _write_shard(path: Path, key: str, entries: list[IndexEntry]) -> None:
    """Arrays of one shard: for "vector" and each section label, the rows that exist
    (float32) and the numbers of their trials; and the concepts."""
    named: dict[str, dict[int, Array]] = {}
    for number, entry in enumerate(entries):
        if entry.vector is not None:
            named.setdefault("vector", {})[number] = entry.vector
        for label, vector in entry.section_vectors.items():
            named.setdefault(f"section:{label}", {})[number] = vector
    found = pack_concepts([entry.concepts for entry in entries])
    arrays: dict[str, Array] = {"key": np.array(key), "concepts": found}
    for name, rows in named.items():
        arrays[f"{name}:trials"] = np.array(list(rows), np.int32)
        arrays[f"{name}:rows"] = np.stack(list(rows.values())).astype(np.float32)
    with replaced_file(path) as new, new.open("wb") as file:
        np.savez(file, **arrays)


def _read_shard(path: Path, key: str, trials: list[Trial]) -> list[IndexEntry] | None:
    """The entries of a shard, or None if it is not there, broken or of another key."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["key"]) != key:
                return None
            concepts = unpack_concepts(file["concepts"])
            vectors: list[dict[str, Array]] = [{} for _ in trials]
            for name in file.files:
                if name.endswith(":rows"):
                    label = name.removesuffix(":rows")
                    numbers = file[f"{label}:trials"]
                    for number, row in zip(numbers, file[name], strict=True):
                        vectors[number][label.removeprefix("section:")] = row
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return [
        IndexEntry(trial, named.pop("vector", None), named, linked)
        for trial, named, linked in zip(trials, vectors, concepts, strict=True)
    ]
