"""Thinc wiring of the Trial2Vec encoder behind a spacy-transformers listener."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from safetensors.torch import load, save
from spacy.tokens import Doc
from spacy_transformers.layers import TransformerListener
from thinc.api import ArgsKwargs, Model, PyTorchWrapper_v3, chain, torch2xp, xp2torch

from ..errors import Errors, error
from ..sections.labels import SECTION_LABELS
from .pooling import SectionBatch, pool_sections
from .pytorch_encoder import AGGREGATES, DEFAULT_WEIGHTS, TrialEncoder


@dataclass
class TrialEncoding:
    """vectors (docs, width), sections (docs, labels, width), present (docs, labels).
    Vectors have unit length; those of absent sections and empty Docs are zero."""

    vectors: Any
    sections: Any
    present: Any


def build_section_listener(
    grad_factor: float = 1.0, upstream: str = "*"
) -> Model[list[Doc], SectionBatch]:
    """Architecture `t2v.SectionListener.v1`: section vectors of a transformer pipe
    whose model is t2v.BucketedTransformerModel.v1.

    grad_factor (float): Factor on the gradient for the transformer; 0 freezes it.
    upstream (str): Name of the transformer pipe, "*" for any.
    """
    listener = TransformerListener(upstream_name=upstream)
    model: Model = chain(listener, pool_sections(grad_factor))
    model.set_ref("listener", listener)
    return model


def build_trial2vec_encoder(
    sections: Model[list[Doc], SectionBatch],
    aggregate: str = "residual",
    weights: dict[str, float] = DEFAULT_WEIGHTS,
    n_heads: int = 6,
    width: int | None = None,
    section_maps: bool = False,
) -> Model[list[Doc], TrialEncoding]:
    """Architecture `t2v.Trial2VecEncoder.v1`, see `TrialEncoder` for the settings.

    sections (Model): Where section vectors come from, t2v.SectionListener.v1.
    RAISES (T2VError): T026 for an unknown aggregate, T008 for a weight of an unknown
        section; on initialize T026 if n_heads does not divide the backbone's width.
    """
    if aggregate not in AGGREGATES:
        raise error(
            Errors.T026,
            setting="aggregate",
            value=aggregate,
            reason=f"one of {', '.join(AGGREGATES)}",
        )
    for label in weights:
        if label not in SECTION_LABELS:
            known = ", ".join(SECTION_LABELS)
            raise error(Errors.T008, value=label, labels=known)
    encoder: Model = PyTorchWrapper_v3(
        TrialEncoder(aggregate, weights, n_heads, width, section_maps),
        convert_inputs=_convert_inputs,
        convert_outputs=_convert_outputs,
        serialize_model=_serialize,
        deserialize_model=_deserialize,
    )
    encoder.init = _init_encoder
    model: Model = chain(sections, encoder)
    model.set_ref("listener", sections.get_ref("listener"))
    model.set_ref("sections", sections)
    model.set_ref("encoder", encoder)
    return model


def _init_encoder(model: Model, X: SectionBatch | None = None, Y: Any = None) -> None:
    shim: Any = model.shims[0]
    module = shim._model
    if X is None or module.attention is not None:
        return
    width = X.vectors.shape[-1]
    if width % module.n_heads:
        raise error(
            Errors.T026,
            setting="n_heads",
            value=module.n_heads,
            reason=f"it must divide the backbone's width {width}",
        )
    module.build(width)
    module.to(shim.device)


def _convert_inputs(
    model: Model, batch: SectionBatch, is_train: bool
) -> tuple[ArgsKwargs, Callable]:
    vectors = xp2torch(batch.vectors, requires_grad=is_train)
    inputs = ArgsKwargs(args=(vectors, xp2torch(batch.present)), kwargs={})

    def backprop(d_inputs: ArgsKwargs) -> SectionBatch:
        return SectionBatch(torch2xp(d_inputs.args[0]), batch.present)

    return inputs, backprop


def _convert_outputs(
    model: Model, inputs_outputs: tuple, is_train: bool
) -> tuple[TrialEncoding, Callable]:
    batch, (trials, sections) = inputs_outputs

    def backprop(d_encoding: TrialEncoding) -> ArgsKwargs:
        grads = (xp2torch(d_encoding.vectors), xp2torch(d_encoding.sections))
        return ArgsKwargs(args=((trials, sections),), kwargs={"grad_tensors": grads})

    encoding = TrialEncoding(torch2xp(trials), torch2xp(sections), batch.present)
    return encoding, backprop


def _serialize(module: TrialEncoder) -> bytes:
    return save(module.state_dict()) if module.attention is not None else b""


def _deserialize(
    module: TrialEncoder, state: bytes, device: torch.device
) -> TrialEncoder:
    if state:
        tensors = load(state)
        if module.attention is None:
            module.build(tensors["attention.in_proj_weight"].shape[1])
        module.load_state_dict(tensors, strict=True)
    return module.to(device)
