from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import spacy
import torch
from spacy.pipeline.textcat import DEFAULT_SINGLE_TEXTCAT_MODEL
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Model, fix_random_seed

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.extensions import install_extensions
from t2v_spacy.ml.architectures import TrialEncoding
from t2v_spacy.ml.span_getters import ENCODED_LABELS
from t2v_spacy.ml.trial_textcat import (
    FACTS_KEY,
    build_trial_textcat,
    features,
    set_calibration,
)
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.termination.facts import FACTS, registration_facts
from t2v_spacy.termination.labels import NEGATIVE, POSITIVE
from t2v_spacy.termination.registration import registration_view
from t2v_spacy.trial import Enrollment
from t2v_spacy.values import PartialDate
from tests.conftest import make_tiny_nlp, make_trials

WIDTH = 4
FULL = {"section_vectors": True, "facts": True, "hidden": 6}
ENCODER = {
    "@architectures": "t2v.Trial2VecEncoder.v1",
    "n_heads": 4,
    "sections": {"@architectures": "t2v.SectionListener.v1"},
}


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("en").vocab


def written(vocab, vector=None, word="trial", **sections) -> Doc:
    """A Doc as `trial2vec` leaves it."""
    install_extensions()
    doc = Doc(vocab, words=[word])
    doc._.trial_vector = None if vector is None else np.array(vector, "f")
    doc._.section_vectors = {k: np.array(v, "f") for k, v in sections.items()}
    return doc


def some_docs(vocab, n=8, seed=0) -> list[Doc]:
    rng = np.random.default_rng(seed)
    return [
        written(vocab, v / np.linalg.norm(v), title=v, summary=rng.normal(size=WIDTH))
        for v in rng.normal(size=(n, WIDTH))
    ]


def made(docs, **settings):
    fix_random_seed(0)
    model = build_trial_textcat(**settings)
    model.initialize(X=docs, Y=np.eye(2, dtype="f"))
    return model


def pipeline(backbone, *, encoder=False, **settings):
    """The tiny pipeline with a textcat that knows its labels."""
    torch.manual_seed(0)
    fix_random_seed(0)
    nlp = make_tiny_nlp(backbone)
    model = {"@architectures": "t2v.TrialVectorTextCat.v1", **settings}
    model["encoder"] = ENCODER if encoder else None
    nlp.add_pipe("textcat", config={"model": model})
    examples = make_examples(nlp)
    nlp.get_pipe("textcat").initialize(
        lambda: examples, nlp=nlp, labels=[POSITIVE, NEGATIVE]
    )
    nlp._link_components()
    return nlp


def make_examples(nlp) -> list[Example]:
    """Eight trials; those of the first kind are terminated."""
    trials = [
        dataclasses.replace(t, nct_id=f"{t.nct_id}{i}", acronym=f"A{i}")
        for i in range(2)
        for t in make_trials()
    ]
    examples = []
    for i, trial in enumerate(trials):
        doc = make_trial_doc(nlp, registration_view(trial))
        with nlp.select_pipes(enable=["trial_parser", "transformer", "trial2vec"]):
            reference = nlp(doc.copy())
        reference._.trf_data = None
        reference.cats = {POSITIVE: float(i % 4 < 2), NEGATIVE: float(i % 4 >= 2)}
        predicted = doc.copy()
        predicted._.trial_vector = reference._.trial_vector
        predicted._.section_vectors = reference._.section_vectors
        examples.append(Example(predicted, reference))
    return examples


def weights(model) -> dict:
    """All parameters of a model and of the torch modules in it."""
    found = {}
    for i, node in enumerate(model.walk()):
        for name in node.param_names:
            if node.has_param(name):
                found[i, name] = node.get_param(name).copy()
        for shim in node.shims:
            for name, value in shim._model.state_dict().items():
                found[i, name] = value.detach().numpy().copy()
    return found


def changed(before, after) -> set:
    return {key for key in before if not np.array_equal(before[key], after[key])}


# what it computes


