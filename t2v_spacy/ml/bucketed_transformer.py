"""spacy-transformers' model, run on whole trials at the speed of the backbone.

spacy-transformers pads every span of a batch to the longest one, so that a title costs
as much as a window of criteria. Here sections are cut into windows once, equal strings
are encoded once, sequences run in buckets of like length, and only the mean of each
window is handed on, which keeps memory flat however long the documents are.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import FullTransformerBatch, TransformerData
from spacy_transformers.layers.transformer_model import (
    TransformerModel,
    huggingface_from_pretrained,
)
from thinc.api import get_torch_default_device, xp2torch
from transformers.file_utils import ModelOutput

from ..errors import Errors, error
from ..stopping import go_on
from .backbone import drop_empty_gradients, find_backbone, freeze
from .buckets import make_buckets
from .doc_data import make_wordpieces, split_by_doc
from .precision import autocast, resolve_precision
from .ultrabert import register_ultrabert
from .windows import Windows, WindowSettings, make_windows, pad


def _after_fork() -> None:
    # A forked worker inherits the locks of torch's thread pool but not its threads and
    # would wait for them for ever; with one thread no pool is used.
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


# Said by the user or not: unset, the tokenizers warn in each forked worker.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

register_ultrabert()


def build_bucketed_transformer(
    name: str,
    get_spans: Callable[[list[Doc]], list[list[Span]]],
    tokenizer_config: dict[str, Any] = {"use_fast": True},  # noqa: B006
    transformer_config: dict[str, Any] = {},  # noqa: B006
    precision: str = "auto",
    window: int = 256,
    stride: int = 240,
    max_windows: int | None = None,
    max_tokens: int = 2048,
    keep_tokens: bool = False,
    frozen_layers: int = 0,
) -> BucketedTransformerModel:
    """Architecture `t2v.BucketedTransformerModel.v1` for the `transformer` factory.

    name (str): Backbone: a local folder, "all-MiniLM-L6-v2" (found in the package that
        ships it), or a hub name.
    get_spans (Callable): Span getter, usually t2v.section_spans.v1.
    precision (str): "auto", "float32", "bf16" or "int8". Defaults to "auto".
    window (int): Wordpieces of one sequence, special tokens included.
    stride (int): Wordpieces from the start of one window to the next; at most
        `window` less the special tokens, so that the windows cover all of a section.
    max_windows (int | None): Most windows of one section; what is cut is recorded in
        `doc._.truncated`. Defaults to None, nothing is cut.
    max_tokens (int): Padded wordpieces of one forward pass; bounds the memory.
    keep_tokens (bool): Hand on every wordpiece state, aligned with the tokens, for
        token-level listeners. Defaults to False: one row a window, its mean.
    frozen_layers (int): The embeddings and so many of the lowest layers are not
        trained, which makes a step quicker. Defaults to 0: all are trained.
    RAISES (T2VError): T026 for a setting out of range, T022 for a precision this
        machine cannot run; on initialize T020, T021 or T029 for a backbone that is
        missing, not the expected one, or broken, T026 for a window it cannot read.
    """
    for setting, value in (("window", window), ("max_tokens", max_tokens)):
        if value < 8:
            raise error(Errors.T026, setting=setting, value=value, reason="at least 8")
    if not 1 <= stride <= window - 2:
        raise error(
            Errors.T026, setting="stride", value=stride, reason=f"1 to {window - 2}"
        )
    if max_windows is not None and max_windows < 1:
        raise error(
            Errors.T026, setting="max_windows", value=max_windows, reason="at least 1"
        )
    if frozen_layers < 0:
        reason = "0 or more"
        raise error(
            Errors.T026, setting="frozen_layers", value=frozen_layers, reason=reason
        )
    resolve_precision(precision, get_torch_default_device())
    return BucketedTransformerModel(
        name,
        get_spans,
        tokenizer_config,
        transformer_config,
        RunSettings(
            WindowSettings(window, stride, max_windows, keep_tokens),
            precision,
            max_tokens,
            frozen_layers,
        ),
    )


@dataclass(frozen=True)
class RunSettings:
    """See `build_bucketed_transformer`."""

    windows: WindowSettings
    precision: str
    max_tokens: int
    frozen_layers: int = 0


class BucketedTransformerModel(TransformerModel):
    """Model[List[Doc], FullTransformerBatch], see `build_bucketed_transformer`.

    The `model_output` of each Doc has `last_hidden_state` (windows, 1, width), or
    (windows, longest, width) with keep_tokens, and for each window `section` (position
    in SECTION_LABELS), `pieces` (wordpieces) and `cut` (wordpieces of the windows that
    max_windows left out, on the first window of the section).
    """

    def __init__(
        self,
        name: str,
        get_spans: Callable[[list[Doc]], list[list[Span]]],
        tokenizer_config: dict[str, Any],
        transformer_config: dict[str, Any],
        run: RunSettings,
    ) -> None:
        super().__init__(
            name, get_spans, dict(tokenizer_config), dict(transformer_config)
        )
        self._func = forward
        self.init = init
        # Not a plain value, so that it is not saved with the weights: a config given
        # at load then counts.
        self.attrs["run"] = run

    def copy(self) -> BucketedTransformerModel:
        copied = BucketedTransformerModel(
            self.attrs["name"],
            self.attrs["get_spans"],
            self._init_tokenizer_config,
            self._init_transformer_config,
            self.attrs["run"],
        )
        copied._dims = copy.deepcopy(self._dims)
        copied.attrs["has_transformer"] = self.attrs["has_transformer"]
        copied.layers[0] = copy.deepcopy(self.layers[0])
        return copied


def init(model: BucketedTransformerModel, X: Any = None, Y: Any = None) -> None:
    if model.attrs["has_transformer"]:
        return
    name = model.attrs["name"]
    found = find_backbone(name)
    try:
        hf_model = huggingface_from_pretrained(
            found, model._init_tokenizer_config, model._init_transformer_config
        )
    except (OSError, ValueError) as err:
        if Path(found).is_dir():
            reason = str(err).split("\n")[0]
            raise error(Errors.T029, path=found, reason=reason) from err
        raise error(Errors.T020, name=name) from err
    if not hf_model.tokenizer.is_fast:
        reason = "it has no fast tokenizer, which cutting windows needs"
        raise error(Errors.T029, path=found, reason=reason)
    window = model.attrs["run"].windows.window
    positions = getattr(hf_model.transformer.config, "max_position_embeddings", window)
    longest = min(hf_model.tokenizer.model_max_length, positions)
    if window > longest:
        reason = f"the backbone reads at most {longest} wordpieces"
        raise error(Errors.T026, setting="window", value=window, reason=reason)
    # The folder the weights came from is no one's business once they are loaded.
    model.attrs["name"] = public = Path(name).name
    hf_model.transformer.config._name_or_path = public
    hf_model.tokenizer.name_or_path = public
    model.attrs["set_transformer"](model, hf_model)


def forward(
    model: BucketedTransformerModel, docs: list[Doc], is_train: bool
) -> tuple[FullTransformerBatch, Callable]:
    settings = model.attrs["run"].windows
    spans = model.attrs["get_spans"](docs)
    windows = make_windows(model.tokenizer, spans, settings)
    if not windows.ids:
        return FullTransformerBatch.empty(len(docs)), lambda d_output: docs
    states, backprop_states = encode(model, windows, is_train)
    gather = torch.from_numpy(windows.sequence).to(states.device)
    lengths = windows.lengths[windows.sequence]
    output = ModelOutput(
        last_hidden_state=states[gather],
        section=torch.from_numpy(windows.section),
        pieces=torch.from_numpy(lengths),
        cut=torch.from_numpy(windows.cut),
    )
    keep_tokens = settings.keep_tokens
    wordpieces = make_wordpieces(windows, model.tokenizer, keep_tokens)
    batch = FullTransformerBatch(
        spans=spans,
        wordpieces=wordpieces,
        model_output=output,
        align=TransformerData.empty().align,  # each Doc has its own
        cached_doc_data=split_by_doc(docs, windows, wordpieces, output, keep_tokens),
    )

    def backprop(d_output: FullTransformerBatch) -> list[Doc]:
        d_rows = next(iter(d_output.model_output.values()))
        d_states = torch.zeros_like(states)
        d_states.index_add_(0, gather, d_rows.to(d_states.dtype))
        backprop_states(d_states)
        return docs

    return batch, backprop


def encode(
    model: BucketedTransformerModel, windows: Windows, is_train: bool
) -> tuple[torch.Tensor, Callable[[torch.Tensor], None]]:
    """Run the backbone over the sequences, bucket by bucket.

    RETURNS: states (sequences, 1, width): the mean over wordpieces, special tokens
        included; with keep_tokens (sequences, longest, width). And the backward pass.
    """
    run = model.attrs["run"]
    keep_tokens = run.windows.keep_tokens
    device = model.transformer.device
    precision = resolve_precision(run.precision, device)
    if is_train:
        freeze(model.transformer, run.frozen_layers)
        drop_empty_gradients(model.transformer)
    lengths = windows.lengths
    longest = int(lengths.max()) if keep_tokens else 1
    width = model.get_dim("nO")
    states = torch.zeros((len(lengths), longest, width), device=device)
    steps: list[tuple[torch.Tensor, torch.Tensor, Callable]] = []
    for bucket in make_buckets(lengths, run.max_tokens):
        go_on()
        batch = pad(windows.ids, bucket, model.tokenizer.pad_token_id or 0)
        mask = xp2torch(batch.attention_mask, device=device)
        rows = torch.from_numpy(bucket).to(device)
        if precision == "int8" and not is_train:
            from .onnx_backbone import predict_int8

            hidden = predict_int8(model.transformer, batch)
        else:
            with autocast(precision, device):
                output, backprop = model.layers[0](batch, is_train)
            hidden = output.last_hidden_state.detach().float()
            if output.last_hidden_state.requires_grad:  # no, if all layers are frozen
                steps.append((rows, mask, backprop))
        if keep_tokens:
            states[rows, : hidden.shape[1]] = hidden * mask[:, :, None]
        else:
            mean = torch.einsum("bth,bt->bh", hidden, mask)
            states[rows, 0] = mean / mask.sum(1, keepdim=True)

    def backprop_states(d_states: torch.Tensor) -> None:
        if not d_states.any():  # grad_factor = 0, or a batch without a loss
            return
        for rows, mask, backprop in steps:
            if keep_tokens:
                d_hidden = d_states[rows, : mask.shape[1]] * mask[:, :, None]
            else:
                share = mask / mask.sum(1, keepdim=True)
                d_hidden = d_states[rows] * share[:, :, None]
            backprop(ModelOutput(last_hidden_state=d_hidden))

    return states, backprop_states
