"""UltraBERT made known to transformers' Auto classes."""

from __future__ import annotations


def register_ultrabert() -> None:
    """Let AutoConfig, AutoModel, AutoModelForMaskedLM and AutoTokenizer read UltraBERT.

    Does nothing where transformers has the model type itself (from 5.20 on), or at the
    second call.
    """
    from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if "ultrabert" in CONFIG_MAPPING:
        return
    from .configuration import UltrabertConfig
    from .masked_lm import UltrabertForMaskedLM
    from .model import UltrabertModel
    from .tokenizer import TokenizersBackend

    AutoConfig.register("ultrabert", UltrabertConfig)
    AutoModel.register(UltrabertConfig, UltrabertModel)
    AutoModelForMaskedLM.register(UltrabertConfig, UltrabertForMaskedLM)
    AutoTokenizer.register(UltrabertConfig, fast_tokenizer_class=TokenizersBackend)
