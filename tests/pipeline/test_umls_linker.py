from __future__ import annotations

import csv
import json
import pickle
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.linker import METHODS, ConceptLinker
from t2v_spacy.kb.loaders import kb_from_disk
from t2v_spacy.pipeline.umls_linker import DEFAULT_METHODS, UmlsLinker
from t2v_spacy.trial import Intervention, Outcome, Trial

DISEASE, DRUG, OTHER = ("T047",), ("T121",), ("T000",)
CONCEPTS = [
    Concept("X:1", "Kidney disease, chronic", ("chronic kidney disease",), DISEASE),
    Concept("X:2", "Hypertensive disorder", ("hypertension", "HTN"), DISEASE),
    Concept("X:3", "Metformin", ("metformin hydrochloride", "Glucophage"), DRUG),
    Concept("X:4", "Placebos", ("placebo",), DRUG),
    Concept("X:5", "Gout", (), DISEASE, parents=("X:8",)),
    Concept("X:6", "Allopurinol", ("Zyloprim",), DRUG),
    Concept("X:7", "Starling bird", ("starling",), OTHER),
    Concept("X:8", "Joint disease", (), DISEASE),
    Concept("X:9", "Chill", ("common chill", "chill air"), DISEASE),
    Concept("X:10", "Chill temperature", ("chill",), OTHER),
    Concept("X:11", "Kidney failure", ("renal failure",), DISEASE),
]
TRIAL = Trial(
    "NCT90000011",
    title="Metformin for chronic kidney disease (CKD) and gout",
    conditions=("Severe Gout", "CKD"),
    interventions=(
        Intervention("Metformin 500 mg tablets", "DRUG", ("Glucophage",)),
        Intervention("Placebo for metformin", "DRUG"),
    ),
    keywords=("hypertension", "nothing known"),
    outcomes=(Outcome("Flares of gout", time_frame="gout days"),),
    brief_summary="Of gout nothing here is linked.",
    eligibility="Inclusion Criteria:\n\n- CKD stage 3\n\n"
    "Exclusion Criteria:\n\n- Renal failure; allopurinol",
)


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase.from_concepts(CONCEPTS, info={"name": "toy", "version": "7"})


