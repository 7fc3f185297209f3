"""Ranking by vectors, words and concepts, each alone and fused, on judged trials.

Every query is asked whole, and by what people type: its title, and its condition with
its intervention. Prints Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from t2v_spacy import Trial, make_trial_doc, read_trials
from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.benchmark import Benchmark, normal
from t2v_spacy.evaluation.evaluation import Evaluation, compare, evaluate
from t2v_spacy.evaluation.loaders import load_benchmark
from t2v_spacy.evaluation.parts import by_parts
from t2v_spacy.evaluation.runs import Run
from t2v_spacy.evaluation.systems.pipeline import Trial2Vec
from t2v_spacy.kb.shared import no_evidence
from t2v_spacy.load import load_nlp
from t2v_spacy.search.codes import code_counts, exact_terms, is_short
from t2v_spacy.search.concept_scores import ConceptScores
from t2v_spacy.search.facets import Facets, FacetWriter
from t2v_spacy.search.fusion import fuse
from t2v_spacy.search.lexical import Lexical, LexicalWriter, lexical_text
from t2v_spacy.search.linked import ConceptReader, find_kb

Table = np.ndarray
SINGLE = ("vectors", "words", "concepts")
ASKED = {
    "whole trial": (),
    "title": ("title",),
    "condition, intervention": ("condition", "intervention"),
}
# Equal weights, and vectors counting double: a grid too small to fit to dev data.
WEIGHTS = [
    *({one: 1.0, other: 1.0} for one, other in combinations(SINGLE, 2)),
    {"vectors": 2.0, "words": 1.0},
    dict.fromkeys(SINGLE, 1.0),
    dict.fromkeys(SINGLE, 1.0) | {"vectors": 2.0},
    {"vectors": 2.0, "words": 2.0, "concepts": 1.0},
]
CODES_FIRST: list[dict[str, float]] = [{"vectors": 1.0}, {"vectors": 1.0, "words": 1.0}]


class Rankers:
    """The three systems over one corpus; `tables` asks them."""

    def __init__(self, corpus: list[Trial], vectors: Trial2Vec, linker: Linker) -> None:
        self._vectors, self._linker = vectors, linker
        vectors.fit(corpus)
        lexical, facets = LexicalWriter(), FacetWriter()
        for trial, concepts in zip(corpus, linker(corpus), strict=True):
            lexical.append(trial)
            facets.append(trial, concepts)
        self._lexical, self._facets = (
            Lexical(lexical.columns()),
            Facets(facets.columns()),
        )
        ignored = no_evidence(linker.kb)
        self._concepts = ConceptScores(facets.columns(), ignored=ignored)

    def tables(self, queries: list[Trial]) -> dict[str, Table]:
        """Name -> scores (queries, trials)."""
        concepts = self._linker(queries)
        return {
            "vectors": self._vectors.scores(queries),
            "words": np.stack([self._lexical.scores(lexical_text(q)) for q in queries]),
            "concepts": np.stack([self._concepts.scores(c or {}) for c in concepts]),
        }

    def codes(self, queries: list[Trial]) -> Table:
        """int (queries, trials): how many codes of a short query each trial has."""
        counts = np.zeros((len(queries), self._lexical.n), np.int32)
        for row, query in zip(counts, queries, strict=True):
            text = " ".join(body for _, body in query.sections)
            if is_short(text):
                found = exact_terms(text)
                row[:] = code_counts(
                    found, self._lexical, self._facets, self._linker.kb
                )
        return counts


class Linker:
    """Trials -> their concepts, by the linker of a pipeline alone."""

    def __init__(self, model: str) -> None:
        self._nlp = load_nlp(model, exclude=("transformer", "trial2vec", "doc_cleaner"))
        kb = find_kb(self._nlp)
        if kb is None:
            raise typer.BadParameter(f"{model} has no umls_linker")
        self.kb = kb
        self._read = ConceptReader(kb)

    def __call__(self, trials: Iterable[Trial]) -> Iterator:
        docs = (make_trial_doc(self._nlp, trial) for trial in trials)
        return (self._read(doc) for doc in self._nlp.pipe(docs))


def main(
    trials: Path,
    graded: Annotated[Path, typer.Option(help="Graded candidates, JSON.")],
    groups: Annotated[Path, typer.Option(help="Groups of like trials, JSON.")],
    model: Annotated[str, typer.Option()] = "models/trial2vec",
    distractors: Annotated[
        int, typer.Option(help="Trials drawn at random beside those of the groups.")
    ] = 800,
    cache: Annotated[Path | None, typer.Option(help="Keeps vectors.")] = None,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Print a table for each benchmark and kind of query, and what the rule says."""
    try:
        vectors = Trial2Vec(model=model, cache=cache)
        linker = Linker(model)
        found = {}
        for path, form in ((graded, "trialsim-open"), (groups, "review-groups")):
            benchmark = load_benchmark(path, form, trials=trials, seed=seed)
            rest = []
            if benchmark.candidates is None:
                rest = draw(trials, distractors, set(benchmark.documents), seed)
            found[form] = study(benchmark, rest, vectors, linker, seed)
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    typer.echo(f"Model {model}, {distractors} distractors, seed {seed}")
    for form, parts in found.items():
        for asked, rows in parts.items():
            typer.echo(
                "\n".join(["", f"### {form}, asked by {asked}", "", *table(rows)])
            )
    typer.echo("\n".join(["", *verdicts(found)]))


