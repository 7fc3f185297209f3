"""The systems of the evaluation, each a row of every table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...errors import Errors, error
from ...trial import Trial
from .baselines import (
    Majority,
    TerminationSystem,
    TfidfRegression,
    facts_regression,
    fill_regression,
    system_regression,
    word2vec_regression,
)
from .inputs import StudyInputs
from .predictions import Prediction, fitted, log_odds, stacked
from .records import Parts
from .textcat import FORMS, train_textcat

TFIDF = TfidfRegression.name
SHIPPED = "Trial2Vec, sections and facts"
FINETUNED = "Trial2Vec, fine-tuned"
STACKED = "Trial2Vec + TF-IDF"
_WORD2VEC, _TRIALBERT = "Word2Vec, regression", "TrialBERT, regression"
Earlier = Mapping[str, Prediction]


@dataclass(frozen=True)
class Row:
    """name: As in the tables. made_of: Plain values that decide the result beside the
    trials. predict: From parts, seed and the predictions of rows before.
    seeded: Whether the seed decides more than a random split. prepare: What is made
    once for all runs; it does not count to their time. runs: At most so many seeds,
    where one costs much.
    """

    name: str
    made_of: Any
    predict: Callable[[Parts, int, Earlier], Prediction]
    seeded: bool = False
    prepare: Callable[[], Any] = lambda: None
    runs: int | None = None


def make_rows(inputs: StudyInputs) -> list[Row]:
    """TF-IDF first, with which the others are compared; else from the weakest."""
    given, hashes = inputs.settings, inputs.hashes
    systems: dict[str, Callable[[int], TerminationSystem]] = {
        TFIDF: lambda seed: TfidfRegression(),
        Majority.name: lambda seed: Majority(),
        "Filled fields, regression": lambda seed: fill_regression(),
        "Facts, regression": lambda seed: facts_regression(),
    }
    if given.word2vec:
        systems[_WORD2VEC] = lambda seed: word2vec_regression(seed=seed)
    if given.backbone:
        systems[_TRIALBERT] = lambda seed: system_regression(inputs.trialbert)
    rows = [
        Row(
            name,
            [given.backbone, hashes["backbone"]] if name == _TRIALBERT else None,
            partial(_regression, inputs, make),
            seeded=name == _WORD2VEC,
        )
        for name, make in systems.items()
    ]
    trained = [*inputs.about_encoder, hashes["config"]]
    rows += [
        Row(
            name,
            [*trained, model],
            partial(_textcat, inputs, model),
            seeded=True,
            prepare=lambda: inputs.trials,
        )
        for name, model in FORMS.items()
    ]
    if given.finetuned:
        made_of = [*inputs.about_encoder, hashes["finetuned"]]
        finetuned = partial(_finetuned, inputs)
        rows.append(Row(FINETUNED, made_of, finetuned, seeded=True, runs=1))
    rows.append(Row(STACKED, trained, partial(_stack, inputs), seeded=True))
    return rows


def _regression(
    inputs: StudyInputs,
    make: Callable[[int], TerminationSystem],
    parts: Parts,
    seed: int,
    earlier: Earlier,
) -> Prediction:
    records, gold = inputs.records, inputs.records.terminated

    def views(rows: np.ndarray) -> list[Trial]:
        return [records.views[i] for i in rows]

    system = make(seed)
    dev = views(parts.dev)
    system.fit(views(parts.train), gold[parts.train], dev, gold[parts.dev])
    test = log_odds(system.predict(views(parts.test)))
    return fitted(log_odds(system.predict(dev)), test, gold[parts.dev])


def _textcat(
    inputs: StudyInputs,
    model: Mapping[str, Any],
    parts: Parts,
    seed: int,
    earlier: Earlier,
) -> Prediction:
    config = inputs.settings.config
    return train_textcat(config, inputs.trials, parts, seed=seed, model=model)


def _finetuned(
    inputs: StudyInputs, parts: Parts, seed: int, earlier: Earlier
) -> Prediction:
    given = inputs.settings
    assert given.finetuned is not None
    return train_textcat(
        given.finetuned,
        inputs.records.trials,
        parts,
        seed=seed,
        paths={"start": given.encoder},
    )


def _stack(
    inputs: StudyInputs, parts: Parts, seed: int, earlier: Earlier
) -> Prediction:
    lacking = [name for name in (SHIPPED, TFIDF) if name not in earlier]
    if lacking:
        reason = f"it needs {' and '.join(lacking)}, which failed"
        raise error(Errors.T156, system=STACKED, reason=reason)
    gold = inputs.records.terminated[parts.dev]
    return stacked([earlier[SHIPPED], earlier[TFIDF]], gold)
