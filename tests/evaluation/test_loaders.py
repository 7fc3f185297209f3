from __future__ import annotations

import json

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation import BENCHMARKS, LoadReport, load_benchmark
from t2v_spacy.readers.write import write_trials
from t2v_spacy.trial import Trial

IDS = [f"NCT9000000{n}" for n in range(1, 5)]


@pytest.fixture
def write(tmp_path):
    def to(data, name="labels.json"):
        path = tmp_path / name
        text = data if isinstance(data, str) else json.dumps(data)
        path.write_text(text, encoding="utf8")
        return path

    return to


def graded(query, grades):
    return {"query": query, "candidates": list(grades), "grades": list(grades.values())}


def test_graded_candidates(write, trials):
    path = write([graded(IDS[0], {IDS[1]: 2, IDS[2]: 0, IDS[3]: 1})])
    found = load_benchmark(path, "trialsim-open", trials=trials)
    assert found.qrels == {IDS[0]: {IDS[1]: 2, IDS[2]: 0, IDS[3]: 1}}
    assert sorted(found.candidates[IDS[0]]) == IDS[1:]
    assert found.queries == {IDS[0]: trials[0]}
    assert found.documents == {trial.nct_id: trial for trial in trials}
    assert (found.name, found.relevant) == ("labels", 2)
    assert (found.report.complete, found.report.refused) == (1, [])


def test_documents_of_any_records_file(write, trials, tmp_path):
    records = tmp_path / "records.jsonl.gz"
    write_trials(records, [*trials, Trial("NCT90000099")])
    path = write([graded(IDS[0].lower(), {f" {IDS[1]} ": 1})])
    found = load_benchmark(path, "trialsim-open", trials=records)
    assert list(found.documents) == IDS[:2]
    assert found.documents[IDS[0]].title == trials[0].title


def test_rows_are_complete_partial_or_unusable(write, trials):
    rows = [
        graded(IDS[0], {IDS[1]: 1, IDS[2]: 0}),
        graded(IDS[1], {IDS[2]: 1, "NCT00000001": 1}),
        graded(IDS[2], {"NCT00000001": 1, "NCT00000002": 0}),
        graded("NCT00000003", {IDS[0]: 1}),
    ]
    found = load_benchmark(write(rows), "trialsim-open", trials=trials)
    report = found.report
    assert (report.complete, report.partial, report.unusable) == (1, 1, 2)
    assert report.missing == {"NCT00000001": 2, "NCT00000002": 1}
    assert report.missing_queries == ["NCT00000003"]
    assert found.qrels[IDS[1]] == {IDS[2]: 1}
    assert list(found.queries) == IDS[:2]
    whole = load_benchmark(
        write(rows), "trialsim-open", trials=trials, keep_partial=False
    )
    assert list(whole.queries) == IDS[:1] and whole.report.partial == 1
    assert any(
        "2 judged trials" in line and "3 labels" in line for line in report.lines()
    )


def test_an_alias_finds_the_record_unless_there_is_one_of_that_id(write):
    path = write([graded("OLD", {"B": 1})])
    records = [Trial("NEW", aliases=("old",)), Trial("C", aliases=("B",)), Trial("B")]
    found = load_benchmark(path, "trialsim-open", trials=records)
    assert found.documents["OLD"] is records[0]
    assert found.documents["B"] is records[2]


def test_bad_rows_are_refused_by_name_and_the_others_go_on(write, trials):
    rows = [
        graded(IDS[0], {IDS[1]: 1}),
        graded(IDS[0], {IDS[2]: 1}),
        {"query": IDS[1], "candidates": IDS[2:], "grades": [1]},
        {"query": IDS[1]},
        "not a query",
        {"query": IDS[2], "candidates": [IDS[0], IDS[0], IDS[1], IDS[2], IDS[3]]}
        | {"grades": [1, 2, -1, 1, 0.5]},
    ]
    found = load_benchmark(write(rows), "trialsim-open", trials=trials)
    assert found.qrels == {IDS[0]: {IDS[1]: 1}, IDS[2]: {IDS[0]: 1}}
    assert found.report.duplicates == {IDS[0]: 1}
    assert (found.report.complete, found.report.partial) == (1, 1)
    reasons = " | ".join(map(str, found.report.refused))
    for part in (
        "2 candidates but 1 grades",
        "lacks 'candidates'",
        "query 5: no object",
        f"{IDS[0]} is judged twice",
        f"grade of {IDS[1]} is no whole number from 0 on: -1",
        "0.5",
        "candidate of itself",
    ):
        assert part in reasons
    assert any("1 further rows" in line for line in found.report.lines())


@pytest.mark.parametrize(
    ("format", "data", "code"),
    [
        ("trialsim-open", [], "T101"),
        ("trialsim-open", [graded("NCT00000009", {IDS[0]: 1})], "T101"),
        ("trialsim-open", {"a": 1}, "T100"),
        ("trialsim-open", "", "T100"),
        ("trialsim-open", "no json", "T100"),
        ("review-groups", [1], "T100"),
        ("review-groups", {}, "T101"),
        ("birco", {"query": {}, "corpus": {}}, "T100"),
        ("trec", "", "T101"),
        ("trec", "only three cells\n", "T101"),
        ("trialsim", "", "T100"),
    ],
)
def test_a_file_without_labels_is_refused_by_name(write, trials, format, data, code):
    path = write(data)
    with pytest.raises(T2VError, match=r"labels\.json") as caught:
        load_benchmark(path, format, trials=trials)
    assert caught.value.code == code


