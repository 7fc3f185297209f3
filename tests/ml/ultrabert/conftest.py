from __future__ import annotations

from pathlib import Path

import pytest
import torch

from t2v_spacy.ml.ultrabert import register_ultrabert
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
    from t2v_spacy.ml.ultrabert.configuration import UltrabertConfig
    from t2v_spacy.ml.ultrabert.model import UltrabertModel

    folder = tmp_path_factory.mktemp("ultrabert")
    tokenizer = make_tokenizer([trial.to_text() for trial in make_trials()])
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = UltrabertConfig(
        vocab_size=len(tokenizer),
        hidden_size=24,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=8,
        initializer_range=0.2,
        prediction_head_size=16,
    )
    UltrabertModel(config).save_pretrained(folder)
    return str(folder)


def make_tokenizer(texts: list[str]):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    from t2v_spacy.ml.ultrabert.tokenizer import TokenizersBackend

    special = ["<pad>", "<s>", "</s>", "<mask>"]
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learn = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(texts, learn)
    trained.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return TokenizersBackend(
        tokenizer_object=trained,
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
        model_max_length=32_768,
    )
