"""The corpus reader: trials as training examples, shuffled and with fresh views."""

from __future__ import annotations

import gzip
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..doc import make_trial_doc
from ..errors import Errors, error
from ..kb.shared import no_evidence
from ..ml.span_getters import ENCODED_LABELS
from ..readers import ReadReport, read_trials
from .knowledge_views import KnowledgeViews
from .training_trial import TrainingTrial, from_doc, make_training_doc

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase

LINKER = "umls_linker"
_PIPES = ("trial_parser", LINKER)
_KEYS = {"nct_id", "sections", "mentions"}
_FIRST = 3  # lines looked at to know a prepared file, since one may be broken


def trial_corpus(
    path: Path | None,
    views: KnowledgeViews | None = None,
    sections: Iterable[str] = ENCODED_LABELS,
    max_words: int | None = None,
    min_sections: int = 2,
    limit: int = 0,
    shuffle: bool = False,
    alike: float = 0.0,
    seed: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Reader `t2v.TrialCorpus.v1`: one example a trial.

    path (Path | None): Records in any format `read_trials` reads, which are parsed and
        linked with the pipes of the pipeline (about 100 trials a second); or what
        `scripts/prepare_corpus.py` made of them, which is quicker. Mentions of placebo
        and the like make no trials alike and are left out, if there is an
        `umls_linker` in the pipeline.
    views (Callable | None): t2v.KnowledgeViews.v1; needs an `umls_linker` in the
        pipeline for its base. Defaults to None: no local loss.
    sections (Iterable[str]): Labels of the sections that are kept: one that has no
        weight costs time for nothing. Defaults to all that the encoder reads.
    max_words (int | None): Words kept of each section. Defaults to None, all.
    min_sections (int): Trials with fewer sections are passed over, with a warning that
        counts them; they can have no two views. Defaults to 2.
    limit (int): Most trials; 0 for all.
    shuffle (bool): Draw a new order in each epoch. For training set `max_epochs = -1`,
        so that spaCy asks for each epoch anew and views are drawn afresh.
    alike (float): Chance that a trial is followed by one that shares a condition and an
        intervention concept with it, so that they meet in a batch; only with `shuffle`.
        Defaults to 0.
    seed (int): Of order and views.
    RAISES (T2VError): T132 without a path or without a usable trial, T133 for views
        without a linker, T001 if there is no such file, T137 for a broken line of a
        prepared file. WARNS: T138 for trials passed over and records refused.
    """
    return TrialCorpus(
        path,
        views,
        sections=frozenset(sections),
        max_words=max_words,
        min_sections=min_sections,
        limit=limit,
        shuffle=shuffle,
        alike=alike,
        seed=seed,
    )


class TrialCorpus:
    """See `trial_corpus`. Trials are read once and kept, some kilobytes each."""

    def __init__(
        self,
        path: Path | None,
        views: KnowledgeViews | None,
        *,
        sections: frozenset[str],
        max_words: int | None,
        min_sections: int,
        limit: int,
        shuffle: bool,
        alike: float,
        seed: int,
    ) -> None:
        self.path = path
        self.views = views
        self.sections = sections
        self.max_words = max_words
        self.min_sections = min_sections
        self.limit = limit
        self.shuffle = shuffle
        self.alike = alike
        self.seed = seed
        self.epoch = 0
        self._trials: list[TrainingTrial] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        trials = self.read(nlp)
        make_views = self._view_maker(nlp)
        # One generator for an epoch, so that a run of the same seed is the same.
        rng = numpy.random.default_rng((self.seed, self.epoch))
        self.epoch += 1
        for i in self._order(trials, rng):
            trial = trials[i]
            views = make_views(dict(trial.sections), trial.mentions, rng)
            doc = make_training_doc(nlp, trial, views)
            yield Example(doc, doc)

    def _order(
        self, trials: Sequence[TrainingTrial], rng: numpy.random.Generator
    ) -> Iterable[int]:
        """Each trial once; with `alike`, some next to a trial they are like."""
        if not self.shuffle:
            return range(len(trials))
        order: dict[int, None] = {}
        pairs = _pairs(trials) if self.alike else {}
        for i in rng.permutation(len(trials)).tolist():
            if i in order:
                continue
            order[i] = None
            if self.alike and rng.random() < self.alike:
                groups = [pairs[key] for key in _keys(trials[i])]
                beside = [j for group in groups for j in group if j not in order]
                if beside:
                    order[beside[rng.integers(len(beside))]] = None
        return order

    def read(self, nlp: Language) -> list[TrainingTrial]:
        """The trials, read and linked when first asked for."""
        if not self._trials:
            if self.path is None:
                reason = "no path is given"
                raise error(Errors.T132, path="paths.train or paths.dev", reason=reason)
            if not Path(self.path).exists():
                raise error(Errors.T001, path=self.path)
            self._trials = self._read(nlp, Path(self.path))
        return self._trials

    def _read(self, nlp: Language, path: Path) -> list[TrainingTrial]:
        report = ReadReport()
        trials: list[TrainingTrial] = []
        short = 0
        kb = _knowledge(nlp)
        ignored = no_evidence(kb) if kb is not None else frozenset[str]()
        for trial in read_training_trials(nlp, path, self.max_words, report):
            trial = trial.only(self.sections)
            if len(trial.sections) < self.min_sections:
                short += 1
                continue
            kept = tuple(m for m in trial.mentions if m.concept not in ignored)
            trials.append(TrainingTrial(trial.nct_id, trial.sections, kept))
            if len(trials) == self.limit:
                break
        reasons = [str(refusal) for refusal in report.refused]
        if short:
            few = f"{short} have fewer than {self.min_sections} sections"
            reasons.insert(0, f"{few} (`min_sections`)")
        # One trial alone makes no batch, and spaCy would ask for one for ever.
        if not trials or (self.shuffle and len(trials) == 1):
            found = "one trial alone has no negative" if trials else "it is empty"
            reason = "; ".join(reasons[:3]) or found
            raise error(Errors.T132, path=path, reason=reason)
        if reasons:
            lost = short + len(report.refused)
            total = lost + len(trials)
            reason = "; ".join(reasons[:3])
            values = {"path": path, "number": lost, "total": total, "reason": reason}
            warnings.warn(str(error(Errors.T138, **values)), stacklevel=4)
        return trials

    def _view_maker(self, nlp: Language) -> Callable[..., Any]:
        if self.views is None:
            return lambda sections, mentions, rng: ()
        kb = _knowledge(nlp)
        if kb is None:
            raise error(Errors.T133, name=LINKER)
        views = self.views
        return lambda sections, mentions, rng: views(sections, mentions, kb, rng)


def _knowledge(nlp: Language) -> KnowledgeBase | None:
    if LINKER not in nlp.pipe_names:
        return None
    return nlp.get_pipe(LINKER).kb  # type: ignore[attr-defined]


def read_training_trials(
    nlp: Language, path: Path, max_words: int | None, report: ReadReport | None = None
) -> Iterator[TrainingTrial]:
    """Training trials of a prepared file, or of records parsed and linked now.

    RAISES (T2VError): T137 for a broken line of a prepared file.
    """
    if not is_prepared(path):
        yield from link_trials(nlp, path, max_words, report=report)
        return
    number = 1
    try:
        with _open(path) as file:
            for line in file:
                yield TrainingTrial.from_dict(json.loads(line)).cut(max_words)
                number += 1
    except (ValueError, OSError, EOFError) as err:
        raise error(Errors.T137, path=path, line=number, reason=err) from err


def link_trials(
    nlp: Language,
    path: Path,
    max_words: int | None,
    *,
    n_process: int = 1,
    report: ReadReport | None = None,
    keep: Callable[[Doc, str], bool] | None = None,
) -> Iterator[TrainingTrial]:
    """Parse and link records with the pipes of the pipeline that do so.

    report (ReadReport | None): Filled while reading.
    keep (Callable | None): Whether to go on with a Doc, which has its sections but no
        concepts yet, and the id of its trial. Defaults to all.
    """
    disable = [name for name in nlp.pipe_names if name not in _PIPES]
    trials = read_trials(path, report=report)
    made = ((make_trial_doc(nlp, trial), trial.nct_id) for trial in trials)
    docs = (pair for pair in made if keep is None or keep(*pair))
    with nlp.select_pipes(disable=disable):
        piped = nlp.pipe(docs, as_tuples=True, n_process=n_process, batch_size=64)
        for doc, nct_id in piped:
            yield from_doc(doc, nct_id, max_words)


def is_prepared(path: Path) -> bool:
    """Whether one of the first lines of the file is a training trial."""
    if Path(path).is_dir() or not str(path).endswith((".jsonl", ".jsonl.gz")):
        return False
    with suppress(OSError, EOFError, ValueError), _open(path) as file:
        for line in islice(file, _FIRST):
            with suppress(ValueError):
                data = json.loads(line)
                if isinstance(data, dict) and set(data) == _KEYS:
                    return True
    return False


def _open(path: Path) -> IO[str]:
    how = gzip.open if Path(path).suffix == ".gz" else open
    return how(path, "rt", encoding="utf8")  # type: ignore[operator]


def _keys(trial: TrainingTrial) -> list[tuple[str, str]]:
    """Its pairs of a condition and an intervention concept, each once."""
    found: dict[str, dict[str, None]] = {"condition": {}, "intervention": {}}
    for mention in trial.mentions:
        if mention.section in found:
            found[mention.section][mention.concept] = None
    return [(c, i) for c in found["condition"] for i in found["intervention"]]


def _pairs(trials: Sequence[TrainingTrial]) -> dict[tuple[str, str], list[int]]:
    """Pairs of concepts to the trials that have them."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, trial in enumerate(trials):
        for key in _keys(trial):
            found[key].append(i)
    return found
