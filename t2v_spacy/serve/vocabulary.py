"""Words of strangers, which spaCy would keep as long as the server runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

MOST_NEW = 1_000_000  # words after which a vocabulary is made anew


@contextmanager
def forgetting(pipelines: Collection[Language]) -> Iterator[None]:
    """What the pipelines read in this block is forgotten after it; no Doc may be used
    then.

    A memory zone frees the words. The tables in which they were found do not shrink, by
    some 30 bytes a word: after `MOST_NEW` words the vocabulary is replaced by a new
    one, which takes a fifth of a second.
    """
    try:
        with ExitStack() as zones:
            for nlp in pipelines:
                zones.enter_context(nlp.memory_zone())
            yield
    finally:
        for nlp in pipelines:
            # The length counts what is forgotten too.
            if len(nlp.vocab) > MOST_NEW:
                renew_vocab(nlp)


def renew_vocab(nlp: Language) -> None:
    """Give a pipeline a vocabulary with the same strings and vectors, and no words that
    it has read. Docs made before keep the old one."""
    old = nlp.vocab
    shared = {id(part): part for part in (old.vectors, old.lookups)}
    nlp.vocab, nlp.tokenizer = deepcopy((old, nlp.tokenizer), shared)
    # These a copy leaves out, or connects with other strings.
    nlp.vocab.writing_system = old.writing_system
    nlp.vocab.vectors = old.vectors
    for _, pipe in nlp.pipeline:
        if getattr(pipe, "vocab", None) is old:
            pipe.vocab = nlp.vocab  # type: ignore[attr-defined]
