"""What `trial2vec` learns from: global, local, match and name losses.

Plain PyTorch over the section vectors of a batch; nothing here knows of spaCy.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy
import torch

from ..errors import Errors, error
from ..sections.labels import KEY_ATTRIBUTES, SECTION_LABELS
from .batch_info import BatchInfo
from .global_views import ViewMaker
from .losses import info_nce, soft_nce
from .pytorch_encoder import TrialEncoder

_TITLE = SECTION_LABELS.index("title")
_ATTRIBUTES = [SECTION_LABELS.index(label) for label in KEY_ATTRIBUTES]
_CONTEXT = [i for i in range(len(SECTION_LABELS)) if i not in _ATTRIBUTES]


@dataclass
class Losses:
    """total (Tensor | None): The weighted sum, None if nothing could be learnt; parts:
    each loss before its weight; without_negatives: names of those that found no
    negative in this batch."""

    total: torch.Tensor | None = None
    parts: dict[str, float] = field(default_factory=dict)
    without_negatives: list[str] = field(default_factory=list)

    def add(self, name: str, weight: float, loss: torch.Tensor | None) -> None:
        if loss is None:
            self.without_negatives.append(name)
            return
        self.parts[name] = float(loss.detach())
        part = weight * loss
        self.total = part if self.total is None else self.total + part


class ContrastiveObjective:
    """Sum of the losses of the paper, each with a weight (0 leaves it out):

    global: two views of one trial are near, other trials far. Hard negatives are the
        second view with the title (`attribute_negatives`) or with the context
        (`context_negatives`) of a trial of the batch that shares a condition.
    alike: trials that share a condition and an intervention concept are near, other
        trials far. This goes beyond the paper: knowledge says which trials are alike.
    local: a key attribute is near its text with a mention renamed, far from it with the
        mention deleted or replaced by something unlike (`local_negatives`).
    match: each key attribute is near the vector of its own trial.
    names: two names of one concept are near, names of other concepts far.

    See `contrastive_objective` for the settings.
    """

    def __init__(
        self,
        views: ViewMaker,
        weights: dict[str, float],
        *,
        attribute_negatives: bool,
        context_negatives: bool,
        local_negatives: bool,
        in_batch_negatives: bool,
        mask_alike: bool,
        symmetric: bool,
        seed: int,
    ) -> None:
        self.views = views
        self.weights = weights
        self.attribute_negatives = attribute_negatives
        self.context_negatives = context_negatives
        self.local_negatives = local_negatives
        self.in_batch_negatives = in_batch_negatives
        self.mask_alike = mask_alike
        self.symmetric = symmetric
        self.rng = numpy.random.default_rng(seed)

    def __call__(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        present: torch.Tensor,
        views: torch.Tensor,
        batch: BatchInfo,
    ) -> Losses:
        """sections (docs, labels, width) and views (n, width) straight from the
        backbone, present (docs, labels)."""
        losses = Losses()
        for name, weight in self.weights.items():
            if weight and name in ("global", "alike", "match"):
                loss = getattr(self, f"_{name}")(encoder, sections, present, batch)
                losses.add(name, weight, loss)
            elif weight and batch.views:
                loss = getattr(self, f"_{name}")(encoder, sections, views, batch)
                losses.add(name, weight, loss)
        return losses

    def _global(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        present: torch.Tensor,
        batch: BatchInfo,
    ) -> torch.Tensor | None:
        n = len(sections)
        shown = self.views(present.cpu().numpy(), self.rng)
        first, second = (torch.from_numpy(v).to(present) for v in shown)
        variants = [(sections, first), (sections, second)]
        partners = self._partners(batch)
        for labels, wanted in (
            ([_TITLE], self.attribute_negatives),
            (_CONTEXT, self.context_negatives),
        ):
            if wanted:
                swapped = _swap(sections, present, second, partners, labels)
                variants.append(swapped)
        trials, _ = encoder(
            torch.cat([vectors for vectors, _ in variants]),
            torch.cat([there for _, there in variants]),
        )
        anchors, positives, *others = trials.split(n)
        negatives = given = None
        if others:
            negatives = torch.stack(others, dim=1)
            # A swap that only took something away would be the positive itself.
            changed = [
                ((vectors != sections).any(2) & (there > 0)).any(1)
                for vectors, there in variants[2:]
            ]
            heavy = [encoder.has_weight(there) for _, there in variants[2:]]
            given = torch.stack(changed, dim=1) & torch.stack(heavy, dim=1)
        return info_nce(
            anchors,
            positives,
            encoder.scale(),
            negatives=negatives,
            given=given,
            ignore=self._ignored(batch, sections),
            valid=encoder.has_weight(first) & encoder.has_weight(second),
            in_batch=self.in_batch_negatives,
            symmetric=self.symmetric,
        )

    def _alike(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        present: torch.Tensor,
        batch: BatchInfo,
    ) -> torch.Tensor | None:
        trials, _ = encoder(sections, present)
        alike = torch.from_numpy(batch.share_concepts()).to(trials)
        there = encoder.has_weight(present)
        return soft_nce(trials[there], alike[there][:, there], encoder.scale())

    def _match(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        present: torch.Tensor,
        batch: BatchInfo,
    ) -> torch.Tensor | None:
        trials, local = encoder(sections, present)
        ignore = self._ignored(batch, sections)
        found = [
            info_nce(
                local[:, label],
                trials,
                encoder.scale(),
                ignore=ignore,
                valid=(present[:, label] > 0) & encoder.has_weight(present),
            )
            for label in _ATTRIBUTES
        ]
        there = [loss for loss in found if loss is not None]
        return torch.stack(there).mean() if there else None

    def _local(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        views: torch.Tensor,
        batch: BatchInfo,
    ) -> torch.Tensor | None:
        positive = [i for i, v in enumerate(batch.views) if v.kind == "positive"]
        if not positive:
            return None
        keys = [(batch.views[i].doc, batch.views[i].label) for i in positive]
        anchors = encoder.local(
            torch.stack([sections[doc, label] for doc, label in keys]),
            [label for _, label in keys],
        )
        vectors = encoder.local(views, [view.label for view in batch.views])
        negatives = given = None
        if self.local_negatives:
            found = defaultdict(list)
            for i, view in enumerate(batch.views):
                if view.kind == "negative":
                    found[view.doc, view.label].append(i)
            rows = [found[key] for key in keys]
            most = max(map(len, rows))
            if most:
                index = torch.tensor([row + [0] * (most - len(row)) for row in rows])
                negatives = vectors[index]
                there = [[j < len(row) for j in range(most)] for row in rows]
                given = torch.tensor(there, device=views.device) & _nonzero(negatives)
        ignore = None
        if self.mask_alike:
            alike = torch.from_numpy(batch.alike())
            docs = torch.tensor([doc for doc, _ in keys])
            ignore = alike[docs][:, docs]
            concepts = [batch.views[i].concept for i in positive]
            ignore = (ignore | _equal(concepts)).to(views.device)
        return info_nce(
            anchors,
            vectors[positive],
            encoder.scale(),
            negatives=negatives,
            given=given,
            ignore=ignore,
            valid=_nonzero(anchors) & _nonzero(vectors[positive]),
            in_batch=self.in_batch_negatives,
        )

    def _names(
        self,
        encoder: TrialEncoder,
        sections: torch.Tensor,
        views: torch.Tensor,
        batch: BatchInfo,
    ) -> torch.Tensor | None:
        names = [i for i, v in enumerate(batch.views) if v.kind == "name"]
        if not names:
            return None
        labels = [batch.views[i].label for i in names]
        vectors = encoder.local(views[names], labels)
        concepts = [batch.views[i].concept for i in names[::2]]
        return info_nce(
            vectors[0::2],
            vectors[1::2],
            encoder.scale(),
            ignore=_equal(concepts).to(views.device),
            symmetric=self.symmetric,
        )

    def _partners(self, batch: BatchInfo) -> numpy.ndarray:
        """For each Doc another that shares a condition and is not alike, or -1."""
        fit = batch.same_condition() & ~batch.alike()
        draw = self.rng.random(fit.shape) * fit
        return numpy.where(fit.any(1), draw.argmax(1), -1)

    def _ignored(self, batch: BatchInfo, sections: torch.Tensor) -> torch.Tensor | None:
        if not self.mask_alike:
            return None
        return torch.from_numpy(batch.alike()).to(sections.device)


def contrastive_objective(
    views: ViewMaker,
    global_weight: float = 1.0,
    alike_weight: float = 0.0,
    local_weight: float = 1.0,
    match_weight: float = 0.0,
    names_weight: float = 0.0,
    attribute_negatives: bool = True,
    context_negatives: bool = True,
    local_negatives: bool = True,
    in_batch_negatives: bool = True,
    mask_alike: bool = True,
    symmetric: bool = False,
    seed: int = 0,
) -> ContrastiveObjective:
    """Objective `t2v.ContrastiveObjective.v1`, see `ContrastiveObjective`.

    views: Maker of the two views of the global loss, e.g. t2v.SplitViews.v1.
    global_weight, alike_weight, local_weight, match_weight, names_weight (float): L =
        sum of weight times loss. The alike loss needs `doc._.concepts`; the local and
        the names loss need views of t2v.KnowledgeViews.v1 from the corpus reader.
    in_batch_negatives (bool): The other trials of the batch are negatives.
    mask_alike (bool): But not those that share a condition and an intervention concept,
        or all attributes but the title.
    symmetric (bool): Global and names loss in both directions.
    seed (int): Of the draws of views and partners.
    RAISES (T2VError T026): If a weight is negative, or all are 0.
    """
    weights = {
        "global": global_weight,
        "alike": alike_weight,
        "local": local_weight,
        "match": match_weight,
        "names": names_weight,
    }
    for name, weight in weights.items():
        if weight < 0:
            reason = "0 or more"
            setting = f"{name}_weight"
            raise error(Errors.T026, setting=setting, value=weight, reason=reason)
    if not any(weights.values()):
        reason = "at least one weight above 0"
        raise error(Errors.T026, setting="global_weight", value=0, reason=reason)
    return ContrastiveObjective(
        views,
        weights,
        attribute_negatives=attribute_negatives,
        context_negatives=context_negatives,
        local_negatives=local_negatives,
        in_batch_negatives=in_batch_negatives,
        mask_alike=mask_alike,
        symmetric=symmetric,
        seed=seed,
    )


def _swap(
    sections: torch.Tensor,
    present: torch.Tensor,
    shown: torch.Tensor,
    partners: numpy.ndarray,
    labels: list[int],
) -> tuple[torch.Tensor, torch.Tensor]:
    """A view of the trials with some of its sections taken from their partners."""
    own = numpy.arange(len(partners))
    rows = torch.from_numpy(numpy.where(partners >= 0, partners, own))
    rows = rows.to(present.device)
    swapped = torch.zeros_like(shown, dtype=torch.bool)
    swapped[:, labels] = shown[:, labels] > 0
    return (
        torch.where(swapped[:, :, None], sections[rows], sections),
        torch.where(swapped, present[rows], shown),
    )


def _nonzero(vectors: torch.Tensor) -> torch.Tensor:
    # Not "> 0": what is no number must reach the loss and be seen.
    return vectors.detach().abs().amax(-1) != 0


def _equal(values: list[str]) -> torch.Tensor:
    row = numpy.array(values)
    return torch.from_numpy((row[:, None] == row[None, :]) & (row[:, None] != ""))
