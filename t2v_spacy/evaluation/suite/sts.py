"""Likeness of sentences: Spearman's correlation of cosines with the annotators."""

from __future__ import annotations

from ..sentence_pairs import SentencePairs, correlate
from ..systems.base import unit
from .encoders import Encoder, vectors
from .score import ROUNDS, Score


def score_sts(data: SentencePairs, encoder: Encoder, *, seed: int = 0) -> Score:
    """Spearman and its interval over pairs."""
    sides = [unit(vectors(encoder, texts)) for texts in (data.first, data.second)]
    found = correlate(data, (sides[0] * sides[1]).sum(1), rounds=ROUNDS, seed=seed)
    refused = len(data.report.refused) if data.report else 0
    note = f"{refused} rows refused" if refused else ""
    return Score(found.value, found.low, found.high, found.pairs, "pairs", note)
