"""The backbone in ONNX Runtime with int8 weights, for prediction on processors without
bfloat16. Weights are quantised per channel (per tensor costs far more quality)."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from weakref import WeakKeyDictionary

import torch
from spacy_transformers.data_classes import WordpieceBatch

_sessions: WeakKeyDictionary = WeakKeyDictionary()


def predict_int8(transformer: torch.nn.Module, batch: WordpieceBatch) -> torch.Tensor:
    """Last hidden state (rows, longest, width) of a padded batch. The int8 model is
    made at the first call, in some seconds, and kept until the weights change."""
    version = sum(parameter._version for parameter in transformer.parameters())
    kept, session = _sessions.get(transformer, (None, None))
    if kept != version:
        session = _make_session(transformer)
        _sessions[transformer] = version, session
    inputs = {
        "input_ids": batch.input_ids,
        "attention_mask": batch.attention_mask.astype("int64"),
    }
    return torch.from_numpy(session.run(None, inputs)[0])


class _LastHiddenState(torch.nn.Module):
    def __init__(self, transformer: torch.nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        output = self.transformer(input_ids=input_ids, attention_mask=attention_mask)
        return output.last_hidden_state


def _make_session(transformer: torch.nn.Module):  # type: ignore[no-untyped-def]
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    axes = {0: "rows", 1: "pieces"}
    example = torch.ones((2, 16), dtype=torch.int64)
    was_training = transformer.training
    with tempfile.TemporaryDirectory() as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "int8.onnx"
        with warnings.catch_warnings():
            # The exporter warns of constants it folds, which are constant here.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                _LastHiddenState(transformer).eval(),
                (example, example),
                str(exact),
                input_names=["input_ids", "attention_mask"],
                output_names=["last_hidden_state"],
                dynamic_axes={
                    "input_ids": axes,
                    "attention_mask": axes,
                    "last_hidden_state": axes,
                },
                dynamo=False,
            )
        quantize_dynamic(exact, small, per_channel=True, weight_type=QuantType.QInt8)
        session = onnxruntime.InferenceSession(
            small.read_bytes(), providers=["CPUExecutionProvider"]
        )
    transformer.train(was_training)
    return session
