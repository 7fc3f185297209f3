"""Labelled trials for termination, read once: their label, and what was known at their
registration, as a record or as vectors and facts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from spacy.language import Language

from ..errors import Errors, error
from ..load import load_nlp
from ..readers import ReadReport, read_trials
from ..search.encode import encode_corpus
from ..search.fingerprint import pipeline_fingerprint
from ..termination.facts import facts_of_view
from ..termination.fill import is_complete
from ..termination.labels import termination_label
from ..termination.registration import registration_view, told_only
from ..trial import Trial

_SHOWN = 6  # reasons for leaving out trials


@dataclass(frozen=True)
class LabelledTrial:
    """terminated: The label. split_by: What a split looks at: id, sponsor and dates.
    view: As known at registration, None where vectors and facts stand for it."""

    terminated: bool
    split_by: Trial
    view: Trial | None = None
    vector: np.ndarray | None = None
    section_vectors: Mapping[str, np.ndarray] | None = None
    facts: np.ndarray | None = None


def read_labelled(
    path: Path,
    *,
    complete: bool = False,
    limit: int = 0,
    encoder: Path | None = None,
    cache: Path | None = None,
) -> list[LabelledTrial]:
    """All labelled trials of the file that can be used, in its order. They are kept for
    the next call: spaCy makes each reader of a config several times in a training.

    The settings are those of t2v.TerminationCorpus.v1.
    RAISES (T2VError): T001 for a missing file, T153, T024. WARNS: T138.
    """
    if not path.exists():
        raise error(Errors.T001, path=path)
    stamps = _stamp(path), _stamp(encoder)
    return _read(path, complete, limit, encoder, cache, stamps)


@lru_cache(maxsize=1)
def _read(
    path: Path,
    complete: bool,
    limit: int,
    encoder: Path | None,
    cache: Path | None,
    stamps: object,
) -> list[LabelledTrial]:
    """stamps: Change with the files, which are not read again until then."""
    report, lost = ReadReport(), Counter[str]()
    trials = labelled_trials(read_trials(path, report=report), lost, complete=complete)
    found = list(islice(trials, limit or None))
    for refusal in report.refused:
        lost[f"refused ({refusal})"] += 1
    if lost:
        warn_of_lost(path, len(found) + lost.total(), lost)
    if encoder is None:
        return found
    with TemporaryDirectory() as folder:
        return encode_trials(found, encoder, Path(cache or folder))


def labelled_trials(
    trials: Iterable[Trial], lost: Counter[str], *, complete: bool = False
) -> Iterator[LabelledTrial]:
    """The first record of each trial with a label and a text, with its view.

    lost (Counter): Gets the number of those left out, by reason.
    complete (bool): Leave out those whose view is not (`is_complete`).
    """
    seen: set[str] = set()
    for trial in trials:
        label = termination_label(trial.status)
        if label is None:
            lost["with a status that gives no label"] += 1
            continue
        view = registration_view(trial)
        if trial.nct_id in seen:
            lost["given twice"] += 1
        elif told_only(trial, view):
            lost["with a field that only tells the outcome"] += 1
        elif complete and not is_complete(view):
            lost["not complete"] += 1
        elif not any(char.isalnum() for char in view.to_text()):
            lost["without text"] += 1
        else:
            seen.add(trial.nct_id)
            yield LabelledTrial(label, _split_by(trial), view)


def encode_trials(
    trials: Sequence[LabelledTrial], encoder: Path, cache: Path
) -> list[LabelledTrial]:
    """The trials with vectors and facts in place of their views, in order.

    cache (Path): Folder that keeps the vectors.
    RAISES (T2VError): T153 if the encoder cannot be loaded, T024 if it makes no trial
        vectors, T010 if the folder cannot be written.
    """
    nlp = load_encoder(encoder, exclude=("umls_linker",))
    views = [trial.view for trial in trials if trial.view is not None]
    entries = encode_corpus(
        nlp,
        views,
        cache,
        fingerprint=pipeline_fingerprint(nlp),
        total=len(views),
    )
    return [
        replace(
            trial,
            view=None,
            vector=entry.vector,
            section_vectors=entry.section_vectors,
            facts=facts_of_view(entry.trial),
        )
        for trial, entry in zip(trials, entries, strict=True)
    ]


def load_encoder(name: Path, exclude: Iterable[str] = ()) -> Language:
    """Load the pipeline that makes the vectors. RAISES (T2VError T153)."""
    return load_nlp(str(name), exclude=exclude, message=Errors.T153)


def _split_by(trial: Trial) -> Trial:
    return Trial(
        trial.nct_id,
        sponsor=trial.sponsor,
        start_date=trial.start_date,
        completion_date=trial.completion_date,
        last_updated=trial.last_updated,
    )


def _stamp(path: Path | None) -> Any:
    """Name, time and size of a file, or of all files of a folder."""
    if path is None or not Path(path).exists():  # none, or an installed pipeline
        return None
    files = Path(path).rglob("*") if Path(path).is_dir() else [Path(path)]
    facts = ((str(file), file.stat()) for file in sorted(files) if file.is_file())
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in facts)


def warn_of_lost(path: Path, total: int, lost: Mapping[str, int]) -> None:
    """WARNS (T138) that trials are left out. lost: reason -> number."""
    reasons = [f"{n} {reason}" for reason, n in lost.items()]
    more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    reason = "; ".join(reasons[:_SHOWN]) + more
    values = {"path": path, "number": sum(lost.values()), "total": total}
    warnings.warn(str(error(Errors.T138, **values, reason=reason)), stacklevel=3)
