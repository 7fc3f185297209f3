"""Vectors of single criteria, made by a pipeline and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..doc import set_sections
from ..sections.headed import Section
from ..stopping import go_on
from .query import extension
from .vectors import Array, defect, unit

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Pipes whose work no vector needs.
_OTHERS = frozenset(("umls_linker", "trial_index", "textcat"))
_SECTION = "eligibility"


class ItemEncoder:
    """Texts -> unit vectors (n, width), each different text encoded once.

    nlp (Language): Sets `doc._.section_vectors`, as a pipe `trial2vec` does.
    """

    def __init__(self, nlp: Language) -> None:
        self._nlp = nlp
        self._vectors: dict[str, Array] = {}

    def __call__(self, texts: Sequence[str]) -> Array:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            docs = [self._doc(text) for text in new]
            skipped = [
                name
                for name in self._nlp.pipe_names
                if self._nlp.get_pipe_meta(name).factory in _OTHERS
            ]
            for text, doc in zip(
                new, self._nlp.pipe(docs, disable=skipped), strict=True
            ):
                self._vectors[text] = _vector(doc)
                go_on()
        width = max(len(self._vectors[text]) for text in texts)
        rows = np.zeros((len(texts), width), np.float32)
        for row, text in zip(rows, texts, strict=True):
            vector = self._vectors[text]
            row[: len(vector)] = vector
        return rows

    def _doc(self, text: str) -> Doc:
        doc = self._nlp.tokenizer(text)
        set_sections(doc, [Section(_SECTION, 0, len(text))])
        return doc


def _vector(doc: Doc) -> Array:
    """That of the text; (0,) if it has none."""
    found = (extension(doc, "section_vectors") or {}).get(_SECTION)
    vector = extension(doc, "trial_vector") if found is None else found
    if vector is None or defect(np.asarray(vector)):
        return np.zeros(0, np.float32)
    return unit(np.asarray(vector))
