"""Fixtures shared by all tests. Nothing here downloads anything."""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from t2v_spacy.trial import Intervention, Outcome, Trial  # noqa: E402

settings.register_profile("t2v", deadline=None, derandomize=True)
settings.load_profile("t2v")


@pytest.fixture(scope="session")
def t2v_data() -> Path:
    """Folder of real records and labels for development; tests skip without it."""
    folder = os.environ.get("T2V_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("T2V_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_backbone(tmp_path_factory) -> str:
    """Path of a random BERT (2 layers, width 24) with a character-level vocabulary."""
    import string

    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("backbone")
    chars = string.ascii_lowercase + string.digits + string.punctuation
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *chars]
    vocab += [f"##{char}" for char in string.ascii_lowercase + string.digits]
    (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocab),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_nlp(tiny_backbone):
    """The shipped pipeline's pipes on the tiny backbone, in float32."""
    return make_tiny_nlp(tiny_backbone)


@pytest.fixture(scope="session")
def shipped_nlp():
    """The shipped pipeline on the real small encoder, in float32."""
    import spacy
    from thinc.api import Config

    path = Path(__file__).parent.parent / "configs" / "trial2vec.cfg"
    exact = {"components.transformer.model.precision": "float32"}
    nlp = spacy.util.load_model_from_config(Config().from_disk(path, overrides=exact))
    nlp.initialize()
    return nlp


def make_tiny_nlp(backbone: str, **settings):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    model = {
        "@architectures": "t2v.BucketedTransformerModel.v1",
        "name": backbone,
        "get_spans": {"@span_getters": "t2v.section_spans.v1"},
        "precision": "float32",
        "window": 32,
        "stride": 24,
        **settings,
    }
    nlp.add_pipe("transformer", config={"model": model})
    nlp.add_pipe("trial2vec")
    nlp.initialize()
    return nlp


def make_trials() -> list[Trial]:
    """Four toy trials: two of gout, one of asthma, one with a title alone."""
    return [
        Trial(
            "NCT90000001",
            title="Colchicine for gout flares",
            conditions=("Gout",),
            interventions=(Intervention("Colchicine", "DRUG", ("Colcrys",)),),
            outcomes=(Outcome("Pain at day 3", time_frame="3 days"),),
            keywords=("urate",),
            brief_summary="Does colchicine ease pain in acute gout?",
            eligibility="Inclusion Criteria:\n\n- Adults with gout\n\n"
            "Exclusion Criteria:\n\n- Renal failure",
            phases=frozenset(("PHASE2", "PHASE3")),
            study_type="INTERVENTIONAL",
            status="COMPLETED",
        ),
        Trial(
            "NCT90000002",
            title="Allopurinol in chronic gout",
            conditions=("Gout, chronic",),
            interventions=(
                Intervention("Allopurinol", "DRUG"),
                Intervention("Placebo", "DRUG"),
            ),
            brief_summary="Urate lowering by allopurinol.",
            detailed_description="Patients are seen every month. " * 12,
            eligibility="Adults with tophi",
        ),
        Trial(
            "NCT90000003",
            title="Breathing exercises for asthma",
            conditions=("Asthma",),
            interventions=(Intervention("Breathing exercises", "BEHAVIORAL"),),
        ),
        Trial("NCT90000004", title="A registry of rare cough"),
    ]


@pytest.fixture
def trials() -> list[Trial]:
    return make_trials()
