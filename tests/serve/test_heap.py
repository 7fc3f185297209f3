from __future__ import annotations

import ctypes

from t2v_spacy.serve import heap


def test_after_some_answers_and_not_each(monkeypatch):
    asked = []
    monkeypatch.setattr(heap, "_malloc_trim", lambda: asked.append)
    for _ in range(3 * heap.EVERY):
        heap.give_back()
    assert asked == [0, 0, 0]


def test_another_c_library_has_none(monkeypatch):
    heap._malloc_trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    for _ in range(heap.EVERY):
        heap.give_back()
    heap._malloc_trim.cache_clear()


def test_answers_give_back(client, monkeypatch):
    asked = []
    monkeypatch.setattr("t2v_spacy.serve.answers.give_back", lambda: asked.append(1))
    assert client.post("/api/v1/search", json={"text": "gout"}).status_code == 200
    assert client.post("/api/v1/search", json={"text": "."}).status_code == 422
    assert asked == [1, 1]
