"""The training loop of unsupervised SimCSE."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from tqdm import tqdm

from ...errors import Errors, error
from .text_encoder import TextEncoder


@dataclass(frozen=True)
class SimcseSettings:
    """lr (float): Learning rate of AdamW at the start; falls to 0 in a straight line.
    epochs (int): Passes over the texts. batch_size (int): Texts of a step, at least 2.
    temperature (float): Divides the cosines.
    seed (int): Decides the order of the texts and the dropout.
    RAISES (T2VError): T026 for a setting out of range.
    """

    lr: float = 1e-5
    epochs: int = 1
    batch_size: int = 32
    temperature: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        limits = {
            "lr": (self.lr > 0, "above 0"),
            "epochs": (self.epochs >= 1, "at least 1"),
            "batch_size": (self.batch_size >= 2, "at least 2"),
            "temperature": (self.temperature > 0, "above 0"),
        }
        for setting, (right, limit) in limits.items():
            if not right:
                value = getattr(self, setting)
                raise error(Errors.T026, setting=setting, value=value, reason=limit)


def train_simcse(
    encoder: TextEncoder, ids: list[list[int]], settings: SimcseSettings
) -> list[float]:
    """Train the encoder's model in place.

    ids: Wordpieces of each text, all different.
    RETURNS (List[float]): The loss of each step.
    RAISES (T2VError): T026 if the model has no dropout, T117 if the loss is no number.
    """
    model = encoder.model
    model.train()
    if not any(m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)):
        needed = "SimCSE needs some, such as 0.1"
        raise error(Errors.T026, setting="dropout", value=0.0, reason=needed)
    batches = list(_batches(len(ids), settings))
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, len(batches))
    losses: list[float] = []
    # The dropout of the caller's own work is not ours to seed.
    with (
        torch.random.fork_rng(),
        tqdm(batches, desc=encoder.system, disable=None) as bar,
    ):
        torch.manual_seed(settings.seed)
        for batch in bar:
            loss = _loss(encoder, [ids[i] for i in batch], settings.temperature)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise error(
                    Errors.T117,
                    system=encoder.system,
                    loss=losses[-1],
                    step=len(losses),
                )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
    model.eval()
    return losses


def _batches(n: int, settings: SimcseSettings) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(settings.seed)
    for _ in range(settings.epochs):
        order = rng.permutation(n)
        for start in range(0, n, settings.batch_size):
            batch = order[start : start + settings.batch_size]
            if len(batch) > 1:  # a text alone has nothing to differ from
                yield batch


def _loss(
    encoder: TextEncoder, ids: list[list[int]], temperature: float
) -> torch.Tensor:
    """Cross-entropy of finding a text's other reading among those of the batch."""
    rows = torch.nn.functional.normalize(encoder.pool(ids + ids), dim=1)
    first, second = rows.chunk(2)
    right = torch.arange(len(ids), device=rows.device)
    return torch.nn.functional.cross_entropy(first @ second.T / temperature, right)
