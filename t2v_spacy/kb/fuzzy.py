"""Candidates by likeness of letters, from scispaCy's generator (needs scispacy).

Likeness of letter triples also finds what is not there: a drug newer than the base is
like some bird. So it is only asked for what nothing else links, and has a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from spacy.util import registry

from ..errors import Errors, error

INDEX_FILES = (
    "nmslib_index.bin",
    "tfidf_vectorizer.joblib",
    "tfidf_vectors_sparse.npz",
    "concept_aliases.json",
)


@registry.misc("t2v.ScispacyCandidates.v1")
def scispacy_candidates(
    path: str, kb_path: str, threshold: float = 0.85, k: int = 30
) -> ScispacyCandidates:
    """Candidates of an index that lies on this disk; nothing is downloaded.

    path (str): Folder with scispaCy's four index files.
    kb_path (str): The base the index was made of: ours, or JSON lines.
    threshold (float): Least cosine of a candidate.
    k (int): Neighbours to look at.
    """
    return ScispacyCandidates(path, kb_path, threshold=threshold, k=k)


class ScispacyCandidates:
    """Call it with strings for the candidates of each, as (id, cosine), the best first;
    equal ones in order of id. The index is loaded at the first call."""

    def __init__(
        self, path: str, kb_path: str, *, threshold: float = 0.85, k: int = 30
    ) -> None:
        self.path = path
        self.kb_path = kb_path
        self.threshold = threshold
        self.k = k

    def __call__(self, texts: Sequence[str]) -> list[list[tuple[str, float]]]:
        """RAISES: T001 for a missing file, T081 for a damaged one, T086."""
        return [self._ranked(found) for found in self.generator(list(texts), self.k)]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "generator"}

    def _ranked(self, found: list[Any]) -> list[tuple[str, float]]:
        scored = [(c.concept_id, float(max(c.similarities))) for c in found]
        kept = [pair for pair in scored if pair[1] >= self.threshold]
        return sorted(kept, key=lambda pair: (-round(pair[1], 6), pair[0]))

    @cached_property
    def generator(self) -> Any:
        """scispaCy's CandidateGenerator."""
        for name in INDEX_FILES:
            if not (Path(self.path) / name).is_file():
                raise error(Errors.T001, path=Path(self.path) / name)
        try:
            from scispacy.candidate_generation import CandidateGenerator, LinkerPaths
        except ImportError as err:
            raise error(Errors.T086, task="The fuzzy matcher") from err
        from .knowledge_base import KnowledgeBase
        from .scispacy_bridge import to_scispacy

        paths = LinkerPaths.from_directory(self.path)
        try:
            aliases, vectorizer, index = paths.load()
        except Exception as err:  # whatever nmslib, joblib and json make of it
            remedy = "Build the index again."
            raise error(
                Errors.T081, path=self.path, reason=_first_line(err), remedy=remedy
            ) from err
        kb = to_scispacy(KnowledgeBase.open(self.kb_path))
        return CandidateGenerator(index, vectorizer, aliases, kb)


def _first_line(err: Exception) -> str:
    return (str(err) or type(err).__name__).split("\n")[0]
