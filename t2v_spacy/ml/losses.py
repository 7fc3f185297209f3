"""Contrastive losses over unit vectors (Trial2Vec, section 3.2 and 3.3)."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy


def info_nce(
    anchors: torch.Tensor,
    positives: torch.Tensor,
    scale: torch.Tensor | float,
    *,
    negatives: torch.Tensor | None = None,
    given: torch.Tensor | None = None,
    ignore: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    in_batch: bool = True,
    symmetric: bool = False,
) -> torch.Tensor | None:
    """Mean over the anchors of -log softmax of the positive's cosine times `scale`.

    The denominator holds the anchor's own positive, the positives of the other rows
    (`in_batch`) and the anchor's own `negatives`. Equation 8 of the paper as printed
    has no exp in the numerator; this is the InfoNCE that is meant.

    anchors, positives (n, width): Row i of the one belongs to row i of the other.
    scale: One over the temperature.
    negatives (n, m, width): Further negatives of each anchor; given (n, m): which of
        them there are, as bool. Defaults to all.
    ignore (n, n): Pairs that are no negatives of each other, as bool; the diagonal is
        not looked at.
    valid (n): Rows that take part, as bool; another is nobody's negative either.
    symmetric (bool): Also from positives to anchors (in-batch only), half each.
    RETURNS (Tensor | None): None if no row has a negative: there is nothing to learn.
    """
    n = len(anchors)
    if valid is None:
        valid = torch.ones(n, dtype=torch.bool, device=anchors.device)
    own = torch.eye(n, dtype=torch.bool, device=anchors.device)
    left_out = ~(valid[:, None] & valid[None, :])
    if ignore is not None:
        left_out |= ignore
    left_out = (left_out if in_batch else torch.ones_like(left_out)) & ~own
    logits = (anchors @ positives.T * scale).masked_fill(left_out, -torch.inf)
    extra = None
    if negatives is not None:
        extra = torch.einsum("nw,nmw->nm", anchors, negatives) * scale
        if given is not None:
            extra = extra.masked_fill(~given, -torch.inf)
    total = _row_loss(logits, extra, valid)
    if not symmetric or not in_batch:
        return total
    back = _row_loss(logits.T, None, valid)
    if total is None or back is None:
        return back if total is None else total
    return (total + back) / 2


def soft_nce(
    vectors: torch.Tensor, targets: torch.Tensor, scale: torch.Tensor | float
) -> torch.Tensor | None:
    """Cross-entropy of the softmax of each row's cosines times `scale` to the other
    rows, against its targets: several rows can be near, by degrees (supervised
    contrastive learning, Khosla et al. 2020).

    vectors (n, width); targets (n, n): 0 or more; the diagonal is not looked at.
    RETURNS (Tensor | None): Mean over the rows that have a target and a row without
        one; None if there is none.
    """
    own = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    targets = targets.masked_fill(own, 0.0)
    rows = (targets > 0).any(1) & ((targets == 0) & ~own).any(1)
    if not rows.any():
        return None
    logits = (vectors @ vectors.T * scale).masked_fill(own, -torch.inf)
    # 0 * -inf on the diagonal would be NaN.
    logs = logits.log_softmax(1).masked_fill(own, 0.0)[rows]
    wanted = targets[rows]
    return -((wanted * logs).sum(1) / wanted.sum(1)).mean()


def _row_loss(
    logits: torch.Tensor, extra: torch.Tensor | None, valid: torch.Tensor
) -> torch.Tensor | None:
    """Mean cross-entropy of the diagonal over the valid rows with a negative."""
    targets = torch.arange(len(logits), device=logits.device)
    if extra is not None:
        logits = torch.cat([logits, extra], dim=1)
    # Left out are only the masked: a loss that is no number must be seen.
    rows = valid & ((logits != -torch.inf).sum(1) > 1)
    if not rows.any():
        return None
    return cross_entropy(logits[rows], targets[rows])
