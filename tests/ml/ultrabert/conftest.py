from __future__ import annotations

from pathlib import Path

import pytest
import torch

from t2v_spacy.ml.ultrabert import register_ultrabert
from t2v_spacy.ml.ultrabert.new import make_ultrabert
from tests.conftest import make_trials

FIXTURES = Path(__file__).parents[2] / "fixtures" / "ultrabert"


@pytest.fixture(autouse=True)
def one_thread():
    register_ultrabert()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_ultrabert(tmp_path_factory) -> str:
    """Path of a random UltraBERT (3 layers, width 24, 2 of 4 heads shared, window 8)
    with a byte-pair tokenizer."""
    folder = tmp_path_factory.mktemp("ultrabert") / "tiny"
    make_ultrabert(
        [trial.to_text() for trial in make_trials()],
        folder,
        vocabulary=400,
        hidden_size=24,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=8,
        initializer_range=0.2,
        prediction_head_size=16,
    )
    return str(folder)
