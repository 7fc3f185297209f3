from __future__ import annotations

import pytest

from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.search.codes import code_counts, exact_terms, is_short
from t2v_spacy.search.facets import Facets, FacetWriter
from t2v_spacy.search.lexical import Lexical, LexicalWriter
from t2v_spacy.trial import Trial

from .toys import nct

# Each line: one code in all the ways it is written.
FORMS = [
    ("bms936558", "BMS-936558", "BMS936558", "BMS 936558", "BMS\u2011936558"),
    ("mk3475", "MK-3475", "MK3475", "MK 3475"),
    ("bay439006", "BAY 43-9006", "BAY43-9006"),
    ("cp690550", "CP-690,550", "CP-690550", "CP 690550"),
    ("v600e", "V600E", "v600e", "p.V600E", "p.Val600Glu", "BRAFV600E", "BRAF V600E"),
    ("f508del", "F508del", "p.F508del"),
    ("35delg", "c.35delG", "35delG"),
    ("35ga", "c.35G>A"),
    ("nct90000001", "NCT90000001", "nct90000001", "NCT 90000001"),
    ("201001234512", "2010-012345-12"),
    ("e7080", "E7080"),
    ("rs1799853", "rs1799853"),
]
PAIRS = [(key, a, b) for key, *forms in FORMS for a in forms for b in forms]


def lexical_of(*texts: str) -> Lexical:
    writer = LexicalWriter()
    for number, text in enumerate(texts, 100):
        writer.append(Trial(nct(number), title=text))
    return Lexical(writer.columns())


@pytest.mark.parametrize(("key", "asked", "written"), PAIRS)
def test_any_form_finds_any_other(key, asked, written):
    (code,) = exact_terms(f"of {asked} in skin cancer")
    assert code.key == key
    lexical = lexical_of("Something else", f"Trial of ({written}), second part")
    assert lexical.holds(code.key).tolist() == [False, True]
    scores = lexical.scores(asked)
    assert scores[0] == 0 < scores[1]


def test_small_letters_apart_are_a_code_where_they_are_typed():
    assert [code.key for code in exact_terms("mk 3475 melanoma")] == ["mk3475"]
    assert lexical_of("MK-3475").scores("mk 3475")[0] > 0


@pytest.mark.parametrize(
    "text",
    [
        "", "survival at day 100", "aged 18-65", "BMI 25-35", "aspirin 100 mg",
        "ASPIRIN 100 MG", "dose 500mg/day", "week-104", "a cohort 2016", "WHO 2016",
        "COVID-19", "PD-1 and IL-6", "SF-36", "CD274", "CA-125", "among 1,120 people",
        "if 200mg", "n 1000", "phase 2", "1,000 patients", "H1N1", "C1 5000",
    ],
)  # fmt: skip
def test_counts_and_names_are_no_codes(text):
    assert exact_terms(text) == ()


def test_a_code_is_given_once_as_first_written():
    found = exact_terms("MK-3475, mk3475 and V600E")
    assert found == (("MK-3475", "mk3475"), ("V600E", "v600e"))


def test_a_study_of_a_drug():
    found = exact_terms("MK-8835-004")
    assert [code.key for code in found] == ["mk8835004", "mk8835"]
    lexical = lexical_of("MK-8835-005", "Of MK8835-004", "MK 8835", "MK-88", "MK 8835-004")  # fmt: skip
    assert code_counts(found, lexical).tolist() == [1, 2, 1, 0, 2]
    assert [code.key for code in exact_terms("MK8835-004")] == ["mk8835004", "mk8835"]
    # Those of Bayer are in two parts.
    assert [code.key for code in exact_terms("BAY 43-9006")] == ["bay439006"]


def test_a_draft_is_not_short():
    assert is_short("word " * 40)
    assert not is_short("word " * 41)


KB = KnowledgeBase.from_concepts(
    [
        Concept("C1", "Nivolumab", aliases=("Opdivo", "BMS-936558"), types=("T121",)),
        Concept("C2", "Gout", types=("T047",)),
    ],
    info={"name": "toy", "version": "1"},
)


def test_codes_by_text_and_by_linked_concept():
    lexical = lexical_of("BMS-936558 and MK-3475", "Opdivo", "MK 3475", "Neither")
    writer = FacetWriter()
    for linked in ({"C1": ()}, {"C1": ()}, {}, {}):
        concepts = {"condition": {"C2": ()}, "intervention": linked}
        writer.append(Trial(nct(1)), concepts)
    facets = Facets(writer.columns())
    for written in ("BMS-936558", "bms936558", "BMS 936558"):
        codes = exact_terms(f"{written} mk 3475")
        assert code_counts(codes, lexical).tolist() == [2, 0, 1, 0]
        assert code_counts(codes, lexical, facets, KB).tolist() == [2, 1, 1, 0]
    assert code_counts((), lexical, facets, KB).tolist() == [0, 0, 0, 0]
