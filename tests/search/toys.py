"""Toy trials, a pipeline that hashes words into vectors, and a small index."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from t2v_spacy.extensions import install_extensions
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.trial import Intervention, Trial

WIDTH = 24
ILLNESSES = ("asthma", "gout", "sepsis", "migraine", "psoriasis", "anaemia")
HEADINGS = {
    "Title": "title",
    "Conditions": "condition",
    "Interventions": "intervention",
}


def nct(number: int) -> str:
    return f"NCT9{number:07}"


def make_trial(number: int, **values) -> Trial:
    illness = ILLNESSES[number % len(ILLNESSES)]
    return Trial(
        nct(number),
        title=f"Study {number} of {illness}",
        conditions=(illness,),
        interventions=(Intervention(f"drug{number % 7}"),),
        **values,
    )


def word_vector(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.lower().encode()).digest()[:4], "big")
    return np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)


def text_vector(text: str) -> np.ndarray | None:
    words = re.findall(r"\w+", text)
    if not words:
        return None
    total = np.sum([word_vector(word) for word in words], axis=0)
    return total / np.linalg.norm(total)


def section_texts(text: str) -> dict[str, str]:
    """Bodies by label; a text without headings is a title."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    if len(parts) == 1:
        return {"title": text} if text.strip() else {}
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {HEADINGS[h]: body for h, body in named if h in HEADINGS}


@Language.component(
    "toy_trial_vectors",
    assigns=["doc._.trial_vector", "doc._.section_vectors"],
)
def toy_trial_vectors(doc: Doc) -> Doc:
    sections = {k: text_vector(v) for k, v in section_texts(doc.text).items()}
    doc._.trial_vector = text_vector(re.sub("^##.*$", "", doc.text, flags=re.MULTILINE))
    doc._.section_vectors = {k: v for k, v in sections.items() if v is not None}
    return doc


def make_nlp() -> Language:
    install_extensions()
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_trial_vectors")
    return nlp


@lru_cache(maxsize=1)
def _shared_nlp() -> Language:
    return make_nlp()


def make_entry(trial: Trial) -> IndexEntry:
    doc = _shared_nlp()(trial.to_text())
    return IndexEntry(trial, doc._.trial_vector, doc._.section_vectors)


def make_entries(n: int) -> list[IndexEntry]:
    return [make_entry(make_trial(number)) for number in range(n)]


def make_index(n: int = 60, **settings) -> TrialIndex:
    settings.setdefault("meta", {"source": "toys", "pipeline": "toy"})
    return TrialIndex.build(make_entries(n), **settings)


def entry(nct_id: str, vector, aliases: tuple[str, ...] = (), **values) -> IndexEntry:
    trial = Trial(nct_id, aliases=aliases, title=f"Title of {nct_id}", **values)
    return IndexEntry(trial, np.array(vector, dtype=np.float32))
