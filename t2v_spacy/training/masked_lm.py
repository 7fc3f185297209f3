"""TrialBERT: a backbone that is trained further on masked words of trials.

Trial2Vec (section 4.1) starts from a BERT that has read trial documents. The result is
a folder that `t2v.BucketedTransformerModel.v1` takes as `name`.
"""

from __future__ import annotations

import math
import shutil
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import torch
import transformers
from tqdm import tqdm

from ..about import __version__
from ..errors import Errors, error
from ..files import locked, replaced_folder, writing
from ..ml.backbone import DEFAULT_BACKBONE, freeze
from ..ml.buckets import make_buckets
from ..ml.precision import resolve_precision
from ..trial import Trial
from .masked_lm_data import (
    MaskedBatch,
    Masker,
    Sequences,
    held_out,
    make_batches,
    make_sequences,
)
from .masked_lm_files import (
    REPORT,
    load_checkpoint,
    load_weights,
    read_state,
    save_checkpoint,
    save_weights,
    write_backbone,
    write_log,
)
from .masked_lm_model import (
    average_weights,
    load_masked_lm,
    load_start,
    masked_loss,
    weights_digest,
)
from .masked_lm_settings import MaskedLMResult, MaskedLMSettings
from .resume import check_output, difference

# A run may go on with other values of these: they do not change the steps done so far.
_FREE = ("max_minutes", "average")


def train_masked_lm(
    trials: Iterable[Trial],
    out: Path | str,
    *,
    backbone: str = DEFAULT_BACKBONE,
    settings: MaskedLMSettings | None = None,
    progress: bool = True,
) -> MaskedLMResult:
    """Train a backbone further on masked words of trials and write it to a folder.

    out: Folder for the new backbone; one of an earlier run is replaced. Beside it the
        folder `.NAME.work` keeps the last checkpoint, the best weights and the log
        until the end: a run that was killed, started again with the same trials,
        backbone and settings, goes on from there and ends as if nothing had been.
    backbone (str): A BERT-like model, named as in `find_backbone`.
    progress: Show bars on stderr if it is a terminal.
    RETURNS (MaskedLMResult): The same for the same seed on one machine.
    RAISES (T2VError): T010 or T051 for a folder that cannot be written or is being
        written; T020 or T120 for a backbone that is missing or cannot be trained so;
        T022 or T026 for a setting; T121 for too little text; T122 if `.NAME.work` is
        of another run; T123 if the loss is no longer a number.
    Warns (T124): the backbone has no head; a new one is trained.
    """
    settings = settings or MaskedLMSettings()
    out = Path(out).resolve()
    check_output(out, REPORT)
    work = out.parent / f".{out.name}.work"
    with locked(work), torch.random.fork_rng():
        found, tokenizer, model, new_head = load_masked_lm(
            backbone, settings.window, settings.seed
        )
        if new_head:
            steps, name = settings.head_steps, Path(backbone).name
            warnings.warn(str(error(Errors.T124, name=name, steps=steps)), stacklevel=2)
        data = make_sequences(
            tokenizer,
            trials,
            window=settings.window,
            join_sections=settings.join_sections,
            progress=progress,
        )
        masker = Masker(tokenizer, settings.mask_rate, settings.whole_words)
        run = _Run(model, masker, data, settings, work, new_head)
        run.start()
        run.train(progress)
        load_weights(work / "best.safetensors", model)
        if settings.average:
            average_weights(model.base_model, load_start(found), settings.average)
        result = run.result()
        report = {
            "backbone": Path(backbone).name,
            "settings": asdict(settings),
            **asdict(result),
            "sequences": len(data),
            "wordpieces": len(data.ids),
            "versions": {
                "t2v_spacy": __version__,
                "torch": torch.__version__,
                "transformers": transformers.__version__,
            },
        }
        with replaced_folder(out) as new, writing(out):
            write_backbone(new, out.name, found, model, report)
            write_log(new, run.history)
        shutil.rmtree(work, ignore_errors=True)
    return result