def test_unknown_formats_and_paths_are_refused(write, tmp_path):
    with pytest.raises(T2VError, match="T007.*review-groups"):
        load_benchmark(write([]), "csv")
    with pytest.raises(T2VError, match="T001"):
        load_benchmark(tmp_path / "none.json", "trec")


def test_members_of_a_group_are_relevant_to_each_other(write, trials):
    groups = {"r1": [*IDS[:2], IDS[0]], "r2": IDS[1:3], "r3": IDS[3:], "r4": "x"}
    found = load_benchmark(write(groups), "review-groups", trials=trials)
    assert found.qrels == {
        IDS[0]: {IDS[1]: 1},
        IDS[1]: {IDS[0]: 1, IDS[2]: 1},
        IDS[2]: {IDS[1]: 1},
    }
    assert found.candidates is None
    assert found.clusters == {IDS[0]: "r1", IDS[1]: "r1", IDS[2]: "r2"}
    assert [refusal.where for refusal in found.report.refused] == ["r3", "r4"]


def test_birco_brings_its_texts(write):
    data = {
        "query": {"2014": "A woman with gout.", "2015": None},
        "corpus": {IDS[0]: "Colchicine for gout", IDS[1]: "Asthma", IDS[2]: 7},
        "qrel": {"2014": {IDS[0]: 2, IDS[1]: 0, IDS[2]: 1}, "2015": {IDS[0]: 1}},
    }
    found = load_benchmark(write(data), "birco")
    assert found.queries["2014"].title == "A woman with gout."
    assert found.documents[IDS[0]].title == "Colchicine for gout"
    assert found.qrels == {"2014": {IDS[0]: 2, IDS[1]: 0}}
    assert found.report.missing == {IDS[2]: 1}
    assert found.report.refused[0].where == "2015"


def test_topics_give_texts_to_queries(write, trials, tmp_path):
    path = write(f"7 0 {IDS[0]} 1\n8 0 {IDS[1]} 1\n", "x.qrels")
    topics = tmp_path / "topics.tsv"
    topics.write_text("7\tA woman with gout\n8\t \n", encoding="utf8")
    found = load_benchmark(path, "trec", trials=trials, topics=topics, name="gout")
    assert found.queries["7"].title == "A woman with gout"
    assert found.report.missing_queries == ["8"] and found.name == "gout"
    with pytest.raises(T2VError, match="T001"):
        load_benchmark(path, "trec", topics=tmp_path / "none.tsv")


def test_settings_of_a_format_can_be_changed(write):
    path = write([graded("A", {"B": 1})])
    found = load_benchmark(
        path, "trialsim-open", relevant=1, closed=False, labelled_by="two nurses"
    )
    assert (found.relevant, found.candidates) == (1, None)
    assert found.labelled_by == "two nurses"
    assert found.queries == {"A": Trial("A")} and not found.documents


def test_candidates_do_not_keep_the_order_of_the_file(write):
    docs = {f"D{n}": int(n < 5) for n in range(40)}
    path = write([graded("A", docs)])
    orders = [
        load_benchmark(path, "trialsim-open", seed=seed).candidates["A"]
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(docs) and orders[0] != tuple(docs)
    assert [doc for doc in orders[0] if docs[doc]] != list(orders[0][:5])


def test_every_format_says_who_labelled():
    assert all(form.labelled_by for form in BENCHMARKS.values())


def test_a_long_report_stays_short():
    report = LoadReport()
    for number in range(50):
        report.refuse("x.json", f"row {number}", "no query")
        report.missing[f"D{number}"] += 1
    lines = report.lines()
    assert len(lines) == 23 and lines[-1] == "... and 30 more refused"
    assert lines[1].endswith("and 30 more")


def test_the_shared_benchmarks(t2v_data):
    folder = t2v_data / "eval"
    found = load_benchmark(folder / "trialsim_open_dev.json", "trialsim-open")
    assert len(found.queries) == found.report.complete == 60
    assert sum(max(g.values()) < 2 for g in found.qrels.values()) == 17
    groups = load_benchmark(folder / "cochrane_groups_dev.json", "review-groups")
    assert len(groups.queries) == 98 and len(set(groups.clusters.values())) == 21
    birco = load_benchmark(folder / "birco_dev" / "clinical_trial_dev.json", "birco")
    assert len(birco.queries) == 9
    assert birco.report.lines() == ["9 queries complete, 0 partial, 0 unusable"]
    sample = load_benchmark(
        folder / "trialsim_open_dev.json",
        "trialsim-open",
        trials=[Trial(query) for query in found.queries]
        + [Trial(next(iter(grades))) for grades in found.qrels.values()],
    )
    assert sample.report.partial == 60 and sample.report.missing.total() > 500
