"""The `trial2vec` pipe: one vector a trial, one a section."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..errors import Errors, error
from ..extensions import install_extensions
from ..sections.labels import SECTION_LABELS

default_model_config = """
[model]
@architectures = "t2v.Trial2VecEncoder.v1"
aggregate = "residual"
n_heads = 6
width = null

[model.weights]
title = 1.0
condition = 1.0
intervention = 1.0
keyword = 0.5
summary = 0.5
description = 0.5
eligibility = 0.5

[model.sections]
@architectures = "t2v.SectionListener.v1"
grad_factor = 1.0
upstream = "*"
"""
DEFAULT_TRIAL2VEC_MODEL = Config().from_str(default_model_config)["model"]


class Trial2Vec(TrainablePipe):
    """Sets `doc._.trial_vector` and `doc._.section_vectors` (Wang & Sun 2022).

    The parameters are trainable, but this version has no loss: `update` raises.

    vocab (Vocab): The shared vocabulary.
    model (Model[List[Doc], TrialEncoding]): t2v.Trial2VecEncoder.v1.
    name (str): Name of the pipe.
    """

    def __init__(self, vocab: Vocab, model: Model, name: str = "trial2vec") -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.cfg: dict[str, Any] = {}  # TrainablePipe saves it
        install_extensions()

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Encode a batch without changing it.

        RETURNS (TrialEncoding | None): None for a batch without a single word.
        RAISES (T2VError): T023 if no transformer of ours ran before this pipe.
        """
        docs = list(docs)
        outputs = [doc._.trf_data and doc._.trf_data.model_output for doc in docs]
        if any(
            output is None or ("section" not in output and output) for output in outputs
        ):
            raise error(Errors.T023, name=self.name)
        if not any(outputs):
            return None
        return self.model.predict(docs)

    def set_annotations(self, docs: Iterable[Doc], encoding: Any) -> None:
        """Write float32 NumPy vectors to the Docs; None for a Doc without words.

        docs (Iterable[Doc]): The Docs of the batch.
        encoding (TrialEncoding | None): From `predict`.
        """
        docs = list(docs)
        install_extensions()
        if encoding is None:
            for doc in docs:
                doc._.trial_vector, doc._.section_vectors = None, {}
                doc._.truncated = []
            return
        ops = self.model.ops
        vectors = ops.to_numpy(encoding.vectors)
        sections = ops.to_numpy(encoding.sections)
        present = ops.to_numpy(encoding.present)
        for i, doc in enumerate(docs):
            found = present[i].nonzero()[0]
            doc._.trial_vector = vectors[i].copy() if len(found) else None
            doc._.section_vectors = {
                SECTION_LABELS[j]: sections[i, j].copy() for j in found
            }
            doc._.truncated = _truncated(doc)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Make the parameters for the width of the backbone.

        get_examples (Callable): Checked, but not needed: the backbone sets the shapes.
        nlp (Language | None): The pipeline.
        RAISES (T2VError): T023 if there is no transformer for the model to listen to.
        """
        validate_get_examples(get_examples, "Trial2Vec.initialize")
        if not self.model.get_ref("listener").has_dim("nO"):
            raise error(Errors.T023, name=self.name)
        docs = [Doc(self.vocab, words=["trial"])]
        self.model.initialize(X=docs)


def _truncated(doc: Doc) -> list[str]:
    """Labels of the sections of which max_windows left something out."""
    output = doc._.trf_data.model_output
    if "cut" not in output:
        return []
    labels = {SECTION_LABELS[int(label)] for label in output.section[output.cut > 0]}
    return [label for label in SECTION_LABELS if label in labels]


@Language.factory(
    "trial2vec",
    assigns=["doc._.trial_vector", "doc._.section_vectors", "doc._.truncated"],
    requires=["doc._.trf_data", "doc.spans"],
    default_config={"model": DEFAULT_TRIAL2VEC_MODEL},
)
def make_trial2vec(nlp: Language, name: str, model: Model) -> Trial2Vec:
    """Create a Trial2Vec pipe, see `Trial2Vec`."""
    return Trial2Vec(nlp.vocab, model, name)