@pytest.fixture
def nlp(kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    nlp.add_pipe("umls_linker").set_kb(kb)
    return nlp


def short(doc: Doc) -> list[tuple]:
    return [(c["section"], c["text"], c["id"], c["how"]) for c in doc._.concepts]


EXPECTED = [
    ("title", "Metformin", "X:3", "ngram"),
    ("title", "chronic kidney disease", "X:1", "ngram"),
    ("title", "CKD", "X:1", "abbreviation"),
    ("title", "gout", "X:5", "ngram"),
    ("condition", "Gout", "X:5", "stripped"),
    ("condition", "CKD", "X:1", "abbreviation"),
    ("keyword", "hypertension", "X:2", "exact"),
    ("intervention", "Metformin", "X:3", "stripped"),
    ("intervention", "Glucophage", "X:3", "exact"),
    ("intervention", "Placebo", "X:4", "exact"),
    ("outcome", "gout", "X:5", "ngram"),
    ("inclusion", "CKD", "X:1", "abbreviation"),
    ("exclusion", "Renal failure", "X:11", "ngram"),
    ("exclusion", "allopurinol", "X:6", "ngram"),
]


def test_links_of_a_trial(nlp):
    doc = nlp(make_trial_doc(nlp, TRIAL))
    assert short(doc) == EXPECTED


def test_links_are_plain_values_with_place_and_version(nlp):
    doc = nlp(make_trial_doc(nlp, TRIAL))
    assert json.loads(json.dumps(doc._.concepts)) == doc._.concepts
    for concept in doc._.concepts:
        assert doc.text[concept["start"] : concept["end"]] == concept["text"]
        assert concept["kb"] == "7"
        assert 0 < concept["score"] <= 1
    first = doc._.concepts[0]
    assert (first["name"], first["types"], first["also"]) == ("Metformin", ["T121"], [])


def test_spans_have_group_and_id(nlp):
    doc = nlp(make_trial_doc(nlp, TRIAL))
    spans = doc.spans["concepts"]
    assert [span.kb_id_ for span in spans] == [c["id"] for c in doc._.concepts]
    assert [(s.text, s.label_) for s in spans][:2] == [
        ("Metformin", "CHEM"),
        ("chronic kidney disease", "DISO"),
    ]
    assert all(span._.section for span in spans)


def test_doc_without_sections_is_read_whole(kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("umls_linker").set_kb(kb)
    doc = nlp("Gout, then metformin (given twice).")
    assert short(doc) == [
        (None, "Gout", "X:5", "ngram"),
        (None, "metformin", "X:3", "ngram"),
    ]
    for text in ("", "   ", "\n"):
        assert nlp(text)._.concepts == []


def test_only_the_sections_and_methods_asked_for(kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    config = {"sections": ["condition"], "methods": ["exact", "abbreviation"]}
    nlp.add_pipe("umls_linker", config=config).set_kb(kb)
    doc = nlp(make_trial_doc(nlp, TRIAL))
    assert short(doc) == [("condition", "CKD", "X:1", "abbreviation")]


@pytest.mark.parametrize(
    "config", [{"methods": ["guess"]}, {"abbreviations": "some"}], ids=str
)
def test_bad_settings_are_named(config):
    with pytest.raises(T2VError, match="T026"):
        spacy.blank("en").add_pipe("umls_linker", config=config)


def test_default_methods_are_methods():
    assert set(DEFAULT_METHODS) <= set(METHODS)


@pytest.mark.parametrize(
    ("mention", "role", "found"),
    [
        ("Gout", "condition", [("X:5", "exact")]),
        ("chronic-kidney disease", "condition", [("X:1", "folded")]),
        ("Chronic Kidney Diseases", "condition", [("X:1", "normalised")]),
        ("HTN", "condition", [("X:2", "exact")]),
        ("htn", "condition", []),
        ("HTM", "condition", []),
        ("hypertention", "condition", [("X:2", "spelling")]),
        ("starlimab", "intervention", []),
        ("starlin", "any", []),
        ("Newly Diagnosed Gout in Adults", "condition", [("X:5", "stripped")]),
        ("Gout (Severe)", "condition", [("X:5", "parenthetical")]),
        ("Gout and Hypertension", "condition", [("X:5", "split"), ("X:2", "split")]),
        ("Metformin placebo", "intervention", [("X:4", "exact")]),
        ("Metformin + Placebo", "intervention", [("X:3", "split"), ("X:4", "split")]),
        ("Study of gout flares", "condition", [("X:5", "ngram")]),
        ("metformin inhibitors", "intervention", []),
        ("non gout", "condition", []),
        ("mL/min", "any", []),
        ("", "any", []),
        (" - ", "condition", []),
    ],
)
def test_ways_of_matching(kb, mention, role, found):
    links = ConceptLinker(kb).link(mention, role)
    assert [(link.ids[0], link.how) for link in links] == found


def test_two_concepts_of_one_name_come_both_in_a_fixed_order(kb):
    linker = ConceptLinker(kb)
    (link,) = linker.link("chill", "any")
    assert link.ids == ("X:9", "X:10")


def test_a_method_that_is_off_is_not_used(kb):
    linker = ConceptLinker(kb, methods=["exact"])
    for mention in (
        "Severe gout",
        "Gout (acute)",
        "Gout and x",
        "on gout",
        "hypertention",
    ):
        assert linker.link(mention, "condition") == []


def test_short_names_need_to_be_curated_where_a_base_has_curated_ones():
    concepts = [
        Concept("X:1", "Mal de debarquement", ("MDD",), DISEASE),
        Concept("X:2", "Major depression", ("major depressive disorder",), DISEASE),
        Concept("X:3", "Magnetic resonance imaging", (), ("T060",)),
    ]
    kb = KnowledgeBase.from_concepts(concepts, curated={"X:3": ["MRI"]})
    linker = ConceptLinker(kb)
    defined = {"MDD": "major depressive disorder"}
    assert linker.link("MDD", "condition") == []
    (link,) = linker.link("MDD", "condition", defined)
    assert (link.ids, link.how) == (("X:2",), "abbreviation")
    (link,) = linker.link("MRI", "intervention")
    assert (link.ids, link.how) == (("X:3",), "curated")


def test_fuzzy_candidates_are_asked_last_and_keep_their_score(kb):
    asked = []

    def fuzzy(texts):
        asked.extend(texts)
        return [[("X:7", 0.91), ("X:5", 0.88), ("X:8", 0.88)] for _ in texts]

    linker = ConceptLinker(kb, fuzzy=fuzzy)
    assert [k.how for k in linker.link("Gout", "condition")] == ["exact"]
    (link,) = linker.link("gowt", "condition")
    assert (link.ids, link.how, link.score) == (("X:5", "X:8"), "fuzzy", 0.88)
    linker.link("gowt", "condition")
    assert asked == ["gowt"]


def test_saved_pipeline_brings_its_base(nlp, tmp_path):
    expected = short(nlp(make_trial_doc(nlp, TRIAL)))
    nlp.to_disk(tmp_path / "a b")
    for again in (
        spacy.load(tmp_path / "a b"),
        spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert short(again(make_trial_doc(again, TRIAL))) == expected
        assert again.get_pipe("umls_linker").kb.parents("X:5") == ("X:8",)


def test_pickle_leaves_out_what_is_made_or_found_again(nlp):
    builtin = spacy.blank("en").add_pipe("umls_linker")
    assert len(builtin.kb) > 90_000
    again = pickle.loads(pickle.dumps(builtin))
    assert (again.name, again.methods, again._kb) == (
        "umls_linker",
        builtin.methods,
        None,
    )
    pipe = nlp.get_pipe("umls_linker")
    assert pipe.linker.link("Gout", "condition")
    assert "linker" not in pickle.loads(pickle.dumps(pipe)).__dict__


def test_base_by_reference_is_not_saved(kb, tmp_path):
    kb.to_disk(tmp_path / "toy.kb")
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    nlp.add_pipe("umls_linker", config={"store_kb": False})
    loader = {"@misc": "t2v.KBFromDisk.v1", "path": str(tmp_path / "toy.kb")}
    nlp.config["initialize"]["components"]["umls_linker"] = {"kb_loader": loader}
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    assert [p.name for p in (tmp_path / "model" / "umls_linker").iterdir()] == [
        "settings.json"
    ]
    again = spacy.load(tmp_path / "model")
    assert short(again(make_trial_doc(again, TRIAL))) == EXPECTED
    other = KnowledgeBase.from_concepts(CONCEPTS, info={"name": "toy", "version": "8"})
    other.to_disk(tmp_path / "toy.kb")
    with pytest.warns(UserWarning, match="T088.*7.*8"):
        spacy.load(tmp_path / "model")
    (tmp_path / "toy.kb").unlink()
    with pytest.raises(T2VError, match="toy.kb"):
        spacy.load(tmp_path / "model")


def test_damaged_base_of_a_pipeline_is_named(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    path = tmp_path / "model" / "umls_linker" / "kb"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(T2VError, match="umls_linker"):
        spacy.load(tmp_path / "model")


def test_missing_base_is_named(tmp_path):
    linker = UmlsLinker()
    with pytest.raises(T2VError, match="nowhere"):
        linker.initialize(lambda: [], kb_loader=kb_from_disk(str(tmp_path / "nowhere")))


def test_docs_survive_bytes_docbin_and_workers(nlp):
    doc = nlp(make_trial_doc(nlp, TRIAL))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.concepts == doc._.concepts
    (stored,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    # A DocBin makes tuples of lists.
    assert json.dumps(stored._.concepts) == json.dumps(doc._.concepts)
    assert [s.kb_id_ for s in stored.spans["concepts"]] == [
        s.kb_id_ for s in doc.spans["concepts"]
    ]


@pytest.mark.timeout(120)
def test_two_processes_give_the_same(nlp):
    texts = [TRIAL.to_text()] * 6
    one = [short(doc) for doc in nlp.pipe(texts)]
    two = [short(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    assert one == two and one[0] == EXPECTED


def test_built_in_base_is_the_default_and_by_reference(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    pipe = nlp.add_pipe("umls_linker")
    nlp.initialize()
    nlp.to_disk(tmp_path)
    assert not (tmp_path / "umls_linker" / "kb").exists()
    doc = spacy.load(tmp_path)(make_trial_doc(nlp, TRIAL))
    found = {(c["text"], c["name"]) for c in doc._.concepts}
    assert ("Gout", "Gout") in found
    assert ("Placebo", "Placebos") in found
    assert pipe.kb.version == doc._.concepts[0]["kb"]


def test_abbreviations_of_the_scispacy_detector(kb):
    pytest.importorskip("scispacy")
    import scispacy.abbreviation  # noqa: F401

    nlp = spacy.blank("en")
    nlp.add_pipe("abbreviation_detector", config={"make_serializable": True})
    nlp.add_pipe("umls_linker", config={"abbreviations": "scispacy"}).set_kb(kb)
    doc = nlp("Chronic kidney disease (CKD) is common. CKD is silent.")
    assert [c["text"] for c in doc._.concepts if c["how"] == "abbreviation"] == [
        *("CKD", "CKD")
    ]
    assert Doc(nlp.vocab).from_bytes(doc.to_bytes())._.concepts == doc._.concepts


def test_entities_that_another_linker_linked(kb):
    from spacy.tokens import Span

    had = Span.has_extension("kb_ents")
    if not had:
        Span.set_extension("kb_ents", default=[])
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("umls_linker", config={"scispacy_ents": True})
    linker.set_kb(kb)
    doc = nlp.make_doc("A joint pain")
    doc.ents = [Span(doc, 1, 3, label="ENTITY")]
    doc.ents[0]._.kb_ents = [("Z:1", 0.99), ("X:8", 0.9)]
    (concept,) = linker(doc)._.concepts
    assert (concept["id"], concept["how"], concept["score"]) == ("X:8", "scispacy", 0.9)
    if not had:
        Span.remove_extension("kb_ents")


def test_factory_imports_nothing_heavy():
    code = (
        "import sys, spacy, t2v_spacy.pipeline.umls_linker;"
        "spacy.blank('en').add_pipe('umls_linker');"
        "bad = {'scispacy', 'nmslib', 'datasets', 't2v_spacy.kb.linker'};"
        "assert not bad & set(sys.modules), bad & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_loader_is_a_plain_value():
    loader = kb_from_disk("x")
    assert (loader.name, loader.settings) == ("t2v.KBFromDisk.v1", {"path": "x"})


def test_mentions_of_the_examples(t2v_data):
    cases = t2v_data / "cases"
    kb = KnowledgeBase.open(cases / "c24_toy_kb.jsonl")
    linker = ConceptLinker(kb)
    with (cases / "c24_mentions.tsv").open(encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 8
    for row in rows:
        links = linker.link(row["mention"] or "", "any")
        ids = links[0].ids if links else ()
        assert "|".join(ids) == (row["expected_first"] or ""), row
