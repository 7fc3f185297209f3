"""Our protocols beside mteb's own, and a pipeline inside mteb, on tasks in memory."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.sentence_pairs import SentencePairs
from t2v_spacy.evaluation.suite import as_mteb, load_encoder
from t2v_spacy.evaluation.suite.clustering import Clustering, score_clustering
from t2v_spacy.evaluation.suite.hub import load_mteb, score_mteb
from t2v_spacy.evaluation.suite.retrieval import Retrieval, score_retrieval
from t2v_spacy.evaluation.suite.score import NoData
from t2v_spacy.evaluation.suite.sts import score_sts
from t2v_spacy.evaluation.suite.tasks import find_tasks

from .toy import Toy

mteb = pytest.importorskip("mteb")
datasets = pytest.importorskip("datasets")
WORDS = ["gout", "asthma", "cough", "urate", "colchicine", "inhaler", "fever", "pain", "adult", "child", "trial", "dose"]  # fmt: skip


def sentences(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(2, 7))) for _ in range(n)]


def metadata(kind: str, score: str):
    return mteb.TaskMetadata(
        name=f"Toy{kind}",
        description="in memory",
        dataset={"path": "none", "revision": "none"},
        type=kind,
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=score,
    )


def retrieval_task(data: Retrieval):
    from mteb.abstasks.retrieval import AbsTaskRetrieval

    class ToyRetrieval(AbsTaskRetrieval):
        metadata = globals()["metadata"]("Retrieval", "ndcg_at_10")

    task = ToyRetrieval()
    rows = ([{"id": i, "text": text} for i, text in part.items()] for part in (data.corpus, data.queries))  # fmt: skip
    corpus, queries = map(datasets.Dataset.from_list, rows)
    task.dataset = {
        "default": {
            "test": {
                "corpus": corpus,
                "queries": queries,
                "relevant_docs": {q: dict(grades) for q, grades in data.qrels.items()},
                "top_ranked": None,
            }
        }
    }
    task.data_loaded = True
    return task


def retrieval_data() -> Retrieval:
    rng = np.random.default_rng(0)
    corpus = {f"d{i}": text for i, text in enumerate(dict.fromkeys(sentences(40, 1)))}
    queries = {f"q{i}": text for i, text in enumerate(sentences(6, 2))}
    ids = list(corpus)
    qrels = {q: {d: int(rng.integers(0, 3)) for d in rng.choice(ids, 12, replace=False)} for q in queries}  # fmt: skip
    return Retrieval("toy", corpus, queries, qrels)


def evaluated(task, encoder) -> float:
    return score_mteb(find_tasks(["SciFact"])[0], task, encoder).value


@pytest.fixture(scope="module")
def backbone(tiny_backbone):
    return load_encoder(tiny_backbone, precision="float32")


def test_retrieval_is_mtebs(backbone):
    data = retrieval_data()
    found = evaluated(retrieval_task(data), backbone)
    assert 0 < found < 1
    # mteb rounds to five places.
    assert score_retrieval(data, backbone).value == pytest.approx(found, abs=1e-5)


def test_sts_is_mtebs(backbone):
    from mteb.abstasks.sts import AbsTaskSTS

    class ToySTS(AbsTaskSTS):
        metadata = globals()["metadata"]("STS", "cosine_spearman")

    grades = np.random.default_rng(3).integers(0, 5, 30).astype(float).tolist()
    pairs = SentencePairs("toy", tuple(sentences(30, 4)), tuple(sentences(30, 5)), tuple(grades))  # fmt: skip
    task = ToySTS()
    columns = {"sentence1": pairs.first, "sentence2": pairs.second, "score": grades}
    task.dataset = {"test": datasets.Dataset.from_dict(columns)}
    task.data_loaded = True
    found = evaluated(task, backbone)
    assert score_sts(pairs, backbone).value == pytest.approx(found, abs=1e-6)


def test_the_first_run_of_clustering_is_mtebs():
    from mteb.abstasks.clustering_legacy import AbsTaskClusteringLegacy

    class ToyClustering(AbsTaskClusteringLegacy):
        metadata = globals()["metadata"]("Clustering", "v_measure")

    toy = Toy()
    rng = np.random.default_rng(6)
    parts = []
    for _ in range(3):
        labels = rng.integers(0, 4, 50)
        texts = ["abcdef"[k] * 3 + "".join(rng.choice(list("abcdef"), 3)) for k in labels]  # fmt: skip
        parts.append((texts, labels.tolist()))
    task = ToyClustering()
    columns = {"sentences": [p[0] for p in parts], "labels": [p[1] for p in parts]}
    task.dataset = {"test": datasets.Dataset.from_dict(columns)}
    task.data_loaded = True
    texts, labels, sets = zip(*((t, str(k), str(i)) for i, p in enumerate(parts) for t, k in zip(*p, strict=True)), strict=True)  # fmt: skip
    data = Clustering("toy", texts, labels, sets)
    found = evaluated(task, toy)
    assert 0.1 < found < 1
    assert score_clustering(data, toy, runs=1).value == pytest.approx(found, abs=1e-6)


def test_a_pipeline_goes_through_mteb(tiny_nlp, tmp_path):
    tiny_nlp.to_disk(tmp_path / "nlp")
    encoder = load_encoder(str(tmp_path / "nlp"), precision="float32")
    model = as_mteb(encoder)
    assert isinstance(model, mteb.EncoderProtocol)
    assert model.mteb_model_meta.name == "t2v_spacy/nlp"
    data = retrieval_data()
    result = mteb.evaluate(model, retrieval_task(data), cache=None, co2_tracker=False)
    found = result.task_results[0].get_score()
    assert score_retrieval(data, encoder).value == pytest.approx(found, abs=1e-5)


def test_a_failure_inside_mteb_names_the_task():
    class Broken(Toy):
        def encode(self, texts):
            raise RuntimeError("out of memory\nand more")

    with pytest.raises(T2VError, match="T206.*SciFact.*out of memory"):
        evaluated(retrieval_task(retrieval_data()), Broken())


def test_a_set_that_cannot_be_loaded_is_no_data(monkeypatch):
    def refuse(self, **kwargs):
        raise ConnectionError("no way to mteb/scifact")

    (task,) = find_tasks(["SciFact"])
    monkeypatch.setattr(type(mteb.get_task(task.mteb)), "load_data", refuse)
    with pytest.raises(NoData, match="ConnectionError: no way to mteb/scifact"):
        load_mteb(task)


def test_without_mteb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(T2VError, match=r"T202.*mteb.*t2v_spacy\[suite\]"):
        as_mteb(Toy())
    with pytest.raises(T2VError, match="T202"):
        load_mteb(find_tasks(["SciFact"])[0])
