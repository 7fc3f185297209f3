"""How well a `textcat` tells which trials will be terminated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example

from ..termination.labels import POSITIVE
from ..termination.measures import termination_scores

KEY = "termination"


def make_termination_scorer() -> Callable[..., dict[str, Any]]:
    """Scorer `t2v.termination_scorer.v1` for the factory `textcat`: spaCy's cats_*, and
    the measures of `termination_scores` with "termination_" before their names, such as
    termination_pr_auc, on which to stop, and termination_prevalence, which is what
    chance gets there. The threshold is that of the pipe.

    RETURNS (Callable): Examples to scores; None where a score is not defined.
    """
    return _score


def _score(
    examples: Iterable[Example], *, threshold: float = 0.5, **cfg: Any
) -> dict[str, Any]:
    examples = list(examples)
    labelled = [eg for eg in examples if POSITIVE in eg.reference.cats]
    found = termination_scores(
        [eg.reference.cats[POSITIVE] > 0 for eg in labelled],
        [eg.predicted.cats.get(POSITIVE, 0.0) for eg in labelled],
        threshold,
    )
    cats = Scorer.score_cats(examples, "cats", **(cfg | {"multi_label": False}))
    return cats | {f"{KEY}_{name}": value for name, value in found.items()}
