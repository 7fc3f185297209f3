from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from t2v_spacy.errors import T2VError
from t2v_spacy.training.contrastive import train as train_module
from t2v_spacy.training.contrastive.batches import plan_batches
from t2v_spacy.training.contrastive.overlap import check_overlap
from t2v_spacy.training.contrastive.settings import ContrastiveSettings
from t2v_spacy.training.contrastive.texts import plain
from t2v_spacy.training.contrastive.train import train_contrastive
from tests.conftest import make_tiny_nlp, make_trials
from tests.ml.ultrabert.conftest import tiny_ultrabert  # noqa: F401

from .toys import make_pairs, make_source

pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.filterwarnings("ignore:mtime may not be reliable")
SMALL = ContrastiveSettings(
    epochs=None, max_steps=6, batch_size=8, mini_batch_size=3, learn_rate=3e-3,
    max_length=32, save_every=3, precision="float32",
)  # fmt: skip
SOURCES = [make_source("a", 20), make_source("b", 12, negative=True)]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(tmp_path, backbone, sources=SOURCES, name="out", **settings):
    out = tmp_path / name
    result = train_contrastive(
        sources,
        out,
        backbone=backbone,
        settings=replace(SMALL, **settings),
        progress=False,
    )
    return out, result


def weights(folder) -> dict[str, torch.Tensor]:
    return load_file(Path(folder) / "model.safetensors")


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(one[n], other[n]) for n in one
    )


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_cached_loss_and_gradients_are_those_of_the_plain_one(
    tiny_backbone, size, negative
):
    from t2v_spacy.training.contrastive.encoder import load_encoder
    from t2v_spacy.training.contrastive.trainer import (
        PairCollator,
        PairTrainer,
        make_dataset,
        make_loss,
    )

    rows = make_dataset([make_source("x", 8, negative)], 1)
    rows = [rows[i] for i in range(8)]
    found = []
    for mini_batch_size in (8, size):
        _, model = load_encoder(tiny_backbone, max_length=32)
        settings = replace(SMALL, mini_batch_size=mini_batch_size, scale=20.0)
        loss_function = make_loss(model, settings)
        batch = PairCollator(model)(rows)
        features, labels = PairTrainer.collect_features(None, batch)
        assert [len(f["input_ids"]) for f in features] == (
            [8, 8, 4] if negative else [8, 8]
        )
        loss = loss_function(features, labels)
        loss.backward()
        found.append((loss_function, loss.item(), [p.grad for p in model.parameters()]))
    (plain_, value, gradients), (cached, cached_value, cached_gradients) = found
    assert type(plain_).__name__ == "MultipleNegativesRankingLoss"
    assert type(cached).__name__ == "CachedMultipleNegativesRankingLoss"
    assert cached_value == pytest.approx(value, abs=1e-5)
    assert sum(g is not None for g in gradients) > 20
    for one, other in zip(gradients, cached_gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-3)


def test_the_loss_is_cross_entropy_over_all_positives_and_negatives(tiny_backbone):
    from t2v_spacy.training.contrastive.encoder import load_encoder, make_encode
    from t2v_spacy.training.contrastive.trainer import (
        PairCollator,
        PairTrainer,
        make_loss,
    )

    _, model = load_encoder(tiny_backbone, max_length=32)
    encode = make_encode(model)
    rows = [
        {"anchor": "aa", "positive": "bbb", "negative": ["c", "dd"]},
        {"anchor": "e", "positive": "ff", "negative": []},
    ]
    batch = PairCollator(model)(rows)
    loss = make_loss(model, replace(SMALL, scale=7.0))(
        *PairTrainer.collect_features(None, batch)
    )
    logits = 7 * encode(["e", "aa"]) @ encode(["ff", "bbb", "c", "dd"]).T
    expected = np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits))
    assert loss.item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("longest", "widths"), [(40, {"anchor": 16, "positive": 40}), (16, {"anchor": 16, "positive": 16})]
)  # fmt: skip
def test_a_batch_is_as_wide_as_a_multiple_or_the_longest_there_may_be(
    tiny_backbone, longest, widths
):
    from t2v_spacy.training.contrastive.encoder import load_encoder
    from t2v_spacy.training.contrastive.trainer import PairCollator

    _, model = load_encoder(tiny_backbone, max_length=longest)
    row = {"anchor": "gout", "positive": "gout in adults " * 30, "negative": []}
    batch = PairCollator(model)([row])
    for name, width in widths.items():
        ids, mask = batch[f"{name}_input_ids"], batch[f"{name}_attention_mask"]
        assert ids.shape == mask.shape == (1, width)
        padding = ids[mask == 0]
        assert (padding == model.tokenizer.pad_token_id).all()
    assert not batch["anchor_attention_mask"].all()


