from __future__ import annotations

import json
import math
import runpy
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
import torch
import typer
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer
from typer.testing import CliRunner

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.backbone import freeze
from t2v_spacy.training import masked_lm
from t2v_spacy.training.masked_lm import train_masked_lm
from t2v_spacy.training.masked_lm_data import Masker, make_sequences
from t2v_spacy.training.masked_lm_model import load_masked_lm, masked_loss
from t2v_spacy.training.masked_lm_settings import MaskedLMSettings
from t2v_spacy.trial import Trial

from ..conftest import make_tiny_nlp, make_trials

pytestmark = pytest.mark.filterwarnings("ignore:.*T124")
ROOT = Path(__file__).parent.parent.parent
SMALL = MaskedLMSettings(
    max_steps=8, head_steps=0, batch_tokens=128, max_tokens=64, window=32,
    learn_rate=1e-2, warmup_steps=2, eval_every=4, precision="float32",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(tmp_path, backbone, trials=None, name="trialbert", **settings):
    out = tmp_path / name
    result = train_masked_lm(
        make_trials() if trials is None else trials,
        out,
        backbone=backbone,
        settings=replace(SMALL, **settings),
    )
    return out, result


def encoder(folder) -> dict[str, torch.Tensor]:
    return load_file(Path(folder) / "model.safetensors")


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(one[name], other[name]) for name in one
    )


def test_the_loss_is_that_of_all_logits(tiny_backbone):
    _, tokenizer, model, new_head = load_masked_lm(tiny_backbone, 32, 0)
    assert new_head
    data = make_sequences(tokenizer, make_trials(), window=32, join_sections=True)
    rng = numpy.random.default_rng(0)
    batch = Masker(tokenizer, 0.15, False)(data, numpy.arange(3), rng)
    labels = numpy.where(batch.masked, 0, -100)
    labels[batch.masked] = batch.labels
    model.eval()
    whole = model(
        input_ids=torch.from_numpy(batch.input_ids),
        attention_mask=torch.from_numpy(batch.attention_mask),
        labels=torch.from_numpy(labels),
    )
    ours = masked_loss(model, batch, "float32") / len(batch.labels)
    assert ours.item() == pytest.approx(whole.loss.item(), abs=1e-5)
    assert whole.logits.shape[1] == batch.input_ids.shape[1]


# the training


def test_too_little_text_is_an_error(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T121.*none of 1 trials"):
        train(tmp_path, tiny_backbone, [Trial("NCT90000009", status="COMPLETED")])
    with pytest.raises(T2VError, match="T121.*hold out"):
        train(tmp_path, tiny_backbone, make_trials()[:1])
    assert not list(tmp_path.iterdir())


def test_it_learns_a_toy_corpus(tmp_path, tiny_backbone):
    out, result = train(tmp_path, tiny_backbone, max_steps=60, eval_every=30)
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log] == [0, 30, 60]
    assert log[0]["train_loss"] is None
    assert log[-1]["train_loss"] < 0.7 * math.log(99)  # of a guess among 99 wordpieces
    assert result.perplexity < 0.7 * result.perplexity_before
    assert result.best_step in (30, 60)
    assert (result.records, result.held_out, result.refused) == (4, 1, [])


def test_the_same_seed_gives_the_same_weights(tmp_path, tiny_backbone):
    one, _ = train(tmp_path, tiny_backbone, name="one")
    torch.manual_seed(99)
    two, _ = train(tmp_path, tiny_backbone, name="two")
    other, _ = train(tmp_path, tiny_backbone, name="other", seed=1)
    assert same(encoder(one), encoder(two))
    assert not same(encoder(one), encoder(other))


@pytest.fixture(scope="module")
def with_dropout(tiny_backbone, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("dropout") / "backbone"
    shutil.copytree(tiny_backbone, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.3}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def test_dropout_is_used_where_asked_for(tmp_path, tiny_backbone, with_dropout):
    plain, _ = train(tmp_path, tiny_backbone, name="plain")
    without, _ = train(tmp_path, with_dropout, name="without")
    used, _ = train(tmp_path, with_dropout, name="used", dropout=True)
    assert same(encoder(plain), encoder(without))
    assert not same(encoder(plain), encoder(used))


@pytest.mark.parametrize("head_steps", [0, 6])
def test_a_killed_run_goes_on_as_if_nothing_had_been(
    tmp_path, with_dropout, monkeypatch, head_steps
):
    settings = {"head_steps": head_steps, "dropout": True}
    whole, expected = train(tmp_path, with_dropout, name="whole", **settings)
    update = masked_lm._Run.update
    steps: list[int] = []

    def die(self, rows):
        steps.append(self.step)
        if self.step == 6:
            raise KeyboardInterrupt
        return update(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(masked_lm._Run, "update", die)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, with_dropout, **settings)
    assert not (tmp_path / "trialbert").exists()

    def count(self, rows):
        steps.append(self.step)
        return update(self, rows)

    monkeypatch.setattr(masked_lm._Run, "update", count)
    out, result = train(tmp_path, with_dropout, **settings)
    assert steps == [*range(7), *range(4, 8 + head_steps)]
    assert result == expected
    for name in ("model.safetensors", "head.safetensors"):
        assert same(load_file(whole / name), load_file(out / name))
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "trialbert"}


