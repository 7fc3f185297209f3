"""The base that is shipped: its counts, its content, its files."""

from __future__ import annotations

import hashlib
import shutil

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import load_builtin
from t2v_spacy.kb.builtin import CURATED, FILE, NOTICE, read_checked
from t2v_spacy.kb.linker import ConceptLinker
from t2v_spacy.kb.normalise import fold


@pytest.fixture(scope="module")
def kb():
    return load_builtin()


def test_counts_and_size(kb):
    info = kb.info()
    assert 95_000 < info["concepts"] < 105_000
    assert 340_000 < info["aliases"] < 360_000
    assert info["with_parents"] > 0.99 * len(kb)
    assert info["with_definition"] > 15_000
    assert info["with_roles"]["component"] > 1_000
    assert info["with_roles"]["role"] > 1_500
    assert info["not_in_base"] == {}
    assert FILE.stat().st_size <= 6_000_000


def test_it_is_loaded_once(kb):
    assert load_builtin() is kb


def test_sources_and_notices(kb):
    info = kb.info()
    notices = " ".join(source["notice"] for source in info["sources"])
    for part in (
        "courtesy of the U.S. National Library of Medicine",
        "not the most current",
        "modified",
        "CC BY 4.0",
    ):
        assert part in notices
    assert "MeSH 2024" in kb.version
    text = " ".join(NOTICE.read_text(encoding="utf8").split())
    assert all(source["notice"] in text for source in info["sources"])
    assert f"{info['concepts']} concepts" in text
    assert len(info["built_from"]) == 5


def test_the_stated_sha256_is_that_of_the_file():
    stated = FILE.with_name(f"{FILE.name}.sha256").read_text(encoding="ascii")
    assert stated == f"{hashlib.sha256(FILE.read_bytes()).hexdigest()}  {FILE.name}\n"


def test_another_file_in_its_place_is_named(tmp_path):
    path = tmp_path / FILE.name
    with pytest.raises(T2VError) as err:
        read_checked(path)
    assert err.value.code == "T001"
    shutil.copy(FILE.with_name(f"{FILE.name}.sha256"), tmp_path)
    path.write_bytes(b"0123456789")
    with pytest.raises(T2VError, match="sha256") as err:
        read_checked(path)
    assert err.value.code == "T081"
    assert str(path) in str(err.value)


def test_every_curated_alias_comes_first_and_is_marked(kb):
    lines = CURATED.read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    assert len(rows) > 300
    for alias, concept_id, heading in rows:
        assert kb.lookup(alias)[0] == concept_id, alias
        assert kb.name(concept_id) == heading
        assert kb.is_curated(fold(alias))
    assert not kb.is_curated("heart failure")


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("type 2 diabetes", "Diabetes Mellitus, Type 2"),
        ("NSCLC", "Carcinoma, Non-Small-Cell Lung"),
        ("non-small cell lung cancer", "Carcinoma, Non-Small-Cell Lung"),
        ("hand-foot syndrome", "Hand-Foot Syndrome"),
        ("Keytruda", "pembrolizumab"),
        ("Zocor", "Simvastatin"),
        ("MDD", "Depressive Disorder, Major"),
        ("CPAP", "Continuous Positive Airway Pressure"),
        ("rTMS", "Transcranial Magnetic Stimulation"),
        ("PTK787", "vatalanib"),
        ("Zoledronate", "Zoledronic Acid"),
    ],
)
def test_names_mean_what_they_should(kb, name, heading):
    assert kb.name(kb.lookup(name)[0]) == heading


def test_an_ester_that_mesh_lost_is_a_concept_of_its_own(kb):
    (found,) = kb.lookup("mycophenolate mofetil")
    assert found.startswith("UNII:")
    assert [kb.name(i) for i in kb.parents(found)] == ["Mycophenolic Acid"]


def test_components_of_a_protocol_are_no_parents(kb):
    protocol = kb[kb.lookup("Folfox protocol")[0]]
    assert protocol.parents == ("MESH:D000971",)
    names = {kb.name(i) for i in protocol.roles["component"]}
    assert {"Leucovorin", "Fluorouracil"} <= names


def test_roles_say_what_a_drug_does(kb):
    roles = kb.roles(kb.lookup("carbamazepine")[0])["role"]
    assert {"Anticonvulsants", "Analgesics"} <= {kb.name(i) for i in roles}


def test_hierarchy(kb):
    (diabetes,) = kb.lookup("type 2 diabetes mellitus")
    above = {kb.name(i): steps for i, steps in kb.ancestors(diabetes).items()}
    assert above["Diabetes Mellitus"] == 1
    assert above["Endocrine System Diseases"] == 2
    siblings = {kb.name(i) for i in kb.siblings(diabetes)}
    assert "Diabetes Mellitus, Type 1" in siblings
    assert len(siblings) < 200


def test_the_cycle_of_mesh_does_no_harm(kb):
    one, other = kb.lookup("strabismus")[0], kb.lookup("ocular motility disorders")[0]
    assert other in kb.parents(one) and one in kb.parents(other)
    assert other in kb.ancestors(one) and one not in kb.ancestors(one)


def test_dissimilar_concepts(kb):
    (asthma,) = kb.lookup("asthma")
    found = kb.dissimilar(asthma, 50, np.random.default_rng(0))
    assert len(found) == 50
    near = set(kb.siblings(asthma)) | set(kb.ancestors(asthma, 2))
    assert near.isdisjoint(found)
    assert all(kb.types(i) for i in found)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("AMG334 70 mg", "erenumab"),
        ("AMG 334", "erenumab"),
        ("Electronic questionnaire", "Surveys and Questionnaires"),
        ("Parent decision aid", "Decision Support Techniques"),
    ],
)
def test_interventions_mean_what_they_should(kb, item, name):
    (link,) = ConceptLinker(kb).link(item, "intervention")
    assert kb.name(link.ids[0]) == name
