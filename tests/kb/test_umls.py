"""UMLS files: what is kept, which way relations point, and what bad files say."""

from __future__ import annotations

import gzip

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb.rrf import COLUMNS
from t2v_spacy.kb.umls import Keep, read_umls

# CUI LAT TS STT ISPREF SAB TTY STR SRL SUPPRESS
NAMES = """
C9000001 ENG P PF N MSH ET Growth_hormone_excess 0 N
C9000001 ENG P PF Y MSH MH Giant_hand_disease 0 N
C9000001 ENG S VO Y NCI SY Big_Hand_Trouble 0 N
C9000001 ENG S VO Y NCI SY BIG_HAND_TROUBLE 0 N
C9000001 SPA P PF Y MSH MH Mano_gigante 0 N
C9000001 ENG S VO N MSH ET Old_hand_disease 0 O
C9000001 ENG S VO N MSH PM Disease,_Giant_hand 0 N
C9000001 ENG S VO N SNOMEDCT_US FN Giant_hand_(disorder) 9 N
C9000001 ENG S VO N SNOMEDCT_US SY Macrocheiria 9 N
C9000001 ENG S VO N MSH ET Hand_disease_NOS 0 N
C9000001 ENG S VO N MSH ET 12345 0 N
C9000001 ENG S VO N LNC LN Hand.size 0 N
C9000002 ENG P PF Y MSH MH Gland_Diseases 0 N
C9000003 ENG P PF Y NCI PT Body_Trouble 0 N
C9000004 ENG P PF Y MSH NM Handoxin 0 N
C9000005 ENG S VO N MSH ET Second_name 0 N
C9000005 ENG S VO N NCI PT First_name 0 N
CL900006 ENG P PF Y NCI PT Local_trouble 0 N
"""
TYPES = """
C9000001 T047
C9000001 T190
C9000002 T047
C9000003 T047
C9000004 T121
C9000005 T047
CL900006 T047
C9999999 T047
"""
# CUI1 REL CUI2 RELA SAB SUPPRESS
RELATIONS = """
C9000001 PAR C9000002 inverse_isa MSH N
C9000002 CHD C9000001 isa MSH N
C9000001 RB C9000003 - MSH N
C9000003 CHD C9000002 - NCI N
C9000005 RB C9000002 - MSH N
C9000003 RN CL900006 - NCI N
C9000004 PAR C9999999 - MSH N
C9000004 PAR C9000004 - MSH N
C9000004 PAR C9000001 - MSH O
C9000004 SIB C9000001 - MSH N
C9000004 RO C9000001 - MSH N
"""
# CUI SAB DEF SUPPRESS
DEFINITIONS = """
C9000001 XYZ Any_source. N
C9000001 MSH Big_hands. N
C9000001 NCI Very_big_hands. N
C9000001 NCI_BRIDG Obsolete. O
C9999999 MSH Not_kept. N
"""
FIELDS = {
    "MRCONSO": "CUI LAT TS STT ISPREF SAB TTY STR SRL SUPPRESS",
    "MRSTY": "CUI TUI",
    "MRREL": "CUI1 REL CUI2 RELA SAB SUPPRESS",
    "MRDEF": "CUI SAB DEF SUPPRESS",
    "MRRANK": "RANK SAB TTY SUPPRESS",
}


def lines(name: str, table: str, columns: str = "") -> list[str]:
    """Rows of a table in the columns of an RRF file; `_` is a blank, `-` nothing."""
    order = (columns or COLUMNS[name]).split()
    found = []
    for row in table.strip().splitlines():
        values = dict(zip(FIELDS[name].split(), row.split(), strict=True))
        cells = (values.get(c, "").replace("_", " ").strip("-") for c in order)
        fixed = [c.replace("SNOMEDCT US", "SNOMEDCT_US") for c in cells]
        fixed = [c.replace("inverse isa", "inverse_isa") for c in fixed]
        found.append("|".join(fixed).replace("NCI BRIDG", "NCI_BRIDG") + "|")
    return found


@pytest.fixture
def meta(tmp_path):
    tables = {
        "MRCONSO": NAMES,
        "MRSTY": TYPES,
        "MRREL": RELATIONS,
        "MRDEF": DEFINITIONS,
    }
    for name, table in tables.items():
        write(tmp_path / f"{name}.RRF", lines(name, table))
    return tmp_path


def write(path, rows) -> None:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf8")


def test_names_types_and_definition(meta):
    kb = read_umls(meta)
    assert list(kb.ids()) == [
        "C9000001",
        "C9000002",
        "C9000003",
        "C9000004",
        "C9000005",
        "CL900006",
    ]
    hand = kb["C9000001"]
    assert hand.canonical_name == "Giant hand disease"
    assert hand.aliases == (
        "Growth hormone excess",
        "Big Hand Trouble",
        "Macrocheiria",
    )
    assert hand.types == ("T047", "T190")
    assert hand.definition == "Very big hands."
    assert kb["C9000004"].definition is None


def test_relations_point_the_right_way(meta):
    kb = read_umls(meta)
    # PAR: the second is a parent of the first. "Is a" drives out the looser RB.
    assert kb.parents("C9000001") == ("C9000002",)
    # CHD and RN: the second is below the first.
    assert kb.parents("C9000002") == ("C9000003",)
    assert kb.parents("CL900006") == ("C9000003",)
    # Only RB: that is better than nothing.
    assert kb.parents("C9000005") == ("C9000002",)
    # Unknown, itself, suppressed, sibling and other relations give no parent.
    assert kb.parents("C9000004") == ()
    assert kb.ancestors("C9000001") == {"C9000002": 1, "C9000003": 2}
    assert kb.siblings("C9000001") == ("C9000005",)


