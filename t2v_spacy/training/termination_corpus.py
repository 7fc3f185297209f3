"""The corpus reader for termination: labelled trials as they were registered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..doc import make_trial_doc
from ..errors import Errors, error
from ..extensions import NCT_ID, install_extensions
from ..ml.trial_textcat import FACTS_KEY
from ..termination.labels import NEGATIVE, POSITIVE
from ..termination.splits import date_split, random_split
from .termination_trials import LabelledTrial, read_labelled, warn_of_lost

PARTS = ("train", "dev", "test", "all")
SPLITS = ("random", "date")
_ENCODES = "trial2vec"


def termination_corpus(
    path: Path | None,
    part: str = "train",
    split: str = "random",
    seed: int = 0,
    cutoff: str | None = None,
    group_by_sponsor: bool = False,
    complete: bool = False,
    encoder: Path | None = None,
    cache: Path | None = None,
    limit: int = 0,
    shuffle: bool = False,
) -> Callable[[Language], Iterator[Example]]:
    """Reader `t2v.TerminationCorpus.v1`: one example a trial that has ended, with
    `cats` TERMINATED and COMPLETED. The predicted Doc holds what was known at the
    registration (`registration_view`); the record as it is today is only looked at for
    the label and the split.

    A frozen encoder need not see a trial once an epoch. With `encoder`, the pipes of
    that pipeline run once over all labelled trials, and each Doc is a single word with
    `doc._.trial_vector`, `doc._.section_vectors` and the facts, which is all that
    t2v.TrialVectorTextCat.v1 reads. The pipeline that is trained is then `textcat`
    alone, so that evaluation does not encode again, and t2v.calibrate_termination.v1
    saves it with the pipes of the encoder. Without `encoder` the Docs have their whole
    text and sections, for a transformer that is trained along.

    path (Path | None): Records in any format `read_trials` reads.
    part (str): "train", "dev" or "test" of the split, or "all".
    split (str): "random" (70/10/20) or "date", see `random_split` and `date_split`.
    seed (int): Of the random split and of the order.
    cutoff (str | None): First day of the test part of a split by date, "2018-01-01".
    group_by_sponsor (bool): A random split keeps the trials of a sponsor in one part.
    complete (bool): Leave out records that lack what every registration has; in merged
        collections that alone may tell the label (`t2v_spacy.termination.fill`). A
        record with a field that only tells the outcome is left out in any case.
    encoder (Path | None): Folder or name of the pipeline whose vectors are read.
    cache (Path | None): Folder that keeps the vectors, so that a later training of the
        same encoder on the same records encodes nothing, and one that was stopped goes
        on. Defaults to None: they are kept in memory.
    limit (int): Labelled trials read, before they are dealt to parts; 0 for all.
    shuffle (bool): Draw a new order in each epoch; for `max_epochs = -1`, with other
        values spaCy does it.
    RAISES (T2VError): T026 for a setting out of range, T132 without a path or without a
        trial in the part, T147 for a cut-off that is no day, T153 for an encoder that
        cannot be loaded, T024 for one that makes no trial vectors. WARNS: T138 counts
        the trials that are left out by reason, such as no label, no text, given twice.
    """
    for setting, value, known in (("part", part, PARTS), ("split", split, SPLITS)):
        if value not in known:
            reason = f"one of {', '.join(known)}"
            raise error(Errors.T026, setting=setting, value=value, reason=reason)
    if split == "date" and cutoff is None:
        reason = "a split by date needs a day"
        raise error(Errors.T026, setting="cutoff", value=cutoff, reason=reason)
    trials: list[LabelledTrial] = []
    epoch = 0

    def read(nlp: Language) -> Iterator[Example]:
        nonlocal epoch
        if encoder is not None and _ENCODES in nlp.pipe_names:
            reason = f"'{_ENCODES}' is in the pipeline and would encode the Docs again"
            raise error(Errors.T026, setting="encoder", value=encoder, reason=reason)
        if not trials:
            if path is None:
                reason = "no path is given"
                raise error(Errors.T132, path="paths.train", reason=reason)
            found = read_labelled(
                Path(path), complete=complete, limit=limit, encoder=encoder, cache=cache
            )
            trials.extend(_of_part(Path(path), found))
        order = np.arange(len(trials))
        if shuffle:
            np.random.default_rng((seed, epoch)).shuffle(order)
        epoch += 1
        for i in order.tolist():
            yield make_termination_example(nlp, trials[i])

    def _of_part(path: Path, found: list[LabelledTrial]) -> list[LabelledTrial]:
        records = [trial.split_by for trial in found]
        sponsors = {trial.nct_id: trial.sponsor for trial in records}
        ids = set(sponsors)
        if part != "all":
            if split == "date":
                parts = date_split(records, str(cutoff))
            else:
                groups = sponsors if group_by_sponsor else None
                parts = random_split(ids, seed, groups=groups)
            if lost := {reason: n for reason, n in parts.dropped.items() if n}:
                warn_of_lost(path, len(found), lost)
            ids = set(getattr(parts, part))
        if not ids:
            reason = f"none of {len(found)} labelled trials is in the part '{part}'"
            raise error(Errors.T132, path=path, reason=reason)
        return [trial for trial in found if trial.split_by.nct_id in ids]

    return read


def make_termination_example(nlp: Language, trial: LabelledTrial) -> Example:
    """The reference has no text; `textcat.initialize` looks at its vectors."""
    reference = make_termination_doc(nlp, trial)
    reference.cats = {
        POSITIVE: float(trial.terminated),
        NEGATIVE: float(not trial.terminated),
    }
    return Example(make_input_doc(nlp, trial), reference)


def make_input_doc(nlp: Language, trial: LabelledTrial) -> Doc:
    """What a pipeline reads of a trial: its view, or the vectors that stand for it."""
    if trial.view is None:
        return make_termination_doc(nlp, trial)
    doc = make_trial_doc(nlp, trial.view)
    doc.user_data[NCT_ID] = trial.split_by.nct_id
    return doc


def make_termination_doc(nlp: Language, trial: LabelledTrial) -> Doc:
    install_extensions()
    doc = Doc(nlp.vocab, words=["trial"])
    doc.user_data[NCT_ID] = trial.split_by.nct_id
    if trial.vector is not None:
        doc._.trial_vector = trial.vector
        doc._.section_vectors = dict(trial.section_vectors or {})
        doc.user_data[FACTS_KEY] = trial.facts
    return doc
