from __future__ import annotations

import subprocess
import sys

from transformers import AutoConfig, AutoModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from t2v_spacy.ml.ultrabert import register_ultrabert
from t2v_spacy.ml.ultrabert.configuration import UltrabertConfig


def test_twice_is_once():
    register_ultrabert()
    register_ultrabert()
    assert CONFIG_MAPPING["ultrabert"] is UltrabertConfig


def test_the_class_of_transformers_is_left_alone(monkeypatch):
    class Native:
        pass

    def refuse(*args, **kwargs):
        raise AssertionError("registered")

    monkeypatch.setitem(CONFIG_MAPPING._extra_content, "ultrabert", Native)
    for auto in (AutoConfig, AutoModel):
        monkeypatch.setattr(auto, "register", refuse)
    register_ultrabert()
    assert CONFIG_MAPPING["ultrabert"] is Native


def test_the_import_is_light():
    code = (
        "import sys, t2v_spacy.ml.ultrabert\n"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_our_architecture_knows_it_without_an_import_of_the_users():
    code = (
        "import spacy; from transformers import AutoConfig\n"
        "spacy.registry.architectures.get('t2v.BucketedTransformerModel.v1')\n"
        "print(AutoConfig.for_model('ultrabert').model_type)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "ultrabert", done.stderr
