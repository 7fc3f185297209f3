"""Words that strangers send are kept neither as such nor as places in tables."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.attrs import ORTH

from t2v_spacy.serve import vocabulary
from t2v_spacy.serve.vocabulary import forgetting, renew_vocab
from tests.search.toys import make_nlp

from .conftest import nct

TEXT = "Gout isn't treated, e.g. with 10mg of drug3 by t2v ."


@pytest.fixture
def nlp():
    nlp = make_nlp()
    nlp.tokenizer.add_special_case("t2v", [{ORTH: "t2"}, {ORTH: "v"}])
    nlp.vocab.set_vector("gout", np.array([1, 2], np.float32))
    return nlp


def read(nlp) -> tuple[list[str], list[float]]:
    doc = nlp(TEXT)
    return [token.text for token in doc], doc._.trial_vector.tolist()


def test_a_new_vocabulary_reads_the_same(nlp):
    before, old = read(nlp), nlp.vocab
    doc = nlp("a word of before")
    strings = set(old.strings) - {"before"}
    renew_vocab(nlp)
    assert read(nlp) == before
    assert "t2" in before[0]
    assert nlp.vocab is not old
    assert nlp.tokenizer.vocab is nlp("x").vocab is nlp.vocab
    assert strings <= set(nlp.vocab.strings)
    assert nlp.vocab.get_vector("gout").tolist() == [1, 2]
    assert nlp.vocab.vectors.strings is nlp.vocab.strings
    assert nlp.vocab.writing_system == old.writing_system
    assert doc.vocab is old
    assert doc[3].text == "before"


def test_pipes_share_it(nlp):
    textcat = nlp.add_pipe("textcat")
    textcat.add_label("GOUT")
    renew_vocab(nlp)
    assert textcat.vocab is nlp.vocab
    assert "GOUT" in nlp.vocab.strings
    assert nlp.vocab.strings is not make_nlp().vocab.strings


def test_tables_do_not_grow_without_end(nlp, monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_NEW", 2000)
    before, kept = read(nlp), len(nlp.vocab.strings)
    lengths = []
    for request in range(60):
        with forgetting([nlp]):
            nlp(" ".join(f"w{request}x{n}" for n in range(100)))
        lengths.append(len(nlp.vocab))
    assert max(lengths) <= 2000
    assert sum(length < last for last, length in zip(lengths, lengths[1:], strict=False)) >= 2  # fmt: skip
    assert len(nlp.vocab.strings) == kept
    assert "w59x1" not in nlp.vocab.strings
    assert read(nlp) == before


def test_words_of_a_request_that_fails_are_forgotten(nlp, monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_NEW", 0)
    before = nlp.vocab
    with pytest.raises(ZeroDivisionError), forgetting([nlp]):
        nlp("neverseen")
        raise ZeroDivisionError
    assert nlp.vocab is not before
    assert "neverseen" not in before.strings
    assert "neverseen" not in nlp.vocab.strings


def test_a_server_answers_the_same_with_a_new_vocabulary(client, toy_nlp, monkeypatch):
    bodies = [
        {"text": "gout drug3 trial", "k": 5},
        {"id": nct(1), "k": 5},
        {"like": [nct(2)], "unlike": [nct(3)], "parts": {"title": {"text": "sepsis"}}},
    ]

    def answers():
        return [client.post("/api/v1/search", json=body).json() for body in bodies]

    before, old = answers(), toy_nlp.vocab
    monkeypatch.setattr(vocabulary, "MOST_NEW", 100)
    assert answers() == before
    assert toy_nlp.vocab is not old
    assert answers() == before
