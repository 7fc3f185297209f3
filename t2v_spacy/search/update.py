"""Update an index from a newer download: only what is new or changed is encoded."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors, T2VError, error
from ..files import locked
from ..readers.report import ReadReport
from ..trial import Trial
from .build import IndexEntry, warn_of
from .corpus import Corpus
from .encode import encode_corpus
from .facet_values import date_span
from .fingerprint import backbone_name, pipeline_fingerprint, vector_fingerprint
from .linked import find_kb
from .records import normal_id
from .stamps import content_hash
from .trial_index import REBUILD_ABOVE, TrialIndex

if TYPE_CHECKING:
    from spacy.language import Language

MAX_MISSING = 0.5
_SHOWN = 10  # ids in a message


@dataclass
class UpdateReport:
    """What an update did with the trials.

    changed: Encoded again. record_only: What the encoder reads is the same; the vectors
    are kept. older: Records older than those in the index, which stay. removed: Those
    asked for and, if asked for, those the download lacks. left_out: Without a usable
    vector, given twice, or an alias of another trial. saved: "nothing", "changes"
    (beside the files of the index) or "rebuilt".
    """

    new: int = 0
    changed: int = 0
    record_only: int = 0
    unchanged: int = 0
    older: int = 0
    removed: int = 0
    left_out: int = 0
    saved: str = "nothing"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """The counts that are not 0, in words."""
        counts = {
            "new": self.new,
            "changed": self.changed,
            "changed in fields that are not encoded": self.record_only,
            "unchanged": self.unchanged,
            "older than in the index, which stay as they are there": self.older,
            "removed": self.removed,
            "left out": self.left_out,
        }
        said = [f"{n} {words}" for words, n in counts.items() if n]
        return ", ".join(said) or "no trials"


def update_index(
    nlp: Language,
    trials: Iterable[Trial],
    path: Path | str,
    *,
    remove: Iterable[str] = (),
    remove_missing: bool = False,
    max_missing: float = MAX_MISSING,
    rebuild_above: float = REBUILD_ABOVE,
    report: ReadReport | None = None,
    meta: Mapping[str, Any] | None = None,
    work_dir: Path | str | None = None,
    shard_size: int = 256,
    batch_size: int = 128,
    progress: bool = True,
) -> UpdateReport:
    """Bring the index in a folder up to date with newer records of its trials.

    A record whose fields are all the same is left alone, whatever its snapshot; one
    that is older by snapshot, or else by its date of update, never replaces a newer
    one; one that only differs in what is not encoded keeps its vectors. Trials that
    are to be encoded are held in memory. Started again after a kill it goes on where it
    was, as `build_index` does: the work is kept in `.NAME.update` beside the index, or
    inside `work_dir`. The index changes once, at the end.

    remove: ids or aliases of trials to remove; T167 warns of those that are not there.
    remove_missing: remove all trials that `trials` lacks. None is removed (T166 warns)
        if records were refused: they may be of any trial.
    max_missing: share of the index that may be missing in `trials`.
    rebuild_above: as in `TrialIndex.save_changes`.
    report: of the reader that yields `trials`, which says what it refused.
    meta: facts of the index to set, such as source.
    RAISES (T164): the index was made with another pipeline. (T166): too many trials are
    missing. (T024): the pipeline makes no trial vectors. As `TrialIndex.from_disk` and
    `TrialIndex.save_changes`.
    """
    path = Path(path).resolve()
    with locked(path):
        pass  # say at once, not after hours, that another run is writing it
    work = (Path(work_dir) if work_dir else path.parent) / f".{path.name}.update"
    with locked(work):
        try:
            index = TrialIndex.from_disk(path, verify=False)
            corpus = index._corpus
            _check_pipeline(nlp, index.meta)
            plan = _plan(corpus, trials)
            gone = _asked_for(corpus, remove, path)
            if remove_missing:
                gone |= _missing(corpus, plan, report, max_missing)
            entries = _encode(
                nlp,
                list(plan.encode.values()),
                work,
                concepts=index.meta.get("kb") is not None,
                shard_size=shard_size,
                batch_size=batch_size,
                progress=progress,
            )
            _apply(corpus, plan, entries, gone)
            if any(index.meta.get(k) != v for k, v in (meta or {}).items()):
                index.meta.update(meta or {})
                corpus.unsaved = True
            plan.report.saved = index.save_changes(rebuild_above=rebuild_above)
        except BaseException:
            with suppress(OSError):
                work.rmdir()  # nothing was finished that a later run could use
            raise
        shutil.rmtree(work, ignore_errors=True)
    return plan.report


def is_older(one: Trial, other: Trial) -> bool:
    """Whether a record was certainly taken before another: by snapshot or, where that
    does not tell, by the day it was last updated."""
    for name in ("snapshot", "last_updated"):
        first, second = date_span(getattr(one, name)), date_span(getattr(other, name))
        if min(*first, *second) >= 0 and (first[1] < second[0] or second[1] < first[0]):
            return first[1] < second[0]
    return False


@dataclass
class _Plan:
    """encode: Trials by main id. records: The same, whose vectors are kept. seen: Main
    ids of the index that were given."""

    encode: dict[str, Trial] = field(default_factory=dict)
    records: dict[str, Trial] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    report: UpdateReport = field(default_factory=UpdateReport)
    notes: list[T2VError] = field(default_factory=list)


def _plan(corpus: Corpus, trials: Iterable[Trial]) -> _Plan:
    plan = _Plan()
    for trial in trials:
        nct_id = normal_id(trial.nct_id)
        before = plan.encode.get(nct_id) or plan.records.get(nct_id)
        if before is not None:
            plan.report.left_out += 1
            if not is_older(before, trial):
                continue
            plan.encode.pop(nct_id, None)
            plan.records.pop(nct_id, None)
        _sort_in(plan, corpus, nct_id, trial)
    return plan


def _sort_in(plan: _Plan, corpus: Corpus, nct_id: str, trial: Trial) -> None:
    place = corpus.find(nct_id)
    if place is None:
        plan.encode[nct_id] = trial
        return
    main = corpus.main_id(nct_id)
    assert main is not None
    plan.seen.add(main)
    if main != nct_id:
        action = f"it is an alias of {main}, whose record is kept"
        plan.notes.append(error(Errors.T045, nct_id=nct_id, action=action))
        plan.report.left_out += 1
    elif corpus.content_hash(place) == content_hash(trial):
        plan.report.unchanged += 1
    elif is_older(trial, stored := corpus.trial(place)):
        plan.report.older += 1
    elif trial.to_text() == stored.to_text():
        plan.records[nct_id] = trial
    else:
        plan.encode[nct_id] = trial


def _apply(
    corpus: Corpus, plan: _Plan, entries: Iterable[IndexEntry], gone: set[str]
) -> None:
    """Change the opened index: add, replace, remove. gone: main ids."""
    found = plan.report
    encoded = corpus.add(entries, plan.notes, quiet=True)
    found.new, found.changed = encoded["added"], encoded["replaced"]
    kept = corpus.add(_with_records(corpus, plan.records), plan.notes, quiet=True)
    found.record_only = kept["replaced"]
    found.left_out += encoded["left_out"] + len(plan.records) - kept["replaced"]
    # A trial that another one claimed as its alias is gone already.
    there = [corpus.find(i) for i in gone if corpus.main_id(i) == i]
    found.removed = corpus.remove(place for place in there if place is not None)
    warn_of(plan.notes)


def _encode(
    nlp: Language, trials: list[Trial], work: Path, concepts: bool, **settings: Any
) -> Iterator[IndexEntry]:
    """concepts: whether the index has them; the new trials alone must not."""
    if not trials:
        return
    entries = encode_corpus(
        nlp,
        trials,
        work,
        fingerprint=pipeline_fingerprint(nlp),
        total=len(trials),
        **settings,
    )
    for entry in entries:
        yield entry if concepts else replace(entry, concepts=None)


def _with_records(corpus: Corpus, trials: Mapping[str, Trial]) -> Iterator[IndexEntry]:
    """The entries of the index with other records."""
    for nct_id, trial in trials.items():
        place = corpus.find(nct_id)
        if place is not None and corpus.main_id(nct_id) == nct_id:
            yield replace(corpus.entry(place), trial=trial)


def _asked_for(corpus: Corpus, ids: Iterable[str], path: Path) -> set[str]:
    """Main ids of those that are there."""
    mains = {nct_id: corpus.main_id(nct_id) for nct_id in ids}
    absent = [nct_id for nct_id, main in mains.items() if main is None]
    if absent:
        warnings.warn(str(not_there(absent, path)), stacklevel=3)
    return {main for main in mains.values() if main is not None}


def not_there(ids: Sequence[str], path: Path) -> T2VError:
    """T167 for these ids, the first of them named."""
    more = len(ids) - _SHOWN
    shown = ", ".join(ids[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return error(Errors.T167, path=path, ids=shown)


def _missing(
    corpus: Corpus, plan: _Plan, report: ReadReport | None, max_missing: float
) -> set[str]:
    missing = set(corpus.ids()) - plan.seen
    if not missing:
        return missing
    if len(missing) > max_missing * len(corpus):
        reason = (
            f"{len(missing)} of {len(corpus)} are missing, more than a share of "
            f"{max_missing:g} (`max_missing`, --max-missing)"
        )
        raise error(Errors.T166, reason=reason)
    if report and report.refused:
        reason = f"{len(report.refused)} records could not be read, which may be theirs"
        warnings.warn(str(error(Errors.T166, reason=reason)), stacklevel=3)
        return set()
    return missing


def _check_pipeline(nlp: Language, meta: Mapping[str, Any]) -> None:
    """RAISES (T164): the vectors would not compare. Warns (T169) of concepts."""
    stored, own = meta.get("fingerprint"), vector_fingerprint(nlp)
    if None not in (stored, own) and stored != own:
        theirs = f"{meta.get('pipeline')} ({meta.get('backbone')}, {str(stored)[:8]})"
        name = f"{nlp.meta['lang']}_{nlp.meta['name']}"
        ours = f"{name} ({backbone_name(nlp)}, {str(own)[:8]})"
        raise error(Errors.T164, theirs=theirs, ours=ours)
    kb = find_kb(nlp)
    version = None if kb is None else kb.version
    if meta.get("kb") not in (None, version):
        message = error(Errors.T169, theirs=meta["kb"], ours=version or "none")
        warnings.warn(str(message), stacklevel=3)
