"""Train a config of the classifier by spaCy's own loop on trials that are read already.

Only the corpus readers of the config are replaced. Of a frozen encoder the trials come
with their vectors, made once for all splits and seeds; where the encoder is trained
along they come with their texts.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, registry

from ...training.calibrate import NAME, termination_logits
from ...training.termination_corpus import (
    make_input_doc,
    make_termination_example,
)
from ...training.termination_trials import LabelledTrial
from .predictions import Prediction
from .records import Parts

# Settings of t2v.TrialVectorTextCat.v1; the second are those of the config as it is.
FORMS: dict[str, dict[str, Any]] = {
    "Trial2Vec, one layer": {"section_vectors": False, "facts": False, "hidden": 0},
    "Trial2Vec, sections and facts": {},
}
_READER = "t2v_study.given"


def train_textcat(
    config: Path,
    trials: Sequence[LabelledTrial],
    parts: Parts,
    *,
    seed: int,
    model: Mapping[str, Any] | None = None,
    paths: Mapping[str, Path] | None = None,
) -> Prediction:
    """Train on the train part, stop and calibrate on the dev part, predict both others
    with model-best.

    seed: Of the weights, dropout and order. model: Laid over the settings of the
        architecture in the config. paths: Laid over its `paths`.
    RAISES (T2VError T151): If the dev part has trials of one kind only.
    """
    rows = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    given = {part: [trials[i] for i in found] for part, found in rows.items()}
    _offer(given)
    # Left as it is written, so that the variables of the config see the seed.
    laid_over: dict[str, Any] = {
        f"paths.{name}": str(path) for name, path in (paths or {}).items()
    }
    laid_over |= {"system.seed": seed, "paths.log": None}
    found = load_config(config, laid_over, interpolate=False)
    found["corpora"] = {
        part: {"@readers": _READER, "part": part} for part in ("train", "dev")
    }
    found["components"][NAME]["model"] |= model or {}
    # With a frozen encoder the textcat is saved alone: its Docs have their vectors.
    found["training"]["before_to_disk"]["encoder"] = None
    with TemporaryDirectory() as folder:
        nlp = init_nlp(found)
        train(nlp, Path(folder), stdout=io.StringIO(), stderr=io.StringIO())
        best = spacy.load(Path(folder) / "model-best")
        facts = best.meta["termination"]
        return Prediction(
            _predict(best, given["dev"]),
            _predict(best, given["test"]),
            facts["threshold"],
            facts["temperature"],
            facts["bias"],
        )


def _offer(given: Mapping[str, Sequence[LabelledTrial]]) -> None:
    """Have the reader of this process hand out these trials from now on."""

    def reader(part: str) -> Callable[[Language], Iterator[Example]]:
        def read(nlp: Language) -> Iterator[Example]:
            return (make_termination_example(nlp, trial) for trial in given[part])

        return read

    registry.readers.register(_READER, func=reader)


def _predict(nlp: Language, trials: Sequence[LabelledTrial]) -> np.ndarray:
    return termination_logits(nlp.pipe(make_input_doc(nlp, trial) for trial in trials))