def test_batches_the_trainer_sees_are_of_one_source_without_duplicates(
    tmp_path, tiny_backbone, monkeypatch
):
    from t2v_spacy.training.contrastive import trainer

    seen = []
    collate = trainer.PairCollator.__call__

    def record(self, rows):
        seen.append(rows)
        return collate(self, rows)

    monkeypatch.setattr(trainer.PairCollator, "__call__", record)
    twice = [
        replace(pair, anchor=pair.anchor.upper(), positive=f"more {pair.positive}")
        for pair in make_pairs(6)
    ]
    sources = [
        replace(make_source("a", 20), pairs=(*make_pairs(20), *twice)),
        make_source("b", 24, negative=True),
    ]
    train(tmp_path, tiny_backbone, sources, epochs=2, max_steps=None, mini_batch_size=8)
    source_of = {}
    for source in sources:
        for pair in source.pairs:
            source_of.setdefault(
                (pair.anchor, pair.positive, pair.negatives), set()
            ).add(source.name)
    assert len(seen) == 2 * (3 + 3)
    for rows in seen:
        names = [
            source_of[row["anchor"], row["positive"], tuple(row["negative"])]
            for row in rows
        ]
        assert set.intersection(*names)
        texts = [
            plain(t)
            for row in rows
            for t in (row["anchor"], row["positive"], *row["negative"])
        ]
        assert len(texts) == len(set(texts))
    plan = plan_batches(sources, 8, epochs=2, max_steps=None)
    assert [len(batch) for batch in plan.batches] == [len(rows) for rows in seen]


def test_training_lowers_the_loss_and_says_what_was_done(tmp_path, tiny_backbone):
    sources, report = check_overlap(SOURCES, [])
    out = tmp_path / "my out"
    result = train_contrastive(
        sources, out, backbone=tiny_backbone, settings=replace(SMALL, max_steps=40),
        overlap=report, progress=False,
    )  # fmt: skip
    assert result.steps == 40 and result.pairs == 32
    assert result.loss < 0.7 * result.loss_before
    assert set(result.losses) == {"a", "b"}
    text = (out / "contrastive.json").read_text()
    written = json.loads(text)
    assert written["settings"]["max_steps"] == 40 and written["settings"]["seed"] == 0
    assert written["sources"][1] == {
        "name": "b", "pairs": 12, "with_negative": 6, "read": 0, "repeated": 0,
        "refused": 0, "sha256": "sha of b",
    }  # fmt: skip
    assert written["overlap"]["mode"] == "refuse"
    assert "sentence-transformers" in written["versions"]
    assert not {str(tmp_path), str(Path(tiny_backbone).parent)} & set(text.split('"'))
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert len(log) == 40 and {line["source"] for line in log} == {"a", "b"}
    assert (
        log[2]["learning_rate"] == pytest.approx(3e-3)
        and log[-1]["learning_rate"] < 1e-4
    )
    assert not (tmp_path / ".my out.work").exists()


