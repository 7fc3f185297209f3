from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import normalize

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.batch_info import ViewInfo
from t2v_spacy.ml.global_views import context_views, dropout_views, split_views
from t2v_spacy.ml.objective import contrastive_objective
from tests.ml.objective_toys import (
    AT,
    ONLY,
    VIEWS,
    batch,
    encoder,
    minus_log,
    run,
    shown,
    trials,
    view_vectors,
    whole,
)


def test_global_is_info_nce_of_the_two_views():
    sections, present = trials(*["title condition summary eligibility"] * 3)
    objective = contrastive_objective(context_views(), local_weight=0.0)
    found = run(objective, sections, present, batch(["a", "b", "c"]))
    s = sections.numpy()
    keys = [shown(s, (i, "title"), (i, "condition")) for i in range(3)]
    contexts = [shown(s, (i, "summary"), (i, "eligibility")) for i in range(3)]
    rows = [
        minus_log(keys[i], contexts[i], *contexts[:i], *contexts[i + 1 :])
        for i in range(3)
    ]
    assert found.parts == {"global": pytest.approx(sum(rows) / 3, abs=1e-5)}
    assert found.total.item() == pytest.approx(found.parts["global"])


@pytest.mark.parametrize("attribute", [False, True])
@pytest.mark.parametrize("context", [False, True])
def test_hard_negatives_take_a_part_of_a_trial_of_the_same_condition(
    attribute, context
):
    sections, present = trials(*["title condition summary"] * 3)
    objective = contrastive_objective(
        whole,
        local_weight=0.0,
        attribute_negatives=attribute,
        context_negatives=context,
        in_batch_negatives=False,
    )
    found = run(objective, sections, present, batch(["a", "a", "b"]))
    if not attribute and not context:
        assert found.total is None
        assert found.without_negatives == ["global"]
        return
    s = sections.numpy()
    rows = []
    for own, other in ((0, 1), (1, 0)):  # the third has no partner
        trial = shown(s, (own, "title"), (own, "condition"), (own, "summary"))
        title = shown(s, (other, "title"), (own, "condition"), (own, "summary"))
        summary = shown(s, (own, "title"), (own, "condition"), (other, "summary"))
        negatives = [title] * attribute + [summary] * context
        rows.append(minus_log(trial, trial, *negatives))
    assert found.parts["global"] == pytest.approx(sum(rows) / 2, abs=1e-5)


def test_an_alike_trial_is_never_the_partner():
    sections, present = trials(*["title condition"] * 3)
    objective = contrastive_objective(
        whole, local_weight=0.0, context_negatives=False, in_batch_negatives=False
    )
    # 0 and 1 are alike, so that both can only take the title of 2.
    info = batch(["a", "a", "a"], ["x", "x", "y"])
    s = sections.numpy()
    expected = []
    for own in (0, 1):
        trial = shown(s, (own, "title"), (own, "condition"))
        negative = shown(s, (2, "title"), (own, "condition"))
        expected.append(minus_log(trial, trial, negative))
    trial = shown(s, (2, "title"), (2, "condition"))
    seen = set()
    for _ in range(20):
        found = run(objective, sections, present, info).parts["global"]
        third = found * 3 - sum(expected)
        for partner in (0, 1):
            negative = shown(s, (partner, "title"), (2, "condition"))
            if third == pytest.approx(minus_log(trial, trial, negative), abs=1e-4):
                seen.add(partner)
                break
        else:
            pytest.fail(f"the title of no fitting trial gives {third}")
    assert seen == {0, 1}
    alike = batch(["a", "a"], ["x", "x"])
    assert run(objective, sections[:2], present[:2], alike).total is None


@pytest.mark.parametrize("lacking", ["title", "summary"])
def test_a_partner_without_the_section_gives_no_negative(lacking):
    """The trial without the section would be near to the trial, and rightly so."""
    rows = ["title condition summary", "title condition summary".replace(lacking, "")]
    sections, present = trials(*rows)
    objective = contrastive_objective(
        whole,
        local_weight=0.0,
        attribute_negatives=lacking == "title",
        context_negatives=lacking == "summary",
        in_batch_negatives=False,
    )
    assert run(objective, sections, present, batch(["a", "a"])).total is None