def draw(path: Path, n: int, known: set[str], seed: int) -> list[Trial]:
    """n trials of a file drawn at random, without those known."""
    rng = np.random.default_rng(seed)
    drawn: list[Trial] = []
    others = (t for t in read_trials(path) if normal(t.nct_id) not in known)
    for i, trial in enumerate(tqdm(others, desc="Drawing", disable=None)):
        if len(drawn) < n:
            drawn.append(trial)
        elif (place := int(rng.integers(i + 1))) < n:
            drawn[place] = trial
    return drawn


def study(
    benchmark: Benchmark,
    rest: list[Trial],
    vectors: Trial2Vec,
    linker: Linker,
    seed: int,
) -> dict[str, dict[str, Evaluation]]:
    """Kind of query -> name of a ranking -> its figures."""
    corpus = [*benchmark.documents.values(), *rest]
    ids = [normal(trial.nct_id) for trial in corpus]
    rankers = Rankers(corpus, vectors, linker)
    found = {}
    for asked, parts in ASKED.items():
        part = by_parts(benchmark, parts) if parts else benchmark
        queries = list(part.queries.values())
        tables = rankers.tables(queries)
        first = rankers.codes(queries)
        tables |= {
            **{name_of(w): fused(tables, w) for w in WEIGHTS},
            **{
                f"{name_of(w)}, codes first": fused(tables, w, first)
                for w in CODES_FIRST
            },
        }
        found[asked] = {
            name: figures(part, name, ids, scores, seed)
            for name, scores in tables.items()
        }
    return found


def fused(
    tables: Mapping[str, Table],
    weights: Mapping[str, float],
    first: Table | None = None,
) -> Table:
    """Places as scores: -1 for the best."""
    used = {name: tables[name] for name in weights}
    found = np.zeros_like(next(iter(used.values())), dtype="float64")
    n = found.shape[1]
    for i, row in enumerate(found):
        result = fuse(
            {name: table[i] for name, table in used.items()},
            weights,
            n,
            first=None if first is None else first[i],
        )
        row[result.places] = -np.arange(1, n + 1)
    return found


def figures(
    benchmark: Benchmark, name: str, ids: list[str], scores: Table, seed: int
) -> Evaluation:
    measures = ["ndcg@5", "map", "precision@1"]
    if benchmark.candidates is None:
        measures.append("recall@10")
    scores = np.nan_to_num(scores, nan=-1)  # what it cannot say of comes last
    rows = zip(benchmark.queries, scores, strict=True)
    run = Run(name, {query: (ids, row) for query, row in rows})
    return evaluate(benchmark, run, measures=measures, seed=seed)


def name_of(weights: Mapping[str, float]) -> str:
    return " + ".join(f"{w:g} {n}" if w != 1 else n for n, w in weights.items())


def table(rows: Mapping[str, Evaluation]) -> list[str]:
    """One row a ranking; differences are to vectors and to the best single one."""
    others = list(dict.fromkeys(("vectors", best_single(rows))))
    heads = [row.measure for row in rows["vectors"].rows]
    heads += [f"nDCG@5 less that of {other}" for other in others]
    lines = [f"| ranking | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name, found in rows.items():
        cells = [f"{r.mean:.3f} ({r.low:.3f} to {r.high:.3f})" for r in found.rows]
        for other in others:
            d = next(d for d in compare(found, rows[other]) if d.measure == "ndcg@5")
            cells.append(f"{d.difference:+.3f} ({d.low:+.3f} to {d.high:+.3f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def best_single(rows: Mapping[str, Evaluation]) -> str:
    return max(SINGLE, key=lambda name: rows[name]["ndcg@5"].mean or 0)


def verdicts(found: Mapping[str, Mapping[str, Mapping[str, Evaluation]]]) -> list[str]:
    """Which hybrids are nowhere below the best single one by nDCG@5."""
    lines = ["| hybrid | at least as good as the best single ranking |", "|---|---|"]
    tables = [
        (f"{form}, {asked}", rows)
        for form, parts in found.items()
        for asked, rows in parts.items()
    ]
    for name in list(tables[0][1])[len(SINGLE) :]:
        below = [where for where, rows in tables if is_below(rows, name)]
        lines.append(f"| {name} | {'not on ' + '; '.join(below) if below else 'yes'} |")
    return lines


def is_below(rows: Mapping[str, Evaluation], name: str) -> bool:
    best = rows[best_single(rows)]["ndcg@5"].mean or 0
    return (rows[name]["ndcg@5"].mean or 0) < best


if __name__ == "__main__":
    typer.run(main)
