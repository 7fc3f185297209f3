from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite.probe import (
    Items,
    Probe,
    divide,
    read_probe,
    score_probe,
)
from t2v_spacy.evaluation.suite.score import resampled_interval

from .toy import Toy, write_lines

metrics = pytest.importorskip("sklearn.metrics")


def drawn(n: int, seed: int) -> tuple[str, ...]:
    rng = np.random.default_rng(seed)
    return tuple("".join(rng.choice(list("abcdef"), 9)) for _ in range(n))


def one_label(text: str) -> tuple[str]:
    return (max("abc", key=text.count),)


def some_labels(text: str) -> tuple[str, ...]:
    return tuple(letter for letter in "ab" if text[:6].count(letter) > 1)


def make(label, n=60) -> Probe:
    parts = [drawn(n, 0), drawn(n, 1)]
    return Probe("toy", *(Items(part, tuple(map(label, part))) for part in parts))


def by_sklearn(data: Probe, many: bool = False) -> tuple:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

    rows = [Toy().encode(list(part.texts)) for part in (data.train, data.test)]
    labels = [[row[0] for row in part.labels] for part in (data.train, data.test)] if not many else None  # fmt: skip
    regression = LogisticRegression(max_iter=1000)
    if labels:
        model = make_pipeline(StandardScaler(), regression).fit(rows[0], labels[0])
        return labels[1], model.predict(rows[1])
    binary = MultiLabelBinarizer(classes=["a", "b"])
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(regression))
    model.fit(rows[0], binary.fit_transform(data.train.labels))
    return binary.transform(data.test.labels), model.predict(rows[1])


def test_accuracy_and_macro_f1_are_sklearns():
    data = make(one_label)
    true, predicted = by_sklearn(data)
    accuracy = metrics.accuracy_score(true, predicted)
    assert 0.5 < accuracy < 1
    found = score_probe(data, Toy(), "accuracy")
    assert found.value == pytest.approx(accuracy)
    assert found.low < accuracy < found.high
    f1 = score_probe(data, Toy(), "macro_f1")
    assert f1.value == pytest.approx(metrics.f1_score(true, predicted, average="macro"))
    assert f1.low < f1.value < f1.high
    assert f1.items == 60


def test_micro_f1_of_many_labels_is_sklearns():
    data = make(some_labels)
    assert () in data.test.labels
    true, predicted = by_sklearn(data, many=True)
    found = score_probe(data, Toy(), "micro_f1")
    assert found.value == pytest.approx(
        metrics.f1_score(true, predicted, average="micro")
    )
    assert 0 < found.low < found.value < found.high <= 1


def test_a_label_of_the_test_alone_counts_as_missed():
    train = Items(("aaa", "bbb"), (("a",), ("b",)))
    test = Items(("aaaa", "bbbb", "cc"), (("a",), ("b",), ("c",)))
    found = score_probe(Probe("toy", train, test), Toy(), "macro_f1")
    # The third is taken for a or b, of which one then has F1 2/3; c has 0.
    assert found.value == pytest.approx((1 + 2 / 3 + 0) / 3)
    many = score_probe(Probe("toy", train, test), Toy(), "micro_f1")
    assert many.value < 1


def test_a_label_that_all_have_is_predicted_for_all():
    train = Items(("aaa", "bbb"), (("x",), ("x", "y")))
    found = score_probe(Probe("toy", train, train), Toy(), "micro_f1")
    assert found.value == 1


def test_nothing_to_learn_is_refused():
    one = Items(("aaa", "bbb"), (("x",), ("x",)))
    with pytest.raises(T2VError, match="T205.*two labels"):
        score_probe(Probe("toy", one, one), Toy(), "accuracy")
    with pytest.raises(T2VError, match="T205.*test items"):
        score_probe(Probe("toy", one, Items((), ())), Toy(), "micro_f1")


def test_the_interval_of_a_mean_is_that_of_the_bootstrap():
    hits = np.array([1] * 30 + [0] * 10)
    low, high = resampled_interval(hits, lambda counts: counts[:, 1] / 40)
    # 1.96 standard errors of a share of .75 of 40.
    assert (low, high) == pytest.approx((0.616, 0.884), abs=0.03)


def test_strata_keep_their_sizes():
    kinds, strata = np.array([0, 0, 0, 1, 2, 2]), np.array([0, 0, 0, 1, 2, 2])
    seen = []
    resampled_interval(kinds, lambda n: seen.append(n) or n[:, 0], strata=strata)
    assert (seen[0] == [3, 1, 2]).all()
    resampled_interval(kinds, lambda n: seen.append(n) or n[:, 0])
    assert len(np.unique(seen[1], axis=0)) > 10
    assert (seen[1].sum(axis=1) == 6).all()


def test_files(tmp_path):
    write_lines(
        tmp_path / "train.jsonl",
        {"text": "a", "label": 1},
        {"text": "b", "label": "two"},
    )
    write_lines(tmp_path / "test.jsonl", {"text": "", "label": 1})
    found = read_probe(tmp_path)
    assert found.train.labels == (("1",), ("two",))
    assert found.test.texts == ("",)
    write_lines(
        tmp_path / "train.jsonl",
        {"text": "a", "labels": ["x", "y"]},
        {"text": "b", "labels": []},
    )
    write_lines(tmp_path / "test.jsonl", {"text": "a", "labels": ["x"]})
    assert read_probe(tmp_path, many=True).train.labels == (("x", "y"), ())


@pytest.mark.parametrize(
    ("row", "many", "reason"),
    [
        ({"text": "a"}, False, "lacks a 'label'"),
        ({"text": "a", "label": True}, False, "lacks a 'label'"),
        ({"text": "a", "label": "x"}, True, "lacks the list 'labels'"),
        ({"text": None, "label": "x"}, False, "lacks the text 'text'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, row, many, reason):
    write_lines(
        tmp_path / "train.jsonl", {"text": "a", "label": "x", "labels": ["x"]}, row
    )
    with pytest.raises(T2VError, match=f"T201.*train.jsonl, line 2, .*{reason}"):
        read_probe(tmp_path, many)


def test_a_set_without_a_test_part_is_divided_label_by_label():
    labels = [("x",)] * 10 + [("y",)] * 9 + [("z",)]
    items = Items(tuple(f"text {i}" for i in range(20)), tuple(labels))
    train, test = divide(items)
    assert sorted(test.labels) == [("x",), ("x",), ("y",)]
    assert sorted(train.texts + test.texts) == sorted(items.texts)
    assert (train, test) == divide(items)
    assert divide(items, seed=1)[1] != test
