from __future__ import annotations

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

KB = KnowledgeBase.from_concepts(
    [
        Concept("C0000001", "Joint disease", types=("T047",)),
        Concept("C0000002", "Gout", types=("T047",), parents=("C0000001",)),
        Concept("C0000003", "Tophus", types=("T047",), parents=("C0000002",)),
        Concept("C0000004", "Allopurinol", types=("T121",)),
    ],
    info={"name": "toy", "version": "toy 1"},
)
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


def make_linking(name: str = "umls_linker") -> Language:
    nlp = make_nlp()
    nlp.add_pipe("umls_linker", name=name).set_kb(KB)
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


def test_they_come_again_from_the_work_folder(tmp_path):
    settings = {"fingerprint": "f", "shard_size": 2, "progress": False}
    for nlp in (make_linking(), make_nlp()):  # the second one has nothing to do
        entries = list(encode_corpus(nlp, TRIALS, tmp_path, **settings))
        assert [entry.concepts for entry in entries] == LINKED


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
