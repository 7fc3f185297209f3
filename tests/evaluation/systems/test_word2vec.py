from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.word2vec import Word2Vec
from t2v_spacy.trial import Trial


def titled(*titles: str) -> list[Trial]:
    return [Trial(f"NCT9{i:07}", title=title) for i, title in enumerate(titles)]


CORPUS = titled(*["gout colchicine urate flare", "asthma wheeze inhaler lung"] * 40)


def make(**settings) -> Word2Vec:
    system = Word2Vec(width=16, epochs=100, min_count=1, **settings)
    system.train(CORPUS)
    return system


def test_words_of_like_company_are_alike():
    system = make()
    system.fit(titled("urate flare", "inhaler lung"))
    gout, asthma = system.scores(titled("colchicine"))[0]
    assert gout > asthma


def test_a_trial_is_the_mean_of_its_words():
    system = make(idf=False)
    rows = system._weighted
    expected = (rows["title"] + 2 * rows["gout"] + rows["lung"]) / 4
    found = system._vectors(titled("gout gout lung unseen"))[0]
    assert found == pytest.approx(expected)


def test_idf_makes_a_common_word_count_less():
    plain, weighted = make(idf=False)._weighted, make()._weighted
    # "title" is in all 80 trials, "gout" in 40 of them.
    assert weighted["title"] == pytest.approx(plain["title"])
    assert weighted["gout"] == pytest.approx(plain["gout"] * (np.log(81 / 41) + 1))


def test_words_beyond_the_longest_sentence_of_gensim_are_read():
    system = Word2Vec(width=4, epochs=1, min_count=1)
    system.train(titled("gout " * 10_000 + "tophus"))
    assert "tophus" in system._weighted


def test_a_corpus_of_rare_words_is_refused():
    with pytest.raises(T2VError, match="T115.*min_count"):
        Word2Vec().fit(titled("gout"))
