"""`Benchmark`: queries with judged documents, whatever file they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import Errors, error
from ..readers.report import SHOWN, Refusal
from ..trial import Trial
from ..trial_text import parse_trial

Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Judged:
    """One query as a file gives it. grades: document id -> grade; text: of a query that
    is no trial; where: its place in the file; cluster: what it shares with others;
    whole: whether all its labels could be read."""

    query: str
    grades: Mapping[str, int]
    where: str
    text: str | None = None
    cluster: str | None = None
    whole: bool = True


@dataclass
class LoadReport:
    """What became of the queries of a file: complete + partial + unusable are all of
    them, duplicates and refused come on top.

    partial: Some of their judged documents are not among the trials given, or some of
        their labels cannot be read.
    unusable: The query itself is not, or none of its documents.
    missing (dict): Ids of judged documents that are not there -> labels lost by it.
    missing_queries: Ids of queries that are not there.
    duplicates: Queries that came before, by id; the first is kept.
    refused: Rows and labels that cannot be used, with the reason.
    """

    complete: int = 0
    partial: int = 0
    unusable: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    missing_queries: list[str] = field(default_factory=list)
    duplicates: Counter[str] = field(default_factory=Counter)
    refused: list[Refusal] = field(default_factory=list)

    def refuse(self, path: object, where: str, reason: str) -> None:
        self.refused.append(Refusal(str(path), where, reason))

    def lines(self) -> list[str]:
        """The report to read: one summary line, what is missing, refusals."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.complete} queries complete, {self.partial} partial, "
            f"{self.unusable} unusable"
        )
        if self.missing:
            yield (
                f"{len(self.missing)} judged trials are not among the trials given "
                f"({self.missing.total()} labels): {_listed(self.missing)}"
            )
        if self.missing_queries:
            names = self.missing_queries
            yield f"{len(names)} queries are not among them: {_listed(names)}"
        if self.duplicates:
            yield (
                f"{self.duplicates.total()} further rows of a query that came before "
                f"(left out): {_listed(self.duplicates)}"
            )
        for refusal in self.refused[:SHOWN]:
            yield f"Refused: {refusal}"
        if len(self.refused) > SHOWN:
            yield f"... and {len(self.refused) - SHOWN} more refused"


@dataclass(frozen=True)
class Benchmark:
    """Queries and what is relevant to each.

    queries: Id -> the record to ask with (a text is read as one by `parse_trial`).
    qrels: Query id -> {document id: grade}.
    candidates: Query id -> the ids to be ranked; None ranks the whole corpus.
    documents: Id -> record of every judged document and query known.
    relevant: Lowest grade that counts where a measure knows relevant or not.
    labelled_by: Who said so.
    clusters: Query id -> cluster, for queries that are no independent evidence.
    left_out: Queries that cannot be asked (see `by_parts`).
    """

    name: str
    queries: Mapping[str, Trial]
    qrels: Qrels
    candidates: Mapping[str, tuple[str, ...]] | None = None
    documents: Mapping[str, Trial] = field(default_factory=dict)
    relevant: int = 1
    labelled_by: str = ""
    clusters: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    report: LoadReport = field(default_factory=LoadReport, compare=False)


def find_documents(trials: Iterable[Trial], wanted: set[str]) -> dict[str, Trial]:
    """The records of the ids wanted, by id or, where there is none of it, by alias. Of
    several records of one id the first is taken."""
    found: dict[str, Trial] = {}
    by_alias: dict[str, Trial] = {}
    for trial in trials:
        if (main := normal(trial.nct_id)) in wanted:
            found.setdefault(main, trial)
        for alias in map(normal, trial.aliases):
            if alias in wanted:
                by_alias.setdefault(alias, trial)
    return by_alias | found


def normal(raw: str) -> str:
    """An id as it is compared: no outer blanks, upper case."""
    return raw.strip().upper()


def assemble(
    name: str,
    path: object,
    judged: Iterable[Judged],
    documents: Mapping[str, Trial] | None,
    report: LoadReport,
    *,
    closed: bool,
    relevant: int,
    labelled_by: str,
    keep_partial: bool,
    seed: int,
) -> Benchmark:
    """Join judgments and documents, and count what does not fit. Without documents
    (None) nothing can be missing and a query is a bare id.

    RAISES (T101): No query is left.
    """
    queries: dict[str, Trial] = {}
    qrels: dict[str, dict[str, int]] = {}
    clusters: dict[str, str] = {}
    seen: set[str] = set()
    for row in judged:
        query = row.query
        if query in seen:
            report.duplicates[query] += 1
            continue
        seen.add(query)
        grades = dict(row.grades)
        if query in grades and row.text is None:
            report.refuse(path, row.where, "the query is a candidate of itself")
            del grades[query]
        lost = [doc for doc in grades if documents is not None and doc not in documents]
        for doc in lost:
            report.missing[doc] += 1
            del grades[doc]
        record = _record(row, documents)
        if record is None:
            report.missing_queries.append(query)
        if record is None or not grades:
            report.unusable += 1
            continue
        if row.whole and not lost:
            report.complete += 1
        else:
            report.partial += 1
            if not keep_partial:
                continue
        queries[query], qrels[query] = record, grades
        if row.cluster is not None:
            clusters[query] = row.cluster
    if not queries:
        reasons = [*map(str, report.refused[:3]), report.lines()[0]]
        raise error(Errors.T101, path=path, reason="; ".join(reasons))
    wanted = set(queries) | {doc for grades in qrels.values() for doc in grades}
    return Benchmark(
        name,
        queries,
        qrels,
        candidates=_shuffled(qrels, seed) if closed else None,
        documents={i: t for i, t in (documents or {}).items() if i in wanted},
        relevant=relevant,
        labelled_by=labelled_by,
        clusters=clusters,
        report=report,
    )


def _record(row: Judged, documents: Mapping[str, Trial] | None) -> Trial | None:
    if row.text is not None:
        return parse_trial(row.text, row.query)
    return Trial(row.query) if documents is None else documents.get(row.query)


def _shuffled(qrels: Qrels, seed: int) -> dict[str, tuple[str, ...]]:
    """Candidates out of the order of the file, which can give the labels away: some
    lists have the relevant ones first, others the order of another system."""
    rng = np.random.default_rng(seed)
    return {
        query: tuple(list(grades)[i] for i in rng.permutation(len(grades)))
        for query, grades in qrels.items()
    }


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
