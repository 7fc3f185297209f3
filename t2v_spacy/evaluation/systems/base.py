"""What a ranked system is: one interface, one text of a trial, one way to score."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from ...errors import Errors, error
from ...plain import sound_text
from ...trial import Trial

Array = np.ndarray[Any, np.dtype[Any]]
ABSENT = -1.0  # score of a trial without a vector: the least a cosine can be
_CODES = [*range(10), *range(11, 32), *range(127, 160)]
_CONTROL = {code: " " if chr(code).isspace() else None for code in _CODES}


class System(Protocol):
    """Ranks trials by their likeness to a query trial.

    name (str): The row in a report. long_text (str): What becomes of a long text.
    """

    name: str
    long_text: str

    def train(self, trials: Sequence[Trial]) -> None:
        """Learn from a corpus (word weights, vectors, a network); `fit` then keeps it.
        A system that learns nothing ignores it."""

    def fit(self, trials: Sequence[Trial]) -> None:
        """Take the trials that are ranked; learn from them too if never trained."""

    def scores(self, queries: Sequence[Trial], among: Array | None = None) -> Array:
        """How like each trial is to each query.

        among (ndarray | None): Bool (queries, trials), the pairs that will be ranked.
            A system that reads pair by pair spends its time on these; elsewhere its
            scores are no more than a first guess. The others ignore it.
        RETURNS (ndarray): float64 (queries, trials), higher is more alike. A trial
            without words scores lowest; a query without words scores all trials alike.
        """


class BaseSystem:
    """`System` with the order of calls in one place: subclasses learn, index, score."""

    name = ""
    long_text = ""

    def __init__(self) -> None:
        self._trained = False
        self._size: int | None = None

    def train(self, trials: Sequence[Trial]) -> None:
        """RAISES (T2VError): T114 for no trials."""
        self._refuse_none(trials, "train on")
        self._learn(trials)
        self._trained = True

    def fit(self, trials: Sequence[Trial]) -> None:
        """RAISES (T2VError): T114 for no trials."""
        self._refuse_none(trials, "rank")
        if not self._trained:
            self._learn(trials)
        self._index(trials)
        self._size = len(trials)

    def scores(self, queries: Sequence[Trial], among: Array | None = None) -> Array:
        """RAISES (T2VError): T113 before `fit`."""
        if self._size is None:
            raise error(Errors.T113, system=self.name)
        if not len(queries):
            return np.zeros((0, self._size))
        return np.asarray(self._score(queries, among), dtype="float64")

    def _learn(self, trials: Sequence[Trial]) -> None:
        """Learn from a corpus; nothing by default."""

    def _index(self, trials: Sequence[Trial]) -> None:
        raise NotImplementedError

    def _score(self, queries: Sequence[Trial], among: Array | None) -> Array:
        raise NotImplementedError

    def _refuse_none(self, trials: Sequence[Trial], task: str) -> None:
        if not len(trials):
            raise error(Errors.T114, system=self.name, task=task)


class VectorSystem(BaseSystem):
    """A system of one vector a trial, ranked by cosine; subclasses make the vectors."""

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        """(trials, width); a zero row for a trial without words."""
        raise NotImplementedError

    def _index(self, trials: Sequence[Trial]) -> None:
        self._documents = unit(self._vectors(trials))

    def _score(self, queries: Sequence[Trial], among: Array | None) -> Array:
        return cosines(unit(self._vectors(queries)), self._documents)


def document_text(trial: Trial) -> str:
    """The whole document as every system of one text reads it: the headed text of what
    was known at registration, without control characters other than line breaks."""
    return sound_text(trial.to_text()).translate(_CONTROL)


def texts(trials: Sequence[Trial], name: str) -> Iterator[str]:
    """The whole documents, with a progress bar on stderr if it is a terminal."""
    return map(document_text, tqdm(trials, desc=name, unit="trial", disable=None))


def unit(vectors: Array) -> Array:
    """Rows of unit length, float64; zero rows stay zero."""
    rows = np.asarray(vectors, dtype="float64")
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def cosines(queries: Array, documents: Array) -> Array:
    """(queries, documents) of unit rows. A zero document scores ABSENT, and a zero
    query scores everything 0."""
    found = queries @ documents.T
    found[:, ~documents.any(axis=1)] = ABSENT
    found[~queries.any(axis=1)] = 0.0
    return found


def library(name: str, system: str) -> Any:
    """Import a library only evaluation needs. RAISES (T2VError): T112 if missing."""
    try:
        return importlib.import_module(name)
    except ImportError as err:
        raise error(Errors.T112, system=system, library=name) from err
