"""Section vectors of toy trials, and what their losses are by hand."""

from __future__ import annotations

import math

import numpy as np
import torch

from t2v_spacy.ml.batch_info import BatchInfo, ViewInfo
from t2v_spacy.ml.pytorch_encoder import TrialEncoder
from t2v_spacy.sections.labels import SECTION_LABELS

N, WIDTH = len(SECTION_LABELS), 8
AT = SECTION_LABELS.index
ONLY = {"global_weight": 0.0, "local_weight": 0.0}


def whole(present, rng):
    """Both views show all that is there."""
    return present, present


def encoder(**settings) -> TrialEncoder:
    """Untrained: the trial vector is the sum of the unit vectors of title, condition,
    summary and eligibility; temperature 1."""
    torch.manual_seed(0)
    weights = dict.fromkeys(("title", "condition", "summary", "eligibility"), 1.0)
    module = TrialEncoder(n_heads=2, weights=weights, **settings)
    module.build(WIDTH)
    with torch.no_grad():
        module.log_scale.zero_()
    return module


def trials(*rows: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Random section vectors of one trial a row, its labels separated by blanks."""
    generator = torch.Generator().manual_seed(1)
    sections = torch.randn(len(rows), N, WIDTH, generator=generator)
    present = torch.zeros(len(rows), N)
    for i, labels in enumerate(rows):
        present[i, [AT(label) for label in labels.split()]] = 1.0
    return sections * present[:, :, None], present


def batch(conditions, interventions=None, views=()) -> BatchInfo:
    n = len(conditions)
    drugs = interventions or [""] * n
    sets = [[frozenset(filter(None, row.split())) for row in c] for c in (conditions, drugs)]  # fmt: skip
    return BatchInfo(*sets, [()] * n, list(views))


def shown(sections, *picks: tuple[int, str]) -> np.ndarray:
    """Trial vector, by hand, of sections picked from trials."""
    total = sum(
        sections[i, AT(label)] / np.linalg.norm(sections[i, AT(label)])
        for i, label in picks
    )
    return total / np.linalg.norm(total)


def minus_log(anchor, positive, *negatives) -> float:
    own = anchor @ positive
    others = [anchor @ negative for negative in negatives]
    return math.log(sum(math.exp(x - own) for x in (own, *others)))


def run(objective, sections, present, info, views=None, module=None):
    views = torch.zeros(0, WIDTH) if views is None else views
    return objective(module or encoder(), sections, present, views, info)


VIEWS = [
    ViewInfo(0, AT("condition"), "positive", "a"),
    ViewInfo(0, AT("condition"), "negative", ""),
    ViewInfo(0, AT("condition"), "negative", "z"),
    ViewInfo(0, AT("title"), "positive", "y"),
    ViewInfo(0, AT("other"), "name", "m"),
    ViewInfo(0, AT("other"), "name", "m"),
    ViewInfo(1, AT("condition"), "positive", "b"),
    ViewInfo(2, AT("condition"), "positive", "a"),
    ViewInfo(2, AT("other"), "name", "n"),
    ViewInfo(2, AT("other"), "name", "n"),
    ViewInfo(2, AT("other"), "name", "m"),
    ViewInfo(2, AT("other"), "name", "m"),
]


def view_vectors() -> torch.Tensor:
    return torch.randn(len(VIEWS), WIDTH, generator=torch.Generator().manual_seed(2))
