"""Measure the index: build time, size, recall and speed beside exact and hnswlib."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from t2v_spacy.search.annoy_store import N_TREES, SEARCH_K, TREES, AnnoyStore
from t2v_spacy.search.vectors import exact_nearest

Array = np.ndarray
Answer = Callable[[Array], Array]


def main(
    vectors: Annotated[
        Path | None,
        typer.Argument(help="Folder of an index, or a .npy file. None: synthetic."),
    ] = None,
    items: Annotated[int, typer.Option(help="Vectors in the index.")] = 100_000,
    width: Annotated[int, typer.Option(help="Width of synthetic vectors.")] = 384,
    queries: Annotated[int, typer.Option(help="Queries, not in the index.")] = 300,
    k: Annotated[int, typer.Option(help="Neighbours per query.")] = 10,
    n_trees: Annotated[int, typer.Option(help="Annoy's trees.")] = N_TREES,
    search_k: Annotated[
        list[int] | None, typer.Option(help="Nodes per query; may be repeated.")
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Length of the noise added to a unit vector.")
    ] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    hnsw: Annotated[bool, typer.Option(help="Measure hnswlib too.")] = True,
) -> None:
    """Print a markdown table. Vectors are real ones with a little noise, repeated to
    the number wanted, or clustered synthetic ones. One query a call, one thread."""
    rng = np.random.default_rng(seed)
    real = load(vectors) if vectors else clustered(rng, items, width)
    data = enlarge(rng, real, items + queries, noise if vectors else 0.0)
    asked, kept = data[:queries], data[queries:]
    exact_seconds, truth = ask(lambda q: exact_nearest(kept, q, k)[0], asked)
    rows = [("NumPy, exact", 0.0, kept.nbytes, 1.0, exact_seconds)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        store = AnnoyStore.build(kept, n_trees=n_trees, seed=seed, exact_below=0)
        store.save(folder)
        built = time.perf_counter() - start
        size = (folder / TREES).stat().st_size
        for nodes in search_k or [SEARCH_K]:
            answer = annoy_answer(store, k, nodes)
            seconds, found = ask(answer, asked)
            label = f"t2v_spacy, {n_trees} trees, search_k {nodes}"
            rows.append((label, built, size, recall(found, truth), seconds))
        if hnsw:
            rows += measure_hnsw(kept, asked, truth, k, seed, folder)
    typer.echo(
        f"{len(kept):,} x {kept.shape[1]} vectors from "
        f"{vectors or 'clustered synthetic data'}, {queries} queries, seed {seed}\n"
    )
    typer.echo(f"| method | build s | file MB | recall@{k} | queries/s |")
    typer.echo("|---|---:|---:|---:|---:|")
    for label, build, size, share, seconds in rows:
        speed = queries / seconds
        typer.echo(
            f"| {label} | {build:.1f} | {size / 1e6:.0f} | {share:.3f} | {speed:,.0f} |"
        )


def annoy_answer(store: AnnoyStore, k: int, nodes: int) -> Answer:
    return lambda q: store.nearest(q, k, search_k=nodes, method="annoy")[0]


def load(path: Path) -> Array:
    file = path / "vectors.npy" if path.is_dir() else path
    return np.load(file, mmap_mode="r")


def clustered(rng: np.random.Generator, n: int, width: int) -> Array:
    """Vectors that lie in 300 clusters of a space of few dimensions, with noise."""
    centres = rng.normal(size=(300, 32))
    latent = centres[rng.integers(300, size=n)] + 0.6 * rng.normal(size=(n, 32))
    plane = rng.normal(size=(32, width)) / np.sqrt(width)
    flat = latent @ plane + 0.05 * rng.normal(size=(n, width))
    return flat.astype(np.float32)


def enlarge(rng: np.random.Generator, real: Array, n: int, noise: float) -> Array:
    """n shuffled unit vectors: all real ones first, then real ones with noise."""
    again = rng.integers(len(real), size=n)
    picked = np.concatenate([rng.permutation(len(real)), again])
    data = np.array(real[np.sort(picked[:n])], dtype=np.float32)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    if noise:
        # The difference of two real vectors varies as real vectors do, in few
        # directions; white noise would make copies that no index can tell apart.
        one, other = rng.integers(len(real), size=(2, n))
        data += noise * (real[one] - real[other])
        data /= np.linalg.norm(data, axis=1, keepdims=True)
    return data[rng.permutation(n)]


def ask(answer: Answer, queries: Array) -> tuple[float, list[Array]]:
    answer(queries[0])
    start = time.perf_counter()
    found = [answer(query) for query in queries]
    return time.perf_counter() - start, found


def recall(found: list[Array], truth: list[Array]) -> float:
    shares = [
        len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, truth, strict=True)
    ]
    return float(np.mean(shares))


def measure_hnsw(
    data: Array, queries: Array, truth: list[Array], k: int, seed: int, folder: Path
) -> list[tuple[str, float, int, float, float]]:
    try:
        import hnswlib
    except ImportError:
        sys.stderr.write("hnswlib is not installed: left out.\n")
        return []
    start = time.perf_counter()
    index = hnswlib.Index(space="cosine", dim=data.shape[1])
    index.init_index(len(data), M=16, ef_construction=200, random_seed=seed)
    index.set_num_threads(1)
    index.add_items(data)
    built = time.perf_counter() - start
    index.save_index(str(folder / "hnsw.bin"))
    size = (folder / "hnsw.bin").stat().st_size
    rows = []
    for ef in (20, 50):
        index.set_ef(max(ef, k))
        seconds, found = ask(lambda q: index.knn_query(q, k)[0][0], queries)
        label = f"hnswlib, M 16, ef {ef}"
        rows.append((label, built, size, recall(found, truth), seconds))
    return rows


if __name__ == "__main__":
    typer.run(main)
