"""Rotary positions."""

from __future__ import annotations

import torch

Angles = tuple[torch.Tensor, torch.Tensor]


def make_angles(length: int, head_dim: int, base: float, like: torch.Tensor) -> Angles:
    """Cosines and sines, each (length, 1, head_dim / 2), of the rotation at each
    position; computed in float32 on the device of `like`."""
    pairs = torch.arange(0, head_dim, 2, device=like.device, dtype=torch.float32)
    positions = torch.arange(length, device=like.device, dtype=torch.float32)
    angles = positions[:, None, None] * base ** (-pairs / head_dim)
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, angles: Angles) -> torch.Tensor:
    """Turn x (rows, length, heads, head_dim), the pairs (i, i + head_dim / 2)."""
    cos, sin = (part.to(x.dtype) for part in angles)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
