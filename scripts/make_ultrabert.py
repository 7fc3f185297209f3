"""Make a small UltraBERT that has learned nothing yet, to be trained from trials."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.ultrabert.new import make_ultrabert
from t2v_spacy.readers import ReadReport, read_trials

SHOWN = 20


def main(
    trials: Annotated[Path, typer.Argument(help="Trial records of any known format.")],
    out: Annotated[Path, typer.Argument(help="Folder of the new backbone.")],
    vocabulary: Annotated[int, typer.Option(help="Most entries of it.")] = 8000,
    layers: Annotated[int, typer.Option(help="Every third sees the whole text.")] = 6,
    width: Annotated[int, typer.Option(help="Of a token's vector.")] = 384,
    heads: Annotated[int, typer.Option(help="Heads of queries in a layer.")] = 6,
    shared: Annotated[
        int | None, typer.Option(help="Heads of keys and values. Default: as many.")
    ] = None,
    feed_forward: Annotated[int, typer.Option(help="Width of that part.")] = 512,
    window: Annotated[
        int, typer.Option(help="Tokens seen on either side by the other layers.")
    ] = 128,
    seed: Annotated[int, typer.Option(help="Seed of the weights.")] = 0,
) -> None:
    """Write a folder to train further with train_trialbert.py or train_contrastive.py.

    The tokenizer is learned from the trials; the weights are random.
    """
    report = ReadReport()
    try:
        parameters = make_ultrabert(
            (trial.to_text() for trial in read_trials(trials, report=report)),
            out,
            vocabulary=vocabulary,
            seed=seed,
            num_hidden_layers=layers,
            hidden_size=width,
            num_attention_heads=heads,
            num_key_value_heads=shared,
            intermediate_size=feed_forward,
            sliding_window=window,
        )
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for refusal in report.refused[:SHOWN]:
        typer.echo(f"Refused: {refusal}", err=True)
    typer.echo(f"{parameters:,} parameters; {out}")


if __name__ == "__main__":
    typer.run(main)
