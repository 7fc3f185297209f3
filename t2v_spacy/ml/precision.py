"""Number formats the encoder can run in."""

from __future__ import annotations

import contextlib

import torch

from ..errors import Errors, error

PRECISIONS = ("auto", "float32", "bf16", "int8")


def resolve_precision(value: str, device: torch.device) -> str:
    """Turn a `precision` setting into what will run.

    value (str): "float32"; "bf16": bfloat16 autocast; "auto": bf16 where the processor
        has it, else float32; "int8": ONNX Runtime, weights quantised per channel, for
        prediction on other processors (extra `onnx`).
    RETURNS (str): "float32", "bf16" or "int8".
    RAISES (T2VError): T022 for an unknown value or one this machine cannot run.
    """
    if value not in PRECISIONS:
        raise _error(value, "it is not a precision")
    if value == "auto":
        return "bf16" if has_bf16(device) else "float32"
    if value == "bf16" and not has_bf16(device):
        raise _error(value, "this processor has no bfloat16 arithmetic")
    if value == "int8":
        try:
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401
        except ImportError:
            raise _error(value, "install t2v_spacy[onnx] for it") from None
    return value


def has_bf16(device: torch.device) -> bool:
    """Whether bfloat16 is fast here: AVX512-BF16, AMX or a CUDA card that has it."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    if device.type != "cpu":
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def autocast(precision: str, device: torch.device) -> contextlib.AbstractContextManager:
    """Context in which the forward pass runs; the backward pass needs none."""
    if precision == "bf16":
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return contextlib.nullcontext()


def _error(value: str, reason: str) -> Exception:
    known = ", ".join(f"'{name}'" for name in PRECISIONS)
    return error(Errors.T022, value=value, reason=reason, known=known)
