"""Probabilities that mean what they say: temperature, bias, prior and threshold of a
`textcat` trained on termination, fitted to the dev part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import resolve_dot_names

from ..errors import Errors, error
from ..ml.trial_textcat import set_calibration
from ..termination.calibration import calibrated, choose_threshold, fit_temperature
from ..termination.labels import NEGATIVE, POSITIVE
from ..termination.measures import termination_scores
from .callbacks import hide_paths
from .termination_trials import load_encoder

NAME = "textcat"
# Sections of a config that say how the pipeline was trained.
_TRAINING = ("system", "corpora", "training", "initialize")
_TINY = float(np.finfo("float32").tiny)


def calibrate_termination(
    encoder: Path | None = None,
) -> Callable[[Language], Language]:
    """Callback `t2v.calibrate_termination.v1` for `training.before_to_disk`: every
    pipeline that is saved, model-best too, is calibrated on `training.dev_corpus` and
    names no folder of this machine (as by t2v.hide_paths.v1).

    The scores that training prints are those of the calibration at the save before;
    the order of the trials, on which ROC and PR-AUC rest, does not depend on it. The
    performance in meta.json is that of the pipeline as saved.

    encoder (Path | None): Pipeline that made the vectors of the corpus (its `encoder`):
        its pipes are saved with the trained one, so that what is saved works alone.
        Defaults to None: the pipeline that is trained is saved as it is.
    RAISES (T2VError): T151 if the dev part has trials of one kind only, T153 if the
        encoder cannot be loaded.
    """
    reader: Callable[[Language], Iterable[Example]] | None = None
    joined: Language | None = None

    def before_to_disk(nlp: Language) -> Language:
        nonlocal reader, joined
        if reader is None:  # once: it reads the records when first asked for them
            config = nlp.config.interpolate()
            (reader,) = resolve_dot_names(config, [config["training"]["dev_corpus"]])
        calibrate(nlp, reader(nlp))
        if encoder is None:
            return hide_paths()(nlp)
        joined = joined or _join(load_encoder(encoder), nlp)
        joined.meta.update({k: nlp.meta[k] for k in ("performance", "termination")})
        return joined

    return before_to_disk


def calibrate(
    nlp: Language, examples: Iterable[Example], *, name: str = NAME
) -> dict[str, Any]:
    """Fit temperature and bias of the pipe to labelled Docs, take their share of
    terminated trials as its prior, and choose its threshold on them. Kept by the pipe
    (`cfg["threshold"]` and in its model) and in `nlp.meta["termination"]`.

    examples (Iterable[Example]): Not those it was trained on.
    RETURNS (dict): threshold, temperature, bias, prior, trials.
    RAISES (T2VError T151): If all are of one kind, or there is none.
    """
    pipe: Any = nlp.get_pipe(name)
    assert isinstance(pipe, TextCategorizer)
    set_calibration(pipe.model)
    examples = list(examples)
    gold = np.array([eg.reference.cats[POSITIVE] > 0 for eg in examples], bool)
    # Copies, since the reader may hand out its Docs again.
    logits = termination_logits(nlp.pipe(eg.predicted.copy() for eg in examples))
    if len(set(gold.tolist())) < 2:
        reason = "there is no trial" if not len(gold) else "all trials are of one kind"
        raise error(Errors.T151, name=name, reason=reason)
    temperature, bias = map(_kept, fit_temperature(logits, gold))
    probabilities = calibrated(logits, temperature, bias)
    threshold = _kept(choose_threshold(gold, probabilities))
    share = float(gold.mean())
    positive = [label == POSITIVE for label in pipe.labels]
    set_calibration(
        pipe.model,
        temperature,
        [bias if is_positive else 0.0 for is_positive in positive],
        [share if is_positive else 1 - share for is_positive in positive],
    )
    pipe.cfg["threshold"] = threshold
    facts = {
        "threshold": threshold,
        "temperature": temperature,
        "bias": bias,
        "prior": _kept(share),
        "trials": len(gold),
    }
    nlp.meta["termination"] = facts
    found = termination_scores(gold, probabilities, threshold)
    scores = {f"termination_{key}": value for key, value in found.items()}
    performance = nlp.meta.setdefault("performance", {})
    performance.update({k: v for k, v in scores.items() if k in performance})
    return facts


def _kept(value: float) -> float:
    """To the digits that spaCy writes to JSON, so that a saved pipe is the same."""
    return round(float(value), 9)


def termination_logits(docs: Iterable[Doc]) -> np.ndarray:
    """Log-odds of termination (docs,) of Docs on which the textcat has run."""
    cats = [(doc.cats[POSITIVE], doc.cats[NEGATIVE]) for doc in docs]
    odds = np.log(np.maximum(np.array(cats).reshape(-1, 2), _TINY))
    return odds[:, 0] - odds[:, 1]


def _join(joined: Language, nlp: Language) -> Language:
    """The pipeline that encodes, with the trained pipe after its own."""
    if NAME in joined.component_names:
        joined.remove_pipe(NAME)
    joined.add_pipe(NAME, source=nlp, last=True)
    for section in _TRAINING:
        joined.config[section] = nlp.config[section]
    joined.config["paths"] = {**nlp.config["paths"], **joined.config.get("paths", {})}
    return hide_paths()(joined)
