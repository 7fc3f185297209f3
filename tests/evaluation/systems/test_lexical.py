from __future__ import annotations

import math

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.bm25 import Bm25
from t2v_spacy.evaluation.systems.tfidf import Tfidf
from t2v_spacy.evaluation.systems.words import Words
from t2v_spacy.trial import Trial

PLAIN = {"stop_words": False, "stem": False}


def titled(*titles: str | None) -> list[Trial]:
    return [Trial(f"NCT9{i:07}", title=title) for i, title in enumerate(titles)]


def test_words():
    words = Words(stop_words=True, stem=True, system="test")
    assert words("The Infections of IL-6, \u00e9t\u00e9") == [
        "infect",
        "il",
        "6",
        "\u00e9t\u00e9",
    ]
    plain = Words(**PLAIN, system="test")
    assert plain("The infections") == ["the", "infections"]


def test_bm25_by_hand():
    # Words with the heading: title gout gout; title gout colchicine; title asthma.
    system = Bm25(k1=1.5, b=0.5, **PLAIN)
    system.fit(titled("gout gout", "gout colchicine", "asthma"))
    mean = 8 / 3

    def part(tf: int, having: int, length: int) -> float:
        idf = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return idf * tf / (tf + 1.5 * (0.5 + 0.5 * length / mean))

    expected = [
        part(1, 3, 3) + 2 * part(2, 2, 3),
        part(1, 3, 3) + 2 * part(1, 2, 3),
        part(1, 3, 2),
    ]
    # A repeated word of the query counts as often as it is there.
    found = system.scores(titled("gout gout unseen"))[0]
    assert found == pytest.approx(expected)
    assert list(np.argsort(-found)) == [0, 1, 2]


def test_tfidf_by_hand():
    system = Tfidf(**PLAIN)
    system.fit(titled("gout gout", "gout colchicine", "asthma"))
    gout, rare = math.log(4 / 3) + 1, math.log(4 / 2) + 1
    a = np.array([1, 2 * gout, 0, 0])
    b = np.array([1, gout, rare, 0])
    c = np.array([1, 0, 0, rare])
    query = np.array([1, gout, 0, 0])
    expected = [
        query @ v / np.linalg.norm(query) / np.linalg.norm(v) for v in (a, b, c)
    ]
    assert system.scores(titled("gout"))[0] == pytest.approx(expected)


@pytest.mark.parametrize("make", [Tfidf, Bm25])
def test_what_is_rare_in_the_training_corpus_counts_more(make):
    trials = titled("gout", "asthma")
    query = titled("gout asthma")
    system = make()
    system.train(titled(*["asthma"] * 50, "gout"))
    system.fit(trials)
    gout, asthma = system.scores(query)[0]
    assert gout > asthma
    system = make()
    system.fit(trials)
    gout, asthma = system.scores(query)[0]
    assert gout == pytest.approx(asthma)


def test_common_words_are_left_out_of_a_large_corpus_only():
    titles = [f"placebo word{i}" for i in range(120)]
    system = Tfidf()
    system.fit(titled(*titles))
    assert np.ptp(system.scores(titled("placebo"))) == 0
    system.fit(titled(*titles[:50], "asthma"))
    assert system.scores(titled("placebo"))[0, 0] > 0


@pytest.mark.parametrize("make", [Tfidf, Bm25])
def test_a_corpus_without_words(make):
    system = make()
    if make is Tfidf:
        with pytest.raises(T2VError, match="T115"):
            system.fit(titled(None, None))
    else:
        system.fit(titled(None, None))
        assert not system.scores(titled("gout", None)).any()


@pytest.mark.parametrize("settings", [{"k1": -1.0}, {"b": 1.5}])
def test_settings_of_bm25_out_of_range(settings):
    with pytest.raises(T2VError, match="T026"):
        Bm25(**settings)
