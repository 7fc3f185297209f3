from __future__ import annotations

import pytest
from torch.nn.functional import normalize

from t2v_spacy.ml.objective import contrastive_objective
from tests.ml.objective_toys import (
    AT,
    ONLY,
    VIEWS,
    batch,
    minus_log,
    run,
    trials,
    view_vectors,
    whole,
)


def test_local_is_between_an_attribute_and_its_views():
    sections, present = trials(*["title condition"] * 3)
    views = view_vectors()
    objective = contrastive_objective(whole, global_weight=0.0, local_weight=2.0)
    found = run(objective, sections, present, batch(["", "", ""], views=VIEWS), views)
    s, v = (normalize(x, dim=-1).numpy() for x in (sections, views))
    condition, title = s[:, AT("condition")], s[:, AT("title")]
    rows = [
        # Not view 3, of the same trial; not view 7, which names the same concept.
        minus_log(condition[0], v[0], v[1], v[2], v[6]),
        minus_log(title[0], v[3], v[6], v[7]),
        minus_log(condition[1], v[6], v[0], v[3], v[7]),
        minus_log(condition[2], v[7], v[3], v[6]),
    ]
    assert found.parts["local"] == pytest.approx(sum(rows) / 4, abs=1e-5)
    assert found.total.item() == pytest.approx(2 * found.parts["local"])


def test_local_passes_over_what_is_not_there():
    """An attribute that is not encoded, and a view of zero."""
    sections, present = trials("condition", "condition", "condition title")
    views = view_vectors()
    views[2] = 0.0
    objective = contrastive_objective(whole, global_weight=0.0)
    sections.requires_grad_(True)
    info = batch(["", "", ""], views=VIEWS)
    found = run(objective, sections, present, info, views)
    s = sections.detach()[:, AT("condition")]
    s, v = (normalize(x, dim=-1).numpy() for x in (s, views))
    rows = [
        minus_log(s[0], v[0], v[1], v[6]),
        minus_log(s[1], v[6], v[0], v[7]),
        minus_log(s[2], v[7], v[6]),
    ]
    assert found.parts["local"] == pytest.approx(sum(rows) / 3, abs=1e-5)
    found.total.backward()
    assert not sections.grad[0, AT("title")].any()


def test_local_negatives_can_be_left_out():
    sections, present = trials(*["title condition"] * 3)
    views = view_vectors()
    info = batch(["", "", ""], views=VIEWS)
    settings = {"global_weight": 0.0, "local_negatives": False}
    found = run(contrastive_objective(whole, **settings), sections, present, info, views)  # fmt: skip
    s, v = (normalize(x, dim=-1).numpy() for x in (sections, views))
    condition, title = s[:, AT("condition")], s[:, AT("title")]
    rows = [
        minus_log(condition[0], v[0], v[6]),
        minus_log(title[0], v[3], v[6], v[7]),
        minus_log(condition[1], v[6], v[0], v[3], v[7]),
        minus_log(condition[2], v[7], v[3], v[6]),
    ]
    assert found.parts["local"] == pytest.approx(sum(rows) / 4, abs=1e-5)
    alone = contrastive_objective(whole, in_batch_negatives=False, **settings)
    assert run(alone, sections, present, info, views).total is None


def test_names_of_one_concept_are_near():
    sections, present = trials(*["title condition"] * 3)
    views = view_vectors()
    objective = contrastive_objective(whole, names_weight=1.0, **ONLY)
    found = run(objective, sections, present, batch(["", "", ""], views=VIEWS), views)
    v = normalize(views, dim=-1).numpy()
    rows = [  # pairs 4-5 and 10-11 name the same concept
        minus_log(v[4], v[5], v[9]),
        minus_log(v[8], v[9], v[5], v[11]),
        minus_log(v[10], v[11], v[9]),
    ]
    assert found.parts == {"names": pytest.approx(sum(rows) / 3, abs=1e-5)}
