"""The output of a batch as one TransformerData a Doc."""

from __future__ import annotations

from typing import Any

import numpy
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import TransformerData, WordpieceBatch
from thinc.api import torch2xp
from thinc.types import Ragged
from transformers.file_utils import ModelOutput

from ..extensions import VIEWS
from ..sections.labels import SECTION_LABELS
from .section_text import SectionText
from .windows import Windows, pad


def make_wordpieces(
    windows: Windows, tokenizer: Any, keep_tokens: bool
) -> WordpieceBatch:
    """Wordpieces of each row; without keep_tokens a row is its section's label."""
    if keep_tokens:
        batch = pad(windows.ids, windows.sequence, tokenizer.pad_token_id or 0)
        batch.strings = [
            tokenizer.convert_ids_to_tokens(row) for row in batch.input_ids
        ]
        return batch
    rows = len(windows.sequence)
    ids: Any = numpy.zeros((rows, 1), dtype="int64")
    mask: Any = numpy.ones((rows, 1), dtype="f")
    labels = [
        [SECTION_LABELS[label] if label >= 0 else VIEWS] for label in windows.section
    ]
    return WordpieceBatch(labels, ids, mask, [1] * rows, None)


def split_by_doc(
    docs: list[Doc],
    windows: Windows,
    wordpieces: WordpieceBatch,
    output: ModelOutput,
    keep_tokens: bool,
) -> list[TransformerData]:
    """One TransformerData a Doc, empty for a Doc without text."""
    arrays = {key: torch2xp(value) for key, value in output.items()}
    width = wordpieces.input_ids.shape[1]
    doc_data = []
    for doc, rows, texts in zip(docs, windows.doc_rows, windows.doc_texts, strict=True):
        if rows.start == rows.stop:
            doc_data.append(TransformerData.empty())
            continue
        pairs = [
            _align_tokens(windows, span, text, at, rows.start, width)
            if keep_tokens
            else _align_windows(span, at, rows.start)
            for span, text, at in windows.texts[texts]
        ]
        doc_data.append(
            TransformerData(
                wordpieces=wordpieces[rows],
                model_output=ModelOutput({k: v[rows] for k, v in arrays.items()}),
                align=_ragged(numpy.concatenate(pairs), len(doc)),
            )
        )
    return doc_data


def _align_windows(span: Span, at: slice, first_row: int) -> numpy.ndarray:
    """(token, row) pairs: without offsets, a token takes the window at its place in the
    section, by proportion."""
    tokens = numpy.arange(len(span))
    row = tokens * (at.stop - at.start) // len(span) + at.start - first_row
    return numpy.stack([tokens + span.start, row], axis=1)


def _align_tokens(
    windows: Windows, span: Span, text: SectionText, at: slice, first: int, width: int
) -> numpy.ndarray:
    """(token, flat wordpiece) pairs from the characters both cover."""
    starts = numpy.array([token.idx for token in span])
    pairs = []
    for row in range(at.start, at.stop):
        offsets = windows.offsets[windows.sequence[row]]
        pieces = numpy.flatnonzero(offsets[:, 1] > offsets[:, 0])
        chars = text.doc_offsets(offsets[pieces, 0])
        tokens = numpy.searchsorted(starts, chars, side="right") - 1 + span.start
        pairs.append(numpy.stack([tokens, pieces + (row - first) * width], axis=1))
    return numpy.concatenate(pairs)


def _ragged(pairs: numpy.ndarray, n_tokens: int) -> Ragged:
    order = numpy.lexsort((pairs[:, 1], pairs[:, 0]))
    lengths: Any = numpy.bincount(pairs[:, 0], minlength=n_tokens).astype("i")
    data: Any = pairs[order, 1].astype("i")
    return Ragged(data, lengths)
