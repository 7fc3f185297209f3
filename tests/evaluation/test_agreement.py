"""Agreement of the standard measures with trec_eval, where ir-measures is installed."""

from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.evaluation import Benchmark, evaluate
from t2v_spacy.trial import Trial

OURS = {
    "precision@5": "P(rel={})@5",
    "recall@5": "R(rel={})@5",
    "recall@10": "R(rel={})@10",
    "map": "AP(rel={})",
    "mrr": "RR(rel={})",
    "ndcg_linear@5": "nDCG@5",
    "ndcg@5": "nDCG(gains={{0:0,1:1,2:3}})@5",
    "ndcg@20": "nDCG(gains={{0:0,1:1,2:3}})@20",
}


@pytest.mark.parametrize("relevant", [1, 2])
def test_values_of_each_query_are_those_of_trec_eval(relevant):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(relevant)
    qrels, scores = {}, {}
    for query in (f"Q{n}" for n in range(40)):
        docs = [f"D{i}" for i in rng.permutation(30)]
        qrels[query] = {doc: int(rng.choice(3, p=[0.7, 0.2, 0.1])) for doc in docs[:15]}
        # Some judged documents are not ranked and some that are ranked are not judged.
        numbers = rng.permutation(20)
        scores[query] = {
            doc: float(n) for doc, n in zip(docs[5:25], numbers, strict=True)
        }
    queries = {query: Trial(query) for query in qrels}
    benchmark = Benchmark("random", queries, qrels, relevant=relevant)
    found = evaluate(benchmark, scores, measures=list(OURS))
    for name, pattern in OURS.items():
        measure = ir_measures.parse_measure(pattern.format(relevant))
        theirs = {
            value.query_id: value.value
            for value in ir_measures.iter_calc([measure], qrels, scores)
        }
        row = found[name]
        assert len(row.queries) > 30
        expected = [theirs[query] for query in row.queries]
        assert row.values == pytest.approx(expected, abs=1e-6), name
        # They count 0 for a query that has nothing to find; we leave it out.
        others = set(queries) - set(row.queries)
        assert len(others) == row.left_out and not any(theirs[q] for q in others)
