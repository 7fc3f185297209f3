from __future__ import annotations

import numpy
import pytest
import torch
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import FullTransformerBatch
from thinc.api import reduce_mean, xp2torch
from transformers import AutoModel, AutoTokenizer
from transformers.file_utils import ModelOutput

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.ml.windows import Windows, make_windows
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.training.knowledge_views import View
from t2v_spacy.training.training_trial import TrainingTrial, make_training_doc
from tests.conftest import make_tiny_nlp, make_trials
from tests.training.toys import make_examples


@pytest.fixture
def docs(tiny_nlp) -> list[Doc]:
    return [tiny_nlp.get_pipe("trial_parser")(make_trial_doc(tiny_nlp, t)) for t in make_trials()]  # fmt: skip


def model_of(nlp):
    return nlp.get_pipe("transformer").model


def windows_of(model, docs) -> Windows:
    spans = model.attrs["get_spans"](docs)
    return make_windows(model.tokenizer, spans, model.attrs["run"].windows)


def test_rows_equal_the_plain_backbone_on_each_window(tiny_nlp, tiny_backbone, docs):
    model = model_of(tiny_nlp)
    windows = windows_of(model, docs)
    batch = model.predict(docs)
    backbone = AutoModel.from_pretrained(tiny_backbone).eval()
    hidden = batch.model_output.last_hidden_state
    for row, sequence in enumerate(windows.sequence):
        with torch.no_grad():
            ids = torch.tensor([windows.ids[sequence]])
            expected = backbone(ids).last_hidden_state[0].mean(0)
        assert torch.allclose(hidden[row, 0], expected, atol=1e-5)


def test_windows_cover_every_wordpiece_of_a_long_section(tiny_nlp, tiny_backbone):
    doc = tiny_nlp.make_doc("abcdefghij " * 40 + "z")
    windows = windows_of(model_of(tiny_nlp), [doc])
    tokenizer = AutoTokenizer.from_pretrained(tiny_backbone)
    whole = tokenizer(doc.text, add_special_tokens=False)["input_ids"]
    stride = 24
    rebuilt: list[int] = []
    for i, sequence in enumerate(windows.sequence):
        assert rebuilt[i * stride :] == windows.ids[sequence][1:-1][: len(rebuilt) - i * stride]  # fmt: skip
        rebuilt[i * stride :] = windows.ids[sequence][1:-1]
    assert rebuilt == whole
    assert windows.cut.sum() == 0


def test_equal_strings_are_encoded_once(tiny_nlp, docs):
    windows = windows_of(model_of(tiny_nlp), [docs[0], docs[0], docs[0]])
    assert len(windows.sequence) == 3 * len(windows.ids)


def test_a_batch_equals_one_by_one(tiny_nlp, docs):
    together = model_of(tiny_nlp).predict(docs).doc_data
    for doc, data in zip(docs, together, strict=True):
        (alone,) = model_of(tiny_nlp).predict([doc]).doc_data
        numpy.testing.assert_allclose(
            alone.model_output.last_hidden_state,
            data.model_output.last_hidden_state,
            atol=1e-5,
        )
        numpy.testing.assert_array_equal(alone.align.dataXd, data.align.dataXd)


@pytest.mark.parametrize("keep_tokens", [False, True])
def test_alignment_has_a_place_for_each_token(tiny_backbone, keep_tokens):
    nlp = make_tiny_nlp(tiny_backbone, keep_tokens=keep_tokens)
    texts = ["", "  ", "Gout\nin adults and children", "\u200b"]
    docs = [nlp.get_pipe("trial_parser")(nlp.make_doc(text)) for text in texts]
    for doc, data in zip(docs, model_of(nlp).predict(docs).doc_data, strict=True):
        if not doc.text.strip(" \u200b"):
            assert not data.model_output
            continue
        assert len(data.align.lengths) == len(doc)
        assert data.align.dataXd.max() < data.wordpieces.input_ids.size


def test_kept_tokens_align_with_their_own_letters(tiny_backbone):
    nlp = make_tiny_nlp(tiny_backbone, keep_tokens=True)
    doc = nlp.get_pipe("trial_parser")(
        nlp.make_doc("## Title\nab cde\n\n## Conditions\n- fg\n- hij")
    )
    (data,) = model_of(nlp).predict([doc]).doc_data
    strings = [piece for row in data.wordpieces.strings for piece in row]
    start = 0
    seen = {}
    for token, length in zip(doc, data.align.lengths, strict=True):
        pieces = [strings[i] for i in data.align.dataXd[start : start + length]]
        seen[token.text] = "".join(piece.removeprefix("##") for piece in pieces)
        start += length
    assert {word: seen[word] for word in ("ab", "cde", "fg", "hij")} == {
        "ab": "ab",
        "cde": "cde",
        "fg": "fg",
        "hij": "hij",
    }


def test_what_max_windows_leaves_out_is_recorded(tiny_backbone):
    nlp = make_tiny_nlp(tiny_backbone, max_windows=2)
    doc = nlp("Title here\n" + "words and words " * 30)
    assert doc._.truncated == ["description"]
    assert nlp("Title here\nwords")._.truncated == []


