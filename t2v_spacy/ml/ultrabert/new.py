"""An UltraBERT of any shape that has learned nothing yet but its vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...errors import Errors, error
from ...files import replaced_folder

_SPECIAL = ("<pad>", "<s>", "</s>", "<mask>")
_BYTES = 256
_LONGEST = 32_768


def make_ultrabert(
    texts: Iterable[str],
    out: Path | str,
    *,
    vocabulary: int = 8000,
    seed: int = 0,
    **shape: Any,
) -> int:
    """Write a folder with a random UltraBERT and a byte-pair tokenizer of the texts.

    vocabulary: Most entries of the tokenizer. shape: Settings of `UltrabertConfig`,
    such as hidden_size. Returns the number of parameters. RAISES (T026): A vocabulary
    below that of the bytes. (T190): A shape that cannot be run. (T010): Not writable.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    from .registration import register_ultrabert

    least = _BYTES + len(_SPECIAL)
    if vocabulary < least:
        reason = f"at least {least} are needed, one for each byte and special token"
        raise error(Errors.T026, setting="vocabulary", value=vocabulary, reason=reason)
    register_ultrabert()
    settings = {"max_position_embeddings": _LONGEST, **shape}
    AutoConfig.for_model("ultrabert", **settings)  # refuses before the work begins
    tokenizer = _tokenizer(texts, vocabulary, settings["max_position_embeddings"])
    config = AutoConfig.for_model(
        "ultrabert",
        **settings,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModel.from_config(config)
    with replaced_folder(Path(out)) as folder:
        tokenizer.save_pretrained(folder)
        model.save_pretrained(folder)
    return sum(part.numel() for part in model.parameters())


def _tokenizer(texts: Iterable[str], size: int, longest: int) -> Any:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        processors,
        trainers,
    )

    from .tokenizer import TokenizersBackend

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    learn = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(texts, learn)
    pad, start, end, mask = _SPECIAL
    trained.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        special_tokens=[(name, trained.token_to_id(name)) for name in (start, end)],
    )
    return TokenizersBackend(
        tokenizer_object=trained,
        pad_token=pad,
        cls_token=start,
        sep_token=end,
        mask_token=mask,
        model_max_length=longest,
    )
