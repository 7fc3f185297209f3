"""JSON lines of concepts in and out."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.jsonl import read_jsonl, write_jsonl

ROWS = [
    {
        "concept_id": "C9100001",
        "canonical_name": "Gout",
        "aliases": ["Podagra", "Urate arthritis"],
        "types": ["T047"],
        "definition": None,
    },
    {
        "concept_id": "C9100002",
        "canonical_name": "Chronic gout",
        "parents": ["C9100001"],
        "roles": {"role": ["C9100001"]},
        "curated_aliases": ["CG"],
        "definition": "Gout that stays.",
        "an_unknown_field": 1,
    },
]


def text(rows=ROWS) -> str:
    return "\n".join(map(json.dumps, rows)) + "\n\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_read(tmp_path, pack):
    path = tmp_path / "toy.jsonl"
    path.write_bytes(pack(text().encode()))
    kb = KnowledgeBase.open(path)
    assert list(kb) == [
        Concept("C9100001", "Gout", ("Podagra", "Urate arthritis"), ("T047",)),
        Concept(
            "C9100002",
            "Chronic gout",
            ("CG",),
            (),
            "Gout that stays.",
            ("C9100001",),
            {"role": ("C9100001",)},
        ),
    ]
    assert kb.is_curated("cg")
    assert kb.version == "toy"


def test_written_it_reads_back_the_same(tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text(text(), encoding="utf8")
    kb = KnowledgeBase.open(source)
    write_jsonl(kb, tmp_path / "b.jsonl")
    again = KnowledgeBase.open(tmp_path / "b.jsonl")
    assert list(again) == list(kb)
    assert again.is_curated("cg") and not again.is_curated("podagra")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{oops", "line 3"),
        ("[]", "not a JSON object"),
        ('{"concept_id": "A"}', "canonical_name"),
        ('{"concept_id": 7, "canonical_name": "a"}', "concept_id"),
        ('{"concept_id": "A", "canonical_name": "a", "aliases": "b"}', "aliases"),
        ('{"concept_id": "A", "canonical_name": "a", "types": [1]}', "types"),
        ('{"concept_id": "A", "canonical_name": "a", "roles": []}', "roles"),
        ('{"concept_id": "A", "canonical_name": "a", "roles": {"x": 1}}', "roles.x"),
        ('{"concept_id": "A", "canonical_name": "a", "definition": 1}', "definition"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, reason):
    path = tmp_path / "toy.jsonl"
    path.write_text(text().rstrip() + f"\n{line}\n", encoding="utf8")
    with pytest.raises(T2VError, match=reason) as err:
        KnowledgeBase.open(path)
    assert err.value.code == "T005"
    assert f"{path}, line 3" in str(err.value)


def test_a_cut_packed_file_is_named(tmp_path):
    path = tmp_path / "toy.jsonl.gz"
    path.write_bytes(gzip.compress(text(ROWS * 50).encode())[:-20])
    with pytest.raises(T2VError) as err:
        list(read_jsonl(path))
    assert err.value.code == "T005"


def test_the_toy_base_of_nine(t2v_data):
    kb = KnowledgeBase.open(t2v_data / "cases" / "c24_toy_kb.jsonl")
    assert len(kb) == 9
    assert kb.lookup("type 2 diabetes") == ("C9000001",)
    assert kb.lookup_norm("Type 2 Diabetes Mellitus") == ("C9000001",)
    assert kb.lookup("HTN") == ("C9000002",)
    assert kb.lookup("cold") == ("C9000008", "C9000009")
    for name in ("dostarlimab", "mL/min", ""):
        assert kb.lookup(name) == kb.lookup_norm(name) == ()


def test_a_toy_base_with_a_table_of_parents(t2v_data):
    rows = list(read_jsonl(t2v_data / "cases" / "c24_toy_kb.jsonl"))
    parents = {"C9000002": ("C9000009",), "C9000004": ("C9000009",)}
    given = [row._replace(parents=parents.get(row.concept_id, ())) for row in rows]
    kb = KnowledgeBase.from_concepts(given)
    assert kb.siblings("C9000002") == ("C9000004",)
