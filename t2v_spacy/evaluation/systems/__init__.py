"""Systems that rank trials by likeness, each by the name it is registered under."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from ...errors import Errors, error
from .base import System, document_text

__all__ = ["SYSTEMS", "System", "document_text", "make_system"]


def _make(module: str, name: str, **settings: Any) -> System:
    return getattr(import_module(f".{module}", __name__), name)(**settings)


# In the order of a report's rows; a library is imported when its system is made.
SYSTEMS: dict[str, Callable[..., System]] = {
    "tfidf": partial(_make, "tfidf", "Tfidf"),
    "bm25": partial(_make, "bm25", "Bm25"),
    "word2vec": partial(_make, "word2vec", "Word2Vec"),
    "bert_mean": partial(_make, "bert", "BertMean"),
    "trialbert": partial(_make, "bert", "TrialBert"),
    "bert_whitening": partial(_make, "bert", "BertWhitening"),
    "bert_simcse": partial(_make, "simcse", "BertSimcse"),
    "monot5": partial(_make, "monot5", "MonoT5"),
    "sectioned_mean": partial(_make, "pipeline", "SectionedMean"),
    "trial2vec": partial(_make, "pipeline", "Trial2Vec"),
}


def make_system(name: str, **settings: Any) -> System:
    """`make_system("bm25", k1=1.2)`.

    name (str): One of SYSTEMS. settings: See its class.
    RAISES (T2VError): T116 for another name; otherwise as the class.
    """
    if name not in SYSTEMS:
        raise error(Errors.T116, value=name, known=", ".join(SYSTEMS))
    return SYSTEMS[name](**settings)