def test_the_papers_classifier_is_one_layer_on_the_trial_vector(vocab):
    docs = some_docs(vocab, 3)
    model = made(docs)
    _, layer = model.layers
    assert layer.get_param("W").shape == (2, WIDTH)
    layer.set_param("W", np.array([[1, 0, 0, 0], [0, 0, 0, 0]], "f"))
    layer.set_param("b", np.array([0.5, 0], "f"))
    expected = 1 / (1 + np.exp(-(np.array([d._.trial_vector[0] for d in docs]) + 0.5)))
    np.testing.assert_allclose(model.predict(docs)[:, 0], expected, atol=1e-6)


def test_features_are_vector_sections_flags_facts_and_a_flag(vocab):
    trial = make_trials()[0]
    docs = [
        written(vocab, [1, 0, 0, 0], title=[0, 1, 0, 0], outcome=[0, 0, 1, 0]),
        written(vocab, [0, 1, 0, 0], summary=[0, 0, 0, 1]),
        written(vocab, [0, 0, 1, 0]),
    ]
    docs[0]._.trial = trial
    docs[1].user_data[FACTS_KEY] = np.arange(len(FACTS), dtype="f")
    model = made(docs, section_vectors=True, facts=True)
    rows = features(model, docs, model.layers[0].predict(docs))
    n = len(ENCODED_LABELS)
    assert rows.shape == (3, WIDTH + n * WIDTH + n + len(FACTS) + 1)
    vectors, sections, flags, facts, known = np.split(
        rows, np.cumsum([WIDTH, n * WIDTH, n, len(FACTS)]), axis=1
    )
    np.testing.assert_array_equal(vectors, np.eye(4)[:3])
    sections = sections.reshape(3, n, WIDTH)
    expected = np.zeros_like(sections)
    expected[0, ENCODED_LABELS.index("title"), 1] = 1
    expected[0, ENCODED_LABELS.index("outcome"), 2] = 1
    expected[1, ENCODED_LABELS.index("summary"), 3] = 1
    np.testing.assert_array_equal(sections, expected)
    np.testing.assert_array_equal(flags, expected.sum(axis=2))
    np.testing.assert_array_equal(facts[0], registration_facts(trial))
    np.testing.assert_array_equal(facts[1], np.arange(len(FACTS)))
    assert not facts[2].any()
    assert known[:, 0].tolist() == [1, 1, 0]


def test_calibration_is_of_prediction_and_not_of_training(vocab):
    docs = some_docs(vocab, 4)
    model = made(docs)
    raw = model.predict(docs).astype("float64")
    logits = np.log(raw[:, 0]) - np.log(raw[:, 1])
    set_calibration(model, 2.0, [-1.0, 0.0], [0.2, 0.8])
    expected = 1 / (1 + np.exp(-(logits / 2 - 1)))
    np.testing.assert_allclose(model.predict(docs)[:, 0], expected, atol=1e-6)
    np.testing.assert_array_equal(model.begin_update(docs)[0], raw.astype("f"))
    set_calibration(model)
    np.testing.assert_array_equal(model.predict(docs), raw.astype("f"))


@pytest.mark.parametrize("settings", [{}, FULL], ids=["paper", "full"])
def test_what_cannot_be_read_gets_the_prior_and_teaches_nothing(vocab, settings):
    docs = [*some_docs(vocab, 2), written(vocab, word="..."), Doc(vocab)]
    model = made(docs[:2], **settings)
    for batch in (docs, docs[2:], docs[2:3], docs[3:]):
        scores = dict(zip(batch, model.predict(batch).tolist(), strict=True))
        assert scores.get(docs[2], [0.5, 0.5]) == [0.5, 0.5]
        assert scores.get(docs[3], [0, 0]) == [0, 0]  # as spaCy's own textcat
    set_calibration(model, prior=[0.25, 0.75])
    assert model.predict(docs)[2].tolist() == [0.25, 0.75]
    assert model.predict(docs[2:])[0].tolist() == [0.25, 0.75]
    before = weights(model)
    scores, backprop = model.begin_update(docs[2:])
    backprop(scores - np.array([[1, 0]], "f"))
    model.finish_update(Adam(0.1))
    assert not changed(before, weights(model))