def test_pipeline_and_sentence_transformer_read_equal_vectors(tmp_path, tiny_backbone):
    from sentence_transformers import SentenceTransformer

    from t2v_spacy.doc import set_sections
    from t2v_spacy.sections.headed import Section

    out, _ = train(tmp_path, tiny_backbone)
    assert not same(weights(out), weights(tiny_backbone))
    text = "Colchicine for gout"
    nlp = make_tiny_nlp(str(out))
    doc = nlp.tokenizer(text)
    set_sections(doc, [Section("title", 0, len(text))])
    vector = nlp(doc)._.section_vectors["title"]
    other = SentenceTransformer(str(out), device="cpu").encode(
        text, normalize_embeddings=True
    )
    np.testing.assert_allclose(vector, other, atol=1e-5)


def test_ultrabert_is_trained_too(tmp_path, tiny_ultrabert):  # noqa: F811
    from sentence_transformers import SentenceTransformer

    out, result = train(tmp_path, tiny_ultrabert, max_steps=30)
    assert result.loss < result.loss_before
    assert not same(weights(out), weights(tiny_ultrabert))
    config = json.loads((out / "config.json").read_text())
    assert config["model_type"] == "ultrabert"
    trial = make_trials()[0]
    doc = make_tiny_nlp(str(out), window=64, stride=48)(trial.title)
    assert np.isfinite(doc._.trial_vector).all()
    assert SentenceTransformer(str(out), device="cpu").encode(trial.title).shape == (
        24,
    )


def test_the_seed_decides(tmp_path, tiny_backbone):
    one, first = train(tmp_path, tiny_backbone, name="one")
    two, second = train(tmp_path, tiny_backbone, name="two")
    other, _ = train(tmp_path, tiny_backbone, name="three", seed=1)
    assert same(weights(one), weights(two)) and first == second
    assert not same(weights(one), weights(other))


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_been(
    tmp_path, tiny_backbone, monkeypatch
):
    whole, expected = train(tmp_path, tiny_backbone, name="whole")
    from t2v_spacy.training.contrastive import trainer

    log = trainer.StopAtNoNumber.on_log

    def kill(self, args, state, control, **values):
        if state.global_step == 5:
            raise KeyboardInterrupt
        log(self, args, state, control, **values)

    monkeypatch.setattr(trainer.StopAtNoNumber, "on_log", kill)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, tiny_backbone, name="part")
    work = tmp_path / ".part.work"
    assert [p.name for p in work.glob("checkpoint-*")] == ["checkpoint-3"]
    monkeypatch.undo()
    (work / "checkpoint-4").mkdir()  # one that was cut short
    with pytest.raises(T2VError, match="T122.*settings are others .learn_rate"):
        train(tmp_path, tiny_backbone, name="part", learn_rate=1e-3)
    with pytest.raises(T2VError, match="T122.*its pairs are others"):
        train(tmp_path, tiny_backbone, SOURCES[:1], name="part")
    part, result = train(tmp_path, tiny_backbone, name="part")
    assert same(weights(whole), weights(part))
    assert result.losses == expected.losses
    assert not work.exists()


def test_average_moves_the_result_towards_the_start(tmp_path, tiny_backbone):
    trained, _ = train(tmp_path, tiny_backbone, name="trained")
    half, _ = train(tmp_path, tiny_backbone, name="half", average=0.25)
    start, end, found = weights(tiny_backbone), weights(trained), weights(half)
    for name in found:
        torch.testing.assert_close(found[name], 0.75 * end[name] + 0.25 * start[name])


def test_dropout_is_off_unless_asked_for(tmp_path, tiny_backbone):
    folder = tmp_path / "dropping"
    shutil.copytree(tiny_backbone, folder)
    config = json.loads((folder / "config.json").read_text())
    config["hidden_dropout_prob"] = 0.5
    (folder / "config.json").write_text(json.dumps(config))
    plain_, _ = train(tmp_path, tiny_backbone, name="plain")
    off, _ = train(tmp_path, str(folder), name="off")
    on, _ = train(tmp_path, str(folder), name="on", dropout=True)
    assert same(weights(plain_), weights(off))
    assert not same(weights(plain_), weights(on))
    assert json.loads((off / "config.json").read_text())["hidden_dropout_prob"] == 0.5


