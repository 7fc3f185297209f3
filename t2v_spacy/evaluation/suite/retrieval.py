"""Retrieval: nDCG@10 of texts ranked by cosine.

As mteb and trec_eval count it: the gain of a document is its grade, and the mean is
over the queries that have a relevant document. Unlike there, ties are in random order
under the seed, not by id, and a query without a relevant document is left out and
counted, not taken as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from ...errors import Errors, error
from ..ranking import ndcg, rank
from ..significance import bootstrap_interval
from ..systems.base import cosines, unit
from .encoders import Encoder, vectors
from .jsonl import bad, read_lines, read_objects, text_of
from .score import ROUNDS, Score

_AT_A_TIME = 64  # queries


@dataclass(frozen=True)
class Retrieval:
    """corpus, queries: id -> text; qrels: query -> {document: grade}. closed: only the
    documents judged for a query are ranked, else the whole corpus."""

    name: str
    corpus: Mapping[str, str]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    closed: bool = False


def score_retrieval(data: Retrieval, encoder: Encoder, *, seed: int = 0) -> Score:
    """nDCG@10 and its interval over queries. RAISES (T205): No query counts."""
    asked = [name for name in data.queries if any(data.qrels.get(name, {}).values())]
    if not asked:
        raise error(
            Errors.T205, task=data.name, reason="no query has a relevant document"
        )
    ids = np.array(list(data.corpus), dtype=object)
    place = {name: i for i, name in enumerate(data.corpus)}
    documents = unit(vectors(encoder, list(data.corpus.values())))
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for start in range(0, len(asked), _AT_A_TIME):
        names = asked[start : start + _AT_A_TIME]
        rows = unit(vectors(encoder, [data.queries[name] for name in names]))
        for name, scores in zip(names, cosines(rows, documents), strict=True):
            judged = data.qrels[name]
            grades = np.zeros(len(ids), "int64")
            known = {place[doc]: grade for doc, grade in judged.items() if doc in place}
            grades[list(known)] = list(known.values())
            missed = [grade for doc, grade in judged.items() if doc not in place]
            ranked = list(known) if data.closed else slice(None)
            order = rank(scores[ranked], grades[ranked], rng)
            value = ndcg(order, 10, gain="linear", missed=missed)
            values.append(0.0 if value is None else value)
    low, high = bootstrap_interval(values, rounds=ROUNDS, seed=seed)
    left_out = sum(name in data.qrels for name in data.queries) - len(asked)
    note = f"{left_out} queries without a relevant document" if left_out else ""
    return Score(float(np.mean(values)), low, high, len(values), "queries", note)


def read_retrieval(folder: Path) -> Retrieval:
    """corpus.jsonl (`_id`, `text`, `title` or not), queries.jsonl (`_id`, `text`) and
    qrels.tsv or qrels/test.tsv (query, document, grade; a header or not), as BEIR.

    RAISES (T001): A file is lacking. (T201): A line of another form, an id that comes
    twice, or a query in the qrels that has no text.
    """
    corpus = _texts(folder / "corpus.jsonl")
    queries = _texts(folder / "queries.jsonl")
    path = folder / "qrels.tsv"
    if not path.is_file() and (folder / "qrels" / "test.tsv").is_file():
        path = folder / "qrels" / "test.tsv"
    return Retrieval(folder.name, corpus, queries, _qrels(path, queries))


def read_birco(path: Path) -> Retrieval:
    """BIRCO's JSON: "query", "corpus" {id: text} and "qrel" {query: {id: grade}}.
    Each query ranks the documents judged for it.

    RAISES (T001): No such file. (T201): Of another form.
    """
    if not path.is_file():
        raise error(Errors.T001, path=path)
    try:
        found: Any = srsly.read_json(path)
    except ValueError as err:
        raise bad(path, f"it is no JSON ({err})") from err
    parts = [found.get(key) for key in ("corpus", "query", "qrel")]
    if not all(isinstance(part, dict) for part in parts):
        raise bad(path, "it lacks 'query', 'corpus' or 'qrel'")
    corpus, queries, qrels = parts
    for name, text in (*corpus.items(), *queries.items()):
        if not isinstance(text, str):
            raise bad(path, f"{name} has no text")
    for name, grades in qrels.items():
        if name not in queries:
            raise bad(path, f"the query {name} has no text")
        for document, grade in grades.items():
            if type(grade) is not int or grade < 0:
                reason = f"the grade of {document} is no whole number from 0 on"
                raise bad(path, f"query {name}: {reason}")
    return Retrieval(path.stem, corpus, queries, qrels, closed=True)


def _texts(path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for number, row in read_objects(path):
        name = text_of(path, number, row, "_id")
        if name in texts:
            raise bad(path, f"{name} comes twice", number)
        title = row.get("title") or ""
        body = text_of(path, number, row, "text")
        texts[name] = f"{title} {body}".strip()
    return texts


def _qrels(path: Path, queries: Mapping[str, str]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path):
        cells = line.rstrip("\r\n").split("\t")
        grade = _grade(cells[-1])
        if number == 1 and grade is None:
            continue  # the header
        if len(cells) != 3 or grade is None:
            raise bad(path, "it is not query, document, grade with tabs", number)
        query, document, _ = cells
        if query not in queries:
            raise bad(path, f"the query {query} is not in queries.jsonl", number)
        qrels.setdefault(query, {})[document] = grade
    return qrels


def _grade(cell: str) -> int | None:
    """None for no whole number; TREC-COVID has -1, which trec_eval takes as 0."""
    try:
        return max(0, int(cell))
    except ValueError:
        return None