def test_gradients_are_those_of_the_cross_entropy():
    """Of the weights and of the vectors that an encoder would have made."""
    rng = np.random.default_rng(0)
    shape = (3, len(SECTION_LABELS), WIDTH)
    vectors, sections = rng.normal(size=(3, WIDTH)), rng.normal(size=shape)
    encoding = TrialEncoding(
        vectors.astype("f"), sections.astype("f"), np.ones(shape[:2], "f")
    )
    encoding.vectors[2] = 0  # nothing to read
    caught = []

    def forward(model, docs, is_train):
        return encoding, lambda gradient: caught.append(gradient) or docs

    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=["x"]) for _ in range(3)]
    truth = np.array([[1, 0], [0, 1], [1, 0]], "f")
    fix_random_seed(1)
    model = build_trial_textcat(Model("fixed", forward), section_vectors=True, hidden=5)
    model.initialize(X=docs, Y=truth)
    scores, backprop = model.begin_update(docs)
    backprop(scores - truth)

    def loss() -> float:
        found, _ = model.begin_update(docs)
        return float(-(truth * np.log(found.astype("float64")))[:2].sum())

    def slope(array, place, step=1e-2) -> float:
        kept = array[place]
        array[place] = kept + step
        above = loss()
        array[place] = kept - step
        below = loss()
        array[place] = kept
        return (above - below) / (2 * step)

    (gradient,) = caught
    assert not gradient.vectors[2].any()
    assert gradient.vectors[:2].any()
    for place in np.ndindex(2, WIDTH):
        assert gradient.vectors[place] == pytest.approx(
            slope(encoding.vectors, place), abs=2e-3
        )
    rows = [SECTION_LABELS.index(label) for label in ("title", "exclusion", "design")]
    for place in [(i, j, k) for i in range(2) for j in rows for k in range(WIDTH)]:
        assert gradient.sections[place] == pytest.approx(
            slope(encoding.sections, place), abs=2e-3
        )
    assert not gradient.sections[:, SECTION_LABELS.index("design")].any()
    for node in model.layers[1].walk():
        for name in node.param_names:
            parameter, found = node.get_param(name), node.get_grad(name)
            for place in list(np.ndindex(parameter.shape))[::7]:
                assert found[place] == pytest.approx(slope(parameter, place), abs=2e-3)


@pytest.mark.parametrize("hidden", [0, 8])
def test_it_learns_eight_trials_by_heart(vocab, hidden):
    nlp = spacy.blank("en")
    config = {
        "model": {
            "@architectures": "t2v.TrialVectorTextCat.v1",
            "hidden": hidden,
            "section_vectors": True,
        }
    }
    pipe = nlp.add_pipe("textcat", config=config)
    fix_random_seed(0)
    examples = []
    for i, doc in enumerate(some_docs(nlp.vocab, 8)):
        doc.cats = {POSITIVE: float(i % 3 == 0), NEGATIVE: float(i % 3 != 0)}
        examples.append(Example(doc.copy(), doc))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    losses = []
    for _ in range(60):
        losses.append(nlp.update(examples, sgd=optimizer, drop=0.1)["textcat"])
    assert losses[-1] < losses[0] / 20
    for example in examples:
        doc = nlp.get_pipe("textcat")(example.predicted.copy())
        assert max(doc.cats, key=doc.cats.get) == max(
            example.reference.cats, key=example.reference.cats.get
        )
    drops = [
        node.attrs["dropout_rate"]
        for node in pipe.model.walk()
        if "dropout_rate" in node.attrs
    ]
    assert set(drops) == ({0.1} if hidden else set())


# settings