def test_alike_trials_are_masked_unless_told_so():
    sections, present = trials(*["title summary"] * 3)
    info = batch(["a", "a b", "b"], ["x", "x", "x y"])  # 0-1 and 1-2 are alike
    s = sections.numpy()
    keys = [shown(s, (i, "title")) for i in range(3)]
    contexts = [shown(s, (i, "summary")) for i in range(3)]
    masked = contrastive_objective(context_views(), local_weight=0.0)
    expected = [
        minus_log(keys[0], contexts[0], contexts[2]),
        minus_log(keys[2], contexts[2], contexts[0]),
    ]
    found = run(masked, sections, present, info)
    assert found.parts["global"] == pytest.approx(sum(expected) / 2, abs=1e-5)
    plain = contrastive_objective(context_views(), local_weight=0.0, mask_alike=False)
    rows = [
        minus_log(keys[i], contexts[i], *contexts[:i], *contexts[i + 1 :])
        for i in range(3)
    ]
    found = run(plain, sections, present, info)
    assert found.parts["global"] == pytest.approx(sum(rows) / 3, abs=1e-5)


def test_match_is_between_attribute_and_own_trial():
    sections, present = trials("title summary", "title condition", "condition")
    objective = contrastive_objective(whole, match_weight=1.0, **ONLY)
    found = run(objective, sections, present, batch(["", "", ""]))
    s = sections.numpy()
    vectors = [
        shown(s, (0, "title"), (0, "summary")),
        shown(s, (1, "title"), (1, "condition")),
        shown(s, (2, "condition")),
    ]
    title = [
        minus_log(shown(s, (i, "title")), vectors[i], vectors[1 - i]) for i in (0, 1)
    ]
    condition = [
        minus_log(shown(s, (i, "condition")), vectors[i], vectors[3 - i])
        for i in (1, 2)
    ]
    expected = (sum(title) / 2 + sum(condition) / 2) / 2
    assert found.parts["match"] == pytest.approx(expected, abs=1e-5)


def test_match_passes_over_trials_without_a_vector():
    sections, present = trials("title outcome", "title outcome", "outcome", "outcome")
    module = encoder()
    with torch.no_grad():
        module.weights[AT("outcome")] = 1e-4  # as after a first step
    objective = contrastive_objective(whole, match_weight=1.0, **ONLY)
    info = batch(["", "", "", ""])
    found = run(objective, sections, present, info, module=module)
    s = sections.numpy()
    vectors = [shown(s, (i, "title")) for i in (0, 1)]
    outcomes = [shown(s, (i, "outcome")) for i in (0, 1)]
    title = [minus_log(vectors[i], vectors[i], vectors[1 - i]) for i in (0, 1)]
    outcome = [minus_log(outcomes[i], vectors[i], vectors[1 - i]) for i in (0, 1)]
    expected = (sum(title) / 2 + sum(outcome) / 2) / 2
    assert found.parts["match"] == pytest.approx(expected, abs=1e-3)


def test_alike_trials_are_near_by_knowledge():
    # The last two have no vector to be near to or far from.
    sections, present = trials("title", "title", "title", "title", "outcome", "")
    info = batch(["a", "a", "b", "", "a", ""], ["x", "x", "x", "", "x", ""])
    objective = contrastive_objective(whole, alike_weight=1.0, **ONLY)
    found = run(objective, sections, present, info)
    v = normalize(sections[:, AT("title")], dim=-1).numpy()
    rows = [minus_log(v[0], v[1], v[2], v[3]), minus_log(v[1], v[0], v[2], v[3])]
    assert found.parts["alike"] == pytest.approx(sum(rows) / 2, abs=1e-5)
    assert run(objective, sections[2:], present[2:], batch(["", "", "a", "a"])).total is None  # fmt: skip


