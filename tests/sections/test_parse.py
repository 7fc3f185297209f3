"""Any text about a trial as sections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.sections.parse import parse_sections

from .pages import CURRENT_PAGE, SYNOPSIS


def found(text: str) -> list[tuple[str, str]]:
    return [(s.label, " ".join(s.body(text).split())) for s in parse_sections(text)]


def test_current_page():
    sections = [(label, body) for label, body in found(CURRENT_PAGE) if body]
    assert sections[0] == ("title", "Study of Drugamab in Asthma (DRAST)")
    assert ("other", "Some University") in sections
    assert ("summary", "This study tests drugamab.") in sections
    assert ("description", "Attacks are common. More prose.") in sections
    assert ("condition", "Asthma Asthma, Allergic") in sections
    assert ("inclusion", "* Adults * FEV1 below 80%") in sections
    assert ("exclusion", "* Smokers") in sections
    assert ("keyword", "biologic attacks") in sections


def test_protocol_synopsis():
    assert found(SYNOPSIS) == [
        ("other", ""),
        ("title", "Tablet X in breast cancer"),
        ("condition", "Metastatic breast cancer"),
        ("intervention", "X 10 mg"),
        ("summary", "To assess survival."),
        ("outcome", "Survival"),
        ("outcome", "- Pain - Sleep"),
        ("design", "Open label"),
        ("inclusion", "1. Women 2. Age over 18"),
        ("exclusion", "1. Pregnancy"),
        ("intervention", "X 10 mg by mouth"),
        ("design", "50"),
        ("other", "Kaplan-Meier."),
    ]


def test_printed_record_fields():
    text = "brief_title: A\ncondition: Gout\nkeyword: urate\ncriteria:\nInclusion: men"
    assert found(text) == [
        ("title", "A"),
        ("condition", "Gout"),
        ("keyword", "urate"),
        ("inclusion", "men"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Adults with asthma", [("title", "Adults with asthma")]),
        ("Healthy volunteers", [("title", "Healthy volunteers")]),
        ("A\n\nProse.\nMore.", [("title", "A"), ("description", "Prose. More.")]),
        ("Condition: gout", [("condition", "gout")]),
        (
            "A title\n\nInclusion Criteria:\n- a\n\nTreatment:\n- b",
            [("title", "A title"), ("inclusion", "- a Treatment: - b")],
        ),
    ],
)  # fmt: skip
def test_texts_with_few_headings(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize("text", ["", "   ", "\n\n\n", "\t", "\u200b", "\xa0"])
def test_blank_text_has_no_sections(text):
    assert parse_sections(text) == []


LINES = st.sampled_from(
    [
        "Conditions",
        "Title: x",
        "Eligibility Criteria",
        "Inclusion Criteria:",
        "- a b",
        "",
        " ",
    ]
    + [
        "5.1 Exclusion criteria",
        "## Title",
        "## Eligibility",
        "Phase:\t2",
        "Some prose, a.",
    ]
)


@given(st.text() | st.lists(LINES, max_size=14).map("\n".join))
def test_sections_cover_each_character_once(text):
    sections = parse_sections(text)
    if sections:
        assert "".join(text[s.start : s.end] for s in sections) == text
        assert sections[0].start == 0
    else:
        assert not text.replace("\u200b", "").strip()
    for section in sections:
        assert section.label in SECTION_LABELS
        assert section.body_start <= section.end
