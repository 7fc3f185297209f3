"""Train a backbone further on masked words of trials (TrialBERT)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.backbone import DEFAULT_BACKBONE
from t2v_spacy.readers import ReadReport, read_trials
from t2v_spacy.training.masked_lm import train_masked_lm
from t2v_spacy.training.masked_lm_settings import MaskedLMSettings

SHOWN = 20
DEFAULT = MaskedLMSettings()


def main(
    trials: Annotated[Path, typer.Argument(help="Trial records of any known format.")],
    out: Annotated[Path, typer.Argument(help="Folder of the new backbone.")],
    backbone: Annotated[
        str, typer.Option(help="Where to start: a folder, or a hub name.")
    ] = DEFAULT_BACKBONE,
    seed: Annotated[int, typer.Option()] = DEFAULT.seed,
    max_steps: Annotated[
        int, typer.Option(help="Updates of the encoder.")
    ] = DEFAULT.max_steps,
    max_minutes: Annotated[
        float | None, typer.Option(help="End after so long, if that comes first.")
    ] = DEFAULT.max_minutes,
    head_steps: Annotated[
        int, typer.Option(help="Updates of a new head alone, before the others.")
    ] = DEFAULT.head_steps,
    batch_tokens: Annotated[
        int, typer.Option(help="Wordpieces of one update.")
    ] = DEFAULT.batch_tokens,
    max_tokens: Annotated[
        int, typer.Option(help="Padded wordpieces of one pass; bounds the memory.")
    ] = DEFAULT.max_tokens,
    window: Annotated[
        int, typer.Option(help="Wordpieces of one sequence.")
    ] = DEFAULT.window,
    join_sections: Annotated[
        bool, typer.Option(help="Sections of a trial together in a sequence, or alone.")
    ] = DEFAULT.join_sections,
    mask_rate: Annotated[
        float, typer.Option(help="Share of the wordpieces to guess.")
    ] = DEFAULT.mask_rate,
    whole_words: Annotated[
        bool, typer.Option(help="Hide words, or single wordpieces.")
    ] = DEFAULT.whole_words,
    learn_rate: Annotated[
        float, typer.Option(help="After the warm-up; falls to zero from there.")
    ] = DEFAULT.learn_rate,
    head_learn_rate: Annotated[
        float, typer.Option(help="While the head is trained alone.")
    ] = DEFAULT.head_learn_rate,
    warmup_steps: Annotated[int, typer.Option()] = DEFAULT.warmup_steps,
    weight_decay: Annotated[float, typer.Option()] = DEFAULT.weight_decay,
    grad_clip: Annotated[
        float, typer.Option(help="Longest gradient of one update.")
    ] = DEFAULT.grad_clip,
    dropout: Annotated[
        bool, typer.Option(help="With the dropout of the backbone; slower.")
    ] = DEFAULT.dropout,
    frozen_layers: Annotated[
        int, typer.Option(help="Lowest layers, and the embeddings, left as they are.")
    ] = DEFAULT.frozen_layers,
    average: Annotated[
        float, typer.Option(help="Share of the starting weights in the result, 0 to 1.")
    ] = DEFAULT.average,
    dev_records: Annotated[
        int, typer.Option(help="Trials held out, at most a tenth.")
    ] = DEFAULT.dev_records,
    eval_every: Annotated[
        int, typer.Option(help="Updates between evaluations, each a checkpoint.")
    ] = DEFAULT.eval_every,
    precision: Annotated[
        str, typer.Option(help="auto, float32 or bf16.")
    ] = DEFAULT.precision,
) -> None:
    """Write a folder to give as paths.backbone. Run again to resume a stopped run."""
    given = locals()
    report = ReadReport()
    settings = {name: given[name] for name in vars(DEFAULT)}
    warnings.showwarning = lambda message, *_, **__: typer.echo(str(message), err=True)
    try:
        result = train_masked_lm(
            read_trials(trials, report=report),
            out,
            backbone=backbone,
            settings=MaskedLMSettings(**settings),
        )
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for refusal in report.refused[:SHOWN]:
        typer.echo(f"Refused: {refusal}", err=True)
    for name in result.refused[:SHOWN]:
        typer.echo(f"Refused {name}: it has no text", err=True)
    if len(result.refused) > SHOWN:
        typer.echo(f"... and {len(result.refused) - SHOWN} more", err=True)
    typer.echo(
        f"{result.records} trials, {result.held_out} held out; {result.steps} steps, "
        f"best after {result.best_step}; perplexity {result.perplexity_before:.1f} -> "
        f"{result.perplexity:.1f}; {out}"
    )


if __name__ == "__main__":
    typer.run(main)
