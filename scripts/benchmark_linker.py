"""Speed and memory of the linker beside scispaCy's candidate generator, and its share
of a whole pipeline.

    python scripts/benchmark_linker.py strings trials.jsonl.gz
    python scripts/benchmark_linker.py memory
    python scripts/benchmark_linker.py pipeline trials.jsonl.gz --model MODEL

scispaCy's own index builder refuses today's scipy, and its default graph (M = 100)
takes hours on two cores for the whole base; so `strings` builds the same four files
with a smaller graph (M = 16, minutes), which is also faster to search.
"""

# ruff: noqa: T201
from __future__ import annotations

import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
Source = Annotated[Path, typer.Argument(help="Trial records.")]


@app.command()
def strings(
    source: Source,
    trials: Annotated[
        int, typer.Option(help="Trials whose mentions are linked.")
    ] = 5000,
    concepts: Annotated[int, typer.Option(help="Size of the base; 0 is all.")] = 0,
    index: Annotated[
        Path | None, typer.Option(help="Folder to keep scispaCy's index in.")
    ] = None,
    seed: int = 3,
) -> None:
    """Mentions a second, ours and scispaCy's, on the same strings and base."""
    from scispacy.candidate_generation import CandidateGenerator, LinkerPaths

    from t2v_spacy.kb.linker import ConceptLinker
    from t2v_spacy.kb.scispacy_bridge import to_scispacy

    mentions = _mentions(source, trials, seed)
    distinct = list(dict.fromkeys(mentions))
    kb = _subset(concepts, seed)
    print(f"{len(mentions)} mentions of {trials} trials, {len(distinct)} distinct")
    print(f"base: {len(kb)} concepts, {kb.info()['aliases'] + len(kb)} names")
    theirs_kb = to_scispacy(kb)
    with tempfile.TemporaryDirectory() as temporary:
        folder = index or Path(temporary)
        if not (folder / "nmslib_index.bin").exists():
            folder.mkdir(parents=True, exist_ok=True)
            start = time.perf_counter()
            build_index(theirs_kb, folder)
            print(f"scispaCy: index built in {time.perf_counter() - start:.0f} s")
        start = time.perf_counter()
        aliases, vectorizer, graph = LinkerPaths.from_directory(folder).load()
        generator = CandidateGenerator(graph, vectorizer, aliases, theirs_kb)
        print(f"scispaCy: index loaded in {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    linker = ConceptLinker(kb)
    len(linker.matcher), linker.spelling, linker.link("warm up", "any")
    print(f"ours: ready in {time.perf_counter() - start:.2f} s")

    # Both bases stay; without this the collector walks them while either one works.
    gc.collect()
    gc.freeze()
    n = len(mentions)
    ours = _rate(n, lambda: [linker.link(text, role) for role, text in mentions])
    print(f"ours: {ours}")
    found = sum(bool(linker.link(text, role)) for role, text in mentions)
    print(f"ours: {found / n:.1%} of the mentions linked")
    again = _rate(n, lambda: [linker.link(text, role) for role, text in mentions])
    print(f"ours, all seen before: {again}")
    texts = [text for _, text in mentions]
    theirs = _rate(n, lambda: _batches(generator, texts))
    print(f"scispaCy (k = 30, batches of 1,000): {theirs}")
    unique = list(dict.fromkeys(texts))
    once = _rate(n, lambda: _batches(generator, unique))
    print(f"scispaCy, each distinct string once: {once}")
    some = [texts[i : i + 4] for i in range(0, 4000, 4)]
    single = _rate(4000, lambda: [generator(part, 30) for part in some])
    print(f"scispaCy, four mentions (about a trial) a call: {single}")


class _Rate(NamedTuple):
    """Items a second of wall clock, and of processor time of all threads."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:,.0f} a second, {self.cpu:,.0f} a processor second"


def _rate(n: int, task: Callable[[], Any]) -> _Rate:
    wall, cpu = time.perf_counter(), time.process_time()
    task()
    return _Rate(n / (time.perf_counter() - wall), n / (time.process_time() - cpu))


def _batches(generator: Any, texts: list[str]) -> None:
    for i in range(0, len(texts), 1000):
        generator(texts[i : i + 1000], 30)


@app.command()
def memory() -> None:
    """Load time and memory of the built-in base, ours and as scispaCy holds it."""
    for name in ("ours", "linker", "scispacy"):
        command = [sys.executable, __file__, "load", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(done.stdout.strip())


@app.command(hidden=True)
def load(name: str) -> None:
    """Load one base in this process and say what it took."""
    from t2v_spacy.kb.builtin import load_builtin
    from t2v_spacy.kb.scispacy_bridge import write_scispacy_jsonl

    path = Path(tempfile.gettempdir()) / f"t2v-{os.getpid()}.jsonl"
    if name == "scispacy":
        from scispacy.linking_utils import KnowledgeBase

        _in_child(lambda: write_scispacy_jsonl(load_builtin(), path))
    before, start = _resident(), time.perf_counter()
    kept: Any
    if name == "scispacy":
        kept = KnowledgeBase(str(path))
    else:
        kept = load_builtin()
        kept.lookup("gout"), kept.lookup_norm("gout")
    if name == "linker":
        from t2v_spacy.kb.linker import ConceptLinker

        kept = ConceptLinker(kept)
        kept.link("some unheard of thing", "any")
    seconds, mib = time.perf_counter() - start, _resident() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {seconds:.2f} s, +{mib:.0f} MiB resident, peak {peak:.0f} MiB")
    path.unlink(missing_ok=True)


@app.command()
def pipeline(
    source: Source,
    model: Annotated[str, typer.Option(help="Pipeline that encodes trials.")],
    trials: int = 200,
    seed: int = 3,
) -> None:
    """Time of each pipe; the linker's as a share of the encoder's."""
    import spacy

    from t2v_spacy import make_trial_doc, read_trials

    nlp = spacy.load(model)
    if "umls_linker" not in nlp.pipe_names:
        nlp.add_pipe("umls_linker", after="trial_parser")
    records = [t for t in read_trials(source) if t.conditions and t.eligibility]
    chosen = random.Random(seed).sample(records, trials)
    for trial in records[:4]:
        nlp(make_trial_doc(nlp, trial))
    docs = [make_trial_doc(nlp, trial) for trial in chosen]
    spent = {}
    for name, pipe in nlp.pipeline:
        start = time.perf_counter()
        if hasattr(pipe, "pipe"):
            docs = list(pipe.pipe(docs, batch_size=32))
        else:
            docs = [pipe(doc) for doc in docs]
        spent[name] = time.perf_counter() - start
    encoding = sum(t for name, t in spent.items() if name != "umls_linker")
    print({name: f"{t:.2f} s" for name, t in spent.items()})
    links = sum(len(doc._.concepts) for doc in docs)
    print(
        f"{trials} trials, {links} links: the linker takes "
        f"{spent['umls_linker'] / encoding:.1%} of the other pipes' time, "
        f"{spent['umls_linker'] / trials * 1000:.1f} ms a trial"
    )


def build_index(kb: Any, folder: Path) -> None:
    """The four files of a scispaCy index; kb is scispaCy's."""
    import joblib
    import nmslib
    import numpy
    import scipy.sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    aliases = sorted(kb.alias_to_cuis)
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=1, dtype=numpy.float32
    )
    vectors = vectorizer.fit_transform(aliases)
    empty = numpy.asarray(vectors.sum(axis=1) == 0).reshape(-1)
    aliases = [a for a, flag in zip(aliases, empty, strict=True) if not flag]
    vectors = vectors[~empty]
    (folder / "concept_aliases.json").write_text(json.dumps(aliases))
    joblib.dump(vectorizer, folder / "tfidf_vectorizer.joblib")
    scipy.sparse.save_npz(folder / "tfidf_vectors_sparse.npz", vectors)
    index = nmslib.init(
        method="hnsw",
        space="cosinesimil_sparse",
        data_type=nmslib.DataType.SPARSE_VECTOR,
    )
    index.addDataPointBatch(vectors)
    index.createIndex({"M": 16, "efConstruction": 100, "indexThreadQty": 1, "post": 0})
    index.saveIndex(str(folder / "nmslib_index.bin"))


def _mentions(source: Path, n: int, seed: int) -> list[tuple[str, str]]:
    from t2v_spacy import read_trials

    records = [t for t in read_trials(source) if t.conditions and t.interventions]
    found = []
    for trial in random.Random(seed).sample(records, min(n, len(records))):
        found += [("condition", name) for name in trial.conditions]
        found += [("intervention", item.name) for item in trial.interventions]
    return found


def _subset(n: int, seed: int) -> Any:
    from t2v_spacy.kb import KnowledgeBase, load_builtin

    kb = load_builtin()
    if not n:
        return kb
    ids = set(random.Random(seed).sample(sorted(kb.ids()), n))
    chosen = [concept for concept in kb if concept.concept_id in ids]
    return KnowledgeBase.from_concepts(chosen, info={"name": "subset"})


def _in_child(task: Any) -> None:
    """Run in a fork, so that what it takes is not counted here."""
    child = os.fork()
    if not child:
        task()
        os._exit(0)
    os.waitpid(child, 0)


def _resident() -> float:
    """Memory of this process now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


if __name__ == "__main__":
    app()
