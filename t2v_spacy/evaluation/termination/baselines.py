"""What a model has to beat: systems that are trained in seconds to minutes.

    system.fit(trials, gold, dev_trials, dev_gold)
    probabilities = system.predict(trials)

All trials given are registration views. Logistic regression chooses
its strength on the development trials; without any it keeps the first of `strengths`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...errors import Errors, error
from ...plain import sound_text
from ...termination.facts import facts_matrix
from ...termination.fill import fill_vectors
from ...termination.measures import Gold, checked, log_loss
from ...trial import Trial
from ..systems import make_system
from ..systems.base import VectorSystem, library

Array = np.ndarray[Any, np.dtype[Any]]
Views = Sequence[Trial]
# Headings of the text of a trial that TF-IDF reads; "Design" has the phase.
HEADINGS = (
    *("Title", "Conditions", "Interventions", "Brief Summary", "Eligibility"),
    "Design",
)
STRENGTHS = (1.0, 0.001, 0.01, 0.1, 10.0)


class TerminationSystem(Protocol):
    """Predicts from registration whether trials are terminated."""

    name: str

    def fit(
        self,
        trials: Sequence[Trial],
        gold: Gold,
        dev_trials: Sequence[Trial] = (),
        dev_gold: Gold = (),
    ) -> None:
        """Learn. RAISES (T2VError): T115 unless there are trials of both classes, T145
        for labels that do not fit the trials."""

    def predict(self, trials: Sequence[Trial]) -> Array:
        """float64 (trials,), the probability of TERMINATED.
        RAISES (T2VError): T146 before `fit`."""


class BaseSystem:
    """`TerminationSystem` that checks its input."""

    name = ""

    def __init__(self) -> None:
        self._fitted = False

    def fit(
        self,
        trials: Sequence[Trial],
        gold: Gold,
        dev_trials: Sequence[Trial] = (),
        dev_gold: Gold = (),
    ) -> None:
        labels, _ = checked(gold, np.zeros(len(trials)))
        dev_labels, _ = checked(dev_gold, np.zeros(len(dev_trials)))
        if labels.all() or not labels.any():
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{labels.sum()} terminated of {len(labels)} trials",
                needed="some terminated and some completed",
            )
        self._fit(trials, labels, dev_trials, dev_labels)
        self._fitted = True

    def predict(self, trials: Sequence[Trial]) -> Array:
        if not self._fitted:
            raise error(Errors.T146, system=self.name)
        if not len(trials):
            return np.zeros(0)
        return np.asarray(self._predict(trials), dtype="float64")

    def _fit(self, views: Views, gold: Array, dev: Views, dev_gold: Array) -> None:
        raise NotImplementedError

    def _predict(self, views: Views) -> Array:
        raise NotImplementedError


class Majority(BaseSystem):
    """The share of terminated trials among those learnt from, for every trial."""

    name = "Majority"

    def _fit(self, views: Views, gold: Array, dev: Views, dev_gold: Array) -> None:
        self._share = float(gold.mean())

    def _predict(self, views: Views) -> Array:
        return np.full(len(views), self._share)


class _Regression(BaseSystem):
    """Logistic regression over the rows subclasses make of views."""

    def __init__(self, strengths: Sequence[float]) -> None:
        super().__init__()
        self._linear = library("sklearn.linear_model", self.name)
        self._strengths = strengths

    def _fit(self, views: Views, gold: Array, dev: Views, dev_gold: Array) -> None:
        rows = self._learn_rows(views)
        dev_rows = self._rows(dev) if dev else None
        best = np.inf
        for strength in self._strengths if dev else self._strengths[:1]:
            model = self._linear.LogisticRegression(C=strength, max_iter=2000)
            model.fit(rows, gold)
            loss = None
            if dev_rows is not None:
                loss = log_loss(dev_gold, model.predict_proba(dev_rows)[:, 1])
            if loss is None or loss < best:
                self._model, best = model, np.inf if loss is None else loss

    def _predict(self, views: Views) -> Array:
        return self._model.predict_proba(self._rows(views))[:, 1]

    def _learn_rows(self, views: Views) -> Any:
        """The rows of the trials to learn from, having learnt how to make rows."""
        raise NotImplementedError

    def _rows(self, views: Views) -> Any:
        raise NotImplementedError


class TfidfRegression(_Regression):
    """Logistic regression on TF-IDF of words and pairs of words.

    headings: Parts of the text that are read, as `Trial.sections` names them.
    min_count: Trials a word must be in. max_words: The most frequent ones are kept.
    strengths: Inverse strengths of regularisation (C) to choose from.
    """

    name = "TF-IDF, regression"

    def __init__(
        self,
        *,
        headings: Sequence[str] = HEADINGS,
        min_count: int = 5,
        max_words: int | None = 200_000,
        strengths: Sequence[float] = STRENGTHS,
    ) -> None:
        super().__init__(strengths)
        self._headings = frozenset(headings)
        found = library("sklearn.feature_extraction.text", self.name)
        self._vectorizer = found.TfidfVectorizer(
            ngram_range=(1, 2),
            sublinear_tf=True,
            min_df=min_count,
            max_features=max_words,
            dtype=np.float32,
        )

    def _learn_rows(self, views: Views) -> Any:
        try:
            return self._vectorizer.fit_transform(map(self._text, views))
        except ValueError as err:  # an empty vocabulary
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{len(views)} trials",
                needed="a word that occurs in min_count of them",
            ) from err

    def _rows(self, views: Views) -> Any:
        return self._vectorizer.transform(map(self._text, views))

    def _text(self, view: Trial) -> str:
        bodies = [body for heading, body in view.sections if heading in self._headings]
        return sound_text("\n\n".join(bodies))


class VectorRegression(_Regression):
    """Logistic regression on vectors of trials, each column scaled to unit variance.

    vectors: From registration views to rows (trials, width).
    learn: Called once with the views that are learnt from, before `vectors`.
    """

    def __init__(
        self,
        name: str,
        vectors: Callable[[Sequence[Trial]], Array],
        *,
        learn: Callable[[Sequence[Trial]], None] | None = None,
        strengths: Sequence[float] = STRENGTHS,
    ) -> None:
        self.name = name
        super().__init__(strengths)
        self._vectors, self._learn = vectors, learn

    def _learn_rows(self, views: Views) -> Array:
        if self._learn:
            self._learn(views)
        rows = np.asarray(self._vectors(views), dtype="float64")
        self._mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        self._scale = np.where(deviation > 0, deviation, 1.0)
        return (rows - self._mean) / self._scale

    def _rows(self, views: Views) -> Array:
        rows = np.asarray(self._vectors(views), dtype="float64")
        return (rows - self._mean) / self._scale


def system_regression(
    system: VectorSystem, *, strengths: Sequence[float] = STRENGTHS
) -> VectorRegression:
    """Regression on the vectors of a ranked system, such as
    `make_system("trial2vec")`. One that learns does so from the trials fitted on."""
    return VectorRegression(
        f"{system.name}, regression",
        system._vectors,
        learn=system.train,
        strengths=strengths,
    )


def word2vec_regression(**settings: Any) -> VectorRegression:
    """settings: Of `evaluation.systems.word2vec.Word2Vec`."""
    system = make_system("word2vec", **settings)
    assert isinstance(system, VectorSystem)
    return system_regression(system)


def facts_regression() -> VectorRegression:
    """Structured registration facts alone."""
    return VectorRegression("Facts, regression", facts_matrix)


def fill_regression() -> VectorRegression:
    """Which fields are filled, alone: above chance it tells of the collection, not of
    the trials (see `fill`)."""
    return VectorRegression("Filled fields, regression", fill_vectors)
