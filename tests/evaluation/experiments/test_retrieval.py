from __future__ import annotations

import pytest

from t2v_spacy.evaluation.evaluation import evaluate
from t2v_spacy.evaluation.experiments.inputs import Inputs
from t2v_spacy.evaluation.experiments.pairs import PairsJob
from t2v_spacy.evaluation.experiments.retrieval import (
    RankJob,
    from_plain,
    table_jobs,
    table_result,
    to_plain,
)
from t2v_spacy.evaluation.experiments.settings import TableSettings
from t2v_spacy.evaluation.systems import make_system

from ..toy import Fixed, ranked_as


def test_an_evaluation_survives_being_plain():
    found = evaluate(*ranked_as([[2, 0, 1], [0, 0], [0, 1]]))
    back = from_plain({"benchmark": "toy", "system": "", **to_plain(found)})
    assert back == found
    assert [r.values.tolist() for r in back.rows] == [
        r.values.tolist() for r in found.rows
    ]


def results(make_settings, table):
    """The first system ranks all queries right, the second puts a 0 first."""
    inputs = Inputs(make_settings())
    queries = inputs.benchmark("toy").qrels
    right = {(q, d): g for q, docs in queries.items() for d, g in docs.items()}
    wrong = right | {(q, d): 3 for q, docs in queries.items() for d in [list(docs)[-1]]}
    systems = {"Right": Fixed(right), "Wrong": Fixed(wrong)}
    return {
        job: {
            "system": job.system,
            "seconds": 0.0,
            **job.run(systems[job.system], inputs),
        }
        for job in table_jobs(table)
    }


def test_a_table_has_rows_and_differences(make_settings):
    table = TableSettings(("toy",), ("Right",), ("Wrong",))
    found = table_result(table, results(make_settings, table), seed=0)
    (part,) = found["tables"]
    assert [row["system"] for row in part["rows"]] == ["Right", "Wrong"]
    assert part["facts"]["queries"] == 3
    assert part["facts"]["report"][0].startswith("3 queries complete")
    means = {m["measure"]: m["mean"] for m in part["rows"][0]["measures"]}
    assert means["ndcg@5"] == means["map"] == means["precision@1"] == 1.0
    (mrr,) = [d for d in part["differences"] if d["measure"] == "mrr"]
    assert (mrr["system"], mrr["against"], mrr["difference"]) == ("Right", "Wrong", 0.5)
    assert mrr["p_permutation"] == 0.25  # 2 of the 8 ways to swap three queries
    assert "values" not in str(part)


def test_a_system_that_failed_is_apart(make_settings):
    table = TableSettings(("toy",), ("Right", "Wrong"), ("Wrong",))
    found = results(make_settings, table)
    found[RankJob("Wrong", "toy")] = {
        "system": "Wrong",
        "failed": "why",
        "optional": True,
    }
    (part,) = table_result(table, found, seed=0)["tables"]
    assert [row["system"] for row in part["rows"]] == ["Right"]
    assert [row["failed"] for row in part["failed"]] == ["why"]
    assert part["differences"] == []


def test_queries_by_parts(make_settings):
    inputs = Inputs(make_settings())
    asked = []

    class Listening(Fixed):
        def scores(self, queries, among=None):
            asked.extend(queries)
            return super().scores(queries, among)

    job = RankJob("x", "toy", "title + condition")
    found = job.run(Listening({}), inputs)
    assert all(t.title and t.conditions and not t.interventions for t in asked)
    assert found["facts"]["left_out"] == []


def test_distractors_are_ranked_too(make_settings):
    inputs = Inputs(
        make_settings(benchmarks={"toy": {"closed": False, "distractors": "toy"}})
    )
    system = make_system("tfidf")
    found = RankJob("x", "toy").run(system, inputs)
    assert found["ranked_among"] == 24
    assert not found["facts"]["closed"]
    assert found["facts"]["sha256"].keys() == {"labels", "trials", "distractors"}


def test_pairs_of_sentences_are_scored_pair_by_pair(make_settings, sample):
    rows = [
        "gout\tgout\t4",
        "gout pain\tgout\t3",
        "gout and asthma\tasthma in\t2",
        "cough\tgout\t0",
    ]
    (sample / "pairs.tsv").write_text(
        "\n".join(["sentence1\tsentence2\tscore_mean", *rows])
    )
    likeness = {
        ("A0", "B0"): 0.9,
        ("A1", "B1"): 0.7,
        ("A2", "B2"): 0.2,
        ("A0", "B1"): 5.0,
    }
    job = PairsJob("x", "${TOY_DATA}/pairs.tsv")
    found = job.run(Fixed(likeness), Inputs(make_settings()))
    assert found["spearman"]["value"] == pytest.approx(1.0)
    assert found["spearman"]["pairs"] == 4
