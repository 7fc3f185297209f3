"""Trials as the sequences a masked language model learns from.

The texts are what the encoder will read (no headings, list marks or intervention
types), so that the model is continued on what it is used for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, NamedTuple, cast

import numpy
from tqdm import tqdm

from ..ml.section_text import read_section
from ..ml.span_getters import ENCODED_LABELS
from ..plain import sound_text
from ..sections.parse import parse_sections
from ..trial import Trial

_CHUNK = 128  # trials tokenised at a time


class _Span(NamedTuple):
    """What `read_section` asks of a spaCy span, without tokenising for it."""

    label_: str
    start_char: int
    end_char: int


def trial_parts(trial: Trial) -> list[str]:
    """Texts of the sections that the encoder reads, in the order of `to_text`."""
    text = sound_text(trial.to_text())
    parts = []
    for section in parse_sections(text):
        if section.label in ENCODED_LABELS:
            span = cast(Any, _Span(section.label, section.start, section.end))
            parts.append(read_section(span, text, section.body_start).text)
    return [part for part in parts if part.strip()]


@dataclass(frozen=True)
class Sequences:
    """Different sequences of wordpieces, one after another.

    ids (pieces,): special tokens included. first (pieces,): whether a word starts here.
    starts (n + 1,): where each sequence begins. owner (n,): position of its trial in
    `names`, the ids of the trials that have a text. refused: ids of those without.
    """

    ids: numpy.ndarray
    first: numpy.ndarray
    starts: numpy.ndarray
    owner: numpy.ndarray
    names: list[str]
    refused: list[str]

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.diff(self.starts)

    @property
    def digest(self) -> str:
        """Which sequences these are, and whose."""
        found = hashlib.sha256("\n".join(self.names).encode())
        for array in (self.ids, self.starts, self.owner):
            found.update(array.tobytes())
        return found.hexdigest()


def make_sequences(
    tokenizer: Any,
    trials: Iterable[Trial],
    *,
    window: int,
    join_sections: bool,
    progress: bool = False,
) -> Sequences:
    """Cut trials into sequences of at most `window` wordpieces.

    tokenizer: A fast tokenizer.
    join_sections (bool): The sections of a trial follow one another, with the
        separator token between them; otherwise each is read alone.
    RETURNS (Sequences): Equal sequences once, so that none can be both trained on and
        held out; those of less than two ordinary wordpieces teach nothing and are
        left out.
    """
    special = tokenizer.num_special_tokens_to_add()
    ids, first, owner = [], [], []
    names: list[str] = []
    refused: list[str] = []
    seen: set[bytes] = set()
    bar = tqdm(trials, desc="Reading", unit="trial", disable=None if progress else True)
    stream = iter(bar)
    while chunk := list(islice(stream, _CHUNK)):
        texts, whose = [], []
        for trial in chunk:
            parts = trial_parts(trial)
            if not parts:
                refused.append(trial.nct_id)
                continue
            if join_sections:
                parts = [f" {tokenizer.sep_token} ".join(parts)]
            texts += parts
            whose += [len(names)] * len(parts)
            names.append(trial.nct_id)
        if not texts:
            continue
        encoded = tokenizer(
            texts,
            truncation=True,
            max_length=window,
            return_overflowing_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        of = encoded["overflow_to_sample_mapping"]
        for i, encoding in enumerate(encoded.encodings):
            row = numpy.array(encoding.ids, dtype="int32")
            key = hashlib.blake2b(row.tobytes(), digest_size=16).digest()
            if len(row) < special + 2 or key in seen:
                continue
            seen.add(key)
            words = [-1 if word is None else word for word in encoding.word_ids]
            ids.append(row)
            first.append(numpy.diff(words, prepend=-2) != 0)
            owner.append(whose[of[i]])
    none = numpy.zeros(0, dtype="int32")
    return Sequences(
        numpy.concatenate([none, *ids]),
        numpy.concatenate([none.astype(bool), *first]),
        numpy.cumsum([0, *map(len, ids)]),
        numpy.array(owner, dtype="int64"),
        names,
        refused,
    )


def held_out(sequences: Sequences, records: int, seed: int) -> numpy.ndarray:
    """Which sequences (n,) are kept from training: those of `records` trials, but at
    most of a tenth of all (and at least of one), chosen by their ids."""
    names = sequences.names
    number = max(1, min(records, len(names) // 10))
    keys = [hashlib.sha256(f"{seed}:{name}".encode()).digest() for name in names]
    chosen = sorted(range(len(names)), key=keys.__getitem__)[:number]
    return numpy.isin(sequences.owner, chosen)


def make_batches(
    rows: numpy.ndarray, lengths: numpy.ndarray, batch_tokens: int, seed: int
) -> Iterator[numpy.ndarray]:
    """Batches of about `batch_tokens` wordpieces, epoch after epoch without end.

    rows (n,): the sequences to draw from. lengths: wordpieces of every sequence.
    The order of an epoch depends on the seed and its number alone, so that a run can
    go on at any step.
    """
    for epoch in count():
        order = numpy.random.default_rng([seed, 0, epoch]).permutation(rows)
        batch = (numpy.cumsum(lengths[order]) - 1) // batch_tokens
        yield from numpy.split(order, numpy.flatnonzero(numpy.diff(batch)) + 1)


@dataclass(frozen=True)
class MaskedBatch:
    """input_ids, attention_mask and masked are (rows, longest); labels holds the
    wordpieces that stood where `masked` is true, row by row."""

    input_ids: numpy.ndarray
    attention_mask: numpy.ndarray
    masked: numpy.ndarray
    labels: numpy.ndarray


class Masker:
    """Hides wordpieces as BERT does (Devlin et al. 2019, section 3.1): of the chosen
    ones 80 % become the mask token, 10 % a random wordpiece, 10 % stay.

    rate (float): Share of the wordpieces of each sequence that are chosen, at least
        one; never a special token.
    whole_words (bool): Choose words, all their wordpieces together, until the share
        is reached.
    """

    def __init__(self, tokenizer: Any, rate: float, whole_words: bool) -> None:
        self.rate = rate
        self.whole_words = whole_words
        self.mask_id: int = tokenizer.mask_token_id
        self.pad_id: int = tokenizer.pad_token_id
        self.special = numpy.zeros(max(tokenizer.get_vocab().values()) + 1, dtype=bool)
        self.special[tokenizer.all_special_ids] = True
        self.ordinary = numpy.flatnonzero(~self.special)

    def __call__(
        self, sequences: Sequences, rows: numpy.ndarray, rng: numpy.random.Generator
    ) -> MaskedBatch:
        shape = (len(rows), int(sequences.lengths[rows].max()))
        input_ids = numpy.full(shape, self.pad_id, dtype="int64")
        attention_mask = numpy.zeros(shape, dtype="int64")
        masked = numpy.zeros(shape, dtype=bool)
        for i, row in enumerate(rows):
            part = slice(sequences.starts[row], sequences.starts[row + 1])
            ids = sequences.ids[part]
            input_ids[i, : len(ids)] = ids
            attention_mask[i, : len(ids)] = 1
            masked[i, : len(ids)] = self._choose(ids, sequences.first[part], rng)
        labels = input_ids[masked]
        draw = rng.random(len(labels))
        hidden = numpy.where(draw < 0.8, self.mask_id, labels)
        other = draw >= 0.9
        hidden[other] = rng.choice(self.ordinary, int(other.sum()))
        input_ids[masked] = hidden
        return MaskedBatch(input_ids, attention_mask, masked, labels)

    def _choose(
        self, ids: numpy.ndarray, first: numpy.ndarray, rng: numpy.random.Generator
    ) -> numpy.ndarray:
        open_ = ~self.special[ids]
        if not self.whole_words:
            first = numpy.ones_like(first)
        word = numpy.cumsum(first)
        words, sizes = numpy.unique(word[open_], return_counts=True)
        order = rng.permutation(len(words))
        wanted = max(1, int(self.rate * open_.sum() + 0.5))
        enough = int(numpy.searchsorted(numpy.cumsum(sizes[order]), wanted)) + 1
        return open_ & numpy.isin(word, words[order[:enough]])
