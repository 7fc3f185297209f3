from __future__ import annotations

import pytest
import torch

from t2v_spacy.errors import T2VError
from t2v_spacy.ml import backbone
from t2v_spacy.ml.backbone import find_backbone
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
