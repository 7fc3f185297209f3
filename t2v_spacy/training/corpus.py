"""The corpus reader: trials as training examples, shuffled and with fresh views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import srsly
from spacy.language import Language
from spacy.training import Example

from ..doc import make_trial_doc
from ..errors import Errors, error
from ..readers import read_trials
from .knowledge_views import KnowledgeViews
from .training_trial import TrainingTrial, from_doc, make_training_doc

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase

LINKER = "umls_linker"
_PIPES = ("trial_parser", LINKER)


def trial_corpus(
    path: Path | None,
    views: KnowledgeViews | None = None,
    max_words: int | None = None,
    min_sections: int = 2,
    limit: int = 0,
    shuffle: bool = False,
    seed: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Reader `t2v.TrialCorpus.v1`: one example a trial.

    path (Path | None): Records in any format `read_trials` reads, which are parsed and
        linked with the pipes of the pipeline (about 100 trials a second); or what
        `scripts/prepare_corpus.py` made of them, which is quicker.
    views (Callable | None): t2v.KnowledgeViews.v1; needs an `umls_linker` in the
        pipeline for its base. Defaults to None: no local loss.
    max_words (int | None): Words kept of each section. Defaults to None, all.
    min_sections (int): Trials with fewer sections are passed over; they can have no two
        views. Defaults to 2.
    limit (int): Most trials; 0 for all.
    shuffle (bool): Draw a new order in each epoch. For training set `max_epochs = -1`,
        so that spaCy asks for each epoch anew and views are drawn afresh.
    seed (int): Of order and views.
    RAISES (T2VError): T132 without a path or without a usable trial, T133 for views
        without a linker, T001 if there is no such file.
    """
    return TrialCorpus(
        path,
        views,
        max_words=max_words,
        min_sections=min_sections,
        limit=limit,
        shuffle=shuffle,
        seed=seed,
    )


class TrialCorpus:
    """See `trial_corpus`. Trials are read once and kept, some kilobytes each."""

    def __init__(
        self,
        path: Path | None,
        views: KnowledgeViews | None,
        *,
        max_words: int | None,
        min_sections: int,
        limit: int,
        shuffle: bool,
        seed: int,
    ) -> None:
        self.path = path
        self.views = views
        self.max_words = max_words
        self.min_sections = min_sections
        self.limit = limit
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0
        self._trials: list[TrainingTrial] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        trials = self.read(nlp)
        make_views = self._view_maker(nlp)
        # One generator for an epoch, so that a run of the same seed is the same.
        rng = numpy.random.default_rng((self.seed, self.epoch))
        self.epoch += 1
        order = rng.permutation(len(trials)) if self.shuffle else range(len(trials))
        for i in order:
            trial = trials[i]
            views = make_views(dict(trial.sections), trial.mentions, rng=rng)
            doc = make_training_doc(nlp, trial, views)
            yield Example(doc, doc)

    def read(self, nlp: Language) -> list[TrainingTrial]:
        """The trials, read and linked when first asked for."""
        if not self._trials:
            if self.path is None:
                reason = "no path is given"
                raise error(Errors.T132, path="paths.train or paths.dev", reason=reason)
            if not Path(self.path).exists():
                raise error(Errors.T001, path=self.path)
            usable = (
                trial
                for trial in read_training_trials(nlp, self.path, self.max_words)
                if len(trial.sections) >= self.min_sections
            )
            self._trials = list(islice(usable, self.limit or None))
            if not self._trials:
                reason = f"no trial has {self.min_sections} sections (`min_sections`)"
                raise error(Errors.T132, path=self.path, reason=reason)
        return self._trials

    def _view_maker(self, nlp: Language) -> Callable[..., Any]:
        if self.views is None:
            return lambda sections, mentions, rng: ()
        if LINKER not in nlp.pipe_names:
            raise error(Errors.T133, name=LINKER)
        kb: KnowledgeBase = nlp.get_pipe(LINKER).kb  # type: ignore[attr-defined]
        return partial(self.views, kb=kb)


def read_training_trials(
    nlp: Language, path: Path, max_words: int | None
) -> Iterator[TrainingTrial]:
    """Training trials of a prepared file, or of records parsed and linked now."""
    if is_prepared(path):
        for data in (
            srsly.read_gzip_jsonl(path) if _gz(path) else srsly.read_jsonl(path)
        ):
            trial = TrainingTrial.from_dict(data)
            yield _cut(trial, max_words) if max_words else trial
        return
    yield from link_trials(nlp, path, max_words)


def link_trials(
    nlp: Language, path: Path, max_words: int | None, *, n_process: int = 1
) -> Iterator[TrainingTrial]:
    """Parse and link records with the pipes of the pipeline that do so."""
    disable = [name for name in nlp.pipe_names if name not in _PIPES]
    docs = ((make_trial_doc(nlp, t), t.nct_id) for t in read_trials(path))
    with nlp.select_pipes(disable=disable):
        piped = nlp.pipe(docs, as_tuples=True, n_process=n_process, batch_size=64)
        for doc, nct_id in piped:
            yield from_doc(doc, nct_id, max_words)


def is_prepared(path: Path) -> bool:
    """Whether the first line of the file is a training trial."""
    if Path(path).is_dir() or not {".jsonl"} & set(Path(path).suffixes):
        return False
    lines: Iterable[Any] = (
        srsly.read_gzip_jsonl(path, skip=True)
        if _gz(path)
        else srsly.read_jsonl(path, skip=True)
    )
    first = next(iter(lines), None)
    return isinstance(first, dict) and set(first) == {"nct_id", "sections", "mentions"}


def _gz(path: Path) -> bool:
    return Path(path).suffix == ".gz"


def _cut(trial: TrainingTrial, max_words: int) -> TrainingTrial:
    sections = {
        label: " ".join(text.split(" ")[:max_words])
        for label, text in trial.sections.items()
    }
    kept = tuple(m for m in trial.mentions if m.text in sections.get(m.section, ""))
    return TrainingTrial(trial.nct_id, sections, kept)
