"""Encode many trials in shards that survive a kill, then index them.

A shard is one .npz file with the vectors of some trials and a key: a hash of the
pipeline's fingerprint and of the records themselves. A later run with the same key
takes the vectors from the file; the records come from the input again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from ..about import __version__
from ..errors import Errors, error
from ..trial import Trial
from .annoy_store import EXACT_BELOW, N_TREES
from .build import IndexEntry
from .files import replaced_file, writing
from .query import extension
from .trial_index import TrialIndex, check_replaceable
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
    batch_size: int = 64,
    total: int | None = None,
    progress: bool = True,
) -> Iterator[IndexEntry]:
    """Encode trials with a pipeline; entries come in the order of the trials.

    work_dir: keeps the finished shards. A run that was killed, started again with the
        same fingerprint, settings and trials, encodes only what is not there yet.
    fingerprint: says which pipeline and settings made the vectors.
    progress: show a bar with trials/s on stderr if it is a terminal; total: its end.
    RAISES (T010): not writable. (T024): the pipeline makes no trial vectors.
    """
    with writing(work_dir):
        work_dir.mkdir(parents=True, exist_ok=True)
    stream, stale = iter(trials), False
    with tqdm(
        total=total,
        desc="Encoding",
        unit="trial",
        disable=None if progress else True,
    ) as bar:
        number = 0
        while batch := list(islice(stream, shard_size)):
            path = work_dir / f"{number:06}.npz"
            key = _key(fingerprint, batch)
            entries = _read_shard(path, key, batch)
            if entries is None:
                if path.exists() and not stale:
                    stale = True
                    warnings.warn(
                        f"{work_dir} holds vectors of other records or settings, or "
                        "broken files; these are encoded again.",
                        stacklevel=2,
                    )
                entries = _encode(nlp, batch, batch_size, bar)
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
    batch_size: int = 64,
    total: int | None = None,
    meta: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> TrialIndex:
    """Encode trials, index them, write the index to `out` and open it.

    Started again after a kill it goes on where it was: the work is kept in `work_dir`
    (default: a hidden folder beside `out`), which goes when the index is written.
    RAISES: as `encode_corpus`, `TrialIndex.build` and `TrialIndex.to_disk`.
    """
    out = Path(out)
    # Say at once, not after hours, that there is no place to write to.
    check_replaceable(out)
    work = Path(work_dir) if work_dir else out.with_name(f".{out.name}.work")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        work.mkdir(parents=True, exist_ok=True)
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
    index = TrialIndex.build(
        entries,
        n_trees=n_trees,
        seed=seed,
        n_jobs=n_jobs,
        exact_below=exact_below,
        meta={"pipeline": f"{nlp.meta['lang']}_{nlp.meta['name']}", **(meta or {})},
        work_dir=work,
    )
    index.to_disk(out)
    shutil.rmtree(work, ignore_errors=True)
    opened = TrialIndex.from_disk(out, verify=False)
    opened.nlp = nlp
    return opened


def pipeline_fingerprint(nlp: Language) -> str:
    """Hash of a pipeline's settings and weights, the same in every process.

    (The bytes a pipeline is saved as are not: they hold files in any order.)
    """
    found = hashlib.sha256(f"{__version__}\n{nlp.config.to_str()}".encode())
    for name, pipe in nlp.pipeline:
        found.update(name.encode())
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            for param in node.param_names:
                if node.has_param(param):
                    found.update(node.ops.to_numpy(node.get_param(param)).tobytes())
            for shim in node.shims:
                for key, tensor in shim._model.state_dict().items():
                    found.update(key.encode())
                    found.update(tensor.cpu().numpy().tobytes())
    return found.hexdigest()


def _encode(
    nlp: Language, trials: list[Trial], batch_size: int, bar: tqdm
) -> list[IndexEntry]:
    from ..doc import make_trial_doc

    docs = (make_trial_doc(nlp, trial) for trial in trials)
    entries, has_words = [], False
    for trial, doc in zip(trials, nlp.pipe(docs, batch_size=batch_size), strict=True):
        vector = extension(doc, "trial_vector")
        sections = extension(doc, "section_vectors") or {}
        has_words = has_words or any(char.isalnum() for char in doc.text)
        entries.append(IndexEntry(trial, vector, dict(sections)))
        bar.update()
    if has_words and all(entry.vector is None for entry in entries):
        raise error(Errors.T024, pipe="trial2vec", task="index trials")
    return entries


def _key(fingerprint: str, trials: list[Trial]) -> str:
    found = hashlib.sha256(fingerprint.encode())
    for trial in trials:
        found.update(json.dumps(trial.to_dict(), sort_keys=True).encode())
    return found.hexdigest()


def _write_shard(path: Path, key: str, entries: list[IndexEntry]) -> None:
    """Arrays of one shard: for "vector" and each section label, the rows that exist
    (float32) and the numbers of their trials."""
    named: dict[str, dict[int, Array]] = {}
    for number, entry in enumerate(entries):
        if entry.vector is not None:
            named.setdefault("vector", {})[number] = entry.vector
        for label, vector in entry.section_vectors.items():
            named.setdefault(f"section:{label}", {})[number] = vector
    arrays: dict[str, Array] = {"key": np.array(key)}
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
        IndexEntry(trial, named.pop("vector", None), named)
        for trial, named in zip(trials, vectors, strict=True)
    ]
