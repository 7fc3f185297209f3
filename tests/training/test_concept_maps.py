from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy
import pytest
import spacy

from t2v_spacy.errors import T2VError
from t2v_spacy.pipeline.trial2vec import DEFAULT_TRIAL2VEC_MODEL
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.training.concept_maps import (
    fit_concept_maps,
    whitening,
    within_scatter,
)
from t2v_spacy.training.corpus import trial_corpus

SAMPLE = Path(__file__).parent.parent.parent / "corpus" / "sample"


def make_nlp(backbone):
    """A pipeline on the tiny backbone whose trial2vec has maps."""
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    nlp.add_pipe("umls_linker")
    transformer = {
        "@architectures": "t2v.BucketedTransformerModel.v1",
        "name": backbone,
        "get_spans": {"@span_getters": "t2v.section_spans.v1"},
        "precision": "float32",
        "window": 64,
        "stride": 60,
    }
    nlp.add_pipe("transformer", config={"model": transformer})
    encoder = DEFAULT_TRIAL2VEC_MODEL | {"section_maps": True}
    nlp.add_pipe("trial2vec", config={"model": encoder})
    nlp.initialize()
    return nlp


def test_scatter_is_about_the_mean_of_each_concept():
    vectors = numpy.array([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0], [0.0, 9.0], [7.0, 7.0]])
    concepts = [{"A"}, {"A"}, {"B"}, {"B"}, {"C"}]
    scatter, count = within_scatter(vectors, range(5), [frozenset(c) for c in concepts])
    # A: (-1, 1) along the first axis; B: (-2, 2) along the second; C stands alone.
    assert scatter.tolist() == [[0.5, 0.0], [0.0, 2.0]]
    assert count == 4


def test_rows_that_lack_the_section_do_not_count():
    vectors = numpy.array([[1.0, 0.0], [3.0, 0.0]])
    scatter, count = within_scatter(vectors, [0], [frozenset("A"), frozenset("A")])
    assert count == 0 and not scatter.any()


def test_whitening_by_hand():
    scatter = numpy.diag([4.0, 1.0])
    assert whitening(scatter, 0.0, 1e-3) == pytest.approx(numpy.eye(2))
    whole = whitening(scatter, 1.0, 1e-3)
    assert whole == pytest.approx(numpy.diag([0.5, 1.0]))
    assert whole @ scatter @ whole == pytest.approx(numpy.eye(2))
    half = whitening(scatter, 0.5, 1e-3)
    assert half == pytest.approx(numpy.diag([0.5**0.5, 1.0]))
    # Below a share of the largest all variance counts alike.
    assert whitening(numpy.diag([1.0, 1e-9]), 1.0, 0.25)[0, 0] == pytest.approx(0.5)


@pytest.fixture(scope="module")
def docs_of():
    def make(nlp, limit=0):
        corpus = trial_corpus(SAMPLE, max_words=12, limit=limit)
        return [example.predicted for example in corpus(nlp)]

    return make


def test_maps_change_what_they_rest_on_and_survive_saving(
    tiny_backbone, docs_of, tmp_path
):
    nlp = make_nlp(tiny_backbone)
    text = "Metformin in gout\n\nConditions\nGout\n\nInterventions\nMetformin"
    before = nlp(text)._.section_vectors
    counts = fit_concept_maps(nlp, docs_of(nlp))
    assert set(counts) == set(SECTION_LABELS)
    assert counts["condition"] >= 24 > counts["other"] == 0
    after = nlp(text)._.section_vectors
    assert not numpy.allclose(before["condition"], after["condition"], atol=1e-3)
    assert numpy.linalg.norm(after["condition"]) == pytest.approx(1, abs=1e-5)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)(text)
    numpy.testing.assert_allclose(loaded._.trial_vector, nlp(text)._.trial_vector)
    # A second fit starts from the backbone and gives the same.
    fit_concept_maps(nlp, docs_of(nlp))
    numpy.testing.assert_allclose(
        nlp(text)._.section_vectors["condition"], after["condition"], atol=1e-5
    )


def test_maps_bring_trials_of_a_condition_together(tiny_backbone, docs_of):
    nlp = make_nlp(tiny_backbone)

    def contrast() -> float:
        docs = docs_of(nlp)
        ids = [
            {c["id"] for c in d._.concepts if c["section"] == "condition"} for d in docs
        ]
        with nlp.select_pipes(enable=["transformer", "trial2vec"]):
            docs = list(nlp.pipe(docs))
        vectors = numpy.stack([doc._.section_vectors["summary"] for doc in docs])
        cosines = vectors @ vectors.T
        same = numpy.array([[bool(a & b) for b in ids] for a in ids])
        other = ~same
        numpy.fill_diagonal(same, False)
        return cosines[same].mean() - cosines[other].mean()

    before = contrast()
    fit_concept_maps(nlp, docs_of(nlp))
    assert contrast() > before


def test_too_few_trials_leave_the_vectors_alone(tiny_backbone, docs_of):
    nlp = make_nlp(tiny_backbone)
    before = nlp("Metformin in gout")._.trial_vector
    counts = fit_concept_maps(nlp, docs_of(nlp, limit=5))
    assert max(counts.values()) < 24
    numpy.testing.assert_allclose(nlp("Metformin in gout")._.trial_vector, before)


def test_what_cannot_have_maps_is_said(tiny_nlp, tiny_backbone, docs_of):
    with pytest.raises(T2VError, match=r"\[T139\].*section_maps is false"):
        fit_concept_maps(tiny_nlp, [])
    with pytest.raises(T2VError, match=r"\[T139\].*no pipe 'trial2vec'"):
        fit_concept_maps(spacy.blank("en"), [])
    nlp = make_nlp(tiny_backbone)
    with pytest.raises(T2VError, match=r"\[T139\].*no trials"):
        fit_concept_maps(nlp, islice([], 0))
    with pytest.raises(T2VError, match=r"\[T026\].*power"):
        fit_concept_maps(nlp, [], power=2.0)
