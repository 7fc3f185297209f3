"""Look-ups, hierarchy, saving, and what a damaged file says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.kb.columns import HashIndex, Ragged, Strings
from t2v_spacy.kb.folded import fold_all, norm_hash, norm_hashes
from t2v_spacy.kb.normalise import fold, norm
from t2v_spacy.kb.semantic_groups import CONDITION_TYPES, INTERVENTION_TYPES, group

DISEASE, DRUG = ("T047",), ("T121",)
ROWS = [
    Concept("MESH:D1", "Disease", types=DISEASE),
    Concept("MESH:D2", "Lung Diseases", types=DISEASE, parents=("MESH:D1",)),
    Concept(
        "MESH:D3", "Asthma", ("Bronchial Asthma",), DISEASE, "Wheeze.", ("MESH:D2",)
    ),
    Concept("MESH:D4", "Emphysema", (), DISEASE, None, ("MESH:D2", "MESH:D1")),
    Concept(
        "MESH:D5", "Pneumonia", ("Lung Inflammation",), DISEASE, None, ("MESH:D2",)
    ),
    Concept("MESH:D6", "Skin Diseases", types=DISEASE, parents=("MESH:D1",)),
    Concept("MESH:D7", "Eczema", types=DISEASE, parents=("MESH:D6",)),
    Concept("MESH:D8", "Psoriasis", types=("T047", "T046"), parents=("MESH:D6",)),
    Concept(
        "MESH:D9", "Salbutamol", ("Albuterol",), DRUG, roles={"role": ("MESH:C1",)}
    ),
    Concept("MESH:C1", "Bronchodilators", types=DRUG),
    # A cycle of two, as there is one in MeSH; both have another parent as well.
    Concept("MESH:D10", "Squint", types=DISEASE, parents=("MESH:D11", "MESH:D1")),
    Concept("MESH:D11", "Eye Movement Trouble", types=DISEASE, parents=("MESH:D10",)),
]


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase.from_concepts(ROWS, info={"name": "toy", "version": "toy 1"})


def code(err: pytest.ExceptionInfo) -> str:
    return err.value.code


def test_concepts_come_back_as_they_were_given(kb):
    assert len(kb) == len(ROWS)
    assert list(kb) == ROWS
    assert list(kb.ids()) == [row.concept_id for row in ROWS]
    assert kb["MESH:D3"] == ROWS[2]
    assert kb.name("MESH:D3") == "Asthma"
    assert kb.types("MESH:D8") == ("T047", "T046")
    assert kb.roles("MESH:D9") == {"role": ("MESH:C1",)}
    assert "MESH:D3" in kb and "MESH:D99" not in kb and 3 not in kb


def test_an_unknown_id_is_named(kb):
    for look in (kb.name, kb.types, kb.parents, kb.ancestors, kb.siblings):
        with pytest.raises(T2VError, match="MESH:D99.*toy") as err:
            look("MESH:D99")
        assert code(err) == "T082"


def test_hierarchy(kb):
    assert kb.parents("MESH:D4") == ("MESH:D2", "MESH:D1")
    assert kb.children("MESH:D2") == ("MESH:D3", "MESH:D4", "MESH:D5")
    assert kb.ancestors("MESH:D3") == {"MESH:D2": 1, "MESH:D1": 2}
    assert kb.ancestors("MESH:D3", max_depth=1) == {"MESH:D2": 1}
    assert kb.ancestors("MESH:D1") == {}


def test_walks_end_in_a_cycle(kb):
    assert kb.ancestors("MESH:D10") == {"MESH:D11": 1, "MESH:D1": 1}
    assert kb.ancestors("MESH:D11") == {"MESH:D10": 1, "MESH:D1": 2}
    assert kb.siblings("MESH:D11") == ()
    only = [Concept("A", "a", parents=("B",)), Concept("B", "b", parents=("A",))]
    pair = KnowledgeBase.from_concepts(only)
    assert pair.ancestors("A") == {"B": 1}
    assert pair.siblings("A") == ()


def test_siblings_are_of_the_deepest_parent_that_is_small_enough(kb):
    assert kb.siblings("MESH:D3") == ("MESH:D4", "MESH:D5")
    # Two parents: "Lung Diseases" is deeper than "Disease".
    assert kb.siblings("MESH:D4") == ("MESH:D3", "MESH:D5")
    assert kb.siblings("MESH:D3", max_children=3) == ()
    assert kb.siblings("MESH:D1") == ()


def test_a_big_class_gives_no_siblings():
    rows = [Concept("P", "Preparations"), Concept("S", "Statins", parents=("P",))]
    rows += [Concept(f"X{i}", f"x{i}", parents=("P",)) for i in range(200)]
    rows += [Concept(f"S{i}", f"s{i}", parents=("S", "P")) for i in range(3)]
    kb = KnowledgeBase.from_concepts(rows)
    assert kb.siblings("X7") == ()
    assert kb.siblings("S1") == ("S0", "S2")


def test_dissimilar_concepts_share_group_but_no_near_ancestor(kb):
    found = kb.dissimilar("MESH:D3", 20, np.random.default_rng(0))
    assert set(found) == {"MESH:D1", "MESH:D6", "MESH:D7", "MESH:D8", "MESH:D10"} | {
        "MESH:D11"
    }
    again = kb.dissimilar("MESH:D3", 2, np.random.default_rng(5))
    assert again == kb.dissimilar("MESH:D3", 2, np.random.default_rng(5))
    assert len(again) == 2


@pytest.mark.parametrize(
    "name", ["ASTHMA", "bronchial  asthma", "Bronchial-Asthma", " asthma. "]
)
def test_lookup_does_not_mind_case_and_punctuation(kb, name):
    assert kb.lookup(name) == ("MESH:D3",)


def test_lookup_of_nothing(kb):
    for name in ("", "   ", "mL/min", "asthm", "of the", "\n"):
        assert kb.lookup(name) == ()
        assert kb.lookup_norm(name) == ()


def test_lookup_norm_does_not_mind_order_and_plural(kb):
    assert kb.lookup("disease, lung") == ()
    assert kb.lookup_norm("disease, lung") == ("MESH:D2",)
    assert kb.lookup_norm("inflammations of the lung") == ("MESH:D5",)


def test_order_of_ambiguous_names():
    rows = [
        Concept("UNII:1", "Cold"),
        Concept("MONDO:1", "Cold"),
        Concept("MESH:C1", "x", ("cold",)),
        Concept("MESH:D5", "Cold Temperature", ("Cold",)),
        Concept("MESH:D6", "COLD"),
        Concept("OTHER:1", "Cold"),
        Concept("MESH:C2", "y"),
    ]
    plain = KnowledgeBase.from_concepts(rows)
    order = ("MESH:D6", "MESH:D5", "MESH:C1", "MONDO:1", "UNII:1", "OTHER:1")
    assert plain.lookup("cold") == order
    assert dict(plain.names())["cold"] == order
    chosen = KnowledgeBase.from_concepts(rows, curated={"MESH:C2": ["Cold"]})
    assert chosen.lookup("cold") == ("MESH:C2", *order)
    assert chosen.is_curated("cold") and not plain.is_curated("cold")
    assert chosen["MESH:C2"].aliases == ("Cold",)


def test_names_give_each_folded_name_once(kb):
    names = list(kb.names())
    assert len(names) == len({name for name, _ in names}) == 15
    assert all(kb.lookup(name) == ids for name, ids in names)
    assert ("lung inflammation", ("MESH:D5",)) in names


def test_equal_names_of_one_concept_are_kept_once():
    row = Concept(
        "A", "Crohn's disease", ("Crohn’s Disease", "crohn disease", "CD", "")
    )
    assert KnowledgeBase.from_concepts([row])["A"].aliases == ("CD",)


def test_relations_to_unknown_concepts_are_left_out_and_counted():
    rows = [Concept("A", "a", parents=("B", "A"), roles={"role": ("C",)})]
    kb = KnowledgeBase.from_concepts(rows)
    assert kb.parents("A") == ()
    assert kb.info()["not_in_base"] == {"parents": 1, "role:role": 1}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([Concept("", "a")], "id is empty"),
        ([Concept("A B", "a")], "has blanks"),
        ([Concept("A", " - ")], "canonical name"),
        ([Concept("A", "a"), Concept("A", "b")], "twice"),
    ],
)
def test_a_bad_concept_is_named(rows, reason):
    with pytest.raises(T2VError, match=reason) as err:
        KnowledgeBase.from_concepts(rows)
    assert code(err) == "T083"


def test_a_curated_alias_of_an_unknown_concept_is_named():
    with pytest.raises(T2VError, match="'Z'") as err:
        KnowledgeBase.from_concepts([Concept("A", "a")], curated={"Z": ["x"]})
    assert code(err) == "T082"


def test_an_empty_base_works(tmp_path):
    KnowledgeBase.from_concepts([]).to_disk(tmp_path / "kb")
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert len(kb) == 0 and list(kb.names()) == [] and kb.lookup("a") == ()


def test_saved_and_loaded_it_is_the_same(kb, tmp_path):
    path = tmp_path / "new folder" / "kb.t2vkb"
    kb.to_disk(path)
    copies = [
        KnowledgeBase.open(path),
        KnowledgeBase.from_bytes(kb.to_bytes(preset=0)),
        pickle.loads(pickle.dumps(kb)),
    ]
    for copy in copies:
        assert list(copy) == ROWS
        assert copy.lookup("albuterol") == ("MESH:D9",)
        assert copy.siblings("MESH:D3") == kb.siblings("MESH:D3")
        assert copy.version == "toy 1"
        assert copy.info() == kb.info()
    assert [file.name for file in path.parent.iterdir()] == ["kb.t2vkb"]
    assert copies[0].to_bytes() == path.read_bytes()


def test_another_file_is_named(tmp_path):
    path = tmp_path / "kb"
    path.write_bytes(b"0123456789")
    for load in (KnowledgeBase.open, KnowledgeBase.from_disk):
        with pytest.raises(T2VError, match="not a knowledge base") as err:
            load(path)
        assert code(err) == "T080"
        assert str(path) in str(err.value)
    with pytest.raises(T2VError) as err:
        KnowledgeBase.open(tmp_path / "absent")
    assert code(err) == "T001"


@pytest.mark.parametrize("place", [0.3, 0.6, 0.99])
def test_a_damaged_file_is_named(kb, tmp_path, place):
    path = tmp_path / "kb"
    data = bytearray(kb.to_bytes(preset=0))
    data[int(len(data) * place)] ^= 1
    for damaged in (bytes(data), kb.to_bytes(preset=0)[: int(len(data) * place)]):
        path.write_bytes(damaged)
        with pytest.raises(T2VError, match="damaged") as err:
            KnowledgeBase.from_disk(path)
        assert code(err) == "T081"
        assert str(path) in str(err.value)


def test_a_newer_format_is_named(kb):
    data = kb.to_bytes(preset=0).replace(b'"format":1', b'"format":9')
    with pytest.raises(T2VError, match="newer") as err:
        KnowledgeBase.from_bytes(data)
    assert code(err) == "T080"


def test_a_failed_write_leaves_the_older_file(kb, tmp_path, monkeypatch):
    path = tmp_path / "kb"
    path.write_bytes(b"older")

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KnowledgeBase, "to_bytes", fail)
    with pytest.raises(T2VError, match="No space left") as err:
        kb.to_disk(path)
    assert code(err) == "T010"
    assert path.read_bytes() == b"older"
    assert [file.name for file in tmp_path.iterdir()] == ["kb"]


def test_types_and_groups():
    assert (group("T047"), group("T121"), group("T061")) == ("DISO", "CHEM", "PROC")
    assert (group("T074"), group("T065"), group("T999")) == ("DEVI", "PROC", "")
    assert {group(tui) for tui in CONDITION_TYPES} == {"DISO"}
    assert CONDITION_TYPES.isdisjoint(INTERVENTION_TYPES)
    assert "" not in {group(tui) for tui in INTERVENTION_TYPES}


@given(
    st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8")), min_size=1)
)
def test_many_names_fold_as_one_by_one(names):
    folded = fold_all(Strings.of(names))
    assert folded.slice(0, len(names)) == [fold(name) for name in names]


@given(st.lists(st.text("ab'sS-_ 1é"), min_size=1))
def test_many_names_with_possessives_fold_as_one_by_one(names):
    folded = fold_all(Strings.of(names))
    assert folded.slice(0, len(names)) == [fold(name) for name in names]


@given(st.lists(st.sampled_from(["a", "an", "the", "of", "tumours", "lung", ""])))
def test_keys_of_many_names_are_those_of_one(parts):
    names = [" ".join(filter(None, parts[i:])) or "x" for i in range(len(parts))]
    keys = [norm_hash(norm(name)) for name in names]
    keep = [i for i, name in enumerate(names) if norm(name)]
    found = norm_hashes(Strings.of(names))
    assert [int(found[i]) for i in keep] == [keys[i] for i in keep]


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"))))
def test_strings_and_index(texts):
    strings = Strings.of(texts)
    assert [strings[i] for i in range(len(strings))] == texts
    assert [text for chunk in strings.chunks(3) for text in chunk] == texts
    index = HashIndex.of(strings.chunks(2))
    for text in texts:
        wanted = [i for i, other in enumerate(texts) if other == text]
        assert [i for i in index.find(text) if texts[i] == text] == wanted


def test_ragged_rows():
    rows = Ragged.of(np.array([2, 0, 2]), np.array([5, 6, 4]), 4)
    assert [rows[i].tolist() for i in range(4)] == [[6], [], [5, 4], []]
    square = Ragged.of(np.array([0, 0, 2]), np.array([1, 2, 1]), 3)
    assert [square.inverted()[i].tolist() for i in range(3)] == [[], [0, 2], [0]]