def test_an_unfinished_run_of_other_settings_is_kept(
    tmp_path, tiny_backbone, monkeypatch
):
    def die(self, rows):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(masked_lm._Run, "update", die)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, tiny_backbone)
    last = tmp_path / ".trialbert.work" / "last.safetensors"
    before = last.read_bytes()
    with pytest.raises(T2VError, match=r"T122.*settings are others \(learn_rate\)"):
        train(tmp_path, tiny_backbone, learn_rate=1e-4)
    with pytest.raises(T2VError, match="T122.*its trials are others"):
        train(tmp_path, tiny_backbone, make_trials()[:3])
    assert last.read_bytes() == before
    last.write_bytes(before[: len(before) // 2])
    with pytest.raises(T2VError, match="T122.*last.safetensors is damaged"):
        train(tmp_path, tiny_backbone)


def test_frozen_layers_and_a_head_trained_alone_leave_the_others(
    tmp_path, tiny_backbone
):
    start = encoder(tiny_backbone)
    out, _ = train(tmp_path, tiny_backbone, frozen_layers=1)
    moved = {k for k, v in encoder(out).items() if not torch.equal(v, start[k])}
    assert moved
    assert all(name.startswith("encoder.layer.1.") for name in moved)
    # Stopped by the clock after the first step, which is one of the head alone.
    out, result = train(tmp_path, tiny_backbone, head_steps=5, max_minutes=1e-9)
    assert result.steps == 1
    assert same(encoder(out), start)
    with pytest.raises(T2VError, match="T026.*frozen_layers = 3.*2 layers"):
        train(tmp_path, tiny_backbone, frozen_layers=3)
    # One layer used three times, as in ALBERT, cannot be frozen in part.
    _, _, model, _ = load_masked_lm(tiny_backbone, 32, 0)
    model.config.num_hidden_layers = 3
    with pytest.raises(T2VError, match="T026.*0 layers of its own"):
        freeze(model, 1)


def test_the_result_can_be_averaged_with_the_start(tmp_path, tiny_backbone):
    start = encoder(tiny_backbone)
    trained = encoder(train(tmp_path, tiny_backbone, name="trained")[0])
    mixed = encoder(train(tmp_path, tiny_backbone, name="mixed", average=0.25)[0])
    for name in start:
        expected = 0.75 * trained[name] + 0.25 * start[name]
        assert torch.allclose(mixed[name], expected, atol=1e-6), name
    kept = encoder(train(tmp_path, tiny_backbone, name="kept", average=1.0)[0])
    assert same(kept, start)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T123.*step 2.*learn_rate") as info:
        train(tmp_path, tiny_backbone, learn_rate=1e30, warmup_steps=0)
    assert "\n" not in str(info.value)
    assert not (tmp_path / "trialbert").exists()
    weights = load_file(tmp_path / ".trialbert.work" / "best.safetensors")
    assert all(torch.isfinite(value).all() for value in weights.values())


@pytest.mark.parametrize(
    "setting",
    [{"max_steps": 0}, {"max_minutes": 0.0}, {"mask_rate": 1.0}, {"average": 1.5},
     {"learn_rate": 0.0}, {"window": 4}, {"precision": "int8"}, {"seed": -1}],
)  # fmt: skip
def test_settings_out_of_range_are_named(setting):
    with pytest.raises(T2VError, match=f"T026.*{next(iter(setting))}"):
        MaskedLMSettings(**setting)


def test_a_window_longer_than_the_backbone_reads_is_named(tmp_path, tiny_backbone):
    with pytest.raises(T2VError, match="T026.*window = 65.*at most 64"):
        train(tmp_path, tiny_backbone, window=65)


def test_a_backbone_that_cannot_be_trained_is_named(tmp_path):
    with pytest.raises(T2VError, match="T020.*no/such"):
        train(tmp_path, "no/such")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{}")
    with pytest.raises(T2VError, match="T120.*broken"):
        train(tmp_path, str(broken))


# the folder


def test_the_folder_is_a_backbone(tmp_path, tiny_backbone, trials):
    out, _ = train(tmp_path, tiny_backbone, name="my backbone")
    before, after = make_tiny_nlp(tiny_backbone), make_tiny_nlp(str(out))
    text = trials[0].to_text()
    vector = after(text)._.trial_vector
    assert vector.shape == (24,)
    assert numpy.isfinite(vector).all()
    assert not numpy.allclose(vector, before(text)._.trial_vector, atol=1e-3)
    assert after.get_pipe("transformer").model.attrs["name"] == "my backbone"


def test_the_folder_names_no_path_and_keeps_the_pooler(tmp_path, tiny_backbone):
    out, _ = train(tmp_path, tiny_backbone)
    for path in out.rglob("*"):
        content = path.read_bytes()
        assert str(tmp_path).encode() not in content, path
        assert tiny_backbone.encode() not in content, path
    assert encoder(out).keys() == encoder(tiny_backbone).keys()
    name = "pooler.dense.weight"
    assert torch.equal(encoder(out)[name], encoder(tiny_backbone)[name])
    _, info = AutoModel.from_pretrained(out, output_loading_info=True)
    assert not info["missing_keys"]
    modes = {path.stat().st_mode for path in out.glob("*.*")}
    assert len(modes) == 1


def test_training_can_go_on_from_the_folder(tmp_path, tiny_backbone, recwarn):
    first, done = train(tmp_path, tiny_backbone, name="first", head_steps=3)
    assert sum("T124" in str(warning.message) for warning in recwarn) == 1
    recwarn.clear()
    _, more = train(tmp_path, str(first), name="more", head_steps=3)
    assert not any("T124" in str(warning.message) for warning in recwarn)
    assert more.steps == 8  # none of the head alone
    assert more.perplexity_before == pytest.approx(done.perplexity, rel=1e-5)


def test_a_backbone_with_a_head_starts_with_it(tmp_path, tiny_backbone, recwarn):
    torch.manual_seed(5)
    model = AutoModelForMaskedLM.from_pretrained(tiny_backbone)
    folder = tmp_path / "with head"
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_backbone).save_pretrained(folder)
    out, result = train(tmp_path, str(folder), head_steps=3)
    assert not any("T124" in str(warning.message) for warning in recwarn)
    assert result.steps == 8
    assert make_tiny_nlp(str(out))("Gout")._.trial_vector.shape == (24,)


def test_only_a_folder_of_ours_is_replaced(tmp_path, tiny_backbone):
    (tmp_path / "trialbert").mkdir()
    note = tmp_path / "trialbert" / "note.txt"
    note.write_text("mine")
    with pytest.raises(T2VError, match="T010.*trialbert"):
        train(tmp_path, tiny_backbone)
    assert note.read_text() == "mine"
    shutil.rmtree(note.parent)
    for _ in range(2):
        out, _ = train(tmp_path, tiny_backbone, max_steps=1)
    assert (out / "config.json").is_file()


def test_the_step_trains_and_refuses(tmp_path, tiny_backbone):
    app = typer.Typer()
    app.command()(runpy.run_path(str(ROOT / "scripts/train_trialbert.py"))["main"])
    lines = [json.dumps(trial.to_dict()) for trial in make_trials()]
    lines.append(json.dumps({"nct_id": "NCT90000009", "status": "COMPLETED"}))
    records = tmp_path / "my trials.jsonl"
    records.write_text("\n".join(lines), encoding="utf8")
    command = [
        str(records), str(tmp_path / "out"), "--backbone", tiny_backbone, "--window",
        "32", "--max-steps", "2", "--head-steps", "1", "--no-join-sections",
        "--precision", "float32",
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("4 trials, 1 held out; 3 steps, best after ")
    assert "Refused NCT90000009: it has no text" in done.stderr
    assert done.stderr.count("T124") == 1
    report = json.loads((tmp_path / "out/trialbert.json").read_text())
    assert report["settings"]["join_sections"] is False
    assert report["backbone"] == Path(tiny_backbone).name
    done = CliRunner().invoke(app, [*command, "--average", "2"])
    assert done.exit_code == 1
    assert done.stderr.startswith("[T026] average = 2.0")
