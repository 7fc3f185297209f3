"""Invented pairs: what a toy trial says of itself."""

from __future__ import annotations

import json
from pathlib import Path

from t2v_spacy.kb.knowledge_base import Concept, KnowledgeBase
from t2v_spacy.training.contrastive.pairs import Pair, Source

DRUGS = ("colchicine", "allopurinol", "salbutamol", "metformin", "aspirin", "warfarin")
DISEASES = ("gout", "tophi", "asthma", "diabetes", "stroke", "embolism")


def make_pairs(n: int, negative: bool = False) -> list[Pair]:
    """n different pairs; with `negative`, every second one has a negative."""
    pairs = []
    for i in range(n):
        drug, disease = DRUGS[i % 6], DISEASES[i // 6 % 6]
        negatives = (f"no {drug} at all {i}",) if negative and i % 2 else ()
        pairs.append(Pair(f"{drug} for {disease} {i}", f"{disease} {i}", negatives))
    return pairs


def make_source(name: str, n: int, negative: bool = False) -> Source:
    return Source(name, tuple(make_pairs(n, negative)), f"sha of {name}")


def write_lines(path: Path, records: list) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def make_kb() -> KnowledgeBase:
    concepts = [
        Concept("T:1", "Gout", ("Podagra", "gouts", "GOUT"), ("T047",), "Urate crystals swell a joint, often the great toe at night."),
        Concept("T:2", "Asthma", ("Bronchial wheezing",), ("T047",), "Asthma."),
        Concept("T:3", "Colchicine", ("Colcrys", "XYZ-145", "XYZ145"), ("T121",)),
        Concept("T:4", "Tophus", (), ("T047",)),
        Concept("T:5", "Kidney stones", ("Nephrolithiasis",), ("T047",)),
    ]  # fmt: skip
    return KnowledgeBase.from_concepts(concepts, info={"name": "toy", "version": "1"})
