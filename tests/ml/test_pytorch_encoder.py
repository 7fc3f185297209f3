from __future__ import annotations

import pytest
import torch
from torch.nn.functional import normalize

from t2v_spacy.ml.pytorch_encoder import DEFAULT_WEIGHTS, TrialEncoder
from t2v_spacy.sections.labels import SECTION_LABELS

N = len(SECTION_LABELS)


def encoder(**settings) -> TrialEncoder:
    torch.manual_seed(0)
    module = TrialEncoder(n_heads=2, **settings)
    module.build(8)
    return module.eval()


def batch(*labels: str):
    torch.manual_seed(3)
    sections = torch.randn(1, N, 8)
    present = torch.zeros(1, N)
    for label in labels:
        present[0, SECTION_LABELS.index(label)] = 1.0
    return sections, present


def test_untrained_residual_is_the_weighted_mean_of_sections():
    sections, present = batch("title", "condition", "summary", "inclusion", "outcome")
    trials, local = encoder()(sections, present)
    total = torch.zeros(8)
    for i, label in enumerate(SECTION_LABELS):
        if present[0, i]:
            total += DEFAULT_WEIGHTS.get(label, 0.0) * normalize(sections[0, i], dim=-1)
    assert torch.allclose(trials[0], normalize(total, dim=-1), atol=1e-5)
    assert torch.allclose(local.norm(dim=-1)[0], present[0], atol=1e-5)


@pytest.mark.parametrize("aggregate", ["residual", "paper"])
@pytest.mark.parametrize(
    "labels", [("title",), ("summary",), ("title", "eligibility"), ()]
)
def test_absent_sections_change_nothing_and_give_no_nan(aggregate, labels):
    module = encoder(aggregate=aggregate)
    with torch.no_grad():
        module.attention.out_proj.weight.normal_()
    sections, present = batch(*labels)
    trials, local = module(sections, present)
    noise = sections + 100 * (1 - present)[:, :, None]
    again, _ = module(noise, present)
    assert torch.isfinite(trials).all()
    assert torch.isfinite(local).all()
    assert torch.allclose(trials, again, atol=1e-5)
    if labels:
        assert torch.allclose(trials.norm(dim=-1), torch.ones(1), atol=1e-5)


def test_paper_mode_is_equation_one():
    module = encoder(aggregate="paper")
    sections, present = batch("title", "condition", "summary", "eligibility")
    local = normalize(sections, dim=-1)
    at = SECTION_LABELS.index
    values = local[:, [at("title"), at("condition")]]
    query = normalize(local[:, [at("summary"), at("eligibility")]].mean(1), dim=-1)
    expected, _ = module.attention(query[:, None], values, values)
    trials, _ = module(sections, present)
    assert torch.allclose(trials, normalize(expected[:, 0], dim=-1), atol=1e-5)


@pytest.mark.parametrize("aggregate", ["residual", "paper"])
def test_gradient_by_finite_differences(aggregate):
    module = encoder(aggregate=aggregate, width=4).double()
    with torch.no_grad():
        module.attention.out_proj.weight.normal_()
    sections, present = batch("title", "condition", "summary", "eligibility")
    inputs = sections.double().requires_grad_(True)
    assert torch.autograd.gradcheck(lambda x: module(x, present.double()), (inputs,))


def test_width_projects_trials_and_sections_alike():
    module = encoder(width=4)
    trials, local = module(*batch("title"))
    assert trials.shape == (1, 4)
    assert torch.allclose(trials[0], local[0, SECTION_LABELS.index("title")], atol=1e-5)


@pytest.mark.parametrize("width", [None, 4])
def test_local_vectors_are_in_the_space_of_the_sections(width):
    module = encoder(width=width, section_maps=True)
    torch.manual_seed(4)
    module.set_maps(torch.randn(N, 8), torch.randn(N, 8, 8))
    sections, present = batch("title", "condition")
    _, local = module(sections, present)
    labels = [SECTION_LABELS.index(label) for label in ("condition", "title")]
    found = module.local(sections[0, labels], labels)
    assert torch.allclose(found, local[0, labels], atol=1e-6)


@pytest.mark.parametrize(
    ("log_scale", "expected"), [(-1.0, 1.0), (2.0, 7.389056), (9.0, 100.0)]
)
def test_the_scale_stays_in_bounds(log_scale, expected):
    module = encoder()
    assert module.scale().item() == pytest.approx(1 / 0.07, rel=1e-5)
    with torch.no_grad():
        module.log_scale.fill_(log_scale)
    assert module.scale().item() == pytest.approx(expected, rel=1e-5)


def test_a_vector_rests_on_a_section_that_counts():
    rows = [("title",), ("outcome",), ("outcome", "summary"), ()]
    present = torch.cat([batch(*labels)[1] for labels in rows])
    found = encoder().has_weight(present).tolist()
    assert found == [True, False, True, False]
    found = encoder(aggregate="paper").has_weight(present).tolist()
    assert found == [True, True, True, False]
