"""Give pairs a hard negative each, mined with a backbone before it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from t2v_spacy.errors import T2VError
from t2v_spacy.files import writing
from t2v_spacy.ml.backbone import DEFAULT_BACKBONE
from t2v_spacy.training.contrastive.encoder import (
    load_encoder,
    make_encode,
    run_precision,
)
from t2v_spacy.training.contrastive.mining import MiningSettings, mine_negatives
from t2v_spacy.training.contrastive.pairs import load_sources, write_pairs

SHOWN = 20
DEFAULT = MiningSettings()


def main(
    pairs: Annotated[
        list[Path], typer.Argument(help="Pair files, or folders of them.")
    ],
    out: Annotated[Path, typer.Argument(help="Folder of the new pair files.")],
    backbone: Annotated[
        str, typer.Option(help="What will be trained: a folder, or a hub name.")
    ] = DEFAULT_BACKBONE,
    margin: Annotated[
        float, typer.Option(help="How much less like than the positive, a share of it.")
    ] = DEFAULT.margin,
    max_score: Annotated[float, typer.Option()] = DEFAULT.max_score,
    min_score: Annotated[float, typer.Option()] = DEFAULT.min_score,
    skip: Annotated[int, typer.Option(help="Nearest passed over.")] = DEFAULT.skip,
    most_pairs: Annotated[int, typer.Option(help="Of each source.")] = 10_000,
    max_length: Annotated[int, typer.Option(help="Wordpieces of a text.")] = 128,
    batch_size: Annotated[int, typer.Option(help="Texts of one pass.")] = 64,
    precision: Annotated[str, typer.Option(help="auto, float32 or bf16.")] = "auto",
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Write each source again, with "negative" where there is one."""
    try:
        settings = MiningSettings(margin, max_score, min_score, skip)
        sources = load_sources(pairs, most_pairs, seed)
        _, model = load_encoder(
            backbone, max_length=max_length, precision=run_precision(precision)
        )
        encode = make_encode(model, batch_size)
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
        for source in tqdm(sources, desc="Mining", unit="source", disable=None):
            for refusal in source.report.refused[:SHOWN]:
                typer.echo(f"Refused: {refusal}", err=True)
            mined = mine_negatives(source.pairs, encode, settings)
            write_pairs(out / f"{source.name}.jsonl", mined)
            number = sum(bool(pair.negatives) for pair in mined)
            typer.echo(f"{source.name}: {number} of {len(mined)} pairs have a negative")
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err


if __name__ == "__main__":
    typer.run(main)
