"""Cost of a training step, in one run: wordpieces encoded for each trial, and time
against the plain forward and backward passes of the same sequences."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import spacy
import torch
import typer
from spacy.training.initialize import init_nlp
from spacy.util import registry
from thinc.api import Config, fix_random_seed

from t2v_spacy.ml.backbone import freeze
from t2v_spacy.ml.batch_info import read_batch
from t2v_spacy.ml.buckets import make_buckets
from t2v_spacy.ml.precision import autocast, resolve_precision
from t2v_spacy.ml.windows import make_windows, pad
from t2v_spacy.sections.labels import SECTION_LABELS

READ = 400


def main(
    config: Path,
    trials: Annotated[Path, typer.Argument(help="Made by prepare_corpus.py.")],
    steps: Annotated[int, typer.Option()] = 6,
    frozen_layers: Annotated[int | None, typer.Option()] = None,
) -> None:
    """Print medians over the steps after the first."""
    overrides: dict[str, Any] = {"paths.train": str(trials), "paths.dev": str(trials)}
    if frozen_layers is not None:
        overrides["components.transformer.model.frozen_layers"] = frozen_layers
    fix_random_seed(0)
    nlp = init_nlp(Config().from_disk(config, overrides=overrides, interpolate=False))
    settings = registry.resolve(nlp.config.interpolate()["training"])
    corpora = registry.resolve(nlp.config.interpolate()["corpora"])
    # The batcher reads many batches ahead, so the reader is timed by itself.
    corpora["train"].read(nlp)
    start = time.perf_counter()
    read = sum(1 for _ in islice(corpora["train"](nlp), READ))
    each = (time.perf_counter() - start) / read
    batches = iter(settings["batcher"](corpora["train"](nlp)))
    rows = []
    for _ in range(steps + 1):
        batch = next(batches)
        made = each * len(batch)
        plain = time_plain(nlp, batch)
        start = time.perf_counter()
        nlp.update(batch, sgd=False)  # type: ignore[arg-type]
        for _, pipe in nlp.pipeline:
            if getattr(pipe, "is_trainable", False):
                pipe.finish_update(settings["optimizer"])  # type: ignore[attr-defined]
        whole = made + time.perf_counter() - start
        rows.append((whole, plain, made, *count(nlp, batch)))
    whole, plain, made, once, apart = map(median, zip(*rows[1:], strict=True))
    ratio = median(row[0] / row[1] for row in rows[1:])
    typer.echo(
        f"{config.name}, {len(batch)} trials a step, {steps} steps, "
        f"spaCy {spacy.__version__}"
    )
    typer.echo(f"wordpieces a trial and step: {once:.0f}; each view apart: {apart:.0f}")
    typer.echo(
        f"a step {whole:.2f} s, of it {made:.2f} s to make the batch; "
        f"plain passes of the same sequences {plain:.2f} s; ratio {ratio:.2f}"
    )


def _windows(nlp: Any, batch: Any) -> tuple[Any, Any]:
    model = nlp.get_pipe("transformer").model
    docs = [example.predicted for example in batch]
    return model, make_windows(
        model.tokenizer, model.attrs["get_spans"](docs), model.attrs["run"].windows
    )


def time_plain(nlp: Any, batch: Any) -> float:
    """Seconds of the backbone's forward and backward passes, bucket by bucket."""
    model, windows = _windows(nlp, batch)
    run, bert = model.attrs["run"], model.transformer
    freeze(bert, run.frozen_layers)
    bert.train()
    precision = resolve_precision(run.precision, bert.device)
    start = time.perf_counter()
    for bucket in make_buckets(windows.lengths, run.max_tokens):
        padded = pad(windows.ids, bucket, model.tokenizer.pad_token_id or 0)
        ids, mask = map(torch.from_numpy, (padded.input_ids, padded.attention_mask))
        with autocast(precision, bert.device):
            hidden = bert(input_ids=ids, attention_mask=mask).last_hidden_state
        hidden.float().mean().backward()
    seconds = time.perf_counter() - start
    bert.zero_grad()
    return seconds


def count(nlp: Any, batch: Any) -> tuple[float, float]:
    """Wordpieces a trial: encoded in this step, and if each view of each trial were
    encoded by itself."""
    _, windows = _windows(nlp, batch)
    objective = nlp.get_pipe("trial2vec").objective
    n, labels = len(batch), len(SECTION_LABELS)
    lengths = windows.lengths[windows.sequence]
    sizes, extra = np.zeros((n, labels)), 0
    for row, part in enumerate(windows.doc_rows):
        for at in range(part.start, part.stop):
            if windows.section[at] >= 0:
                sizes[row, windows.section[at]] += lengths[at]
            else:
                extra += lengths[at]
    present = (sizes > 0).astype("float32")
    first, second = objective.views(present, np.random.default_rng(0))
    hard = objective.attribute_negatives + objective.context_negatives
    partners = read_batch([eg.predicted for eg in batch]).same_condition().any(1)
    apart = (sizes * first).sum() + (sizes * second).sum() + extra
    apart += hard * (sizes * second)[partners].sum()
    apart += bool(objective.weights["alike"]) * sizes.sum()
    return windows.lengths.sum() / n, apart / n


if __name__ == "__main__":
    typer.run(main)
