from __future__ import annotations

import numpy as np
import pytest
from thinc.api import get_current_ops

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.ml.pooling import SectionBatch, pool_sections
from t2v_spacy.sections.labels import SECTION_LABELS
from tests.conftest import make_tiny_nlp, make_trials
from tests.training.toys import make_examples

AT = SECTION_LABELS.index


@pytest.fixture(params=[False, True], ids=["rows", "tokens"])
def datas(tiny_backbone, request):
    nlp = make_tiny_nlp(tiny_backbone, keep_tokens=request.param)
    docs = [make_trial_doc(nlp, trial) for trial in make_trials()]
    return nlp.get_pipe("transformer").model.predict([*docs, nlp.make_doc("")]).doc_data


def test_a_section_is_the_mean_of_all_its_wordpieces(datas):
    batch = pool_sections().predict(datas)
    output = datas[1].model_output
    rows = output.section == AT("description")
    assert rows.sum() > 2  # several windows, the last one short
    mask = datas[1].wordpieces.attention_mask[rows][:, :, None]
    means = (output.last_hidden_state[rows] * mask).sum(1) / mask.sum(1)
    pieces = output.pieces[rows][:, None]
    expected = (means * pieces).sum(0) / pieces.sum()
    np.testing.assert_allclose(batch.vectors[1, AT("description")], expected, atol=1e-5)


def test_eligibility_is_all_criteria_together(datas):
    batch = pool_sections().predict(datas)
    output = datas[0].model_output
    sizes = [
        output.pieces[output.section == AT(s)].sum() for s in ("inclusion", "exclusion")
    ]
    parts = batch.vectors[0, [AT("inclusion"), AT("exclusion")]]
    expected = np.average(parts, axis=0, weights=sizes)
    np.testing.assert_allclose(batch.vectors[0, AT("eligibility")], expected, atol=1e-5)


def test_present_marks_what_is_there(datas):
    batch = pool_sections().predict(datas)
    assert batch.present[4].sum() == 0
    assert not batch.vectors[4].any()
    found = {SECTION_LABELS[i] for i in batch.present[2].nonzero()[0]}
    assert found == {"title", "condition", "intervention"}


@pytest.mark.parametrize("grad_factor", [1.0, 0.5])
def test_gradient_by_finite_differences(datas, grad_factor):
    model = pool_sections(grad_factor)
    batch, backprop = model(datas, is_train=True)
    rng = np.random.default_rng(0)
    d_vectors = rng.normal(size=batch.vectors.shape).astype("f")
    d_datas = backprop(
        SectionBatch(get_current_ops().asarray(d_vectors), batch.present)
    )
    assert len(d_datas) == 4  # none for the Doc without text
    for i in (0, 1):
        states = datas[i].model_output.last_hidden_state
        gradient = d_datas[i].model_output.last_hidden_state
        assert gradient.shape == states.shape
        for place in [(0, 0, 0), (len(states) - 1, 0, 5), (1, 0, 23)]:
            before, step = float(states[place]), 0.5
            sums = []
            for value in (before + step, before - step):
                states[place] = value
                sums.append((pool_sections().predict(datas).vectors * d_vectors).sum())
            states[place] = before
            numeric = (sums[0] - sums[1]) / (2 * step) * grad_factor
            assert float(gradient[place]) == pytest.approx(numeric, abs=2e-3)


@pytest.fixture
def with_views(tiny_backbone):
    """Docs with views, one of them without text between the others."""
    nlp = make_tiny_nlp(tiny_backbone)
    docs = [eg.predicted for eg in make_examples(nlp)]
    docs.insert(1, nlp.make_doc(""))
    return docs, nlp.get_pipe("transformer").model.predict(docs).doc_data


def test_each_view_is_a_row_in_the_order_of_the_docs(with_views):
    docs, datas = with_views
    batch = pool_sections().predict(datas)
    assert batch.views.shape == (11, 24)
    row = 0
    for doc, data in zip(docs, datas, strict=True):
        output = data.model_output
        for number, _ in enumerate(doc.spans.get("views", ()), 1):
            (at,) = np.flatnonzero(output.section == -number)  # one window each
            expected = output.last_hidden_state[at, 0]
            np.testing.assert_allclose(batch.views[row], expected, atol=1e-6)
            row += 1
    assert row == 11


@pytest.mark.parametrize("grad_factor", [1.0, 0.5])
def test_gradient_of_views_by_finite_differences(with_views, grad_factor):
    _, datas = with_views
    model = pool_sections(grad_factor)
    batch, backprop = model(datas, is_train=True)
    rng = np.random.default_rng(0)
    d_vectors = rng.normal(size=batch.vectors.shape).astype("f")
    d_views = rng.normal(size=batch.views.shape).astype("f")
    d_datas = backprop(SectionBatch(d_vectors, batch.present, d_views))

    def total() -> float:
        found = pool_sections().predict(datas)
        return float((found.vectors * d_vectors).sum() + (found.views * d_views).sum())

    there = [data for data in datas if data.model_output]
    for data, d_data in zip(there, d_datas, strict=True):
        states = data.model_output.last_hidden_state
        gradient = d_data.model_output.last_hidden_state
        for place in [(0, 0, 3), (len(states) - 1, 0, 5)]:
            before = float(states[place])
            ends = []
            for step in (0.5, -0.5):
                states[place] = before + step
                ends.append(total())
            states[place] = before
            numeric = (ends[0] - ends[1]) * grad_factor
            assert float(gradient[place]) == pytest.approx(numeric, abs=2e-3)
    # Who knows nothing of views gives no gradient for them.
    without = model(datas, is_train=True)[1](SectionBatch(d_vectors, batch.present))
    last = without[0].model_output.last_hidden_state
    assert not last[datas[0].model_output.section < 0].any()


def test_views_change_no_section(tiny_backbone):
    nlp = make_tiny_nlp(tiny_backbone)
    found = []
    for views in (True, False):
        docs = [eg.predicted for eg in make_examples(nlp, views=views)]
        datas = nlp.get_pipe("transformer").model.predict(docs).doc_data
        found.append(pool_sections().predict(datas))
    np.testing.assert_allclose(found[0].vectors, found[1].vectors, atol=1e-5)
    np.testing.assert_array_equal(found[0].present, found[1].present)
    assert found[1].views.shape == (0, 24)
