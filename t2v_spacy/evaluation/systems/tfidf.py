"""TF-IDF vectors of scikit-learn, ranked by cosine."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import Errors, error
from ...trial import Trial
from .base import ABSENT, Array, BaseSystem, document_text, library, texts
from .words import Words

_ENOUGH = 100  # trials from which on the share of them that has a word says much


class Tfidf(BaseSystem):
    """Cosine of TF-IDF vectors of the whole document.

    sublinear_tf (bool): 1 + log of a word's count in place of the count. Defaults to
        False: a trial repeats what it is about, and the log hides that.
    max_df (float): Words in more than this share of the corpus are left out; not
        applied to a corpus of less than 100 trials.
    stop_words, stem (bool): See `Words`.
    """

    name = "TF-IDF"
    long_text = "the whole document"

    def __init__(
        self,
        *,
        sublinear_tf: bool = False,
        max_df: float = 0.3,
        stop_words: bool = True,
        stem: bool = True,
    ) -> None:
        super().__init__()
        found = library("sklearn.feature_extraction.text", self.name)
        self._max_df = max_df
        self._vectorizer = found.TfidfVectorizer(
            analyzer=Words(stop_words=stop_words, stem=stem, system=self.name),
            sublinear_tf=sublinear_tf,
        )

    def _learn(self, trials: Sequence[Trial]) -> None:
        max_df = self._max_df if len(trials) >= _ENOUGH else 1.0
        self._vectorizer.set_params(max_df=max_df)
        try:
            self._vectorizer.fit(texts(trials, self.name))
        except ValueError as err:  # an empty vocabulary
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{len(trials)} trials",
                needed=f"a word in at most max_df = {self._max_df} of them",
            ) from err

    def _index(self, trials: Sequence[Trial]) -> None:
        self._documents = self._vectorizer.transform(texts(trials, self.name))

    def _score(self, queries: Sequence[Trial], among: Array | None) -> Array:
        vectors = self._vectorizer.transform([document_text(q) for q in queries])
        found = (vectors @ self._documents.T).toarray()
        found[:, self._documents.getnnz(axis=1) == 0] = ABSENT
        found[vectors.getnnz(axis=1) == 0] = 0.0
        return found
