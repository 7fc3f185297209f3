from __future__ import annotations

import csv

import numpy as np
import pytest

from t2v_spacy.search.vectors import (
    RowWriter,
    cosine_of_distance,
    defect,
    exact_nearest,
    highest,
    keep_rows,
    unit,
)


@pytest.mark.parametrize(
    ("distance", "cosine"),
    [(0.0, 1.0), (1.0, 0.5), (2**0.5, 0.0), (2.0, -1.0), (2.0001, -1.0)],
)
def test_cosine_of_distance(distance, cosine):
    assert cosine_of_distance(distance) == pytest.approx(cosine, abs=1e-6)


def test_cosine_of_distance_real_cases(t2v_data):
    path = t2v_data / "cases" / "c30_distances.tsv"
    with path.open(encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 5
    for row in rows:
        cosine = cosine_of_distance(float(row["annoy_angular"]))
        assert cosine == pytest.approx(float(row["expected_cosine"]), abs=1e-6)


def test_defect():
    assert defect(np.array([0.0, 0.0])) == "zero vector"
    assert defect(np.array([np.nan, 1.0])) == "not finite"
    assert defect(np.array([np.inf, 1.0])) == "not finite"
    assert defect(np.array([0.0, 1e-30])) is None


def test_unit_of_huge_and_tiny_vectors():
    for scale in (1e30, 1e-30):
        vector = unit(np.array([3.0, 4.0], dtype=np.float32) * np.float32(scale))
        assert vector == pytest.approx([0.6, 0.8], abs=1e-6)
        assert vector.dtype == np.float32


def test_highest_breaks_ties_by_position_and_skips():
    scores = np.array([0.5, 0.9, 0.5, np.nan, 0.5], dtype=np.float32)
    assert highest(scores, 2).tolist() == [1, 0]
    assert highest(scores, 3, {0}).tolist() == [1, 2, 4]
    assert highest(scores, 99).tolist() == [1, 0, 2, 4]
    assert highest(np.zeros(0), 3).tolist() == []


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_exact_nearest_gives_cosines_in_order(dtype):
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0.6, 0.8]], dtype=dtype)
    positions, cosines = exact_nearest(rows, np.array([1, 0], np.float32), 4)
    assert positions.tolist() == [0, 3, 1, 2]
    assert cosines == pytest.approx([1, 0.6, 0, -1], abs=1e-3)


def test_row_writer_makes_a_standard_file(tmp_path):
    rows = np.random.default_rng(0).normal(size=(1234, 5)).astype(np.float32)
    with RowWriter(tmp_path / "rows.npy", 5) as writer:
        for row in rows:
            writer.append(row)
    np.save(tmp_path / "expected.npy", rows)
    written = (tmp_path / "rows.npy").read_bytes()
    assert written == (tmp_path / "expected.npy").read_bytes()
    keep_rows(tmp_path / "rows.npy", np.array([0, 7, 1233]))
    assert np.array_equal(np.load(tmp_path / "rows.npy"), rows[[0, 7, 1233]])