def test_both_passes_run_in_the_precision_that_is_set(
    tmp_path, tiny_backbone, monkeypatch
):
    from transformers.models.bert.modeling_bert import BertModel

    formats = []
    forward = BertModel.forward

    def record(self, *args, **settings):
        formats.append((torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()))
        return forward(self, *args, **settings)

    monkeypatch.setattr(BertModel, "forward", record)
    monkeypatch.setattr(train_module, "run_precision", lambda _: "bf16")
    out, result = train(tmp_path, tiny_backbone, max_steps=1, precision="auto")
    assert set(formats) == {(True, False), (True, True)}
    assert all(value.dtype == torch.float32 for value in weights(out).values())


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("epochs", 0), ("max_steps", 0), ("batch_size", 1), ("mini_batch_size", 0),
        ("most_pairs", 0), ("negatives", -1), ("learn_rate", 0), ("warmup_ratio", 1),
        ("weight_decay", -1), ("beta2", 1), ("grad_clip", 0), ("max_length", 7),
        ("scale", 0), ("average", 1.1), ("save_every", 0), ("seed", -1),
        ("precision", "int8"),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_named(setting, value):
    with pytest.raises(T2VError, match=f"T026.*{setting} = {value}"):
        replace(SMALL, **{setting: value})


def test_something_must_end_the_training():
    with pytest.raises(T2VError, match="T026.*epochs"):
        ContrastiveSettings(epochs=None)


def test_the_defaults_are_the_published_recipe():
    settings = ContrastiveSettings()
    assert (settings.epochs, settings.batch_size, settings.most_pairs) == (
        10,
        64,
        10_000,
    )
    assert (settings.learn_rate, settings.warmup_ratio, settings.beta2) == (
        5e-5,
        0.05,
        0.98,
    )
    assert (settings.weight_decay, settings.max_length, settings.scale) == (
        0.01,
        128,
        20.0,
    )


def test_what_cannot_be_trained_is_named(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T026.*max_length = 65.*at most 64"):
        train(tmp_path, tiny_backbone, max_length=65)
    with pytest.raises(T2VError, match="T020.*no/such"):
        train(tmp_path, "no/such")
    with pytest.raises(T2VError, match="T193"):
        train(tmp_path, tiny_backbone, [make_source("a", 0)])
    with pytest.raises(T2VError, match="T022"):
        train(tmp_path, tiny_backbone, precision="half")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text('{"model_type": "unheard of"}')
    with pytest.raises(T2VError, match="T198.*broken"):
        train(tmp_path, str(broken))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("")
    with pytest.raises(T2VError, match="T010.*contrastive.json"):
        train(tmp_path, tiny_backbone, name="full")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken", "full"]


def test_a_loss_that_is_no_number_stops_the_run(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T199.*step .*`learn_rate`"):
        train(tmp_path, tiny_backbone, learn_rate=1e30, warmup_ratio=0)
    assert not (tmp_path / "out").exists()


def test_an_older_result_is_replaced(tmp_path, tiny_backbone):
    out, _ = train(tmp_path, tiny_backbone)
    before = weights(out)
    train(tmp_path, tiny_backbone, seed=1)
    assert not same(before, weights(out))


def test_the_extra_is_named_where_it_is_missing(tmp_path, tiny_backbone, monkeypatch):
    for package in ("accelerate", "datasets", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, package, None)
        name = package.replace("_", "-")
        with pytest.raises(T2VError, match=rf"T192.*{name}.*t2v_spacy\[contrastive\]"):
            train(tmp_path, tiny_backbone)


def test_nothing_of_the_extra_is_imported_before_it_is_used():
    code = (
        "import sys, t2v_spacy.training.contrastive.train as t, "
        "t2v_spacy.training.contrastive.hub, t2v_spacy.training.contrastive.mining\n"
        "print([m for m in ('sentence_transformers', 'datasets') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
