"""What a masked language model is trained on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy
import pytest
import spacy
from transformers import AutoTokenizer

from t2v_spacy import make_trial_doc, read_trials
from t2v_spacy.ml.span_getters import section_spans
from t2v_spacy.ml.windows import WindowSettings, make_windows
from t2v_spacy.training.masked_lm_data import (
    Masker,
    Sequences,
    held_out,
    make_batches,
    make_sequences,
    trial_parts,
)
from t2v_spacy.trial import Trial

from ..conftest import make_trials

SAMPLE = Path(__file__).parent.parent.parent / "corpus" / "sample"


@pytest.fixture(scope="module")
def tokenizer(tiny_backbone):
    return AutoTokenizer.from_pretrained(tiny_backbone)


# the sequences


def test_parts_are_what_the_encoder_reads(tokenizer, trials):
    assert trial_parts(trials[2]) == [
        "Breathing exercises for asthma",
        "Asthma",
        "Breathing exercises",
    ]
    nlp = spacy.blank("en")
    for trial in [*trials, *islice(read_trials(SAMPLE), 12)]:
        spans = section_spans()([make_trial_doc(nlp, trial)])
        read = make_windows(tokenizer, spans, WindowSettings(32, 30, None, False))
        assert trial_parts(trial) == [section.text for _, section, _ in read.texts]


def test_joined_sections_follow_one_another_in_a_window(tokenizer):
    trial = Trial("NCT90000001", title="ab", conditions=("c",))
    (joined,) = texts(tokenizer, [trial], join_sections=True)
    assert joined == "[CLS] a ##b [SEP] c [SEP]"
    # One wordpiece alone teaches nothing.
    assert texts(tokenizer, [trial], join_sections=False) == ["[CLS] a ##b [SEP]"]


def texts(tokenizer, trials, **settings) -> list[str]:
    data = make_sequences(tokenizer, trials, window=8, **settings)
    ids = numpy.split(data.ids, data.starts[1:-1])
    return [" ".join(tokenizer.convert_ids_to_tokens(row)) for row in ids]


def test_windows_cover_a_long_text_and_equal_ones_count_once(tokenizer):
    trials = [
        Trial("NCT90000001", title="abcdefgh ij"),
        Trial("NCT90000002", title="ij"),
    ]
    assert texts(tokenizer, trials, join_sections=True) == [
        "[CLS] a ##b ##c ##d ##e ##f [SEP]",
        "[CLS] ##g ##h i ##j [SEP]",
        "[CLS] i ##j [SEP]",
    ]
    trials.append(Trial("NCT90000003", title="ij"))
    data = make_sequences(tokenizer, trials, window=8, join_sections=True)
    assert data.owner.tolist() == [0, 0, 1]
    assert data.lengths.tolist() == [8, 6, 4]
    words = [True, True, *[False] * 5, True]
    assert data.first[:8].tolist() == words


def test_a_trial_without_text_is_refused_by_name(tokenizer):
    empty = Trial("NCT90000009", study_type="INTERVENTIONAL")
    data = make_sequences(
        tokenizer, [empty, *make_trials()], window=32, join_sections=True
    )
    assert data.refused == ["NCT90000009"]
    assert data.names[0] == "NCT90000001"  # the others are read


def test_held_out_trials_are_few_and_do_not_depend_on_their_order(tokenizer):
    trials = [Trial(f"NCT{i:08}", title=f"trial number {i}") for i in range(40)]

    def names(trials, records):
        data = make_sequences(tokenizer, trials, window=32, join_sections=True)
        return {data.names[i] for i in data.owner[held_out(data, records, seed=0)]}

    assert len(names(trials, 200)) == 4
    assert names(trials[::-1], 200) == names(trials, 200)
    assert len(names(trials, 3)) == 3


def test_batches_fill_their_budget_and_each_epoch_reads_all():
    lengths = numpy.array([3, 4, 5, 6, 7, 8])
    rows = numpy.array([0, 2, 3, 5])
    batches = make_batches(rows, lengths, 11, seed=0)
    read: list[int] = []
    while len(read) < 8:
        batch = next(batches)
        # The last sequence of a batch may begin before its budget ends.
        assert lengths[batch].sum() <= 11 + 8
        read += batch.tolist()
    assert sorted(read[:4]) == sorted(read[4:]) == rows.tolist()


# the masks


def one_sequence(tokenizer, text: str, copies: int = 1) -> Sequences:
    trials = [Trial(f"NCT{i:08}", title=text) for i in range(copies)]
    return make_sequences(tokenizer, trials, window=64, join_sections=True)


def test_the_share_is_exact_and_special_tokens_stay(tokenizer):
    data = one_sequence(tokenizer, " ".join("abcdefghijklmnopqrst"))
    rng = numpy.random.default_rng(0)
    masker = Masker(tokenizer, 0.15, whole_words=False)
    rows = numpy.zeros(2000, dtype=int)
    batch = masker(data, rows, rng)
    assert (batch.masked.sum(axis=1) == 3).all()
    assert not batch.masked[:, [0, -1]].any()
    ids = batch.input_ids[batch.masked]
    original = numpy.tile(data.ids, (2000, 1))
    assert (batch.labels == original[batch.masked]).all()
    assert (batch.input_ids == original)[~batch.masked].all()
    hidden = ids == tokenizer.mask_token_id
    assert hidden.mean() == pytest.approx(0.8, abs=0.02)
    # 10 % stay, and few of the 10 % random ones hit the same wordpiece again.
    assert (ids == batch.labels).mean() == pytest.approx(0.1, abs=0.02)
    assert not numpy.isin(ids[~hidden], tokenizer.all_special_ids).any()


def test_whole_words_are_hidden_together(tokenizer):
    data = one_sequence(tokenizer, "abc de fghi")
    masker = Masker(tokenizer, 0.15, whole_words=True)
    rng = numpy.random.default_rng(0)
    found = {
        tuple(numpy.flatnonzero(masker(data, numpy.zeros(1, int), rng).masked[0]))
        for _ in range(50)
    }
    assert found == {(1, 2, 3), (4, 5), (6, 7, 8, 9)}


def test_a_sequence_has_at_least_one_hidden_wordpiece(tokenizer):
    data = one_sequence(tokenizer, "ab")
    masker = Masker(tokenizer, 0.01, whole_words=False)
    batch = masker(data, numpy.zeros(1, int), numpy.random.default_rng(0))
    assert batch.masked.sum() == 1
