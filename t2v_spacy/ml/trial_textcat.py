"""A classifier for spaCy's `textcat` over the vectors of a trial (Trial2Vec, section
3.4: one fully connected layer on the trial vector)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc
from thinc.api import Dropout, Linear, Model, Relu, chain
from thinc.types import Floats2d

from ..errors import Errors, error
from ..extensions import install_extensions
from ..sections.labels import SECTION_LABELS
from ..termination.facts import FACTS, registration_facts
from .architectures import TrialEncoding
from .span_getters import ENCODED_LABELS

# Where a corpus reader keeps the facts of a record, so that each Doc needs no record.
FACTS_KEY = "t2v_facts"
_ROWS = [SECTION_LABELS.index(label) for label in ENCODED_LABELS]


def build_trial_textcat(
    encoder: Model[list[Doc], TrialEncoding] | None = None,
    section_vectors: bool = False,
    facts: bool = False,
    hidden: int = 0,
    nO: int | None = None,
) -> Model[list[Doc], Floats2d]:
    """Architecture `t2v.TrialVectorTextCat.v1` for the `textcat` factory: exclusive
    classes. The defaults are the paper's: one layer on the trial vector alone.

    encoder (Model | None): t2v.Trial2VecEncoder.v1 with a listener of its own, to train
        the transformer along. None reads what the pipe `trial2vec` has written,
        `doc._.trial_vector` and `doc._.section_vectors`, and changes no weight of it.
    section_vectors (bool): Read the vector of each section too; an absent one is zero
        and its flag is 0.
    facts (bool): Read the facts of the registration (`registration_facts`) of
        `doc._.trial` too. A Doc without a record has zeros and a flag.
    hidden (int): Units of a hidden layer; 0 for none. spaCy drops out its units at the
        rate of `training.dropout`.
    nO (int | None): Number of classes, found from the data.
    RETURNS (Model): Docs to probabilities (docs, classes), calibrated (see
        `set_calibration`) but for training. A Doc without a word gets the prior, and
        one without a token zeros, as from spaCy's own textcat.
    RAISES (T2VError): T026 for a negative `hidden`; T150 for a Doc with tokens on which
        `trial2vec` did not run.
    """
    if hidden < 0:
        raise error(Errors.T026, setting="hidden", value=hidden, reason="0 or more")
    source: Model = encoder if encoder is not None else written_vectors()
    classifier: Model = Linear(nO)
    if hidden:
        classifier = chain(Relu(hidden), Dropout(), Linear(nO))
    return Model(
        "trial_textcat",
        forward,
        init=init,
        layers=[source, classifier],
        dims={"nO": nO},
        attrs={
            "multi_label": False,
            "section_vectors": section_vectors,
            "facts": facts,
            "temperature": 1.0,
            "bias": [],
            "prior": [],
        },
    )


def set_calibration(
    model: Model,
    temperature: float = 1.0,
    bias: Sequence[float] = (),
    prior: Sequence[float] = (),
) -> None:
    """From now on the model predicts softmax(logits / temperature + bias), and the
    prior for a Doc without a word; without arguments softmax(logits) and equal
    shares. They are saved with the model and take no part in training.

    bias, prior (Sequence[float]): One a class.
    """
    model.attrs["temperature"] = float(temperature)
    model.attrs["bias"] = [float(value) for value in bias]
    model.attrs["prior"] = [float(value) for value in prior]


def init(model: Model, X: list[Doc] | None = None, Y: Floats2d | None = None) -> None:
    if X is None:
        return
    source, classifier = model.layers
    source.initialize(X=X)
    if Y is not None:
        model.set_dim("nO", Y.shape[1])
    classifier.initialize(X=features(model, X, source.predict(X)), Y=Y)


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[Doc]]]:
    source, classifier = model.layers
    encoding, backprop_source = _encode(source, docs, is_train)
    has_words = [any(map(str.isalnum, doc.text)) for doc in docs]
    known = encoding.vectors.any(axis=1) & model.ops.xp.asarray(has_words, dtype=bool)
    if not known.any():
        logits: Any = model.ops.alloc2f(len(docs), model.get_dim("nO"))
        return _scores(model, docs, logits, known, is_train), lambda d_scores: docs
    inputs = features(model, docs, encoding)
    logits, backprop_classifier = classifier(inputs, is_train)

    def backprop(d_scores: Floats2d) -> list[Doc]:
        # As everywhere in spaCy, what comes is the gradient of the cross-entropy with
        # respect to the logits. What cannot be read teaches nothing.
        d_inputs = backprop_classifier(d_scores * known[:, None])
        backprop_source(_split(model, d_inputs, encoding))
        return docs

    return _scores(model, docs, logits, known, is_train), backprop


def _encode(
    source: Model, docs: list[Doc], is_train: bool
) -> tuple[TrialEncoding, Callable]:
    """Run the source; an encoder only if it has something to encode."""
    if not source.layers:
        return source(docs, is_train)
    sections_of, encoder = source.layers  # not by name: a copy has lost its names
    if not is_train and any(len(doc) and doc._.trf_data is None for doc in docs):
        raise error(Errors.T023, name="textcat")
    sections, backprop_sections = sections_of(docs, is_train)
    if not sections.present.any():
        nothing = TrialEncoding(
            sections.vectors[:, 0], sections.vectors, sections.present
        )
        return nothing, lambda d_encoding: docs
    encoding, backprop = encoder(sections, is_train)
    return encoding, lambda d_encoding: backprop_sections(backprop(d_encoding))


def features(model: Model, docs: list[Doc], encoding: TrialEncoding) -> Floats2d:
    """What the classifier reads (docs, features): the trial vector, then the section
    vectors and their flags, then the facts and their flag."""
    xp: Any = model.ops.xp
    parts: list[Any] = [encoding.vectors]
    if model.attrs["section_vectors"]:
        parts.append(encoding.sections[:, _ROWS].reshape(len(docs), -1))
        parts.append(encoding.present[:, _ROWS])
    if model.attrs["facts"]:
        rows = [_facts(model, doc) for doc in docs]
        parts.append(xp.stack(rows) if rows else model.ops.alloc2f(0, len(FACTS) + 1))
    return xp.concatenate(parts, axis=1)


def _split(model: Model, d_inputs: Any, encoding: TrialEncoding) -> TrialEncoding:
    """The inverse of `features` for gradients; facts and flags have none."""
    n, width = encoding.vectors.shape
    d_sections = model.ops.xp.zeros_like(encoding.sections)
    if model.attrs["section_vectors"]:
        end = width + len(_ROWS) * width
        d_sections[:, _ROWS] = d_inputs[:, width:end].reshape(n, len(_ROWS), width)
    d_vectors = model.ops.xp.ascontiguousarray(d_inputs[:, :width])
    return TrialEncoding(d_vectors, d_sections, encoding.present)


def _scores(
    model: Model, docs: list[Doc], logits: Any, known: Any, is_train: bool
) -> Any:
    if is_train:
        return model.ops.softmax(logits)
    xp: Any = model.ops.xp
    n = logits.shape[1]
    bias = model.ops.asarray1f(model.attrs["bias"] or [0.0] * n)
    prior = model.ops.asarray1f(model.attrs["prior"] or [1 / n] * n)
    scores = model.ops.softmax(logits / model.attrs["temperature"] + bias)
    scores = xp.where(known[:, None], scores, prior)
    # spaCy's textcat gives zeros to a batch of empty Docs without asking us, and what
    # an empty Doc gets must not depend on the other Docs of its batch.
    has_tokens = xp.asarray([len(doc) > 0 for doc in docs], dtype="f")
    return scores * has_tokens[:, None]


def _facts(model: Model, doc: Doc) -> Any:
    """The facts of a Doc's record and a flag that says whether there is one."""
    found = doc.user_data.get(FACTS_KEY)
    if found is None and doc._.trial is not None:
        found = registration_facts(doc._.trial)
    row: Any = model.ops.alloc1f(len(FACTS) + 1)
    if found is not None:
        row[:-1] = model.ops.asarray1f(found)
        row[-1] = 1.0
    return row


