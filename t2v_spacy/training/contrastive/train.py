"""Contrastive training of a backbone: `train_contrastive`.

The recipe is that of the model card of Clinical UltraBERT: multiple negatives ranking
loss with cached gradients, in-batch negatives and one mined, a source a batch. The
result is a folder that `t2v.BucketedTransformerModel.v1` takes as `name` and that
SentenceTransformer loads.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy
import srsly
import torch

from ...about import __version__
from ...files import locked, replaced_file, replaced_folder, writing
from ...ml.backbone import DEFAULT_BACKBONE
from ..masked_lm_model import average_weights, load_start, weights_digest
from ..resume import check_output
from .batches import plan_batches
from .encoder import encoder_of, load_encoder, run_precision, save_sentence_modules
from .overlap import OverlapReport
from .packages import need
from .pairs import Source, check_pairs
from .run_folder import (
    LOG,
    REPORT,
    describe_sources,
    last_checkpoint,
    run_key,
)
from .settings import ContrastiveResult, ContrastiveSettings

_ENDS = 5  # the first and last such part of a source's updates give its losses
_VERSIONS = ("torch", "transformers", "sentence-transformers", "datasets", "accelerate")


def train_contrastive(
    sources: Sequence[Source],
    out: Path | str,
    *,
    backbone: str = DEFAULT_BACKBONE,
    settings: ContrastiveSettings | None = None,
    overlap: OverlapReport | None = None,
    progress: bool = True,
) -> ContrastiveResult:
    """Train a backbone on pairs and write it to a folder.

    sources: Of `load_sources`, after `check_overlap`; sources without a pair are passed
        over.
    out: Folder for the new backbone; one of an earlier run is replaced. Beside it the
        folder `.NAME.work` keeps the last checkpoint until the end: a run that was
        killed, started again with the same pairs, backbone and settings, goes on
        from there and ends as if nothing had been.
    backbone (str): Any encoder, named as in `find_backbone`.
    overlap: What `check_overlap` found, for the report.
    progress: Show a bar on stderr if it is a terminal.
    RETURNS (ContrastiveResult): The same for the same seed on one machine.
    RAISES (T2VError): T010 or T051 for a folder that cannot be written or is being
        written; T020 or T198 for a backbone that is missing or cannot be trained so;
        T022 or T026 for a setting; T122 if `.NAME.work` is of another run; T192 if
        the extra `contrastive` is not installed; T193 without a pair; T199 if the
        loss is no longer a number.
    """
    settings = settings or ContrastiveSettings()
    need("sentence_transformers", "datasets", "accelerate")
    from .trainer import make_trainer, step_losses

    out = Path(out).resolve()
    check_output(out, REPORT)
    check_pairs(sources, "The sources")
    sources = [replace(s, pairs=s.pairs[: settings.most_pairs]) for s in sources]
    sources = [source for source in sources if source.pairs]
    work = out.parent / f".{out.name}.work"
    with locked(work), torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        found, model = load_encoder(
            backbone,
            max_length=settings.max_length,
            precision=run_precision(settings.precision),
            dropout=settings.dropout,
        )
        plan = plan_batches(
            sources,
            settings.batch_size,
            epochs=settings.epochs,
            max_steps=settings.max_steps,
            negatives=settings.negatives,
            seed=settings.seed,
        )
        key = run_key(settings, weights_digest(encoder_of(model)), sources)
        checkpoint = last_checkpoint(work, key)
        trainer = make_trainer(model, sources, plan.batches, settings, work, progress)
        trainer.train(resume_from_checkpoint=checkpoint)
        names = _sources_of(plan.batches, sources)
        losses = step_losses(trainer.state)
        result = ContrastiveResult(
            steps=len(plan.batches),
            epochs=plan.epochs,
            pairs=sum(len(source.pairs) for source in sources),
            left_out=plan.left_out,
            losses=_ends(names, losses),
        )
        encoder = encoder_of(model).cpu()
        if settings.average:
            average_weights(encoder, load_start(found), settings.average)
        report = {
            "backbone": Path(backbone).name,
            "settings": asdict(settings),
            **asdict(result),
            "sources": describe_sources(sources),
            "overlap": overlap.to_dict() if overlap else None,
            "versions": {
                "t2v_spacy": __version__,
                **{name: version(name) for name in _VERSIONS},
            },
        }
        with replaced_folder(out) as new, writing(out):
            save_sentence_modules(new, found, encoder, out.name)
            srsly.write_json(new / REPORT, report)
            _write_log(new / LOG, trainer.state.log_history, names)
        shutil.rmtree(work, ignore_errors=True)
    return result


def _sources_of(batches: list[list[int]], sources: Sequence[Source]) -> list[str]:
    """The source of each batch."""
    ends = numpy.cumsum([len(source.pairs) for source in sources])
    found = numpy.searchsorted(ends, [batch[0] for batch in batches], side="right")
    return [sources[i].name for i in found]


def _ends(names: list[str], losses: list[float]) -> dict[str, tuple[float, float]]:
    by_source: dict[str, list[float]] = defaultdict(list)
    for name, loss in zip(names, losses, strict=True):
        by_source[name].append(loss)
    found = {}
    for name, values in sorted(by_source.items()):
        end = max(1, len(values) // _ENDS)
        found[name] = (sum(values[:end]) / end, sum(values[-end:]) / end)
    return found


def _write_log(path: Path, history: list[dict[str, Any]], names: list[str]) -> None:
    """One line of JSON for each update."""
    lines = [
        {
            "step": entry["step"],
            "source": names[entry["step"] - 1],
            **{k: entry[k] for k in ("loss", "learning_rate", "grad_norm")},
        }
        for entry in history
        if "loss" in entry
    ]
    with replaced_file(path) as new:
        srsly.write_jsonl(new, lines)
