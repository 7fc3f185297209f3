"""Attention over whole rows, and over a band without the square of all pairs.

For the band the rows of a batch are laid end to end as one stream, which is cut into
blocks of queries; each block reads its own tokens and a window on either side. Time
and memory are linear in the length; overlapping blocks of keys are views, not copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

# Rows up to so many windows are quicker read whole, under a mask.
_WHOLE = 3
# Smaller blocks cost more than the keys they save.
_LEAST = 16


@dataclass(frozen=True)
class Sight:
    """What each query sees.

    mask (Tensor | None): True where it sees the key; broadcasts to (rows, heads,
        queries, keys), or (blocks, heads, block, block + 2 * window). None: everything.
    block (int): Queries of a block; 0: rows are read whole.
    window (int): Tokens that a block reads on either side of itself.
    """

    mask: torch.Tensor | None
    block: int = 0
    window: int = 0


def see_all(real: torch.Tensor) -> Sight:
    """real (Tensor): (rows, length), False at padding, which no one sees."""
    if not torch.jit.is_tracing() and bool(real.all()):
        return Sight(None)
    # A row without any token would have no key, and its mean be no number.
    return Sight((real | ~real.any(1, keepdim=True))[:, None, None, :])


def see_band(real: torch.Tensor, window: int) -> Sight:
    """As `see_all`, for tokens at most `window` apart."""
    rows, length = real.shape
    tracing = torch.jit.is_tracing()  # the length is not known then
    if not tracing and length <= window + 1:
        return see_all(real)
    if tracing or length <= _WHOLE * window:
        return Sight(_see_near(real, length, window))
    block = max(_LEAST, window // 2)
    return Sight(_see_blocks(real, block, window), block, window)


def _see_near(real: torch.Tensor, length: int, window: int) -> torch.Tensor:
    place = torch.arange(length, device=real.device)
    apart = (place[:, None] - place).abs()
    # Padding sees itself, so that its mean is a number.
    return ((apart <= window) & real[:, None, :] | (apart == 0))[:, None]


def _see_blocks(real: torch.Tensor, block: int, window: int) -> torch.Tensor:
    row = torch.arange(len(real), device=real.device)[:, None].expand_as(real)
    queries = _cut(row.reshape(-1), block, 0, -1)
    keys = _cut(row.masked_fill(~real, -1).reshape(-1), block, window, -1)
    own = torch.arange(queries.shape[1], device=real.device)[:, None]
    apart = torch.arange(keys.shape[1], device=real.device) - window - own
    near = (apart.abs() <= window) & (queries[:, :, None] == keys[:, None, :])
    return (near | (apart == 0))[:, None]


def attend(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    sight: Sight,
    dropout: float,
) -> torch.Tensor:
    """Weighted means of the values, (rows, length, heads, head_dim), which is also the
    shape of each input."""
    inputs = queries, keys, values
    if not sight.block:
        q, k, v = (x.transpose(1, 2) for x in inputs)
        found = scaled_dot_product_attention(
            q, k, v, attn_mask=sight.mask, dropout_p=dropout
        )
        return found.transpose(1, 2)
    margins = (0, sight.window, sight.window)
    q, k, v = (
        _cut(x.flatten(0, 1), sight.block, margin).transpose(1, 2)
        for x, margin in zip(inputs, margins, strict=True)
    )
    found = scaled_dot_product_attention(
        q, k, v, attn_mask=sight.mask, dropout_p=dropout
    )
    stream = found.transpose(1, 2).flatten(0, 1)
    return stream[: queries.shape[0] * queries.shape[1]].view_as(queries)


def _cut(
    stream: torch.Tensor, block: int, margin: int, fill: float = 0.0
) -> torch.Tensor:
    """The stream (tokens, ...) as (blocks, margin + block + margin, ...), a view of one
    padded copy."""
    tail = -len(stream) % block
    sides = (0, 0) * (stream.dim() - 1) + (margin, margin + tail)
    padded = pad(stream, sides, value=fill)
    return padded.unfold(0, block + 2 * margin, block).movedim(-1, 1)
