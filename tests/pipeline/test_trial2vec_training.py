from __future__ import annotations

import copy
import math
from functools import partial

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam

from t2v_spacy.doc import set_sections
from t2v_spacy.errors import T2VError
from t2v_spacy.ml.batch_info import read_batch
from t2v_spacy.ml.global_views import context_views, split_views
from t2v_spacy.ml.objective import contrastive_objective
from t2v_spacy.ml.windows import make_windows
from t2v_spacy.sections.headed import Section
from t2v_spacy.sections.labels import CRITERIA, SECTION_LABELS
from t2v_spacy.training.training_trial import make_training_doc
from tests.conftest import make_tiny_nlp
from tests.training.toys import make_examples, make_training_trials

AT = SECTION_LABELS.index
ALL = {"match_weight": 1.0, "names_weight": 1.0, "alike_weight": 1.0}


def training_nlp(backbone, *, objective=None, seed=0, **settings):
    torch.manual_seed(seed)
    nlp = make_tiny_nlp(backbone, **settings)
    nlp.get_pipe("trial2vec").objective = objective or contrastive_objective(
        split_views(), seed=seed
    )
    return nlp


def weights(nlp) -> dict[str, torch.Tensor]:
    """A copy of all parameters, by name."""
    modules = {
        "transformer": nlp.get_pipe("transformer").model.transformer,
        "encoder": encoder_of(nlp),
    }
    return {
        f"{where}.{name}": parameter.detach().clone()
        for where, module in modules.items()
        for name, parameter in module.named_parameters()
    }


def encoder_of(nlp):
    return nlp.get_pipe("trial2vec").model.get_ref("encoder").shims[0]._model


def moved(before, after) -> set[str]:
    return {name for name in before if not torch.equal(before[name], after[name])}


def step(nlp, examples, sgd, **settings) -> dict[str, float]:
    """One step as spaCy's training loop makes it."""
    losses: dict[str, float] = {}
    nlp.update(examples, sgd=False, losses=losses, **settings)
    for name in ("transformer", "trial2vec"):
        if name not in settings.get("exclude", ()):
            nlp.get_pipe(name).finish_update(sgd)
    return losses


