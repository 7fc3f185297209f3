from __future__ import annotations

import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM

from t2v_spacy.errors import T2VError

IDS = torch.arange(1, 41).view(1, -1)


@pytest.fixture
def model(tiny_ultrabert):
    return AutoModel.from_pretrained(tiny_ultrabert).eval()


def test_hidden_states_are_the_embeddings_and_each_layer(model):
    found = model(IDS, output_hidden_states=True)
    assert len(found.hidden_states) == 4
    assert torch.equal(found.hidden_states[0], model.embed_tokens(IDS))
    assert torch.equal(found.hidden_states[-1], found.last_hidden_state)
    assert model(IDS).hidden_states is None
    assert torch.equal(model(IDS, return_dict=False)[0], found.last_hidden_state)


def test_embeddings_may_be_given(model):
    expected = model(IDS).last_hidden_state
    found = model(inputs_embeds=model.embed_tokens(IDS)).last_hidden_state
    assert torch.equal(found, expected)


def test_token_types_are_ignored(model):
    expected = model(IDS).last_hidden_state
    found = model(IDS, token_type_ids=torch.ones_like(IDS)).last_hidden_state
    assert torch.equal(found, expected)


def test_attention_weights_are_refused(model):
    with pytest.raises(T2VError, match="T191"):
        model(IDS, output_attentions=True)


def test_gradient_checkpointing_gives_the_same_gradient(model):
    grads = []
    for checkpointing in (False, True):
        model.zero_grad()
        model.train()
        if checkpointing:
            model.gradient_checkpointing_enable()
        model(IDS).last_hidden_state[..., 0].sum().backward()
        grads.append({name: p.grad.clone() for name, p in model.named_parameters()})
    assert model.gradient_checkpointing
    for name, grad in grads[0].items():
        torch.testing.assert_close(grads[1][name], grad, msg=name)
        assert grad.abs().max() > 0, name


def test_autocast_is_near_float32(model):
    expected = model(IDS).last_hidden_state
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(IDS).last_hidden_state
    assert torch.cosine_similarity(found.float(), expected, dim=-1).min() > 0.99


def test_eight_thousand_tokens(model):
    """The first tokens of a long text are, to the sliding layers, those of a short."""
    ids = torch.randint(1, 400, (1, 8192), generator=torch.manual_seed(0))
    model.config.layer_types = ["sliding_attention"] * 3
    with torch.no_grad():
        long, short = (model(x).last_hidden_state for x in (ids, ids[:, :64]))
    torch.testing.assert_close(long[:, :40], short[:, :40], atol=1e-4, rtol=0)
    assert long.isfinite().all()


def test_the_head_gives_the_loss_of_its_logits(tiny_ultrabert):
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_pretrained(tiny_ultrabert).eval()
    labels = torch.full_like(IDS, -100)
    labels[0, 5] = 7
    found = model(IDS, labels=labels)
    assert found.logits.shape == (1, 40, model.config.vocab_size)
    expected = -found.logits[0, 5].log_softmax(-1)[7]
    torch.testing.assert_close(found.loss, expected)