class _Run:
    """The state of a training run, from its start or from its last checkpoint."""

    def __init__(
        self,
        model: Any,
        masker: Masker,
        data: Sequences,
        settings: MaskedLMSettings,
        work: Path,
        new_head: bool,
    ) -> None:
        self.model, self.masker, self.data = model, masker, data
        self.settings, self.work = settings, work
        self.precision = resolve_precision(settings.precision, model.device)
        self.head_steps = settings.head_steps if new_head else 0
        dev = _divide(data, settings)
        self.train_rows, self.dev_rows = numpy.flatnonzero(~dev), numpy.flatnonzero(dev)
        self.key = {
            "settings": {k: v for k, v in asdict(settings).items() if k not in _FREE},
            "backbone": weights_digest(model),
            "trials": data.digest,
        }
        freeze(model, settings.frozen_layers)
        self.trained = [p for p in model.parameters() if p.requires_grad]
        of_encoder = {id(p) for p in model.base_model.parameters()}
        self.encoder = [p for p in self.trained if id(p) in of_encoder]
        # Biases and the scales of layer norms are vectors; they do not decay.
        groups: list[dict[str, Any]] = [
            {"params": [p for p in self.trained if p.ndim > 1]},
            {"params": [p for p in self.trained if p.ndim == 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        self.step = 0
        self.minutes = 0.0
        self.history: list[dict[str, Any]] = []

    @property
    def best(self) -> dict[str, Any]:
        return min(self.history, key=lambda line: line["dev_loss"])

    def start(self) -> None:
        """Take up the last checkpoint, or evaluate what there is before training."""
        path = self.work / "last.safetensors"
        if path.is_file():
            state = read_state(path)
            if reason := difference(state["key"], self.key):
                raise error(Errors.T122, path=self.work, reason=reason)
            load_checkpoint(path, self.model, self.optimizer)
            self.step, self.minutes = state["step"], state["minutes"]
            self.history = state["history"]
        else:
            with writing(self.work):
                self.work.mkdir(exist_ok=True)
            self.checkpoint(None)

    def train(self, progress: bool) -> None:
        settings = self.settings
        steps = self.head_steps + settings.max_steps
        begun = time.monotonic() - 60 * self.minutes
        limit = math.inf if settings.max_minutes is None else settings.max_minutes
        batches = make_batches(
            self.train_rows, self.data.lengths, settings.batch_tokens, settings.seed
        )
        losses: list[float] = []
        with tqdm(
            total=steps,
            initial=self.step,
            desc="Training",
            unit="step",
            disable=None if progress else True,
        ) as bar:
            for rows in islice(batches, self.step, steps):
                if self.minutes >= limit:
                    break
                losses.append(self.update(rows))
                self.step += 1
                self.minutes = (time.monotonic() - begun) / 60
                bar.update()
                bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
                if self.step % settings.eval_every == 0:
                    self.checkpoint(losses)
                    losses = []
        if self.history[-1]["step"] < self.step:
            self.checkpoint(losses)

    def update(self, rows: numpy.ndarray) -> float:
        """One step of the optimiser; RETURNS the mean loss of its hidden wordpieces."""
        seed = self.settings.seed
        torch.manual_seed(seed * 1_000_003 + self.step)  # of the dropout
        rng = numpy.random.default_rng([seed, 1, self.step])
        head_alone = self.step < self.head_steps
        for parameter in self.encoder:
            parameter.requires_grad_(not head_alone)
        rate = self.learn_rate()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train(self.settings.dropout)
        self.optimizer.zero_grad()
        batches = list(self.passes(rows, rng))
        number = sum(len(batch.labels) for batch in batches)
        total = 0.0
        for batch in batches:
            loss = masked_loss(self.model, batch, self.precision) / number
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(self.trained, self.settings.grad_clip)
        if not (math.isfinite(total) and torch.isfinite(norm)):
            raise self.not_finite(rate)
        self.optimizer.step()
        return total

    def learn_rate(self) -> float:
        settings, step = self.settings, self.step - self.head_steps
        if step < 0:
            return settings.head_learn_rate
        done = step / settings.max_steps
        if settings.max_minutes is not None:
            done = max(done, self.minutes / settings.max_minutes)
        risen = min(1.0, (step + 1) / max(1, settings.warmup_steps))
        return settings.learn_rate * risen * (1 - min(1.0, done))

    def passes(
        self, rows: numpy.ndarray, rng: numpy.random.Generator
    ) -> Iterator[MaskedBatch]:
        lengths = self.data.lengths[rows]
        for bucket in make_buckets(lengths, self.settings.max_tokens):
            yield self.masker(self.data, rows[bucket], rng)

    def evaluate(self) -> float:
        """Mean loss of the held-out trials, whose hidden wordpieces never change."""
        rng = numpy.random.default_rng([self.settings.seed, 2])
        self.model.eval()
        total, number = 0.0, 0
        with torch.no_grad():
            for batch in self.passes(self.dev_rows, rng):
                total += masked_loss(self.model, batch, self.precision).item()
                number += len(batch.labels)
        if not math.isfinite(total):
            raise self.not_finite(self.learn_rate())
        return total / number

    def checkpoint(self, losses: list[float] | None) -> None:
        """Evaluate, and keep what a later run needs to go on from here."""
        loss = self.evaluate()
        self.history.append(
            {
                "step": self.step,
                "train_loss": float(numpy.mean(losses)) if losses else None,
                "dev_loss": loss,
                "dev_perplexity": perplexity(loss),
                "learn_rate": self.optimizer.param_groups[0]["lr"] if losses else 0.0,
                "minutes": round(self.minutes, 3),
            }
        )
        # Best first: a run killed in between comes to the same best again.
        if self.best is self.history[-1]:
            save_weights(self.work / "best.safetensors", self.model)
        state = {
            "key": self.key,
            "step": self.step,
            "minutes": self.minutes,
            "history": self.history,
        }
        save_checkpoint(
            self.work / "last.safetensors", self.model, self.optimizer, state
        )
        write_log(self.work, self.history)

    def result(self) -> MaskedLMResult:
        return MaskedLMResult(
            steps=self.step,
            best_step=self.best["step"],
            perplexity_before=self.history[0]["dev_perplexity"],
            perplexity=perplexity(self.evaluate()),
            records=len(self.data.names),
            held_out=len(numpy.unique(self.data.owner[self.dev_rows])),
            refused=self.data.refused,
        )

    def not_finite(self, rate: float) -> Exception:
        return error(Errors.T123, step=self.step + 1, rate=rate, path=self.work)


def perplexity(loss: float) -> float:
    """e to the mean loss, or what is still a number."""
    return math.exp(min(loss, 700.0))


def _divide(data: Sequences, settings: MaskedLMSettings) -> numpy.ndarray:
    if not len(data):
        read = len(data.names) + len(data.refused)
        raise error(Errors.T121, reason=f"none of {read} trials has a text")
    dev = held_out(data, settings.dev_records, settings.seed)
    if dev.all() or not dev.any():
        raise error(Errors.T121, reason="there must be trials to hold out, too")
    return dev
