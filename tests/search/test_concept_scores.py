from __future__ import annotations

from math import log

import numpy as np
import pytest

from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.shared import no_evidence
from t2v_spacy.search.concept_scores import ConceptScores
from t2v_spacy.search.facets import FacetWriter
from t2v_spacy.trial import Trial

from .toys import nct

# joint disease > gout > tophus; joint disease > arthrosis; skin disease.
ABOVE = {
    "joint": (),
    "gout": ("joint",),
    "tophus": ("gout", "joint"),
    "arthrosis": ("joint",),
    "skin": (),
    "drug": (),
    "placebo": (),
}


def linked(conditions: str = "", interventions: str = "") -> dict:
    named = {"condition": conditions, "intervention": interventions}
    return {k: {i: ABOVE[i] for i in v.split()} for k, v in named.items()}


def columns_of(*trials) -> dict:
    writer = FacetWriter()
    for number, concepts in enumerate(trials):
        writer.append(Trial(nct(number)), concepts)
    return writer.columns()


TRIALS = [
    linked("gout"),
    linked("tophus"),
    linked("joint"),
    linked("arthrosis"),
    linked("skin"),
    linked(),
    None,
]


def test_same_then_narrower_or_broader_then_sibling_then_nothing():
    same, narrower, broader, sibling, other, none, unlinked = ConceptScores(
        columns_of(*TRIALS)
    ).scores(linked("gout"))
    assert same == 1
    assert 1 > narrower > sibling > other
    assert 1 > broader > sibling > other
    assert other == 0
    assert np.isnan([none, unlinked]).all()


def test_scores_by_hand():
    worth = {"joint": log(8 / 5), "gout": log(8 / 3), "arthrosis": log(8 / 2)}
    scores = ConceptScores(columns_of(*TRIALS)).scores(linked("gout"))
    assert scores.dtype == np.float32
    assert scores[2] == pytest.approx(2 * worth["joint"] / (worth["joint"] + worth["gout"]))  # fmt: skip
    assert scores[3] == pytest.approx(2 * worth["joint"] / (worth["arthrosis"] + worth["gout"]))  # fmt: skip


def test_a_rare_concept_tells_more():
    trials = [
        linked("gout skin"),
        linked("gout"),
        linked("skin"),
        *[linked("skin")] * 5,
    ]
    scores = ConceptScores(columns_of(*trials)).scores(linked("gout skin"))
    assert scores[0] == 1
    assert 1 > scores[1] > scores[2] > 0


def test_what_a_trial_has_besides_counts_against_it():
    trials = [linked("gout"), linked("gout skin"), linked()]
    scores = ConceptScores(columns_of(*trials)).scores(linked("gout"))
    assert scores[0] == 1 > scores[1]


def test_conditions_and_interventions_count_alike():
    trials = [
        linked("gout", "drug"),
        linked("gout"),
        linked("", "drug"),
        linked("drug"),
    ]
    rank = ConceptScores(columns_of(*trials))
    assert rank.scores(linked("gout", "drug")).tolist() == [1, 0.5, 0.5, 0]
    scores = rank.scores(linked("gout"))
    assert np.array_equal(scores, [1, 1, np.nan, 0], equal_nan=True)


def test_what_is_ignored_counts_for_nothing():
    trials = [linked("gout", "placebo"), linked("gout", "drug placebo")]
    rank = ConceptScores(columns_of(*trials), ignored=("placebo", "unheard"))
    assert np.isnan(rank.scores(linked("", "placebo"))).all()
    assert rank.scores(linked("", "drug placebo")).tolist() == [0, 1]


def test_ignored_concepts_of_a_base():
    concepts = [
        Concept("C1", "Placebo", types=("T122",)),
        Concept("C2", "Gout", types=("T047",)),
    ]
    kb = KnowledgeBase.from_concepts(concepts, info={"name": "toy", "version": "1"})
    assert no_evidence(kb) == {"C1"}


def test_added_trials_are_weighed_by_the_base():
    base = ConceptScores(columns_of(*TRIALS), ignored=("placebo",))
    added = ConceptScores(
        columns_of(linked("skin drug", "placebo"), linked("arthrosis")), base=base
    )
    query = linked("gout", "placebo")
    assert added.scores(query).tolist() == [0, base.scores(query)[3]]
    # A concept that only the added one has is as telling as can be.
    assert added.scores(linked("drug"))[0] == pytest.approx(
        (1 + log(8) / (log(8) + log(4))) / 2
    )


def test_nothing_to_compare():
    rank = ConceptScores(columns_of(*TRIALS))
    assert np.isnan(rank.scores({})).all()
    assert np.isnan(rank.scores(linked())).all()
    assert rank.scores({"condition": {"unheard": ()}})[:5].tolist() == [0] * 5
    assert ConceptScores(columns_of()).scores(linked("gout")).shape == (0,)
    assert np.isnan(ConceptScores(columns_of(None)).scores(linked("gout"))).all()