def written_vectors() -> Model[list[Doc], TrialEncoding]:
    """The vectors that `trial2vec` has written to the Docs, of a frozen encoder."""
    return Model("written_vectors", _forward_written)


def _forward_written(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[TrialEncoding, Callable]:
    install_extensions()
    for doc in docs:
        # Where nothing could be read, trial2vec leaves an empty dict.
        if len(doc) and doc._.trial_vector is None and doc._.section_vectors is None:
            raise error(Errors.T150)
    width = max((len(d._.trial_vector) for d in docs if _has(d)), default=0)
    vectors: Any = model.ops.alloc2f(len(docs), width)
    sections: Any = model.ops.alloc3f(len(docs), len(SECTION_LABELS), width)
    present: Any = model.ops.alloc2f(len(docs), len(SECTION_LABELS))
    for i, doc in enumerate(docs):
        if not _has(doc):
            continue
        vectors[i] = model.ops.asarray1f(doc._.trial_vector)
        for label, vector in (doc._.section_vectors or {}).items():
            j = SECTION_LABELS.index(label)
            sections[i, j] = model.ops.asarray1f(vector)
            present[i, j] = 1.0
    return TrialEncoding(vectors, sections, present), lambda d_encoding: docs


def _has(doc: Doc) -> bool:
    return doc._.trial_vector is not None
