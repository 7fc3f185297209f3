"""Ranking quality of a pipeline on graded trial-similarity queries.

Labels: a JSON list of {"query": id, "candidates": [ids], "grades": [0, 1 or 2]}.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import srsly
import typer
from tqdm import tqdm

from t2v_spacy import Trial, make_trial_doc, read_trials
from t2v_spacy.cli import load_pipeline
from t2v_spacy.evaluation.ranking import average_precision, ndcg, rank
from t2v_spacy.evaluation.significance import bootstrap_interval
from t2v_spacy.ml.pytorch_encoder import DEFAULT_WEIGHTS

Vectors = Mapping[str, np.ndarray]
ATTRIBUTES = {"title": 1.0, "condition": 1.0, "intervention": 1.0}
TEXT = {"summary": 0.5, "eligibility": 0.5}
WEIGHTS = {
    "title alone": {"title": 1.0},
    "title, condition, intervention": ATTRIBUTES,
    "+ 0.5 summary, eligibility": ATTRIBUTES | TEXT,
    "+ 0.5 keyword": ATTRIBUTES | TEXT | {"keyword": 0.5},
    "+ 0.5 description (the default)": DEFAULT_WEIGHTS,
    "+ 0.5 outcome": DEFAULT_WEIGHTS | {"outcome": 0.5},
    "inclusion, exclusion 0.25 each for eligibility": DEFAULT_WEIGHTS
    | {"eligibility": 0.0, "inclusion": 0.25, "exclusion": 0.25},
    "all sections 1": dict.fromkeys(DEFAULT_WEIGHTS, 1.0),
}


def main(
    labels: Path,
    trials: Path,
    model: Annotated[str, typer.Option()] = "models/trial2vec",
    precision: Annotated[str | None, typer.Option()] = None,
    seed: Annotated[int, typer.Option()] = 0,
    compare_weights: Annotated[
        bool, typer.Option(help="Rows for other weights of the sections too.")
    ] = False,
) -> None:
    """Print nDCG@5 and MAP of grade 2 with 95 % intervals over the queries."""
    queries = srsly.read_json(labels)
    ids = [[query["query"], *query["candidates"]] for query in queries]
    wanted = {nct_id for group in ids for nct_id in group}
    nlp = load_pipeline(model, precision)
    vectors, sections = encode(
        nlp, [t for t in read_trials(trials) if t.nct_id in wanted]
    )
    run = nlp.get_pipe("transformer").model.attrs["run"]
    lines = [
        f"Model {model}, precision {run.precision}, {len(queries)} queries, "
        f"{len(vectors)} of {len(wanted)} trials encoded, seed {seed}",
        "",
        "| vectors | nDCG@5 (95 % interval) | MAP of grade 2 (95 % interval) |",
        "|---|---|---|",
        f"| `doc._.trial_vector` | {measure(queries, vectors, seed)} |",
    ]
    if compare_weights:
        for name, weights in WEIGHTS.items():
            mixed = {i: mix(found, weights) for i, found in sections.items()}
            lines.append(f"| {name} | {measure(queries, mixed, seed)} |")
    typer.echo("\n".join(lines))


def encode(nlp: Any, trials: list[Trial]) -> tuple[Vectors, Mapping[str, Vectors]]:
    """Trial vectors and section vectors by NCT id."""
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in trials)
    vectors, sections = {}, {}
    for trial, doc in zip(
        trials, tqdm(docs, total=len(trials), disable=None), strict=True
    ):
        if doc._.trial_vector is not None:
            vectors[trial.nct_id] = doc._.trial_vector
            sections[trial.nct_id] = doc._.section_vectors
    return vectors, sections


def mix(sections: Vectors, weights: Mapping[str, float]) -> np.ndarray:
    """The weighted sum of the sections present, of unit length."""
    width = len(next(iter(sections.values())))
    total = np.zeros(width, dtype="float32")
    for label, vector in sections.items():
        total += weights.get(label, 0.0) * vector
    return total / max(float(np.linalg.norm(total)), 1e-9)


def measure(queries: list[dict[str, Any]], vectors: Vectors, seed: int) -> str:
    """Table cells; a candidate without a vector ranks last, a query without a relevant
    candidate does not count for that measure."""
    rng = np.random.default_rng(seed)
    none = np.zeros_like(next(iter(vectors.values())))
    ranked = []
    for query in queries:
        anchor = vectors.get(query["query"], none)
        scores = [
            float(anchor @ vectors[c]) if c in vectors else -1.0
            for c in query["candidates"]
        ]
        ranked.append(rank(scores, query["grades"], rng))
    cells = []
    for found in (
        [ndcg(grades, 5) for grades in ranked],
        [average_precision(grades, 2) for grades in ranked],
    ):
        values = [value for value in found if value is not None]
        low, high = bootstrap_interval(values, seed=seed)
        cells.append(
            f"{np.mean(values):.3f} ({low:.3f} to {high:.3f}), {len(values)} queries"
        )
    return " | ".join(cells)


if __name__ == "__main__":
    typer.run(main)
