"""An encoder whose vectors are written down, and small files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


class Toy:
    """`Encoder` by a table of texts; what is not in it counts letters."""

    name = "toy"
    kind = "backbone"
    max_length = 512

    def __init__(self, table: dict[str, list[float]] | None = None, checksum="one"):
        self.table = table or {}
        self.width = len(next(iter(self.table.values()), "abcdef"))
        self.checksum = checksum
        self.asked: list[str] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        rows = [self.table.get(text) or self._letters(text) for text in texts]
        return np.array(rows, dtype="float32")

    def _letters(self, text: str) -> list[float]:
        return [float(text.count(letter)) for letter in "abcdef"[: self.width]]


def write_lines(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


def write_retrieval(folder: Path) -> Path:
    write_lines(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "Gout", "text": "colchicine"},
        {"_id": "d2", "text": "asthma"},
        {"_id": "d3", "title": None, "text": "cough"},
    )
    write_lines(
        folder / "queries.jsonl",
        {"_id": "q1", "text": "pain"},
        {"_id": "q2", "text": "wheeze"},
        {"_id": "q3", "text": "nothing"},
    )
    lines = [
        "query-id\tcorpus-id\tscore",
        "q1\td1\t2",
        "q1\td2\t1",
        "q2\td2\t1",
        "q3\td1\t0",
    ]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    return folder


# Cosines of the queries with d1, d2, d3: q1 puts d2 first, then d1; q2 puts d2 first.
RETRIEVAL = {
    "Gout colchicine": [1.0, 0.0, 0.0],
    "asthma": [0.0, 5.0, 0.0],
    "cough": [0.0, 0.0, 1.0],
    "pain": [1.0, 2.0, 0.0],
    "wheeze": [0.0, 1.0, 0.5],
    "nothing": [0.0, 0.0, 1.0],
}
