from __future__ import annotations

from math import log

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import lexical_writer
from t2v_spacy.search.lexical import Lexical, LexicalWriter, lexical_text
from t2v_spacy.search.lexical_writer import file_of
from t2v_spacy.search.words import Words
from t2v_spacy.trial import Trial

from .toys import make_trial, nct

# Words of each trial, with its id: 3, 4, 4 and 1.
TEXTS = ("Gout asthma", "Gout gout sepsis", "Migraine sepsis sepsis", "")
TRIALS = [Trial(nct(i), brief_summary=text) for i, text in enumerate(TEXTS)]


def write(trials, folder=None) -> LexicalWriter:
    writer = LexicalWriter(folder)
    for trial in trials:
        writer.append(trial)
    return writer


def lexical_of(trials, **settings) -> Lexical:
    return Lexical(write(trials).columns(), **settings)


def test_scores_by_hand():
    idf = log(1 + (4 - 2 + 0.5) / (2 + 0.5))  # in 2 of 4 trials
    scores = lexical_of(TRIALS, k1=2, b=0.5).scores("the GOUT")
    mean = (3 + 4 + 4 + 1) / 4
    expected = [
        idf * 1 / (1 + 2 * (0.5 + 0.5 * 3 / mean)),
        idf * 2 / (2 + 2 * (0.5 + 0.5 * 4 / mean)),
        0,
        0,
    ]
    assert scores.dtype == np.float32
    assert np.allclose(scores, expected)


def test_repeats_in_the_query_count():
    lexical = lexical_of(TRIALS)
    once, twice = lexical.scores("gout"), lexical.scores("gout gout")
    assert np.allclose(twice, 2 * once)
    assert np.allclose(
        lexical.scores("gout migraine"), once + lexical.scores("migraine")
    )


def test_the_same_as_bm25s():
    bm25s = pytest.importorskip("bm25s")
    trials = [make_trial(n, brief_summary=f"part {n % 5} of asthma") for n in range(40)]
    words = Words()
    other = bm25s.BM25(k1=3.0, b=1.0)
    other.index([words(lexical_text(t)) for t in trials], show_progress=False)
    lexical = lexical_of(trials)
    for query in ("Study 3 of asthma", "drug1 gout gout", lexical_text(trials[7])):
        ids = other.get_tokens_ids(words(query, query=True))
        assert np.allclose(lexical.scores(query), other.get_scores_from_ids(ids))


@pytest.mark.parametrize("query", ["", "the of", "unheard", "?!"])
def test_nothing_shared(query):
    assert lexical_of(TRIALS).scores(query).tolist() == [0, 0, 0, 0]


def test_long_queries_keep_what_weighs_most():
    lexical = lexical_of(TRIALS, max_terms=1)
    # Migraine is in one trial, gout in two; gout three times weighs more again.
    assert lexical.scores("gout migraine").argmax() == 2
    assert lexical.scores("gout migraine")[0] == 0
    assert lexical.scores("gout gout gout migraine").argmax() == 1


def test_files(tmp_path, monkeypatch):
    monkeypatch.setattr(lexical_writer, "_PART", 5)  # several parts
    writer = write(TRIALS, tmp_path)
    assert list(tmp_path.glob("*.part.npz"))
    writer.save()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(map(file_of, lexical_writer.COLUMNS))
    opened, held = Lexical.open(tmp_path), lexical_of(TRIALS)
    for query in ("gout sepsis", "migraine", nct(3)):
        assert opened.scores(query).tolist() == held.scores(query).tolist()
    assert isinstance(opened._rows, np.memmap)


@pytest.mark.parametrize("part", [5, 1 << 20])
def test_trials_that_are_left_out(tmp_path, monkeypatch, part):
    monkeypatch.setattr(lexical_writer, "_PART", part)
    write(TRIALS, tmp_path).save(kept=[2, 0])
    opened, held = Lexical.open(tmp_path), lexical_of([TRIALS[2], TRIALS[0]])
    assert opened.n == 2
    for query in ("gout sepsis", "migraine"):
        assert opened.scores(query).tolist() == held.scores(query).tolist()
    assert "sepsi" in {word.decode() for word in opened._terms}
    assert nct(1).lower() not in {word.decode() for word in opened._terms}


def test_an_unfinished_run_leaves_no_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(lexical_writer, "_PART", 5)
    writer = write(TRIALS, tmp_path)
    writer.close()
    assert not list(tmp_path.iterdir())


def test_added_trials_are_weighed_by_the_base():
    base = lexical_of(TRIALS)
    added = base.beside([TRIALS[1], Trial(nct(9), brief_summary="unheard gout")])
    query = "gout sepsis unheard"
    scores = added.scores(query)
    assert scores[0] == base.scores(query)[1]
    idf = log(1 + (4 + 0.5) / 0.5)  # in none of the base
    alone = added.scores("unheard")
    assert alone.tolist() == pytest.approx([0, idf / (1 + 3 * 3 / 3)])
    assert added.holds(nct(9).lower()).tolist() == [False, True]


def test_no_trials():
    nothing = lexical_of([])
    assert nothing.scores("gout").shape == (0,)
    assert nothing.holds("gout").shape == (0,)
    assert nothing.beside(TRIALS).scores("gout")[1] > 0
    assert lexical_of(TRIALS).beside([]).scores("gout").shape == (0,)


def test_a_word_counts_at_most_255_times():
    lexical = lexical_of([Trial(nct(1), brief_summary="gout " * 300)], b=0)
    assert lexical.scores("gout")[0] == pytest.approx(log(4 / 3) * 255 / 258)


def test_missing_and_damaged_files(tmp_path):
    with pytest.raises(T2VError, match="T158"):
        Lexical.open(tmp_path)
    write(TRIALS, tmp_path).save()
    (tmp_path / file_of("rows")).write_bytes(b"broken")
    with pytest.raises(T2VError, match="T158.*again"):
        Lexical.open(tmp_path)
