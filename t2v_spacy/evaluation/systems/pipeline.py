"""Systems that are a spaCy pipeline: Trial2Vec, and the untrained sectioned mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...doc import make_trial_doc
from ...errors import Errors, T2VError, error
from ...load import first_line, load_nlp
from ...search.fingerprint import pipeline_fingerprint
from ...trial import Trial
from .base import Array, VectorSystem
from .vector_cache import VectorCache

if TYPE_CHECKING:
    from spacy.language import Language


class Trial2Vec(VectorSystem):
    """`doc._.trial_vector` of a pipeline.

    model (str): Name or path of a pipeline; or a config (.cfg), which is initialised.
    precision (str | None): Replaces the pipeline's own setting.
    batch_size (int): Docs at a time.
    seed (int): For a config, of the weights that are drawn at random.
    cache (Path | None): Folder that keeps the vectors, see `VectorCache`.
    RAISES (T2VError): T027 if the pipeline cannot be loaded, T024 if it makes no trial
        vectors.
    """

    name = "Trial2Vec"
    long_text = "the whole document, each section in windows that cover all of it"

    def __init__(
        self,
        *,
        model: str = "models/trial2vec",
        precision: str | None = None,
        batch_size: int = 128,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__()
        self._nlp = load_pipeline(model, precision, seed)
        self._batch_size = batch_size
        self._width = len(self._nlp("trial")._.trial_vector)
        self._store = VectorCache(cache, pipeline_fingerprint(self._nlp))

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        # The pipeline reads records, not texts: the cache knows them by their JSON.
        records = [json.dumps(trial.to_dict(), sort_keys=True) for trial in trials]
        return self._store.vectors(records, self._encode, name=self.name)

    def _encode(self, records: list[str]) -> Array:
        rows = np.zeros((len(records), self._width), dtype="float32")
        trials = (Trial.from_dict(json.loads(record)) for record in records)
        # An error handler may drop Docs: each says itself which row it is.
        docs = ((make_trial_doc(self._nlp, trial), i) for i, trial in enumerate(trials))
        for doc, i in self._nlp.pipe(docs, as_tuples=True, batch_size=self._batch_size):
            if doc._.trial_vector is not None:
                rows[i] = doc._.trial_vector
        return rows


class SectionedMean(Trial2Vec):
    """The weighted mean of section vectors: the pipeline of `configs/trial2vec.cfg`
    before any training. Settings: see `Trial2Vec`."""

    name = "Sectioned mean"

    def __init__(
        self,
        *,
        model: str = "configs/trial2vec.cfg",
        precision: str | None = None,
        batch_size: int = 128,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(
            model=model,
            precision=precision,
            batch_size=batch_size,
            seed=seed,
            cache=cache,
        )


def load_pipeline(model: str, precision: str | None, seed: int) -> Language:
    """A pipeline without its linker, on which trial vectors do not depend."""
    changes: dict[str, Any] = {}
    if precision:
        changes["components.transformer.model.precision"] = precision
    if Path(model).suffix == ".cfg":
        nlp = _initialised(model, changes, seed)
    else:
        nlp = load_nlp(model, exclude=("umls_linker",), config=changes)
    if "trial2vec" not in nlp.pipe_names:
        raise error(Errors.T024, pipe="trial2vec", task="encode trials")
    return nlp


def _initialised(path: str, changes: dict[str, Any], seed: int) -> Language:
    """The pipeline of a config, its random weights drawn by the seed."""
    import spacy
    import torch
    from thinc.api import Config

    try:
        config = Config().from_disk(path, overrides=changes)
        nlp = spacy.util.load_model_from_config(config, exclude=["umls_linker"])
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            nlp.initialize()
    except T2VError:
        raise
    except (OSError, ValueError, ImportError) as err:
        raise error(Errors.T027, name=path, reason=first_line(err)) from err
    return nlp