def plain_sections(nlp, docs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Section and view vectors in plain torch, window by window, with their graph."""
    model = nlp.get_pipe("transformer").model
    vectors = torch.zeros(len(docs), len(SECTION_LABELS), 24)
    present = torch.zeros(len(docs), len(SECTION_LABELS))
    views = []
    for i, doc in enumerate(docs):
        spans = model.attrs["get_spans"]([doc])
        windows = make_windows(model.tokenizer, spans, model.attrs["run"].windows)
        means, pieces = [], []
        for sequence in windows.sequence:
            ids = torch.tensor([windows.ids[sequence]])
            means.append(model.transformer(ids).last_hidden_state[0].mean(0))
            pieces.append(ids.shape[1])

        def mean_of(rows, means=means, pieces=pieces):
            total = sum(pieces[row] for row in rows)
            return sum(means[row] * pieces[row] for row in rows) / total

        for label in SECTION_LABELS:
            labels = CRITERIA if label == "eligibility" else (label,)
            numbers = [AT(name) for name in labels]
            rows = [r for r, s in enumerate(windows.section) if s in numbers]
            if rows:
                vectors[i, AT(label)] = mean_of(rows)
                present[i, AT(label)] = 1.0
        for number in range(1, len(doc.spans["views"]) + 1):
            rows = [r for r, s in enumerate(windows.section) if s == -number]
            views.append(mean_of(rows))
    return vectors, present, torch.stack(views)


@pytest.mark.parametrize("aggregate", ["residual", "paper"])
def test_update_gives_the_gradient_of_plain_torch(tiny_backbone, aggregate):
    """From the loss to the word embeddings, on Docs with views and one without text."""
    make = partial(contrastive_objective, split_views(), symmetric=True, seed=7, **ALL)
    nlp = training_nlp(tiny_backbone, objective=make())
    if aggregate == "paper":
        nlp.remove_pipe("trial2vec")
        config = {"model": {"aggregate": "paper", "width": 16}}
        nlp.add_pipe("trial2vec", config=config).objective = make()
        nlp.initialize()
    with torch.no_grad():
        encoder_of(nlp).attention.out_proj.weight.normal_(0, 0.3)
    examples = make_examples(nlp)
    blank = nlp.make_doc("")
    examples.insert(2, Example(blank, blank))
    losses: dict[str, float] = {}
    for name in ("transformer", "trial2vec"):
        nlp.get_pipe(name).update(examples, losses=losses)
    bert = nlp.get_pipe("transformer").model.transformer
    encoder = encoder_of(nlp)
    found = {
        name: p.grad.clone()
        for module in (bert, encoder)
        for name, p in module.named_parameters()
        if p.grad is not None
    }

    bert.zero_grad()
    encoder.zero_grad()
    docs = [eg.predicted for eg in examples]
    docs[2].spans["views"] = []
    sections, present, views = plain_sections(nlp, docs)
    expected = make()(encoder, sections, present, views, read_batch(docs))
    expected.total.backward()
    assert losses["trial2vec"] == pytest.approx(expected.total.item(), rel=1e-5)
    assert set(expected.parts) == {"global", "local", "match", "names"}
    for part, value in expected.parts.items():
        assert losses[f"trial2vec_{part}"] == pytest.approx(value, rel=1e-5)
    checked = 0
    for module in (bert, encoder):
        for name, parameter in module.named_parameters():
            if parameter.grad is not None and parameter.grad.any():
                atol = 1e-7 + 1e-4 * parameter.grad.abs().max().item()
                torch.testing.assert_close(
                    found[name], parameter.grad, rtol=1e-3, atol=atol
                )
                checked += 1
    assert checked > 35  # all of both layers, the embeddings, the encoder


def test_the_order_of_a_batch_does_not_change_the_loss(tiny_backbone):
    objective = contrastive_objective(context_views(), **ALL)
    nlp = training_nlp(tiny_backbone, objective=objective)
    examples = make_examples(nlp)
    found = []
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        losses: dict[str, float] = {}
        shuffled = [examples[i] for i in order]
        for name in ("transformer", "trial2vec"):
            nlp.get_pipe(name).update(shuffled, losses=losses)
        found.append({k: v for k, v in losses.items() if k != "transformer"})
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_a_few_trials_are_learnt_by_heart(tiny_backbone, tmp_path):
    """The loss falls to next to nothing and the context of a trial finds its own key
    attributes first; so it is after saving and loading."""
    objective = contrastive_objective(context_views(), local_weight=0.0)
    nlp = training_nlp(tiny_backbone, objective=objective)
    examples = make_examples(nlp)[:4]
    sgd = Adam(0.003)
    first = step(nlp, examples, sgd)["trial2vec"]
    for _ in range(60):
        last = step(nlp, examples, sgd)["trial2vec"]
    assert first > 1.0
    assert last < 0.05
    trials = make_training_trials()[:4]
    keys = ("title", "condition", "intervention", "outcome", "keyword")
    halves = []
    for wanted in (True, False):
        docs = [
            make_training_doc(
                nlp, trial.only([k for k in trial.sections if (k in keys) == wanted])
            )  # fmt: skip
            for trial in trials
        ]
        halves.append(np.stack([doc._.trial_vector for doc in nlp.pipe(docs)]))
    assert (halves[1] @ halves[0].T).argmax(1).tolist() == [0, 1, 2, 3]

    nlp.to_disk(tmp_path)
    config = nlp.config
    others = [
        spacy.load(tmp_path),
        spacy.util.load_model_from_config(config, auto_fill=True).from_bytes(
            nlp.to_bytes()
        ),
    ]
    for other in others:
        docs = [make_training_doc(other, trial) for trial in trials]
        again = np.stack([doc._.trial_vector for doc in other.pipe(docs)])
        docs = [make_training_doc(nlp, trial) for trial in trials]
        expected = np.stack([doc._.trial_vector for doc in nlp.pipe(docs)])
        np.testing.assert_allclose(again, expected, atol=1e-6)


def trained(backbone, seed) -> dict[str, torch.Tensor]:
    nlp = training_nlp(backbone, seed=seed)
    sgd = Adam(0.001)
    examples = make_examples(nlp)
    for _ in range(3):
        step(nlp, examples, sgd)
    return weights(nlp)


def test_the_seed_decides_the_weights(tiny_backbone):
    one, same, other = (trained(tiny_backbone, seed) for seed in (1, 1, 2))
    assert moved(one, same) == set()
    assert moved(one, other)


@pytest.mark.parametrize("which", [[0], [4, 4], [0, 0]])
def test_a_batch_with_nothing_to_learn_from_changes_nothing(tiny_backbone, which):
    """Not even by the momentum of the steps before."""
    objective = contrastive_objective(context_views(), match_weight=1.0)
    nlp = training_nlp(tiny_backbone, objective=objective)
    sgd = Adam(0.001)
    losses = step(nlp, make_examples(nlp), sgd)
    assert "trial2vec_skipped" not in losses
    assert losses["trial2vec"] > 0
    before = weights(nlp)
    examples = [make_examples(nlp, views=False)[i] for i in which]
    losses = step(nlp, examples, sgd)
    assert losses["trial2vec_skipped"] == 1
    assert losses["trial2vec"] == 0.0
    after = weights(nlp)
    assert moved(before, after) == set()
    assert all(bool(values.isfinite().all()) for values in after.values())


def test_blank_docs_are_skipped_and_counted(tiny_backbone):
    nlp = training_nlp(tiny_backbone)
    docs = [nlp.make_doc(""), nlp.make_doc(""), nlp.make_doc("  ")]
    examples = [Example(doc, doc) for doc in docs]
    assert step(nlp, examples[:2], Adam(0.1))["trial2vec_skipped"] == 1
    assert step(nlp, examples, Adam(0.1))["trial2vec_skipped"] == 1


def test_losses_add_up_over_batches(tiny_backbone):
    nlp = training_nlp(tiny_backbone)
    losses: dict[str, float] = {}
    examples, plain = make_examples(nlp), make_examples(nlp, views=False)
    for batch in (examples, plain[:1], plain[1:2], examples):
        nlp.update(batch, sgd=Adam(0.0), losses=losses)
    assert losses["trial2vec_skipped"] == 2
    parts = losses["trial2vec_global"] + losses["trial2vec_local"]
    assert losses["trial2vec"] == pytest.approx(parts)


def test_frozen_layers_stay_while_others_move(tiny_backbone):
    nlp = training_nlp(tiny_backbone, frozen_layers=1)
    before = weights(nlp)
    sgd = Adam(0.001)
    for _ in range(3):
        step(nlp, make_examples(nlp), sgd)
    found = moved(before, weights(nlp))
    layers = {f"transformer.encoder.layer.{i}.output.dense.weight" for i in (0, 1)}
    assert found & layers == {"transformer.encoder.layer.1.output.dense.weight"}
    assert not any(name.startswith("transformer.embeddings") for name in found)
    assert "encoder.weights" in found


def test_with_grad_factor_0_only_the_encoder_moves(tiny_backbone):
    nlp = make_tiny_nlp(tiny_backbone)
    nlp.remove_pipe("trial2vec")
    nlp.add_pipe("trial2vec", config={"model": {"sections": {"grad_factor": 0.0}}})
    nlp.initialize()
    before = weights(nlp)
    sgd = Adam(0.001)
    for _ in range(2):
        step(nlp, make_examples(nlp), sgd)
    found = moved(before, weights(nlp))
    assert "encoder.weights" in found
    assert not any(name.startswith("transformer") for name in found)


def test_a_frozen_transformer_that_annotates_trains_the_encoder(tiny_backbone):
    """And on the very same vectors: its rows for views are there too."""
    objective = partial(contrastive_objective, context_views(), names_weight=1.0)
    nlp = training_nlp(tiny_backbone, objective=objective())
    expected = step(nlp, make_examples(nlp), Adam(0.0))
    before = weights(nlp)
    nlp.get_pipe("trial2vec").objective = objective()
    settings = {"exclude": ["transformer"], "annotates": ["transformer"]}
    losses = step(nlp, make_examples(nlp), Adam(0.001), **settings)
    for key in ("trial2vec", "trial2vec_local", "trial2vec_names"):
        assert losses[key] == pytest.approx(expected[key], rel=1e-5)
    found = moved(before, weights(nlp))
    assert "encoder.weights" in found
    assert not any(name.startswith("transformer") for name in found)


@pytest.mark.parametrize("where", ["encoder", "transformer"])
def test_a_loss_that_is_no_number_stops_with_the_setting(tiny_backbone, where):
    nlp = training_nlp(tiny_backbone)
    with torch.no_grad():
        if where == "encoder":
            encoder_of(nlp).weights.fill_(math.nan)
        else:
            bert = nlp.get_pipe("transformer").model.transformer
            bert.encoder.layer[1].output.dense.bias.fill_(math.nan)
    before = weights(nlp)
    with pytest.raises(T2VError, match="T130.*'trial2vec'.*global nan.*learn_rate"):
        step(nlp, make_examples(nlp), Adam(0.001))
    after = weights(nlp)
    names = [name for name, values in before.items() if not values.isnan().any()]
    assert all(torch.equal(before[name], after[name]) for name in names)


def test_without_a_transformer_the_message_names_the_pipe(tiny_backbone):
    nlp = training_nlp(tiny_backbone)
    with pytest.raises(T2VError, match="T023.*'trial2vec'"):
        step(nlp, make_examples(nlp), Adam(0.001), exclude=["transformer"])


def test_without_an_objective_the_setting_is_named(tiny_backbone):
    nlp = training_nlp(tiny_backbone)
    nlp.get_pipe("trial2vec").objective = None
    with pytest.raises(T2VError, match=r"T131.*components\.trial2vec\.objective"):
        step(nlp, make_examples(nlp), Adam(0.001))


def test_a_view_without_words_is_refused(tiny_backbone):
    """Its row would be missing, and the views after it would be mixed up."""
    nlp = training_nlp(tiny_backbone)
    examples = make_examples(nlp)
    doc = examples[0].predicted
    words = [token.text for token in doc] + ["\u200b"]
    broken = Doc(nlp.vocab, words=words)
    ends = {span.start: span.end for span in doc.spans["sections"]}
    starts = {broken[a].idx: broken[b - 1].idx + 1 for a, b in ends.items()}
    set_sections(broken, [Section("title", a, b) for a, b in starts.items()])
    n = len(broken)
    broken.spans["views"] = [
        spacy.tokens.Span(broken, n - 1, n, label="title", span_id="positive")
    ]
    batch = [Example(broken, broken), *examples[1:]]
    with pytest.raises(T2VError, match="T136.*views without a word"):
        step(nlp, batch, Adam(0.001))


def test_a_trained_pipe_pickles_with_its_objective_and_scorer(tiny_backbone):
    nlp = training_nlp(tiny_backbone)
    pipe = nlp.get_pipe("trial2vec")
    assert copy.deepcopy(pipe.objective).weights == pipe.objective.weights
    import pickle

    again = pickle.loads(pickle.dumps(pipe))
    assert again.objective.weights == pipe.objective.weights
    assert again.scorer([])["trial2vec_own_criteria"] is None