@pytest.mark.parametrize("keep_tokens", [False, True])
def test_gradient_reaches_the_backbone(tiny_backbone, keep_tokens):
    """The hand-written backward pass gives torch's own gradient."""
    nlp = make_tiny_nlp(tiny_backbone, keep_tokens=keep_tokens)
    model = model_of(nlp)
    docs = [nlp.get_pipe("trial_parser")(make_trial_doc(nlp, t)) for t in make_trials()]
    batch, backprop = model.begin_update(docs)
    states = batch.model_output.last_hidden_state
    torch.manual_seed(1)
    d_states = torch.randn_like(states)
    if keep_tokens:
        d_states *= xp2torch(batch.wordpieces.attention_mask)[:, :, None]
    model.transformer.zero_grad()
    backprop(FullTransformerBatch(batch.spans, batch.wordpieces, ModelOutput(x=d_states), batch.align))  # fmt: skip
    found = model.transformer.embeddings.word_embeddings.weight.grad.clone()

    model.transformer.zero_grad()
    windows = windows_of(model, docs)
    loss = torch.zeros(())
    for row, sequence in enumerate(windows.sequence):
        hidden = model.transformer(torch.tensor([windows.ids[sequence]])).last_hidden_state[0]  # fmt: skip
        if keep_tokens:
            loss = loss + (hidden * d_states[row, : len(hidden)]).sum()
        else:
            loss = loss + (hidden.mean(0) * d_states[row, 0]).sum()
    loss.backward()
    expected = model.transformer.embeddings.word_embeddings.weight.grad
    assert expected.abs().max() > 0
    assert torch.allclose(found, expected, atol=1e-4)


def test_a_token_listener_of_spacy_transformers_works(tiny_backbone):
    nlp = make_tiny_nlp(tiny_backbone, keep_tokens=True)
    from spacy_transformers.layers import trfs2arrays

    docs = [nlp("Gout\nin adults"), nlp("")]
    arrays = trfs2arrays(reduce_mean(), 1.0).predict([d._.trf_data for d in docs])
    assert [len(array) for array in arrays] == [len(doc) for doc in docs]
    assert numpy.abs(arrays[0]).sum() > 0


def test_copy_and_bytes_give_the_same_rows(tiny_nlp, tiny_backbone, docs):
    model = model_of(tiny_nlp)
    expected = model.predict(docs).model_output.last_hidden_state
    again = model_of(make_tiny_nlp(tiny_backbone)).from_bytes(model.to_bytes())
    for other in (model.copy(), again):
        found = other.predict(docs).model_output.last_hidden_state
        assert torch.allclose(found, expected, atol=1e-6)


def test_views_are_rows_of_their_own(tiny_nlp):
    docs = [eg.predicted for eg in make_examples(tiny_nlp)]
    windows = windows_of(model_of(tiny_nlp), docs)
    for doc, rows in zip(docs, windows.doc_rows, strict=True):
        found = windows.section[rows]
        views = len(doc.spans["views"])
        assert sorted(-found[found < 0]) == list(range(1, views + 1))
        labels = {SECTION_LABELS[i] for i in found[found >= 0]}
        assert labels == {span.label_ for span in doc.spans["sections"]}


def test_a_view_has_a_row_even_if_little_is_left_of_it(tiny_nlp):
    """As of "Drug: aspirin" with the mention deleted."""
    trial = TrainingTrial("NCT90000301", {"title": "Aspirin"}, ())
    texts = ("Drug:", "- 1", "Drug: Drug:")
    views = [View("intervention", "negative", text, "") for text in texts]
    doc = make_training_doc(tiny_nlp, trial, views)
    windows = windows_of(model_of(tiny_nlp), [doc])
    assert windows.section.tolist() == [SECTION_LABELS.index("title"), -1, -2, -3]


def test_spans_with_ids_of_their_own_are_no_views(tiny_nlp):
    doc = tiny_nlp.make_doc("gout in adults")
    doc.spans["sections"] = [Span(doc, 0, 3, label="title", span_id="S1")]
    windows = windows_of(model_of(tiny_nlp), [doc])
    assert windows.section.tolist() == [SECTION_LABELS.index("title")]


@pytest.mark.parametrize("frozen_layers", [1, 2])
def test_frozen_layers_get_no_gradient(tiny_backbone, frozen_layers):
    """The other layers get torch's own."""
    nlp = make_tiny_nlp(tiny_backbone, frozen_layers=frozen_layers)
    model = model_of(nlp)
    docs = [eg.predicted for eg in make_examples(nlp)]
    batch, backprop = model.begin_update(docs)
    torch.manual_seed(1)
    d_states = torch.randn_like(batch.model_output.last_hidden_state)
    backprop(FullTransformerBatch(batch.spans, batch.wordpieces, ModelOutput(x=d_states), batch.align))  # fmt: skip
    found = {name: p.grad for name, p in model.transformer.named_parameters()}

    plain = AutoModel.from_pretrained(tiny_backbone)
    windows = windows_of(model, docs)
    loss = torch.zeros(())
    for row, sequence in enumerate(windows.sequence):
        hidden = plain(torch.tensor([windows.ids[sequence]])).last_hidden_state[0]
        loss = loss + (hidden.mean(0) * d_states[row, 0]).sum()
    loss.backward()
    moving = 0
    for name, parameter in plain.named_parameters():
        trained = name.startswith("encoder.layer.1.") and frozen_layers == 1
        if trained:
            assert torch.allclose(found[name], parameter.grad, atol=1e-4)
            moving += 1
        else:
            assert found[name] is None
    assert moving == (16 if frozen_layers == 1 else 0)


def test_no_gradient_runs_no_backward_pass(tiny_nlp, docs):
    model = model_of(tiny_nlp)
    model.transformer.zero_grad()
    batch, backprop = model.begin_update(docs)
    nothing = ModelOutput(x=torch.zeros_like(batch.model_output.last_hidden_state))
    backprop(FullTransformerBatch(batch.spans, batch.wordpieces, nothing, batch.align))
    assert all(p.grad is None for p in model.transformer.parameters())
