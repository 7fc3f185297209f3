from __future__ import annotations

import numpy as np
import pytest
from thinc.api import get_current_ops

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.ml.pooling import SectionBatch, pool_sections
from t2v_spacy.sections.labels import SECTION_LABELS
from tests.conftest import make_tiny_nlp, make_trials

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
