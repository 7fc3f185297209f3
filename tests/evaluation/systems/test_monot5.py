from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import T5ForConditionalGeneration, T5Tokenizer

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.systems.bm25 import Bm25
from t2v_spacy.evaluation.systems.monot5 import MonoT5
from t2v_spacy.trial import Trial

TRIALS = [
    Trial("NCT90000001", title="colchicine gout"),
    Trial("NCT90000002", title="gout"),
    Trial("NCT90000003", title="asthma"),
    Trial("NCT90000004"),
]
QUERY = Trial("NCT90000009", title="colchicine gout gout")


def probability(path: str, query: str, document: str) -> float:
    """Of "true", by the slow tokenizer and the whole prompt at once."""
    tokenizer = T5Tokenizer.from_pretrained(path, legacy=True)
    model = T5ForConditionalGeneration.from_pretrained(path).eval()
    inputs = tokenizer(
        f"Query: {query} Document: {document} Relevant:", return_tensors="pt"
    )
    with torch.no_grad():
        logits = model(**inputs, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    answers = tokenizer.convert_tokens_to_ids(["\u2581true", "\u2581false"])
    return float(logits[answers].softmax(0)[0])


@pytest.fixture
def monot5(tiny_monot5):
    def make(**settings):
        return MonoT5(checkpoint=tiny_monot5, precision="float32", **settings)

    return make


def test_reranks_the_first_and_leaves_the_rest_in_order(monot5, tiny_monot5):
    system, first = monot5(top_k=2), Bm25()
    for made in (system, first):
        made.fit(TRIALS)
    by_words, found = first.scores([QUERY])[0], system.scores([QUERY])[0]
    assert list(np.argsort(-by_words)) == [0, 1, 2, 3]
    for i in (0, 1):
        text = f"## Title {TRIALS[i].title}"
        expected = probability(tiny_monot5, "## Title colchicine gout gout", text)
        assert found[i] == pytest.approx(expected, abs=1e-5)
    assert 0 > found[2] > found[3]


def test_reads_only_the_pairs_that_are_asked_for(monot5, monkeypatch):
    system = monot5(top_k=1)
    system.fit(TRIALS)
    among = np.array([[False, False, True, True]])
    found = system.scores([QUERY], among)[0]
    assert list(found > 0) == [False, False, True, False]


def test_query_and_document_are_cut(monot5):
    system = monot5(window=40, query_window=10)
    long = Trial("NCT90000001", title="gout " * 50)
    ids = system._wordpieces([f"{long.title}\0{long.title}"])[0]
    tokens = system._tokenizer.convert_ids_to_tokens(ids)
    assert len(ids) == 40
    assert "".join(tokens).endswith("</s>")
    assert system._tokenizer.decode(ids[:-1]).endswith(":")


def test_pairs_are_kept_and_empty_texts_not_read(monot5, tmp_path, monkeypatch):
    system = monot5(cache=tmp_path)
    system.fit(TRIALS)
    first = system.scores([QUERY, Trial("NCT90000008")])
    assert np.ptp(first[1]) == 0
    again = monot5(cache=tmp_path)
    again.fit(TRIALS)
    monkeypatch.setattr(again, "_encode", None)
    assert np.array_equal(again.scores([QUERY, Trial("NCT90000008")]), first)


def test_trains_what_ranks_first(monot5):
    first = Bm25()
    system = monot5(first=first, top_k=1)
    corpus = [*TRIALS, *(Trial(f"NCT9100000{i}", title="gout") for i in range(9))]
    system.train(corpus)
    system.fit(TRIALS)
    alone = Bm25()
    alone.fit(TRIALS)
    assert not np.allclose(first.scores([QUERY]), alone.scores([QUERY]))


def test_a_checkpoint_that_cannot_be_used_is_named(
    tmp_path, tiny_monot5, tiny_backbone
):
    with pytest.raises(T2VError, match="T111.*castorini/monot5-none"):
        MonoT5(checkpoint="castorini/monot5-none")
    with pytest.raises(T2VError, match="T111.*type bert"):
        MonoT5(checkpoint=tiny_backbone)
    with pytest.raises(T2VError, match="T111.*no wordpiece \u2581yes"):
        MonoT5(checkpoint=tiny_monot5, true="\u2581yes")
    lacking = Path(shutil.copytree(tiny_monot5, tmp_path / "lacking"))
    weights = torch.load(lacking / "pytorch_model.bin", weights_only=True)
    del weights["decoder.final_layer_norm.weight"]
    torch.save(weights, lacking / "pytorch_model.bin")
    with pytest.raises(T2VError, match="T111.*lacks 1 weights"):
        MonoT5(checkpoint=str(lacking))


def test_a_tokenizer_from_elsewhere(tmp_path, tiny_monot5):
    bare = Path(shutil.copytree(tiny_monot5, tmp_path / "bare"))
    (bare / "spiece.model").unlink()
    with pytest.raises(T2VError, match="T111"):
        MonoT5(checkpoint=str(bare))
    MonoT5(checkpoint=str(bare), tokenizer=tiny_monot5)


@pytest.mark.parametrize("settings", [{"top_k": 0}, {"query_window": 300}])
def test_settings_out_of_range(tiny_monot5, settings):
    with pytest.raises(T2VError, match="T026"):
        MonoT5(checkpoint=tiny_monot5, **settings)
