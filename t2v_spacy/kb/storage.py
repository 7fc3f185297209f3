"""The file of a knowledge base: one header line, then columns packed with LZMA.

The header is JSON: format, columns with their packed sizes, information, and the
sha256 of all else in the file, so a cut or altered one is noticed before it is used.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, error

MAGIC = b"t2v knowledge base "
FORMAT = 1
BEST = 9 | lzma.PRESET_EXTREME
_AGAIN = "Fetch or build it again."
# Longer headers do not occur; a wrong file without a line end is not searched whole.
_HEADER = 1 << 20

Columns = dict[str, bytes | np.ndarray]


def pack(header: dict[str, Any], columns: Columns, *, preset: int = BEST) -> bytes:
    """One bytes value of a JSON-able header and columns of bytes or numbers."""
    packed = [
        lzma.compress(_planes(column), preset=preset, check=lzma.CHECK_NONE)
        for column in columns.values()
    ]
    payload = b"".join(packed)
    described = {
        **header,
        "format": FORMAT,
        "columns": [
            [name, len(data), _dtype(column)]
            for (name, column), data in zip(columns.items(), packed, strict=True)
        ],
    }
    described["sha256"] = _digest(described, payload)
    return MAGIC + _line(described) + b"\n" + payload


def unpack(data: bytes, path: str | Path) -> tuple[dict[str, Any], Columns]:
    """Inverse of `pack`; `path` is for messages. RAISES: T080 for another kind of file,
    T081 for a damaged one."""
    line, end, _ = data[:_HEADER].partition(b"\n")
    if not line.startswith(MAGIC):
        raise error(Errors.T080, path=path, reason="it has another beginning")
    try:
        header = json.loads(line.removeprefix(MAGIC)) if end else {}
    except ValueError:
        header = {}
    if header.get("format", FORMAT) != FORMAT:
        reason = f"format {header['format']} is newer than this program"
        raise error(Errors.T080, path=path, reason=reason)
    payload = memoryview(data)[len(line) + 1 :]
    if header.pop("sha256", None) != _digest(header, payload):
        reason = "its content does not have the sha256 that its first line states"
        raise error(Errors.T081, path=path, reason=reason, remedy=_AGAIN)
    columns: Columns = {}
    at = 0
    for name, size, dtype in header["columns"]:
        raw = lzma.decompress(payload[at : at + size])
        columns[name] = _numbers(raw, dtype) if dtype else raw
        at += size
    return header, columns


def _line(header: dict[str, Any]) -> bytes:
    return json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()


def _digest(header: dict[str, Any], payload: bytes | memoryview) -> str:
    digest = hashlib.sha256(_line(header))
    digest.update(payload)
    return digest.hexdigest()


def _planes(column: bytes | np.ndarray) -> bytes:
    """Numbers as all first bytes, all second bytes, …: that packs to about half."""
    if isinstance(column, bytes):
        return column
    little = column.astype(column.dtype.newbyteorder("<"), copy=False)
    raw = np.ascontiguousarray(little).view(np.uint8)
    return np.ascontiguousarray(raw.reshape(-1, column.dtype.itemsize).T).tobytes()


def _dtype(column: bytes | np.ndarray) -> str:
    return "" if isinstance(column, bytes) else str(column.dtype)


def _numbers(raw: bytes, dtype: str) -> np.ndarray:
    planes = np.frombuffer(raw, np.uint8).reshape(np.dtype(dtype).itemsize, -1)
    little = np.dtype(dtype).newbyteorder("<")
    return np.ascontiguousarray(planes.T).view(little).reshape(-1).astype(dtype)
