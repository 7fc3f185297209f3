"""The encoder of a trial over its section vectors (Trial2Vec, section 3.1, eq. 1).

Plain PyTorch without spaCy, so that it can be trained by any loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import nn
from torch.nn.functional import normalize

from ..sections.labels import CONTEXT, CRITERIA, KEY_ATTRIBUTES, SECTION_LABELS

AGGREGATES = ("residual", "paper")
# The temperature learns from 0.07 on and stays between 1 and 0.01.
TEMPERATURE = 0.07
MAX_SCALE = 100.0
# Measured on labelled trial pairs (docs/results/quality.md); a section that is not
# named counts 0 until training raises it.
DEFAULT_WEIGHTS = {
    "title": 1.0,
    "condition": 1.0,
    "intervention": 1.0,
    "keyword": 0.5,
    "summary": 0.5,
    "description": 0.5,
    "eligibility": 0.5,
}
_ATTRIBUTES = [SECTION_LABELS.index(label) for label in KEY_ATTRIBUTES]
# "eligibility" already stands for all criteria: its parts are not counted again.
_CONTEXT = [
    SECTION_LABELS.index(label)
    for label in CONTEXT
    if label not in CRITERIA or label == "eligibility"
]


class TrialEncoder(nn.Module):
    """Section vectors to one trial vector.

    With v_l the key attributes and v_ctx the mean of the context sections, all
    L2-normalised, the paper's global vector is eq. 1,
    MultiHeadAttention(query = v_ctx, keys = values = {v_l}).

    aggregate (str): "paper": eq. 1 alone, Xavier initialisation. "residual": the
        weighted sum of the sections present plus eq. 1 with a zero output projection;
        untrained this is exactly the weighted mean of the backbone's section vectors.
    weights (Mapping[str, float]): Weight of each section in the sum, learnable.
    n_heads (int): Attention heads; must divide the width of the backbone.
    width (int | None): Output width; None is the backbone's, else a bias-free
        projection with orthogonal initialisation.
    section_maps (bool): Each section has an affine map of its own before all else, the
        identity until `set_maps`; see `t2v_spacy.training.concept_maps`.
    """

    centres: torch.Tensor
    maps: torch.Tensor

    def __init__(
        self,
        aggregate: str = "residual",
        weights: Mapping[str, float] = DEFAULT_WEIGHTS,
        n_heads: int = 6,
        width: int | None = None,
        section_maps: bool = False,
    ) -> None:
        super().__init__()
        self.aggregate = aggregate
        self.initial_weights = dict(weights)
        self.n_heads = n_heads
        self.width = width
        self.section_maps = section_maps
        self.attention: nn.MultiheadAttention | None = None

    def build(self, width_in: int) -> None:
        """Make the parameters once the width of the backbone is known."""
        self.attention = nn.MultiheadAttention(width_in, self.n_heads, batch_first=True)
        self.log_scale = nn.Parameter(torch.tensor([-math.log(TEMPERATURE)]))
        self.projection: nn.Module = nn.Identity()
        if self.width and self.width != width_in:
            projection = nn.Linear(width_in, self.width, bias=False)
            nn.init.orthogonal_(projection.weight)
            self.projection = projection
        if self.section_maps:
            n = len(SECTION_LABELS)
            self.register_buffer("centres", torch.zeros(n, width_in))
            self.register_buffer("maps", torch.eye(width_in).repeat(n, 1, 1))
        if self.aggregate == "residual":
            start = [self.initial_weights.get(label, 0.0) for label in SECTION_LABELS]
            self.weights = nn.Parameter(torch.tensor(start))
            nn.init.zeros_(self.attention.out_proj.weight)
        else:
            nn.init.xavier_uniform_(self.attention.out_proj.weight)

    def forward(
        self, sections: torch.Tensor, present: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """sections (trials, labels, width_in), present (trials, labels) of 0 and 1 ->
        trial vectors (trials, width), section vectors (trials, labels, width), all of
        unit length; zero where nothing is present."""
        local = self.mapped(sections, slice(None)) * present[:, :, None]
        total = self.attend(local, present)
        if self.aggregate == "residual":
            total = total + torch.einsum("l,nlw->nw", self.weights, local)
        trials = normalize(self.projection(total), dim=-1)
        return trials, normalize(self.projection(local), dim=-1)

    def local(self, vectors: torch.Tensor, labels: list[int]) -> torch.Tensor:
        """Vectors of texts (n, width_in), each of a section label, in the space of the
        section vectors."""
        local = self.mapped(vectors, torch.tensor(labels, device=vectors.device))
        return normalize(self.projection(local), dim=-1)

    def mapped(
        self, vectors: torch.Tensor, labels: torch.Tensor | slice
    ) -> torch.Tensor:
        """Vectors (..., n, width_in), row i of the i-th of the labels, of unit length
        and, if there are maps, through the map of their label."""
        unit = normalize(vectors, dim=-1)
        if not self.section_maps:
            return unit
        centred = unit - self.centres[labels]
        moved = torch.einsum("...nw,nwv->...nv", centred, self.maps[labels])
        return normalize(moved, dim=-1)

    def set_maps(self, centres: torch.Tensor, maps: torch.Tensor) -> None:
        """The affine maps x -> (x - centre) @ map: centres (labels, width_in), maps
        (labels, width_in, width_in)."""
        with torch.no_grad():
            self.centres.copy_(centres)
            self.maps.copy_(maps)

    def has_weight(self, present: torch.Tensor) -> torch.Tensor:
        """Whether a trial vector of these sections (n, labels) rests on one that counts
        from the start: (n) bool. Any other is next to zero before it is brought to unit
        length, which would multiply its gradient a thousandfold."""
        if self.aggregate == "paper":
            return (present > 0).any(1)
        start = [self.initial_weights.get(label, 0.0) for label in SECTION_LABELS]
        return present @ torch.tensor(start).to(present) > 0

    def scale(self) -> torch.Tensor:
        """One over the temperature of the contrastive losses."""
        return self.log_scale[0].exp().clamp(1.0, MAX_SCALE)

    def attend(self, local: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        """Equation 1; absent attributes are masked. Without context the query is the
        mean attribute; without attributes the result is the context itself in "paper"
        mode and zero in "residual"."""
        if self.attention is None:
            raise RuntimeError("build() must come first")
        attributes, has_attribute = local[:, _ATTRIBUTES], present[:, _ATTRIBUTES] > 0
        context, has_context = local[:, _CONTEXT], present[:, _CONTEXT] > 0
        query = torch.where(
            has_context.any(1, keepdim=True), context.mean(1), attributes.mean(1)
        )
        query = normalize(query, dim=-1)
        some = has_attribute.any(1, keepdim=True)
        attended, _ = self.attention(
            query[:, None],
            attributes,
            attributes,
            key_padding_mask=~has_attribute & some,  # all masked would give NaN
            need_weights=False,
        )
        without = query if self.aggregate == "paper" else torch.zeros_like(query)
        return torch.where(some, attended[:, 0], without)
