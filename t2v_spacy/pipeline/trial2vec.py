"""The `trial2vec` pipe: one vector a trial, one a section."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, torch2xp, xp2torch

from ..errors import Errors, error
from ..extensions import install_extensions
from ..sections.labels import SECTION_LABELS

default_model_config = """
[model]
@architectures = "t2v.Trial2VecEncoder.v1"
aggregate = "residual"
n_heads = 6
width = null
section_maps = false

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

default_objective_config = """
[objective]
@misc = "t2v.ContrastiveObjective.v1"
global_weight = 1.0
local_weight = 1.0
match_weight = 0.0
names_weight = 0.0
attribute_negatives = true
context_negatives = true
local_negatives = true
in_batch_negatives = true
mask_alike = true
symmetric = false
seed = 0

[objective.views]
@misc = "t2v.DropoutViews.v1"
rate = 0.3
"""
DEFAULT_OBJECTIVE = Config().from_str(default_objective_config)["objective"]


class Trial2Vec(TrainablePipe):
    """Sets `doc._.trial_vector` and `doc._.section_vectors` (Wang & Sun 2022).

    vocab (Vocab): The shared vocabulary.
    model (Model[List[Doc], TrialEncoding]): t2v.Trial2VecEncoder.v1.
    name (str): Name of the pipe.
    objective (Callable | None): What it learns from, t2v.ContrastiveObjective.v1;
        without one `update` raises.
    scorer (Callable | None): t2v.trial2vec_scorer.v1.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "trial2vec",
        *,
        objective: Callable | None = None,
        scorer: Callable | None = None,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.objective = objective
        self.scorer = scorer
        self.cfg: dict[str, Any] = {}  # TrainablePipe saves it
        install_extensions()

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Encode a batch without changing it.

        RETURNS (TrialEncoding | None): None for a batch without a single word.
        RAISES (T2VError): T023 if no transformer of ours ran before this pipe.
        """
        docs = list(docs)
        if not any(self._check_outputs(docs)):
            return None
        return self.model.predict(docs)

    def _check_outputs(self, docs: list[Doc]) -> list[Any]:
        outputs = [doc._.trf_data and doc._.trf_data.model_output for doc in docs]
        for output in outputs:
            if output is None or ("section" not in output and output):
                raise error(Errors.T023, name=self.name)
        return outputs

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

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of trials. Only the predicted Docs are used: their
        sections, `doc._.concepts` and, for the local and the names loss,
        `doc.spans["views"]`, all of which t2v.TrialCorpus.v1 makes.

        drop (float): Not used: the backbone has its own dropout in its settings.
        RETURNS (dict): losses[name] is the sum of the losses so far, and
            losses[f"{name}_{part}"] that of each part. A batch that has nothing to
            learn from (one trial, or only trials alike) changes nothing and counts in
            losses[f"{name}_skipped"].
        RAISES (T2VError): T130 for a loss that is no number, T023 without a
            transformer, T131 without an objective, T136 for a view without words.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "Trial2Vec.update")
        skipped = f"{self.name}_skipped"
        docs = [eg.predicted for eg in examples]
        if not any(len(doc) for doc in docs):
            losses[skipped] = losses.get(skipped, 0.0) + 1
            return losses
        listener: Any = self.model.get_ref("listener")
        if listener._batch_id is None:  # the transformer is frozen, or there is none
            self._check_outputs(docs)
        layer = self.model.get_ref("sections")
        sections, backprop = layer.begin_update(docs)
        found, d_sections = self.get_loss(examples, sections)
        if sections.present.any():  # else the transformer cannot go back
            backprop(d_sections)
        if sgd is not None:
            self.finish_update(sgd)
        if found.total is None:
            losses[skipped] = losses.get(skipped, 0.0) + 1
            return losses
        losses[self.name] += float(found.total.detach())
        for part, value in found.parts.items():
            key = f"{self.name}_{part}"
            losses[key] = losses.get(key, 0.0) + value
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Any) -> tuple[Any, Any]:
        """The losses of a batch and their gradient.

        scores (SectionBatch): Vectors of the sections and views of the Docs.
        RETURNS (Tuple[Losses, SectionBatch]): The second holds the gradients of the
            vectors; those of the encoder's own parameters are left in them.
        RAISES: As `update`.
        """
        from ..ml.backbone import drop_empty_gradients
        from ..ml.batch_info import read_batch
        from ..ml.objective import Losses
        from ..ml.pooling import SectionBatch

        if self.objective is None:
            raise error(Errors.T131, name=self.name)
        module = self.model.get_ref("encoder").shims[0]._model
        module.train()
        drop_empty_gradients(module)
        if not scores.present.any():  # Docs of blanks alone have no width either
            return Losses(), scores
        batch = read_batch(eg.predicted for eg in examples)
        if len(batch.views) != len(scores.views):
            raise error(Errors.T136, name=self.name)
        vectors = xp2torch(scores.vectors, requires_grad=True)
        views = xp2torch(scores.views, requires_grad=True)
        present = xp2torch(scores.present)
        found = self.objective(module, vectors, present, views, batch)
        if found.total is not None:
            if not bool(found.total.isfinite()):
                parts = ", ".join(f"{k} {v:g}" for k, v in found.parts.items())
                raise error(Errors.T130, name=self.name, parts=parts)
            found.total.backward()
        d_vectors, d_views = (
            torch2xp(t.grad) if t.grad is not None else scores_like * 0
            for t, scores_like in ((vectors, scores.vectors), (views, scores.views))
        )
        return found, SectionBatch(d_vectors, scores.present, d_views)

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
    labels = {
        SECTION_LABELS[int(label)]
        for label in output.section[output.cut > 0]
        if label >= 0
    }
    return [label for label in SECTION_LABELS if label in labels]


@Language.factory(
    "trial2vec",
    assigns=["doc._.trial_vector", "doc._.section_vectors", "doc._.truncated"],
    requires=["doc._.trf_data", "doc.spans"],
    default_config={
        "model": DEFAULT_TRIAL2VEC_MODEL,
        "objective": DEFAULT_OBJECTIVE,
        "scorer": {"@scorers": "t2v.trial2vec_scorer.v1"},
    },
    default_score_weights={
        "trial2vec_own_criteria": 1.0,
        "trial2vec_ndcg@5": None,
        "trial2vec_map": None,
        "trial2vec_mean_cosine": None,
        "trial2vec_rank": None,
    },
)
def make_trial2vec(
    nlp: Language,
    name: str,
    model: Model,
    objective: Callable | None,
    scorer: Callable | None,
) -> Trial2Vec:
    """Create a Trial2Vec pipe, see `Trial2Vec`."""
    return Trial2Vec(nlp.vocab, model, name, objective=objective, scorer=scorer)
