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
    views (views, width): the same of the texts in `doc.spans["views"]`, Doc by Doc;
    only training Docs have any."""

    vectors: Any
    present: Any
    views: Any = None


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
    n_labels = len(SECTION_LABELS)
    width = max((d.width for d in datas if d.model_output), default=0)
    vectors = model.ops.alloc3f(len(datas), n_labels, width)
    present = model.ops.alloc2f(len(datas), n_labels)
    views: list[Any] = [model.ops.alloc2f(0, width)]
    shares: list[Any] = []
    for i, data in enumerate(datas):
        output: Any = data.model_output
        if "section" not in output:
            shares.append(None)
            continue
        # Rows of the share: the labels, then the views, whose sections are -1, -2, ...
        n_views = max(0, -int(output.section.min()))
        row = xp.where(
            output.section < 0, n_labels - 1 - output.section, output.section
        )
        share: Any = model.ops.alloc2f(n_labels + n_views, len(row))
        share[row, xp.arange(len(row))] = output.pieces
        share[_ELIGIBILITY] = share[_CRITERIA].sum(axis=0)
        total = share.sum(axis=1, keepdims=True)
        share /= xp.maximum(total, 1.0)
        shares.append(share)
        present[i] = total[:n_labels, 0] > 0
        mask = _mask(xp, data)
        states = (output.last_hidden_state * mask).sum(axis=1)
        pooled = share @ (states / mask.sum(axis=1))
        vectors[i] = pooled[:n_labels]
        views.append(pooled[n_labels:])

    def backprop(d_batch: SectionBatch) -> list[TransformerData]:
        d_datas = []
        first = 0
        for i, (data, share) in enumerate(zip(datas, shares, strict=True)):
            if share is None:
                continue
            last = first + len(share) - n_labels
            d_rows = share[:n_labels].T @ d_batch.vectors[i]
            if d_batch.views is not None:
                d_rows += share[n_labels:].T @ d_batch.views[first:last]
            first = last
            d_rows *= model.attrs["grad_factor"]
            mask = _mask(xp, data)
            d_states = d_rows[:, None] * (mask / mask.sum(axis=1, keepdims=True))
            d_datas.append(
                TransformerData(
                    wordpieces=data.wordpieces,
                    model_output=ModelOutput(last_hidden_state=d_states.astype("f")),
                    align=data.align,
                )
            )
        return d_datas

    return SectionBatch(vectors, present, xp.concatenate(views)), backprop


def _mask(xp: Any, data: TransformerData) -> Any:
    """1.0 where a row has a wordpiece: (rows, longest, 1)."""
    return xp.asarray(data.wordpieces.attention_mask)[:, :, None]
