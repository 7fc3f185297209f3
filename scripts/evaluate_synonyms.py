"""Does a pipeline know medical synonyms? Aliases that share no word with the name of
their concept, as queries among the names of many concepts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import typer
from spacy.language import Language

from t2v_spacy.doc import set_sections
from t2v_spacy.evaluation.significance import bootstrap_interval
from t2v_spacy.kb import KnowledgeBase
from t2v_spacy.sections.headed import Section
from t2v_spacy.training.knowledge_views import is_held_out

_WORD = re.compile(r"[a-z0-9]+")


def main(
    models: list[str],
    trials: Annotated[
        Path | None, typer.Option(help="Prepared trials: only concepts they mention.")
    ] = None,
    held_out: Annotated[float, typer.Option(help="Share kept out of training.")] = 0.05,
    aliases: Annotated[int, typer.Option()] = 400,
    names: Annotated[int, typer.Option()] = 1500,
    label: Annotated[str, typer.Option(help="Section they are read as.")] = "title",
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Print recall at 1 and 10 with 95 % intervals over the aliases."""
    try:
        kb = spacy.load(models[0]).get_pipe("umls_linker").kb
        wanted = mentioned(trials) if trials else set(kb.ids())
    except (OSError, KeyError, ValueError) as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    queries, targets = draw(kb, wanted, held_out, aliases, names, seed)
    if not queries:
        typer.echo("No held-out concept has such an alias: raise --held-out", err=True)
        raise typer.Exit(1)
    typer.echo(f"{len(queries)} aliases, {len(targets)} names, seed {seed}")
    for model in models:
        nlp = spacy.load(model, exclude=["umls_linker"])
        asked, found = (encode(nlp, texts, label) for texts in (queries, targets))
        scores = asked @ found.T
        own = scores[np.arange(len(queries)), np.arange(len(queries))]
        ranks = (scores >= own[:, None]).sum(axis=1)
        cells = []
        for k in (1, 10):
            hits = (ranks <= k).astype(float).tolist()
            low, high = bootstrap_interval(hits, seed=seed)
            cells.append(f"recall@{k} {np.mean(hits):.3f} ({low:.3f} to {high:.3f})")
        typer.echo(f"{Path(model).name}: {', '.join(cells)}")


def mentioned(path: Path) -> set[str]:
    with path.open(encoding="utf8") as file:
        return {mention[0] for line in file for mention in json.loads(line)["mentions"]}


def draw(
    kb: KnowledgeBase,
    wanted: set[str],
    held_out: float,
    n_aliases: int,
    n_names: int,
    seed: int,
) -> tuple[list[str], list[str]]:
    """Aliases of held-out concepts, and names of concepts, those of the aliases first.
    Too few of them give fewer aliases."""
    rng = np.random.default_rng(seed)
    ids = np.array(sorted(i for i in wanted if i in kb))
    queries, own = [], []
    for concept in map(kb.__getitem__, rng.permutation(ids)):
        words = set(_WORD.findall(concept.canonical_name.lower()))
        fit = [a for a in concept.aliases if not words & set(_WORD.findall(a.lower()))]
        if fit and is_held_out(concept.concept_id, held_out):
            queries.append(fit[rng.integers(len(fit))])
            own.append(concept.concept_id)
        if len(queries) == n_aliases:
            break
    others = [i for i in rng.permutation(ids).tolist() if i not in set(own)]
    kept = own + others[: n_names - len(own)]
    return queries, [kb.name(i) for i in kept]


def encode(nlp: Language, texts: list[str], label: str) -> np.ndarray:
    """Section vectors of texts that are a whole section each."""
    docs = [nlp.tokenizer(text) for text in texts]
    for doc, text in zip(docs, texts, strict=True):
        set_sections(doc, [Section(label, 0, len(text))])
    return np.stack([doc._.section_vectors[label] for doc in nlp.pipe(docs)])


if __name__ == "__main__":
    typer.run(main)
