"""Ranking quality of a pipeline on graded trial-similarity queries.

Labels: a JSON list of {"query": id, "candidates": [ids], "grades": [0, 1 or 2]}.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import srsly
import typer
from tqdm import tqdm

from t2v_spacy import Trial, make_trial_doc, read_trials
from t2v_spacy.cli import load_pipeline
from t2v_spacy.evaluation.ranking import (
    average_precision,
    bootstrap_interval,
    ndcg,
    rank,
)


def main(
    labels: Path,
    trials: Path,
    model: Annotated[str, typer.Option()] = "models/trial2vec",
    precision: Annotated[str | None, typer.Option()] = None,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Print nDCG@5 and MAP of grade 2 with 95 % intervals over the queries."""
    queries = srsly.read_json(labels)
    wanted = {q["query"] for q in queries} | {
        c for q in queries for c in q["candidates"]
    }
    nlp = load_pipeline(model, precision)
    vectors = encode(nlp, [t for t in read_trials(trials) if t.nct_id in wanted])
    rng = np.random.default_rng(seed)
    ndcgs, precisions, skipped = [], [], 0
    for query in queries:
        pairs = [
            (float(vectors[query["query"]] @ vectors[candidate]), grade)
            for candidate, grade in zip(
                query["candidates"], query["grades"], strict=True
            )
            if query["query"] in vectors and candidate in vectors
        ]
        skipped += len(query["candidates"]) - len(pairs)
        ranked = rank(*zip(*pairs, strict=True), rng)
        ndcgs.append(ndcg(ranked, 5))
        precisions.append(average_precision(ranked, 2))
    run = nlp.get_pipe("transformer").model.attrs["run"]
    lines = [
        f"Model {model}, precision {run.precision}, {len(queries)} queries, "
        f"{len(vectors)} of {len(wanted)} trials encoded, "
        f"{skipped} candidates without a vector",
        "",
        "| measure | value | 95 % interval | queries without a relevant candidate |",
        "|---|---|---|---|",
    ]
    for name, found in (("nDCG@5", ndcgs), ("MAP of grade 2", precisions)):
        values = [value for value in found if value is not None]
        low, high = bootstrap_interval(values, seed=seed)
        lines.append(
            f"| {name} | {np.mean(values):.4f} | {low:.3f} to {high:.3f} "
            f"| {len(found) - len(values)} |"
        )
    typer.echo("\n".join(lines))


def encode(nlp, trials: list[Trial]) -> dict[str, np.ndarray]:  # type: ignore[no-untyped-def]
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in trials)
    done = zip(trials, tqdm(docs, total=len(trials), disable=None), strict=True)
    return {
        trial.nct_id: doc._.trial_vector
        for trial, doc in done
        if doc._.trial_vector is not None
    }


if __name__ == "__main__":
    typer.run(main)
