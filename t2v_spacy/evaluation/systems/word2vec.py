"""Word2Vec (CBOW) of gensim, trained on the corpus, as the mean of a trial's words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...errors import Errors, error
from ...trial import Trial
from .base import Array, VectorSystem, document_text, library, texts
from .words import Words

_LONGEST = 10_000  # words of a sentence; gensim drops the rest without a word


class Word2Vec(VectorSystem):
    """Mean of the word vectors of the whole document.

    width (int): Of the word vectors. window (int): Words on either side.
    min_count (int): Times a word must be in the corpus. epochs (int): Passes over it.
    idf (bool): Weigh a word by its inverse document frequency in the corpus.
    stop_words (bool): See `Words`.
    seed (int): Training runs on one thread, so that it decides the vectors.
    RAISES (T2VError): T115 on training, if no word is frequent enough.
    """

    name = "Word2Vec"
    long_text = "the whole document"

    def __init__(
        self,
        *,
        width: int = 200,
        window: int = 5,
        min_count: int = 5,
        epochs: int = 5,
        idf: bool = True,
        stop_words: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._gensim = library("gensim.models", self.name)
        self._words = Words(stop_words=stop_words, stem=False, system=self.name)
        self._min_count, self._idf = min_count, idf
        self._settings = {
            "vector_size": width,
            "window": window,
            "min_count": min_count,
            "epochs": epochs,
            "seed": seed,
        }

    def _learn(self, trials: Sequence[Trial]) -> None:
        documents = [self._words(text) for text in texts(trials, self.name)]
        counts = Counter(chain.from_iterable(documents))
        if max(counts.values(), default=0) < self._min_count:
            raise error(
                Errors.T115,
                system=self.name,
                found=f"{len(trials)} trials",
                needed=f"a word that occurs min_count = {self._min_count} times",
            )
        pieces = [
            words[start : start + _LONGEST]
            for words in documents
            for start in range(0, len(words), _LONGEST)
        ]
        model = self._gensim.Word2Vec(pieces, sg=0, workers=1, **self._settings)
        having = Counter(chain.from_iterable(map(set, documents)))
        n = len(documents)
        self._weighted = {
            word: model.wv[word] * (math.log((1 + n) / (1 + having[word])) + 1)
            if self._idf
            else model.wv[word]
            for word in model.wv.key_to_index
        }

    def _vectors(self, trials: Sequence[Trial]) -> Array:
        width = self._settings["vector_size"]
        found = np.zeros((len(trials), width))
        for row, trial in zip(found, trials, strict=True):
            words = self._words(document_text(trial))
            known = [self._weighted[word] for word in words if word in self._weighted]
            if known:
                row += np.mean(known, axis=0)
        return found