def test_a_doc_that_nobody_encoded_is_an_error(vocab):
    model = made(some_docs(vocab, 2))
    with pytest.raises(T2VError, match="T150.*trial2vec.*encoder"):
        model.predict([Doc(vocab, words=["gout"])])
    with pytest.raises(T2VError, match="T150"):
        made([Doc(vocab, words=["gout"])])


def test_a_negative_width_is_refused():
    with pytest.raises(T2VError, match="T026.*hidden"):
        build_trial_textcat(hidden=-1)


def test_spacys_default_model_is_replaced_whole():
    """A pipe made with our model has none of the settings of spaCy's."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(
        "textcat", config={"model": {"@architectures": "t2v.TrialVectorTextCat.v1"}}
    )
    assert pipe.model.name == "trial_textcat"
    assert set(nlp.get_pipe_config("textcat")["model"]) & set(
        DEFAULT_SINGLE_TEXTCAT_MODEL
    ) == {"@architectures"}


# in a pipeline


@pytest.fixture(scope="module")
def nlp(tiny_backbone):
    nlp = pipeline(tiny_backbone, **FULL)
    set_calibration(nlp.get_pipe("textcat").model, 1.5, [0.3, 0.0], [0.2, 0.8])
    return nlp


def cats(nlp, trials, **settings) -> np.ndarray:
    docs = nlp.pipe((make_trial_doc(nlp, trial) for trial in trials), **settings)
    return np.array([[doc.cats[POSITIVE], doc.cats[NEGATIVE]] for doc in docs])


def test_probabilities_in_a_batch_are_those_of_each_alone(nlp):
    together = cats(nlp, make_trials())
    alone = np.concatenate([cats(nlp, [trial]) for trial in make_trials()])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-6)
    assert len(set(together[:, 0].tolist())) == 4


def test_empty_and_blank_texts_alone_and_in_a_batch(nlp):
    texts = ["", "  \n ", "...", "Title: Gout"]
    together = [doc.cats[POSITIVE] for doc in nlp.pipe(texts)]
    alone = [nlp(text).cats[POSITIVE] for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert together[0] == 0
    assert together[1] == together[2] == pytest.approx(0.2)
    assert together[3] not in (0, pytest.approx(0.2))


def test_two_processes_give_what_one_gives(nlp):
    one = cats(nlp, make_trials(), batch_size=2)
    two = cats(nlp, make_trials(), batch_size=2, n_process=2)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("how", ["disk", "bytes", "pickle", "copy"])
@pytest.mark.parametrize("encoder", [False, True])
def test_it_comes_back_as_it_was(tiny_backbone, tmp_path, how, encoder):
    nlp = pipeline(tiny_backbone, encoder=encoder, **FULL)
    pipe = nlp.get_pipe("textcat")
    set_calibration(pipe.model, 1.5, [0.3, 0.0], [0.2, 0.8])
    pipe.cfg["threshold"] = 0.37
    expected = cats(nlp, make_trials())
    again = nlp
    if how == "disk":
        nlp.to_disk(tmp_path)
        again = spacy.load(tmp_path)
    elif how == "bytes":
        again = pipeline(tiny_backbone, encoder=encoder, **FULL)
        again.from_bytes(nlp.to_bytes())
    elif how == "pickle":
        again = pickle.loads(pickle.dumps(nlp))
    else:
        pipe.model, old = pipe.model.copy(), pipe.model
        set_calibration(old, 9.0)
    np.testing.assert_array_equal(cats(again, make_trials()), expected)
    assert again.get_pipe("textcat").cfg["threshold"] == 0.37


def test_what_came_after_registration_moves_nothing_by_a_bit(nlp):
    """Neither by the text nor by the facts."""
    trials = make_trials()
    day = PartialDate("2011-02-03", "day", True)
    later = [
        dataclasses.replace(
            trial,
            status="WITHDRAWN",
            why_stopped="No participant came",
            enrollment=Enrollment(0, actual=True),
            has_results=True,
            start_date=day,
            completion_date=day,
            last_updated=day,
        )
        for trial in trials
    ]
    np.testing.assert_array_equal(cats(nlp, trials), cats(nlp, later))
    planned = [
        dataclasses.replace(t, enrollment=Enrollment(900, actual=False)) for t in trials
    ]
    np.testing.assert_array_equal(cats(nlp, trials), cats(nlp, planned))
    known = [dataclasses.replace(trial, sponsor_class="NIH") for trial in trials]
    assert [t.to_text() for t in known] == [t.to_text() for t in trials]
    assert (cats(nlp, trials) != cats(nlp, known)).all()  # the facts are read


# training


def test_a_frozen_encoder_stays_as_it_is(tiny_backbone):
    nlp = pipeline(tiny_backbone, **FULL)
    examples = make_examples(nlp)
    before = {
        name: weights(nlp.get_pipe(name).model)
        for name in ("transformer", "trial2vec", "textcat")
    }
    sgd = Adam(0.01)
    for _ in range(3):
        nlp.update(examples, sgd=sgd, exclude=["transformer", "trial2vec"])
    after = {name: weights(nlp.get_pipe(name).model) for name in before}
    assert not changed(before["transformer"], after["transformer"])
    assert not changed(before["trial2vec"], after["trial2vec"])
    assert len(changed(before["textcat"], after["textcat"])) == 4


def test_vectors_can_be_annotated_while_training(tiny_backbone):
    """spaCy's own way to a frozen encoder: slower, but with any corpus reader."""
    nlp = pipeline(tiny_backbone)
    examples = make_examples(nlp)
    for example in examples:
        example.predicted._.trial_vector = example.predicted._.section_vectors = None
    before = weights(nlp.get_pipe("textcat").model)
    frozen = ["transformer", "trial2vec"]
    nlp.update(examples, sgd=Adam(0.01), exclude=frozen, annotates=frozen)
    assert changed(before, weights(nlp.get_pipe("textcat").model))


