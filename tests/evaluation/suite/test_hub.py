"""The five sets that mteb has not, from an imitation of the hub."""

from __future__ import annotations

import pytest

from t2v_spacy.evaluation.suite.hub import load_own
from t2v_spacy.evaluation.suite.score import NoData
from t2v_spacy.evaluation.suite.tasks import find_tasks

datasets = pytest.importorskip("datasets")


@pytest.fixture
def hub(monkeypatch):
    asked = []

    def give(**splits):
        def load_dataset(*path, **settings):
            asked.append((path, settings))
            return splits

        monkeypatch.setattr(datasets, "load_dataset", load_dataset)
        return asked

    return give


def test_columns_and_splits_of_the_table_are_read(hub):
    rows = datasets.Dataset.from_dict(
        {
            "input_text": ["itch", "", None, "wheeze"],
            "output_text": ["allergy", "x", "y", "asthma"],
        }
    )
    asked = hub(train=rows, test=rows.select([0]))
    found = load_own(find_tasks(["Symptom2Diagnosis"])[0])
    assert found.train.texts == ("itch", "wheeze")
    assert found.train.labels == (("allergy",), ("asthma",))
    assert found.test.texts == ("itch",)
    assert asked == [(("gretelai/symptom_to_diagnosis", None), {"revision": None})]


def test_labels_of_hoc_are_names_and_none_is_no_label(hub):
    names = ["angiogenesis", "none", "metastasis"]
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.Sequence(datasets.ClassLabel(names=names)),
        }
    )
    columns = {"text": ["one", "two", "three"], "label": [[2, 0], [1], []]}
    rows = datasets.Dataset.from_dict(columns, features=features)
    asked = hub(train=rows, test=rows)
    found = load_own(find_tasks(["HoC"])[0])
    assert found.test.labels == (("angiogenesis", "metastasis"), (), ())
    assert asked[0][1] == {"revision": "refs/convert/parquet"}


def test_mtsamples_is_divided(hub):
    rows = datasets.Dataset.from_dict(
        {
            "transcription": [f"note {i}" for i in range(20)] + [None],
            "medical_specialty": [" Surgery", " Urology"] * 10 + [" Surgery"],
        }
    )
    hub(train=rows)
    found = load_own(find_tasks(["MTSamples"])[0])
    assert (len(found.train.texts), len(found.test.texts)) == (16, 4)
    assert sorted(found.test.labels) == [(" Surgery",)] * 2 + [(" Urology",)] * 2


def test_a_column_that_is_not_there_is_no_data(hub):
    rows = datasets.Dataset.from_dict({"abstract": ["a"]})
    hub(train=rows, test=rows)
    with pytest.raises(NoData, match="KeyError"):
        load_own(find_tasks(["Medical Abstracts"])[0])
