"""From the windows of each Doc to one vector a section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spacy_transformers.data_classes import TransformerData
from thinc.api import Model
from transformers.file_utils import ModelOutput

from ..sections.labels import CRITERIA, SECTION_LABELS

_ELIGIBILITY = SECTION_LABELS.index("eligibility")
_CRITERIA = [SECTION_LABELS.index(label) for label in CRITERIA]


@dataclass
class SectionBatch:
    """vectors (docs, labels, width): mean wordpiece state of each section; present
    (docs, labels): 1.0 where the Doc has that section. Labels in SECTION_LABELS order.
    """

    vectors: Any
    present: Any


def pool_sections(
    grad_factor: float = 1.0,
) -> Model[list[TransformerData], SectionBatch]:
    """Mean of the windows of each section, weighted by their wordpieces, so that a
    short last window does not count as a whole one. "eligibility" stands for all
    criteria: the mean of the inclusion, exclusion and other criteria together.

    grad_factor (float): Factor on the gradient passed to the transformer.
    """
    return Model("pool_sections", forward, attrs={"grad_factor": grad_factor})


def forward(
    model: Model, datas: list[TransformerData], is_train: bool
) -> tuple[SectionBatch, Callable]:
    xp: Any = model.ops.xp
    width = max((d.width for d in datas if d.model_output), default=0)
    vectors = model.ops.alloc3f(len(datas), len(SECTION_LABELS), width)
    present = model.ops.alloc2f(len(datas), len(SECTION_LABELS))
    shares: list[Any] = []
    for i, data in enumerate(datas):
        output: Any = data.model_output
        if "section" not in output:
            shares.append(None)
            continue
        share: Any = model.ops.alloc2f(len(SECTION_LABELS), len(output.section))
        share[output.section, xp.arange(share.shape[1])] = output.pieces
        share[_ELIGIBILITY] = share[_CRITERIA].sum(axis=0)
        total = share.sum(axis=1, keepdims=True)
        share /= xp.maximum(total, 1.0)
        shares.append(share)
        present[i] = total[:, 0] > 0
        mask = _mask(xp, data)
        states = (output.last_hidden_state * mask).sum(axis=1)
        vectors[i] = share @ (states / mask.sum(axis=1))

    def backprop(d_batch: SectionBatch) -> list[TransformerData]:
        d_datas = []
        for i, (data, share) in enumerate(zip(datas, shares, strict=True)):
            if share is None:
                continue
            mask = _mask(xp, data)
            d_rows = (share.T @ d_batch.vectors[i]) * model.attrs["grad_factor"]
            d_states = d_rows[:, None] * (mask / mask.sum(axis=1, keepdims=True))
            d_datas.append(
                TransformerData(
                    wordpieces=data.wordpieces,
                    model_output=ModelOutput(last_hidden_state=d_states.astype("f")),
                    align=data.align,
                )
            )
        return d_datas

    return SectionBatch(vectors, present), backprop


def _mask(xp: Any, data: TransformerData) -> Any:
    """1.0 where a row has a wordpiece: (rows, longest, 1)."""
    return xp.asarray(data.wordpieces.attention_mask)[:, :, None]
