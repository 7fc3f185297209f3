"""Sections cut into the sequences the backbone reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import WordpieceBatch

from ..sections.labels import SECTION_LABELS
from .section_text import SectionText, read_section

_NUMBER = {label: number for number, label in enumerate(SECTION_LABELS)}
# Ids of the spans in `doc.spans["views"]`; other spans may have ids of their own.
VIEW_KINDS = ("positive", "negative", "name")


@dataclass(frozen=True)
class WindowSettings:
    """How sections are cut; see `build_bucketed_transformer`."""

    window: int
    stride: int
    max_windows: int | None
    keep_tokens: bool


@dataclass
class Windows:
    """The sequences of a batch of Docs. A row is one window of one section.

    ids: Wordpieces of each different sequence, once.
    offsets: Their characters in the section's text; only with keep_tokens.
    sequence, section, cut: For each row its sequence, its section's position in
        SECTION_LABELS (of the n-th view of a Doc -n, from 1 on), and the wordpieces of
        the windows left out (on its first row).
    doc_rows, doc_texts: For each Doc its rows, and its part of `texts`.
    texts: For each section its span, its text and its rows.
    """

    ids: list[list[int]]
    offsets: list[numpy.ndarray]
    sequence: numpy.ndarray
    section: numpy.ndarray
    cut: numpy.ndarray
    doc_rows: list[slice]
    texts: list[tuple[Span, SectionText, slice]]
    doc_texts: list[slice]

    @property
    def lengths(self) -> numpy.ndarray:
        """Wordpieces of each sequence."""
        return numpy.array([len(ids) for ids in self.ids], dtype="i")


def make_windows(
    tokenizer: Any, spans: Iterable[list[Span]], settings: WindowSettings
) -> Windows:
    """Cut the sections of each Doc into sequences of wordpieces.

    tokenizer: A fast tokenizer. spans: The sections of each Doc.
    """
    number: dict[str, int] = {}
    sections: list[tuple[Span, SectionText, int]] = []
    counts = []
    for doc_spans in spans:
        before, views = len(sections), 0
        doc = doc_spans[0].doc if doc_spans else None
        text, headings = (doc.text, _heading_ends(doc)) if doc is not None else ("", {})
        for span in doc_spans:
            section = read_section(span, text, headings.get(span.start, 0))
            which = _NUMBER.get(span.label_, _NUMBER["other"])
            if span.id_ in VIEW_KINDS:
                views += 1
                which = -views
            if section.text:
                number.setdefault(section.text, len(number))
                sections.append((span, section, which))
        counts.append(len(sections) - before)
    if not sections:
        none = numpy.zeros((0,), dtype="int64")
        return Windows([], [], none, none, none, [slice(0, 0)] * len(counts), [], [])
    special = tokenizer.num_special_tokens_to_add()
    encoded = tokenizer(
        list(number),
        truncation=True,
        max_length=settings.window,
        stride=max(0, settings.window - settings.stride - special),
        return_overflowing_tokens=True,
        return_offsets_mapping=settings.keep_tokens,
        return_attention_mask=False,
        return_token_type_ids=False,
    )
    owner = numpy.asarray(encoded["overflow_to_sample_mapping"])
    first = numpy.searchsorted(owner, numpy.arange(len(number) + 1))
    most = settings.max_windows or len(owner)
    ids = encoded["input_ids"]
    sequence: list[int] = []
    label: list[int] = []
    cut: list[int] = []
    texts: list[tuple[Span, SectionText, slice]] = []
    doc_rows, doc_texts = [], []
    position = 0
    for count in counts:
        start, first_text = len(sequence), len(texts)
        for span, section, which in sections[position : position + count]:
            i = number[section.text]
            begin, end = int(first[i]), int(min(first[i] + most, first[i + 1]))
            if len(ids[begin]) <= special:  # no wordpiece: only invisible characters
                continue
            row = len(sequence)
            sequence.extend(range(begin, end))
            label.extend([which] * (end - begin))
            left_out = sum(len(ids[j]) for j in range(end, int(first[i + 1])))
            cut.extend([left_out] + [0] * (end - begin - 1))
            texts.append((span, section, slice(row, len(sequence))))
        doc_rows.append(slice(start, len(sequence)))
        doc_texts.append(slice(first_text, len(texts)))
        position += count
    kept, rows = numpy.unique(numpy.array(sequence, "int64"), return_inverse=True)
    offsets = [
        numpy.asarray(encoded["offset_mapping"][i])
        for i in (kept if settings.keep_tokens else ())
    ]
    return Windows(
        [ids[i] for i in kept],
        offsets,
        rows,
        numpy.array(label, "int64"),
        numpy.array(cut, "int64"),
        doc_rows,
        texts,
        doc_texts,
    )


def _heading_ends(doc: Doc) -> dict[int, int]:
    """First token of a section -> first character after its heading."""
    if "headings" not in doc.spans:
        return {}
    return {span.start: span.end_char for span in doc.spans["headings"]}


def pad(ids: list[list[int]], rows: numpy.ndarray, pad_token_id: int) -> WordpieceBatch:
    """The given sequences as one padded batch."""
    lengths = [len(ids[row]) for row in rows]
    shape = (len(rows), max(lengths))
    input_ids: Any = numpy.full(shape, pad_token_id, dtype="int64")
    mask: Any = numpy.zeros(shape, dtype="f")
    for i, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        input_ids[i, :length] = ids[row]
        mask[i, :length] = 1.0
    return WordpieceBatch(
        strings=[[]] * len(rows),
        input_ids=input_ids,
        attention_mask=mask,
        lengths=lengths,
        token_type_ids=None,
    )
