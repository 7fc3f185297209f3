"""Train a backbone on pairs of texts: the recipe of Clinical UltraBERT."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.backbone import DEFAULT_BACKBONE
from t2v_spacy.training.contrastive.evaluation_texts import read_evaluation
from t2v_spacy.training.contrastive.hub import load_hub_source
from t2v_spacy.training.contrastive.overlap import check_overlap
from t2v_spacy.training.contrastive.pairs import check_pairs, load_sources
from t2v_spacy.training.contrastive.settings import ContrastiveSettings
from t2v_spacy.training.contrastive.train import train_contrastive

SHOWN = 20
DEFAULT = ContrastiveSettings()


def main(
    pairs: Annotated[
        list[Path],
        typer.Argument(
            help="Pair files, or folders of them, then OUT.", metavar="PAIRS… OUT"
        ),
    ],
    hub: Annotated[
        list[str] | None,
        typer.Option(
            help="A hub data set: NAME[@CONFIG][:SPLIT]#ANCHOR,POSITIVE[,NEGATIVE]."
        ),
    ] = None,
    backbone: Annotated[
        str, typer.Option(help="Where to start: a folder, or a hub name.")
    ] = DEFAULT_BACKBONE,
    evaluation: Annotated[
        list[Path] | None,
        typer.Option(help="Files of what the model is to be evaluated on."),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Trials, for evaluation files that name trials by id."),
    ] = None,
    overlap: Annotated[
        str, typer.Option(help="Pairs of an evaluation text: refuse, drop or report.")
    ] = "refuse",
    overlap_words: Annotated[int, typer.Option(help="Words of an n-gram.")] = 13,
    overlap_share: Annotated[
        float, typer.Option(help="Shared n-grams of the shorter text, 0 to 1.")
    ] = 0.2,
    seed: Annotated[int, typer.Option()] = DEFAULT.seed,
    epochs: Annotated[
        int, typer.Option(help="How often each pair is read; 0: until max-steps.")
    ] = DEFAULT.epochs or 0,
    max_steps: Annotated[
        int | None, typer.Option(help="End after so many updates, if that comes first.")
    ] = DEFAULT.max_steps,
    most_pairs: Annotated[
        int, typer.Option(help="Of each source, drawn by the seed.")
    ] = DEFAULT.most_pairs,
    batch_size: Annotated[
        int, typer.Option(help="Pairs of one update, all of one source.")
    ] = DEFAULT.batch_size,
    mini_batch_size: Annotated[
        int, typer.Option(help="Texts of one pass; bounds the memory.")
    ] = DEFAULT.mini_batch_size,
    negatives: Annotated[
        int, typer.Option(help="Mined negatives used of each pair.")
    ] = DEFAULT.negatives,
    learn_rate: Annotated[
        float, typer.Option(help="After the warm-up; falls to zero from there.")
    ] = DEFAULT.learn_rate,
    warmup_ratio: Annotated[
        float, typer.Option(help="Share of the updates.")
    ] = DEFAULT.warmup_ratio,
    weight_decay: Annotated[float, typer.Option()] = DEFAULT.weight_decay,
    beta2: Annotated[float, typer.Option(help="Of AdamW.")] = DEFAULT.beta2,
    grad_clip: Annotated[
        float, typer.Option(help="Longest gradient of one update.")
    ] = DEFAULT.grad_clip,
    max_length: Annotated[
        int, typer.Option(help="Wordpieces read of a text.")
    ] = DEFAULT.max_length,
    scale: Annotated[
        float, typer.Option(help="Of the cosines: 1 / temperature.")
    ] = DEFAULT.scale,
    dropout: Annotated[
        bool, typer.Option(help="With the dropout of the backbone; slower.")
    ] = DEFAULT.dropout,
    average: Annotated[
        float, typer.Option(help="Share of the starting weights in the result, 0 to 1.")
    ] = DEFAULT.average,
    save_every: Annotated[
        int, typer.Option(help="Updates between checkpoints.")
    ] = DEFAULT.save_every,
    precision: Annotated[
        str, typer.Option(help="auto, float32 or bf16.")
    ] = DEFAULT.precision,
) -> None:
    """Write a folder to give as paths.backbone. Run again to resume a stopped run."""
    given = locals()
    settings = {name: given[name] for name in vars(DEFAULT)}
    settings["epochs"] = epochs or None
    try:
        chosen = ContrastiveSettings(**settings)
        *paths, out = pairs
        sources = load_sources(paths, most_pairs, seed) if paths else []
        sources += [load_hub_source(spec, most_pairs, seed) for spec in hub or []]
        for source in sources:
            report = source.report
            typer.echo(
                f"{source.name}: {len(source.pairs)} of {report.read} pairs, "
                f"{sum(bool(p.negatives) for p in source.pairs)} with a negative, "
                f"{report.repeated} repeats, {len(report.refused)} refused",
                err=True,
            )
            for refusal in report.refused[:SHOWN]:
                typer.echo(f"Refused: {refusal}", err=True)
            if len(report.refused) > SHOWN:
                typer.echo(f"... and {len(report.refused) - SHOWN} more", err=True)
        check_pairs(sources, "No pair file and no data set")
        sets = read_evaluation(evaluation or [], records)
        for found in sets:
            if found.unknown:
                typer.echo(
                    f"{found.name}: no record of {len(found.unknown)} trials it names, "
                    f"such as {found.unknown[0]}; pairs of these go unnoticed",
                    err=True,
                )
        sources, checked = check_overlap(
            sources, sets, mode=overlap, n=overlap_words, share=overlap_share
        )
        for line in checked.found[:SHOWN]:
            typer.echo(f"Overlap ({overlap}): {line}", err=True)
        if sets:
            typer.echo(
                f"{len(checked.found)} of {checked.checked} pairs hold texts of the "
                f"evaluation ({overlap})",
                err=True,
            )
        result = train_contrastive(
            sources,
            out,
            backbone=backbone,
            settings=chosen,
            overlap=checked if sets else None,
        )
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    for name, (first, last) in result.losses.items():
        typer.echo(f"{name}: loss {first:.3f} -> {last:.3f}")
    typer.echo(
        f"{result.pairs} pairs, {result.left_out:.0f} left out of an epoch; "
        f"{result.steps} steps, {result.epochs:.2f} epochs; "
        f"loss {result.loss_before:.3f} -> {result.loss:.3f}; {out}"
    )


if __name__ == "__main__":
    typer.run(main)