def test_the_order_of_the_trials_does_not_matter():
    rows = ["title condition summary", "title summary", "condition eligibility"]
    sections, present = trials(*rows)
    weights = {"match_weight": 1.0, "names_weight": 1.0, "alike_weight": 1.0}
    objective = contrastive_objective(context_views(), symmetric=True, **weights)
    info = batch(["a", "a", "b"], ["x", "x", "y"], VIEWS)
    views = view_vectors()
    expected = run(objective, sections, present, info, views)
    assert set(expected.parts) == {"global", "alike", "local", "match", "names"}
    order = [2, 0, 1]
    moved = [(order.index(view.doc), i) for i, view in enumerate(VIEWS)]
    moved.sort()
    there = [
        ViewInfo(doc, VIEWS[i].label, VIEWS[i].kind, VIEWS[i].concept)
        for doc, i in moved
    ]
    again = run(
        objective,
        sections[order],
        present[order],
        batch(["b", "a", "a"], ["y", "x", "x"], there),
        views[[i for _, i in moved]],
    )
    for name, value in expected.parts.items():
        assert again.parts[name] == pytest.approx(value, abs=1e-5), name


@pytest.mark.parametrize("aggregate", ["residual", "paper"])
@pytest.mark.parametrize("views", [split_views(), dropout_views(), context_views()])
def test_gradient_by_finite_differences(views, aggregate):
    rows = [
        "title condition summary", "title condition eligibility", "condition outcome",
        "outcome", "",
    ]  # fmt: skip
    sections, present = trials(*rows)
    info = batch(["a", "a", "b", "", ""], ["x", "y", "x", "", ""], VIEWS)
    module = encoder(aggregate=aggregate).double()
    with torch.no_grad():
        module.attention.out_proj.weight.normal_(0, 0.3)
        module.log_scale.fill_(0.5)
    present, texts = present.double(), view_vectors().double()

    def loss(sections, texts):
        objective = contrastive_objective(
            views, match_weight=1.0, names_weight=1.0, symmetric=True, seed=5
        )
        shown = sections * present[:, :, None]
        return objective(module, shown, present, texts, info).total

    inputs = [sections.double(), texts, *module.parameters()]
    for values in inputs:
        values.requires_grad_(True)
    loss(*inputs[:2]).backward()
    for number, values in enumerate(inputs):  # along one random direction of each
        way = torch.randn_like(values)
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                values.add_(step * way)
                ends.append(loss(*inputs[:2]).item())
                values.sub_(step * way)
        expected = (ends[0] - ends[1]) / 2e-6
        found = (values.grad * way).sum().item()
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-7), number


def test_sections_that_do_not_count_yet_are_no_view():
    """A view that shows the outcome alone would be next to zero, and its gradient
    thousands of times that of the others."""
    sections, present = trials("title outcome", "title outcome", "title summary")
    only = present.clone().numpy()
    only[0, AT("title")] = 0.0

    def views(present, rng):
        return present, only

    module = encoder()
    with torch.no_grad():
        module.weights[AT("outcome")] = 1e-4  # as after a first step
    objective = contrastive_objective(views, match_weight=1.0, local_weight=0.0)
    found = run(objective, sections, present, batch(["", "", ""]), module=module)
    s = sections.numpy()
    one = shown(s, (1, "title"))
    two = shown(s, (2, "title"), (2, "summary"))
    expected = (minus_log(one, one, two) + minus_log(two, two, one)) / 2
    assert found.parts["global"] == pytest.approx(expected, abs=1e-3)
    found.total.backward()
    assert float(module.weights.grad.norm()) < 5
    assert float(module.attention.out_proj.weight.grad.norm()) < 5


@pytest.mark.parametrize("info", [batch([""]), batch(["a", "a"], ["x", "x"])])
def test_one_trial_or_alike_ones_have_nothing_to_learn(info):
    n = len(info.conditions)
    sections, present = trials(*["title condition summary"] * n)
    objective = contrastive_objective(context_views(), match_weight=1.0)
    found = run(objective, sections, present, info)
    assert found.total is None
    assert found.parts == {}
    assert found.without_negatives == ["global", "match"]


def test_what_is_no_number_reaches_the_loss():
    sections, present = trials(*["title condition"] * 3)
    for weights in ({"match_weight": 1.0, **ONLY}, {"local_weight": 0.0}):
        objective = contrastive_objective(whole, **weights)
        found = run(objective, sections * math.nan, present, batch(["", "", ""]))
        assert found.total.isnan()


def test_weights_out_of_range_are_named():
    with pytest.raises(T2VError, match="T026.*match_weight = -1"):
        contrastive_objective(whole, match_weight=-1)
    with pytest.raises(T2VError, match="T026.*at least one weight above 0"):
        contrastive_objective(whole, **ONLY)
