from __future__ import annotations

from pathlib import Path

import pytest
from spacy.language import Language

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.search import build_index, encode_corpus
from t2v_spacy.search.linked import (
    ConceptReader,
    find_kb,
    pack_concepts,
    unpack_concepts,
)
from t2v_spacy.trial import Intervention, Trial

from .toys import make_nlp, nct


def make_kb(above_tophus: str = "C0000002") -> KnowledgeBase:
    return KnowledgeBase.from_concepts(
        [
            Concept("C0000001", "Joint disease", types=("T047",)),
            Concept("C0000002", "Gout", types=("T047",), parents=("C0000001",)),
            Concept("C0000003", "Tophus", types=("T047",), parents=(above_tophus,)),
            Concept("C0000004", "Allopurinol", types=("T121",)),
        ],
        info={"name": "toy", "version": "toy 1"},
    )


KB = make_kb()
TRIALS = [
    Trial(nct(1), title="One", conditions=("Gout",)),
    Trial(
        nct(2),
        title="Two, of gout",
        conditions=("Tophus", "gout"),
        interventions=(Intervention("Allopurinol", "DRUG"),),
    ),
    Trial(nct(3), title="Three, of gout", conditions=("Something else",)),
]
LINKED = [
    {"condition": {"C0000002": ("C0000001",)}, "intervention": {}},
    {
        "condition": {"C0000003": ("C0000002", "C0000001"), "C0000002": ("C0000001",)},
        "intervention": {"C0000004": ()},
    },
    {"condition": {}, "intervention": {}},
]


def make_linking(name: str = "umls_linker", kb: KnowledgeBase = KB) -> Language:
    nlp = make_nlp()
    nlp.add_pipe("umls_linker", name=name).set_kb(kb)
    return nlp


def test_concepts_of_conditions_and_interventions():
    nlp = make_linking("my_linker")
    assert find_kb(nlp) is KB
    read = ConceptReader(KB)
    docs = nlp.pipe(make_trial_doc(nlp, trial) for trial in TRIALS)
    assert [read(doc) for doc in docs] == LINKED


def test_no_linker():
    nlp = make_nlp()
    assert find_kb(nlp) is None
    doc = nlp(make_trial_doc(nlp, TRIALS[0]))
    assert ConceptReader(None)(doc) is None
    assert ConceptReader(KB)(doc) is None


def test_packing():
    found = [*LINKED, None]
    assert unpack_concepts(pack_concepts(found)) == found
    assert unpack_concepts(pack_concepts([])) == []


def encode(nlp: Language, work: Path) -> list:
    """The concepts of the trials; shards are of the same pipeline each time."""
    settings = {"fingerprint": "f", "shard_size": 2, "progress": False}
    return [entry.concepts for entry in encode_corpus(nlp, TRIALS, work, **settings)]


def test_they_come_again_from_the_work_folder(tmp_path):
    assert encode(make_linking(), tmp_path) == LINKED
    again = make_linking(kb=make_kb())
    again.pipe = None  # has nothing to do
    assert encode(again, tmp_path) == LINKED


def test_they_are_linked_again_if_the_base_was_built_again(tmp_path):
    assert encode(make_linking(), tmp_path) == LINKED
    other = make_kb(above_tophus="C0000001")
    assert other.version == KB.version
    with pytest.warns(UserWarning, match="encoded again"):
        found = encode(make_linking(kb=other), tmp_path)
    assert found[1]["condition"]["C0000003"] == ("C0000001",)
    with pytest.warns(UserWarning, match="encoded again"):
        assert encode(make_nlp(), tmp_path) == [None] * 3


def test_an_index_is_filtered_by_them(tmp_path):
    index = build_index(make_linking(), TRIALS, tmp_path / "index", progress=False)
    assert index.info()["kb"] == KB.version

    def found(**filters) -> list[str]:
        hits = index.search(index.vector(nct(1)), filters=filters)
        return sorted(hit.nct_id for hit in hits)

    assert found(condition_concept="C0000002") == [nct(1), nct(2)]
    assert found(condition_concept="C0000003") == [nct(2)]
    assert found(condition_concept="c0000001", intervention_concept="C0000004") == [nct(2)]  # fmt: skip
    assert found(condition_concept="C0000004") == []
    report = index.filter_report({"condition_concept": "C0000002"})
    assert report.lines() == [
        "1 trial left out because its concept of a condition is unknown"
    ]


def test_an_index_built_without_a_linker(tmp_path):
    index = build_index(make_nlp(), TRIALS, tmp_path / "index", progress=False)
    assert index.info()["kb"] is None
    with pytest.raises(T2VError, match="T161.*umls_linker"):
        index.filter_report({"condition_concept": "C0000002"})
