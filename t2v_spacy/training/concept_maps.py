"""Maps of the section vectors that make trials of one concept alike, in closed form.

The mean-pooled vectors of an encoder share a large common part and vary most along
directions that say little of what a trial is about. Concepts tell which: what varies
among the trials of one condition, or of one intervention, is noise for finding their
like. Each section's vectors are centred and this variation is divided out by half
(within-class whitening, the first half of linear discriminant analysis).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from tqdm import tqdm

from ..errors import Errors, error
from ..ml.batch_info import read_batch
from ..sections.labels import SECTION_LABELS

_KINDS = ("condition", "intervention")
_BATCH = 128


def fit_concept_maps(
    nlp: Language,
    docs: Iterable[Doc],
    *,
    power: float = 0.5,
    floor: float = 1e-3,
    limit: int = 8000,
    max_windows: int | None = 1,
    name: str = "trial2vec",
) -> dict[str, int]:
    """Set the maps of a pipeline's `trial2vec` pipe from trials with linked concepts.

    No labels of similarity are used. Fitting again starts from the backbone's vectors,
    not from those the maps of before gave.

    nlp (Language): With a transformer and `trial2vec` whose model has
        `section_maps = true`.
    docs (Iterable[Doc]): Docs of trials with sections and concepts, such as
        t2v.TrialCorpus.v1 makes; the transformer is run on them here.
    power (float): Of the whitening: 0 centres only, 1 makes all directions vary alike
        within a concept. Defaults to 0.5.
    floor (float): Least variance that counts, as a share of the largest.
    limit (int): Most trials that are read. Some thousands are enough.
    max_windows (int | None): Windows read of each section for this; the first one says
        enough and makes it several times quicker. None reads all.
    RETURNS (Dict[str, int]): Trials that have the section and share a concept with
        another one, by section. A section with fewer than its width keeps its vectors.
    RAISES (T2VError): T139 if the pipeline cannot have maps, T026 for a setting.
    """
    for setting, value in (("power", power), ("floor", floor)):
        if not 0 <= value <= 1:
            raise error(Errors.T026, setting=setting, value=value, reason="0 to 1")
    if name not in nlp.pipe_names:
        raise error(Errors.T139, reason=f"it has no pipe '{name}'")
    model = nlp.get_pipe(name).model  # type: ignore[attr-defined]
    module = model.get_ref("encoder").shims[0]._model
    if not module.section_maps:
        reason = f"components.{name}.model.section_maps is false"
        raise error(Errors.T139, reason=reason)
    vectors, present, concepts = _read(nlp, name, islice(docs, limit), max_windows)
    width = vectors.shape[2]
    centres = numpy.zeros((len(SECTION_LABELS), width))
    maps = numpy.tile(numpy.eye(width), (len(SECTION_LABELS), 1, 1))
    counts = {}
    for i, label in enumerate(SECTION_LABELS):
        rows = numpy.flatnonzero(present[:, i])
        kinds = [label] if label in _KINDS else list(_KINDS)
        found = [within_scatter(vectors[:, i], rows, concepts[kind]) for kind in kinds]
        counts[label] = min((n for _, n in found), default=0)
        if counts[label] >= width:
            centres[i] = vectors[rows, i].mean(axis=0)
            mean = numpy.mean([scatter for scatter, _ in found], axis=0)
            maps[i] = whitening(mean, power, floor)
    module.set_maps(torch.from_numpy(centres), torch.from_numpy(maps))
    return counts


def within_scatter(
    vectors: numpy.ndarray, rows: Iterable[int], concepts: list[frozenset[str]]
) -> tuple[numpy.ndarray, int]:
    """Mean square and product of the vectors (n, width) about the mean of their
    concept, over the concepts that two of the rows have (a row counts for each of its
    concepts); and how many rows have such a concept."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        for concept in concepts[row]:
            groups[concept].append(row)
    scatter = numpy.zeros((vectors.shape[1],) * 2)
    count, used = 0, set[int]()
    for members in groups.values():
        if len(members) > 1:
            centred = vectors[members] - vectors[members].mean(axis=0)
            scatter += centred.T.astype("float64") @ centred
            count += len(members)
            used.update(members)
    return scatter / max(count, 1), len(used)


def whitening(scatter: numpy.ndarray, power: float, floor: float) -> numpy.ndarray:
    """scatter ** (-power / 2) by its eigenvectors, the largest value brought to 1."""
    values, axes = numpy.linalg.eigh(scatter)
    values = numpy.maximum(values / values.max(), floor) ** (-power / 2)
    return (axes * (values / values.max())) @ axes.T


def _read(
    nlp: Language, name: str, docs: Iterable[Doc], max_windows: int | None
) -> tuple[numpy.ndarray, numpy.ndarray, dict[str, list[frozenset[str]]]]:
    """The backbone's section vectors of unit length, which are there, and the concepts
    of the conditions and interventions."""
    layer = nlp.get_pipe(name).model.get_ref("sections")  # type: ignore[attr-defined]
    before = nlp.pipe_names[: nlp.pipe_names.index(name)]
    encoders = [n for n in before if getattr(nlp.get_pipe(n), "is_trainable", False)]
    vectors, present = [], []
    concepts: dict[str, list[frozenset[str]]] = {kind: [] for kind in _KINDS}
    with nlp.select_pipes(enable=encoders), _reading(nlp, max_windows):
        for batch in minibatch(tqdm(docs, disable=None, unit=" trials"), _BATCH):
            read = list(nlp.pipe(batch, batch_size=_BATCH))
            found = layer.predict(read)
            rows = layer.ops.to_numpy(found.vectors)
            norms = numpy.linalg.norm(rows, axis=2, keepdims=True)
            vectors.append(rows / numpy.maximum(norms, 1e-9))
            present.append(layer.ops.to_numpy(found.present))
            info = read_batch(read)
            concepts["condition"] += info.conditions
            concepts["intervention"] += info.interventions
    if not vectors:
        raise error(Errors.T139, reason="there are no trials to fit them on")
    return numpy.concatenate(vectors), numpy.concatenate(present), concepts


@contextmanager
def _reading(nlp: Language, max_windows: int | None) -> Iterator[None]:
    """Transformers of ours read so many windows of each section meanwhile."""
    before: list[tuple[dict[str, Any], Any]] = []
    for _, pipe in nlp.pipeline:
        attrs = getattr(getattr(pipe, "model", None), "attrs", {})
        if "run" in attrs:
            before.append((attrs, attrs["run"]))
            windows = replace(attrs["run"].windows, max_windows=max_windows)
            attrs["run"] = replace(attrs["run"], windows=windows)
    try:
        yield
    finally:
        for attrs, run in before:
            attrs["run"] = run
