from __future__ import annotations

import pytest
import torch

from t2v_spacy.errors import T2VError
from t2v_spacy.ml import backbone
from t2v_spacy.ml.backbone import drop_empty_gradients, find_backbone, freeze
from t2v_spacy.ml.bucketed_transformer import build_bucketed_transformer
from t2v_spacy.ml.precision import has_bf16, resolve_precision
from t2v_spacy.ml.span_getters import section_spans

CPU = torch.device("cpu")


def test_a_local_folder_is_used_as_given(tiny_backbone):
    assert find_backbone(tiny_backbone) == tiny_backbone


def test_the_embedded_default_is_found_and_checked():
    folder = find_backbone("all-MiniLM-L6-v2")
    assert folder == find_backbone("sentence-transformers/all-MiniLM-L6-v2")
    assert folder != "all-MiniLM-L6-v2"


def test_other_weights_under_the_default_name_are_refused(monkeypatch):
    monkeypatch.setattr(backbone, "DEFAULT_SHA256", "0" * 64)
    with pytest.raises(T2VError, match="T021.*expected 0000"):
        find_backbone("all-MiniLM-L6-v2")


def test_a_missing_backbone_names_three_ways_to_get_one():
    model = build_bucketed_transformer("no/such-backbone", section_spans())
    with pytest.raises(T2VError, match=r"T020.*\(1\).*\(2\).*\(3\)") as info:
        model.initialize()
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    "setting", [{"window": 4}, {"stride": 0}, {"stride": 255}, {"max_windows": 0}]
)
def test_settings_out_of_range_are_named(setting):
    with pytest.raises(T2VError, match=f"T026.*{next(iter(setting))}"):
        build_bucketed_transformer("x", section_spans(), **setting)


def test_a_broken_folder_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    model = build_bucketed_transformer(str(tmp_path), section_spans())
    with pytest.raises(T2VError, match="T029"):
        model.initialize()


def test_a_window_longer_than_the_backbone_reads_is_named(tiny_backbone):
    model = build_bucketed_transformer(
        tiny_backbone, section_spans(), window=65, stride=60
    )
    with pytest.raises(T2VError, match="T026.*window = 65.*at most 64"):
        model.initialize()


def test_precision_names():
    with pytest.raises(T2VError, match="T022.*'float32'"):
        resolve_precision("fp8", CPU)
    assert resolve_precision("float32", CPU) == "float32"
    assert resolve_precision("auto", CPU) == ("bf16" if has_bf16(CPU) else "float32")


@pytest.fixture
def bert(tiny_backbone):
    from transformers import AutoModel

    return AutoModel.from_pretrained(tiny_backbone)


@pytest.mark.parametrize(
    ("layers", "trained"), [(0, {"0", "1"}), (1, {"1"}), (2, set())]
)
def test_freeze_keeps_the_lowest_layers(bert, layers, trained):
    freeze(bert, layers)
    names = [name for name, p in bert.named_parameters() if p.requires_grad]
    found = {name.split(".")[2] for name in names if name.startswith("encoder.")}
    assert found == trained
    has_embeddings = any(name.startswith("embeddings.") for name in names)
    assert has_embeddings == (layers == 0)


def test_more_frozen_layers_than_there_are_is_named(bert):
    with pytest.raises(T2VError, match="T026.*frozen_layers = 3.*has 2 layers"):
        freeze(bert, 3)


def test_negative_frozen_layers_are_named():
    with pytest.raises(T2VError, match="T026.*frozen_layers = -1"):
        build_bucketed_transformer("x", section_spans(), frozen_layers=-1)


def test_only_gradients_of_zero_are_dropped():
    module = torch.nn.Linear(2, 2)
    module.weight.grad = torch.tensor([[0.0, 0.0], [0.0, 1.0]])
    module.bias.grad = torch.zeros(2)
    drop_empty_gradients(module)
    assert module.bias.grad is None
    assert module.weight.grad is not None