def test_one_direction_is_enough(meta):
    kept = [row for row in lines("MRREL", RELATIONS) if "|PAR|" not in row]
    write(meta / "MRREL.RRF", kept)
    assert read_umls(meta).parents("C9000001") == ("C9000002",)


def test_rank_of_sources_chooses_the_canonical_name(meta):
    assert read_umls(meta).name("C9000005") == "Second name"
    write(meta / "MRRANK.RRF", lines("MRRANK", "0400 NCI PT N\n0390 MSH ET N"))
    assert read_umls(meta).name("C9000005") == "First name"


@pytest.mark.parametrize(
    ("keep", "gone", "left"),
    [
        (Keep(sources=frozenset(["MSH"])), "C9000003", "C9000004"),
        (Keep(types=frozenset(["T121"])), "C9000001", "C9000004"),
        (Keep(types=frozenset(["T190"])), "C9000002", "C9000001"),
    ],
)
def test_filters_of_concepts(meta, keep, gone, left):
    kb = read_umls(meta, keep)
    assert gone not in kb and left in kb


def test_filters_of_names(meta):
    shareable = read_umls(meta, Keep(categories=frozenset("0")))
    assert shareable.lookup("Macrocheiria") == ()
    spanish = read_umls(meta, Keep(language="SPA"))
    assert [spanish.name(i) for i in spanish.ids()] == ["Mano gigante"]


def test_columns_come_from_mrfiles(meta):
    order = " ".join(reversed(COLUMNS["MRSTY"].split()))
    write(meta / "MRSTY.RRF", lines("MRSTY", TYPES, order))
    stated = f"MRSTY.RRF||{order.replace(' ', ',')}|6|8||"
    write(meta / "MRFILES.RRF", [stated])
    assert read_umls(meta).types("C9000001") == ("T047", "T190")


def test_packed_files_and_release_name(meta):
    data = (meta / "MRCONSO.RRF").read_bytes()
    (meta / "MRCONSO.RRF.gz").write_bytes(gzip.compress(data))
    (meta / "MRCONSO.RRF").unlink()
    (meta / "release.dat").write_text("umls.release.name=2031AA\n", encoding="utf8")
    kb = read_umls(meta)
    assert len(kb) == 6
    assert kb.version == "UMLS 2031AA"
    (meta / "MRCONSO.RRF.gz").write_bytes(gzip.compress(data)[:-9])
    assert failure(meta).startswith("[T005]")


def test_without_relations_and_definitions(meta):
    (meta / "MRREL.RRF").unlink()
    (meta / "MRDEF.RRF").unlink()
    kb = read_umls(meta)
    assert kb.parents("C9000001") == () and kb["C9000001"].definition is None


def failure(meta, keep=None) -> str:
    with pytest.raises(T2VError) as err:
        read_umls(meta, keep)
    return str(err.value)


@pytest.mark.parametrize("name", ["MRCONSO", "MRSTY", "MRREL", "MRDEF"])
def test_a_truncated_file_is_named(meta, name):
    path = meta / f"{name}.RRF"
    data = path.read_bytes()
    path.write_bytes(data[:-4])
    number = data.count(b"\n")
    said = failure(meta)
    assert f"{path}, line {number}" in said and "[T005]" in said and "ends" in said


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda row: row + "more|", "7 columns, expected 6"),
        (lambda row: row.replace("|", "", 1), "5 columns, expected 6"),
        (lambda row: row + "more", "does not end with"),
        (lambda row: row.replace("T047", "47"), "not a semantic type"),
        (lambda row: row.replace("C9000002", "X9000002"), "'X9000002'"),
    ],
)
def test_a_bad_row_is_named(meta, change, reason):
    rows = lines("MRSTY", TYPES)
    rows[2] = change(rows[2])
    write(meta / "MRSTY.RRF", rows)
    assert reason in failure(meta)


def test_fewer_rows_than_stated_are_named(meta):
    columns = COLUMNS["MRSTY"].replace(" ", ",")
    write(meta / "MRFILES.RRF", [f"MRSTY.RRF||{columns}|6|9||"])
    said = failure(meta)
    assert "states 9 rows" in said and str(meta / "MRSTY.RRF") in said


def test_a_column_that_is_not_stated_is_named(meta):
    write(meta / "MRFILES.RRF", ["MRSTY.RRF||CUI,STN|2|8||"])
    assert "no column TUI" in failure(meta)


def test_missing_files_and_empty_results(meta, tmp_path):
    assert "[T001]" in failure(tmp_path / "absent")
    assert "sources ABC" in failure(meta, Keep(sources=frozenset(["ABC"])))
    (meta / "MRSTY.RRF").unlink()
    said = failure(meta)
    assert "[T001]" in said and "MRSTY.RRF" in said


def test_the_open_sample(t2v_data):
    folder = t2v_data / "kb" / "umls_rrf_open_subset"
    kb = read_umls(folder, Keep(sources=frozenset(["MSH"])))
    assert kb.lookup("Proteins") == ("C0033684",)
    assert kb.parents("C0033684") == ("C0002526",)
    everything = read_umls(folder)
    assert everything.info()["with_parents"] == 162
    # The chosen "is a" of one source, told from both sides in the file.
    assert everything.parents("C0031676") == ("C0023779",)
    assert "C0031676" in everything.children("C0023779")