def test_an_encoder_of_its_own_trains_the_transformer(tiny_backbone, tmp_path):
    nlp = pipeline(tiny_backbone, encoder=True, section_vectors=True)
    nlp.remove_pipe("trial2vec")
    nlp._link_components()
    examples = make_examples_of_texts(nlp)
    names = ("transformer", "textcat")
    before = {name: weights(nlp.get_pipe(name).model) for name in names}
    sgd, losses = Adam(0.005), []
    for _ in range(12):
        losses.append(nlp.update(examples, sgd=sgd)["textcat"])
    assert losses[-1] < losses[0] / 2
    for name in names:
        assert changed(before[name], weights(nlp.get_pipe(name).model)), name
    expected = cats(nlp, make_trials())
    np.testing.assert_allclose(
        [cats(nlp, [t])[0] for t in make_trials()], expected, atol=1e-5
    )
    nlp.to_disk(tmp_path)
    np.testing.assert_array_equal(cats(spacy.load(tmp_path), make_trials()), expected)
    texts = ["", " ", "...", "Title: Gout"]
    together = [doc.cats[POSITIVE] for doc in nlp.pipe(texts)]
    np.testing.assert_allclose(
        together, [nlp(text).cats[POSITIVE] for text in texts], atol=1e-5
    )
    assert together[:3] == [0, 0.5, 0.5]
    blank = [Example(nlp.make_doc(" "), examples[0].reference)]
    nlp.update(blank, sgd=sgd)  # nothing to learn from is no error


def make_examples_of_texts(nlp) -> list[Example]:
    examples = []
    for i, trial in enumerate(make_trials()):
        doc = make_trial_doc(nlp, trial)
        doc.cats = {POSITIVE: float(i < 2), NEGATIVE: float(i >= 2)}
        examples.append(Example(doc, doc))
    return examples


def test_an_encoder_without_a_transformer_is_an_error(tiny_backbone):
    nlp = pipeline(tiny_backbone, encoder=True)
    nlp.remove_pipe("trial2vec")
    nlp.disable_pipe("transformer")
    with pytest.raises(T2VError, match="T023"):
        nlp("Title: Gout")
