"""The trainer of sentence-transformers, with our batches, negatives and progress."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from safetensors.torch import load_file, save_file
from sentence_transformers import (
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer import losses
from tqdm import tqdm
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback

from ...errors import Errors, error
from .encoder import encoder_of
from .pairs import Source
from .settings import ContrastiveSettings

_WEIGHTS = "weights.safetensors"
_SHOWN = 50  # losses whose mean the bar shows
_WIDTHS = 16  # a batch is as wide as a multiple of it


def make_trainer(
    model: Any,
    sources: Sequence[Source],
    batches: list[list[int]],
    settings: ContrastiveSettings,
    work: Path,
    progress: bool,
) -> Any:
    """A trainer that is ready to run.

    batches: Of `plan_batches`, in the order of training."""
    steps = len(batches)
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(work),
        max_steps=steps,
        per_device_train_batch_size=settings.batch_size,
        batch_sampler=lambda dataset, **_: PlannedBatches(dataset, batches),
        learning_rate=settings.learn_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(settings.warmup_ratio * steps),
        weight_decay=settings.weight_decay,
        adam_beta2=settings.beta2,
        max_grad_norm=settings.grad_clip,
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=1,
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = PairTrainer(
        model=model,
        args=arguments,
        train_dataset=make_dataset(sources, settings.negatives),
        loss=make_loss(model, settings),
        data_collator=PairCollator(model),
        callbacks=[Progress(steps, progress), StopAtNoNumber(work)],
    )
    trainer.remove_callback(PrinterCallback)  # it writes to stdout
    return trainer


def make_loss(model: Any, settings: ContrastiveSettings) -> torch.nn.Module:
    """The same loss and gradients either way; cached where a batch takes more than one
    pass."""
    if settings.mini_batch_size >= settings.batch_size:
        return losses.MultipleNegativesRankingLoss(model, scale=settings.scale)
    return losses.CachedMultipleNegativesRankingLoss(
        model, scale=settings.scale, mini_batch_size=settings.mini_batch_size
    )


def make_dataset(sources: Sequence[Source], negatives: int) -> Dataset:
    pairs = [pair for source in sources for pair in source.pairs]
    return Dataset.from_dict(
        {
            "anchor": [pair.anchor for pair in pairs],
            "positive": [pair.positive for pair in pairs],
            "negative": [list(pair.negatives[:negatives]) for pair in pairs],
        }
    )


class PlannedBatches(DefaultBatchSampler):
    """Gives the batches as planned, all epochs as one."""

    def __init__(self, dataset: Any, batches: list[list[int]]) -> None:
        super().__init__(dataset, batch_size=len(batches[0]), drop_last=False)
        self.batches = batches

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class PairCollator:
    """Wordpieces of a batch. Pairs may have any number of negatives; the loss compares
    each anchor with all of them, so that they need not stand in rows. Texts of like
    length stand together: a pass is as wide as its longest, or a little wider, since
    torch compiles and keeps kernels for every width in bfloat16."""

    valid_label_columns: list[str] = []

    def __init__(self, model: Any) -> None:
        self.preprocess = model.preprocess
        self.padding = model.tokenizer.pad_token_id or 0
        self.longest = model.max_seq_length

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        rows = sorted(rows, key=lambda row: len(row["anchor"]) + len(row["positive"]))
        columns = {
            "anchor": [row["anchor"] for row in rows],
            "positive": [row["positive"] for row in rows],
            "negative": sorted((t for row in rows for t in row["negative"]), key=len),
        }
        return {
            f"{column}_{key}": value
            for column, texts in columns.items()
            if texts
            for key, value in self.preprocess(texts).items()
            for value in (self._widen(key, value),)
        }

    def _widen(self, key: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.ndim != 2:
            return value
        padding = self.padding if key == "input_ids" else 0
        width = value.shape[1]
        more = max(0, min(-width % _WIDTHS, self.longest - width))
        return torch.nn.functional.pad(value, (0, more), value=padding)


class PairTrainer(SentenceTransformerTrainer):
    """Checkpoints hold the weights alone, and of the model nothing that has to be run
    to be read."""

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """No card is written, and none of its examples computed."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = Path(output_dir or self.args.output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        values = {
            name: parameter.detach().cpu().contiguous()
            for name, parameter in encoder_of(self.model).named_parameters()
        }
        save_file(values, folder / _WEIGHTS)

    def _load_from_checkpoint(
        self, resume_from_checkpoint: str, model: Any = None
    ) -> None:
        values = load_file(Path(resume_from_checkpoint) / _WEIGHTS)
        with torch.no_grad():
            for name, parameter in encoder_of(self.model).named_parameters():
                parameter.copy_(values[name])


class Progress(TrainerCallback):
    """A bar on stderr, if that is a terminal."""

    def __init__(self, steps: int, shown: bool) -> None:
        self.steps, self.shown = steps, shown
        self.bar: tqdm | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar = tqdm(
            total=self.steps,
            initial=state.global_step,
            desc="Training",
            unit="step",
            disable=None if self.shown else True,
        )

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.bar is not None:
            self.bar.update(state.global_step - self.bar.n)
            last = step_losses(state)[-_SHOWN:]
            mean = sum(last) / max(1, len(last))
            self.bar.set_postfix(loss=f"{mean:.3f}", refresh=False)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.bar is not None:
            self.bar.close()


class StopAtNoNumber(TrainerCallback):
    def __init__(self, work: Path) -> None:
        self.work = work

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any
    ) -> None:
        values = [logs[name] for name in ("loss", "grad_norm") if name in (logs or {})]
        if not all(map(math.isfinite, values)):
            rate = logs.get("learning_rate", args.learning_rate)
            raise error(Errors.T199, step=state.global_step, rate=rate, path=self.work)


def step_losses(state: Any) -> list[float]:
    """Loss of each update so far, those before a run was resumed too."""
    return [entry["loss"] for entry in state.log_history if "loss" in entry]
