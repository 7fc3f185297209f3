"""Benchmarks from files: `load_benchmark(path, format, trials=…)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import Errors, error
from ..readers import read_trials
from ..trial import Trial
from .benchmark import Benchmark, Judged, LoadReport, assemble, find_documents, normal
from .json_labels import Documents, read_birco, read_graded, read_groups
from .rank_tables import read_rank_table
from .trec import read_qrels

Read = Callable[[Path, LoadReport], tuple[Iterator[Judged], Documents | None]]


@dataclass(frozen=True)
class Format:
    """read: judgments of a file, and the documents if it holds them. closed: only the
    judged documents are ranked, else the whole corpus."""

    read: Read
    closed: bool
    relevant: int
    labelled_by: str


BENCHMARKS = {
    "trialsim": Format(
        read_rank_table,
        closed=True,
        relevant=1,
        labelled_by="0 or 1 by the authors of Trial2Vec (2022), ten candidates a "
        "query, which are the first ten of a TF-IDF search",
    ),
    "trialsim-open": Format(
        read_graded,
        closed=True,
        relevant=2,
        labelled_by="0 to 2 after the minimum annotation guide of the Trial2Vec "
        "paper; the file does not say by whom",
    ),
    "secret": Format(
        read_rank_table,
        closed=True,
        relevant=1,
        labelled_by="0 or 1 by the authors of SECRET (2025), ten candidates a query",
    ),
    "review-groups": Format(
        read_groups,
        closed=False,
        relevant=1,
        labelled_by="nobody graded pairs: trials that one systematic review takes in "
        "count as relevant to each other, all others as not",
    ),
    "birco": Format(
        read_birco,
        closed=True,
        relevant=1,
        labelled_by="0 to 2 by medical assessors (patient to trial, the collection of "
        "Koopman and Zuccon, 2016, as sampled by BIRCO)",
    ),
    "trec": Format(
        read_qrels, closed=False, relevant=1, labelled_by="the makers of the qrels"
    ),
}


def load_benchmark(
    path: str | Path,
    format: str,
    *,
    trials: str | Path | Iterable[Trial] | None = None,
    topics: str | Path | None = None,
    name: str | None = None,
    relevant: int | None = None,
    closed: bool | None = None,
    labelled_by: str | None = None,
    keep_partial: bool = True,
    seed: int = 0,
) -> Benchmark:
    """A benchmark of one of the formats BENCHMARKS. Its `report` says what is missing.

    trials: Records, or a file or folder of them; judged trials without a record are
        left out and counted. None: no record is looked for, which is enough to
        evaluate a run that exists already.
    topics: Texts of the queries, lines "id<TAB>text"; else queries are trials.
    name: Default the name of the file.
    relevant, closed, labelled_by: Default those of the format.
    keep_partial: Keep queries of which some judged trials are missing. They are easier
        or harder than the whole; leave them out to compare with published figures.
    seed: Of the order of the candidates; that of the file can give the labels away.
    RAISES (T001): No such file. (T007): No such format. (T100): A file of another
    form. (T101): No query is left. (T103): openpyxl is needed.
    """
    path = Path(path)
    if format not in BENCHMARKS:
        raise error(Errors.T007, value=format, formats=", ".join(BENCHMARKS))
    if not path.is_file():
        raise error(Errors.T001, path=path)
    form = BENCHMARKS[format]
    report = LoadReport()
    found, documents = form.read(path, report)
    judged = list(found)
    if topics is not None:
        texts = _topics(Path(topics))
        judged = [replace(row, text=texts.get(row.query, row.text)) for row in judged]
    if documents is None and trials is not None:
        wanted = {row.query for row in judged}.union(*(row.grades for row in judged))
        records = read_trials(trials) if isinstance(trials, str | Path) else trials
        documents = find_documents(records, wanted)
    return assemble(
        name or path.stem,
        path,
        judged,
        documents,
        report,
        closed=form.closed if closed is None else closed,
        relevant=form.relevant if relevant is None else relevant,
        labelled_by=labelled_by or form.labelled_by,
        keep_partial=keep_partial,
        seed=seed,
    )


def _topics(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise error(Errors.T001, path=path)
    texts = {}
    for line in path.read_text(encoding="utf-8-sig", errors="replace").splitlines():
        query, _, text = line.partition("\t")
        if text.strip():
            texts[normal(query)] = text.strip()
    return texts
