"""BM25 of bm25s; the query is a whole document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...errors import Errors, error
from ...trial import Trial
from .base import ABSENT, Array, BaseSystem, document_text, library, texts
from .words import Words


class Bm25(BaseSystem):
    """BM25 (Lucene's form) of a query document's words, repeats counted.

    k1 (float): How far repeats of a word in a trial still count. Defaults to 3: a
        trial is longer than a web page's title or paragraph and repeats its subject.
    b (float): How far a long trial is held down, 0 to 1. Defaults to 1.
    stop_words, stem (bool): See `Words`.

    Once trained on a corpus, word weights and the mean length are those of the corpus
    and the ranked trials together, a trial in both counted once.
    RAISES (T2VError): T026 for k1 or b out of range.
    """

    name = "BM25"
    long_text = "the whole document, as trial and as query"

    def __init__(
        self,
        *,
        k1: float = 3.0,
        b: float = 1.0,
        stop_words: bool = True,
        stem: bool = True,
    ) -> None:
        super().__init__()
        if k1 < 0:
            raise error(Errors.T026, setting="k1", value=k1, reason="0 or more")
        if not 0 <= b <= 1:
            raise error(Errors.T026, setting="b", value=b, reason="0 to 1")
        self._bm25s = library("bm25s", self.name)
        self._words = Words(stop_words=stop_words, stem=stem, system=self.name)
        self._settings = {"k1": k1, "b": b}
        self._corpus: list[tuple[str, ...]] = []

    def train(self, trials: Sequence[Trial]) -> None:
        super().train(trials)
        self._corpus = self._read(trials)

    def _index(self, trials: Sequence[Trial]) -> None:
        ranked = self._read(trials)
        others = Counter(self._corpus)
        others.subtract(ranked)
        self._present = np.array([bool(words) for words in ranked])
        self._retriever = None
        corpus = [*ranked, *others.elements()]
        if any(corpus):
            self._retriever = self._bm25s.BM25(
                **self._settings, dtype="float64", backend="numpy"
            )
            self._retriever.index(corpus, show_progress=False)

    def _read(self, trials: Sequence[Trial]) -> list[tuple[str, ...]]:
        return [tuple(self._words(text)) for text in texts(trials, self.name)]

    def _score(self, queries: Sequence[Trial], among: Array | None) -> Array:
        n = len(self._present)
        found = np.zeros((len(queries), n))
        if self._retriever is None:
            return found
        for row, query in zip(found, queries, strict=True):
            words = self._words(document_text(query))
            if words:
                ids = self._retriever.get_tokens_ids(words)
                row += self._retriever.get_scores_from_ids(ids)[:n]
                row[~self._present] = ABSENT
        return found
