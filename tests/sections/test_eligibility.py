"""Eligibility text split into criteria."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t2v_spacy.sections.eligibility import Eligibility, split_eligibility
from t2v_spacy.sections.patterns import eligibility_heading
from t2v_spacy.sections.text import clean_text, restore_breaks, unescape_markdown

# name: (text, inclusion, exclusion, unspecified)
LAYOUTS = {
    "plain": (
        "Inclusion Criteria:\n\n* Men\n* Consent\n\nExclusion Criteria:\n\n* Gout",
        ["Men", "Consent"],
        ["Gout"],
        [],
    ),
    "qualified": (
        "Key Inclusion Criteria :\n- Migraine\nMajor exclusion criteria\n- Opioids",
        ["Migraine"],
        ["Opioids"],
        [],
    ),
    "decimals and ranges are no marks": (
        "INCLUSION CRITERIA\n\n1. HbA1c 7.5 - 9.5%\n2. BMI 20.5 to 30\n\nEXCLUSION",
        ["HbA1c 7.5 - 9.5%", "BMI 20.5 to 30"],
        [],
        [],
    ),
    "no heading": ("* Knee pain\n* Walks 10 m", [], [], ["Knee pain", "Walks 10 m"]),
    "text before": (
        "Adults with cough.\n\nExclusion Criteria:\n\n* Smoker",
        [],
        ["Smoker"],
        ["Adults with cough."],
    ),
    "glued numbers": (
        "INCLUSION CRITERIA: 1. Grade 2 pain 2. BMI 20.5 to 30 3. Consent "
        "EXCLUSION CRITERIA: 1. Gout 2. Type 2 diabetes",
        ["Grade 2 pain", "BMI 20.5 to 30", "Consent"],
        ["Gout", "Type 2 diabetes"],
        [],
    ),
    "glued dashes": (
        "Inclusion Criteria: - aged 20 - 60 - consent Exclusion Criteria: - gout",
        ["aged 20 - 60", "consent"],
        ["gout"],
        [],
    ),
    "glued sentences": (
        "Inclusion Criteria: Adults over 60. Hip pain. Exclusion Criteria: Gout.",
        ["Adults over 60.", "Hip pain."],
        ["Gout."],
        [],
    ),
    "odd bullets": (
        "Inclusion Criteria:\n• Age ≥ 18\n▪ ECOG ≤ 2\n– Alive\n○ Awake\no Adult\n-Fit",
        ["Age ≥ 18", "ECOG ≤ 2", "Alive", "Awake", "Adult", "Fit"],
        [],
        [],
    ),
    "line ends and tabs": (
        "Inclusion Criteria:\r\n\r\n\t- Men\r\n\t- Stroke within 24 h\r\n",
        ["Men", "Stroke within 24 h"],
        [],
        [],
    ),
    "entities": (
        "Inclusion Criteria:&#13;&#10;- Age &gt;= 20 &amp; &lt; 60&#10;- 38 &deg;C",
        ["Age >= 20 & < 60", "38 °C"],
        [],
        [],
    ),
    "escapes and bold": (
        "**Inclusion Criteria:**\n\n1\\. Age \\>= 18\n2\\. 1.5\\*ULN\n\n"
        "**Exclusion Criteria**\n\n\\* drug\\_A",
        ["Age >= 18", "1.5*ULN"],
        ["drug_A"],
        [],
    ),
    "sentences as headings": (
        "Participants will be included if they:\n- have pain\n"
        "Participants with the following will be excluded:\n- gout",
        ["have pain"],
        ["gout"],
        [],
    ),
    "both at once": ("Inclusion/Exclusion Criteria:\n\nAsk us.", [], [], ["Ask us."]),
    "remark about criteria": (
        "Inclusion Criteria:\n\n- Men\n- Other protocol-defined inclusion/exclusion "
        "criteria may apply\n- Does not meet exclusion criteria",
        [
            "Men",
            "Other protocol-defined inclusion/exclusion criteria may apply",
            "Does not meet exclusion criteria",
        ],
        [],
        [],
    ),
    "old cancer records": (
        "DISEASE CHARACTERISTICS:\n\n- Gout\n\nPATIENT CHARACTERISTICS:\nAge:\n\n- 18",
        [],
        [],
        ["Gout", "Age:", "18"],
    ),
    "Spanish": (
        "Criterios de inclusión:\n- Adultos\n\nCriterios de exclusión:\n- Embarazo",
        ["Adultos"],
        ["Embarazo"],
        [],
    ),
    "French": (
        "Critères d'inclusion :\n- Adultes\nCritères de non-inclusion :\n- Grossesse",
        ["Adultes"],
        ["Grossesse"],
        [],
    ),
    "German": (
        "Einschlusskriterien:\n- Alter\nAusschlusskriterien:\n- Gicht",
        ["Alter"],
        ["Gicht"],
        [],
    ),
    "only a word": ("Healthy volunteers", [], [], ["Healthy volunteers"]),
    "empty": ("", [], [], []),
    "blank": (" \n\t \n", [], [], []),
    "absent": (None, [], [], []),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    text, *expected = LAYOUTS[name]
    found = split_eligibility(text)
    assert [
        *map(list, (found.inclusion, found.exclusion, found.unspecified))
    ] == expected


def parents(found: Eligibility) -> dict[str, str]:
    return {
        item.text: found.items[item.parent].text
        for item in found.items
        if item.parent is not None
    }


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        (
            "1. Cancer:\n\n   1.1 breast, or\n   1.2 ovary\n2. Organs:\n\n   (a) liver"
            "\n   (b) kidney\n3. Pain\n   i. new",
            {
                **{"breast, or": "Cancer:", "ovary": "Cancer:"},
                **{"liver": "Organs:", "kidney": "Organs:", "new": "Pain"},
            },
        ),
        ("* a\n\n  * b\n    * c\n  * d\n* e", {"b": "a", "c": "b", "d": "a"}),
        ("1. one\n\na. two\n\nb. three\n\n2. four", {"two": "one", "three": "one"}),
        ("1. one including\n\n- two\n\n- three\n\n2. four", {"two": "one including",
                                                            "three": "one including"}),
        ("Age:\n\n- 18 and over\n\nOther\n\n- none", {"18 and over": "Age:"}),
        ("- one\n- two\n- three", {}),
    ],
)  # fmt: skip
def test_nesting(text, nested):
    assert parents(split_eligibility(text)) == nested


def test_hard_wrapped_lines_are_one_item():
    text = """Inclusion Criteria:

- Adults who have had a first stroke and a score on the usual scale of at least
4 points, or sepsis that was caused by a germ in the family of the
E. coli and treated

- Creatinine clearance that is above the limit of the laboratory by no more than
1.5 mg in a week

Exclusion Criteria:

- Gout
"""
    assert split_eligibility(text).inclusion == (
        "Adults who have had a first stroke and a score on the usual scale of at least "
        "4 points, or sepsis that was caused by a germ in the family of the E. coli "
        "and treated",
        "Creatinine clearance that is above the limit of the laboratory by no more "
        "than 1.5 mg in a week",
    )


def test_short_lines_without_marks_are_items():
    text = "Inclusion Criteria:\n\nmen over 60\nable to walk\n\nEXCLUSION:\n\ngout"
    assert split_eligibility(text).inclusion == ("men over 60", "able to walk")


def test_blocks_and_offsets():
    text = "Before.\n\nInclusion Criteria: Men\n\nExclusion Criteria:\n\n*  a  b \n"
    found = split_eligibility(text)
    headings = [text[b.start : b.body_start] for b in found.blocks]
    assert headings == ["", "Inclusion Criteria:", "Exclusion Criteria:"]
    kinds = [block.kind for block in found.blocks]
    assert kinds == ["unspecified", "inclusion", "exclusion"]
    slices = [text[item.start : item.end] for item in found.items]
    assert slices == ["Before.", "Men", "a  b"]
    assert found.exclusion == ("a b",)


WORDS = [
    "adults",
    "Age",
    ">=",
    "18",
    "1.5",
    "mg",
    "E.",
    "coli",
    "grade",
    "2.",
    "or",
    "-",
]
MARKS = [
    "",
    "- ",
    "* ",
    "• ",
    "1. ",
    "2) ",
    "a. ",
    "(b) ",
    "ii. ",
    "  - ",
    "1.1 ",
    "3 - ",
]
HEADS = ["Inclusion Criteria:", "EXCLUSION CRITERIA", "Age:", "Patients must have:", ""]
LINES = st.one_of(
    st.sampled_from(HEADS),
    st.tuples(
        st.sampled_from(MARKS),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=16).map(" ".join),
    ).map("".join),
)
TEXTS = st.tuples(
    st.lists(LINES, max_size=12), st.sampled_from(["\n", "\n\n", " "])
).map(lambda pair: pair[1].join(pair[0]))
ONLY_MARK = re.compile(
    r"[\s*•▪●○·–—-]*(?:\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-zA-Z]|[ivx]+)(?:[.)]|\s?-|\s))?"
    r"[\s*•–—-]*"
)


@settings(max_examples=300)
@given(TEXTS)
def test_no_character_is_lost(text):
    found = split_eligibility(text)
    spans = [(b.start, b.body_start) for b in found.blocks]
    spans = sorted([*spans, *((i.start, i.end) for i in found.items)])
    end = 0
    for start, stop in [*spans, (len(text), len(text))]:
        assert end <= start, "spans overlap"
        assert ONLY_MARK.fullmatch(text, end, start), text[end:start]
        end = max(end, stop)


@given(st.text() | TEXTS)
def test_invariants_for_any_text(text):
    found = split_eligibility(text)
    assert "".join(text[b.start : b.end] for b in found.blocks) == text
    for block in found.blocks:
        assert block.start <= block.body_start <= block.end
    for i, item in enumerate(found.items):
        assert item.text
        assert item.text == " ".join(item.text.split())
        assert item.parent is None or item.parent < i
        assert any(
            b.kind == item.kind and b.body_start <= item.start < item.end <= b.end
            for b in found.blocks
        )


@given(TEXTS)
def test_items_are_slices_of_the_text(text):
    for item in split_eligibility(text).items:
        assert item.text == " ".join(text[item.start : item.end].split())


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\n",
        "a",
        "- ",
        "1. ",
        "**",
        "\\",
        "&gt;",
        "a. ",
        "• a",
        "A b. Exclusion Criteria: c. ",
    ],
)
def test_long_runs_take_linear_time(unit):
    """With a quadratic pattern this takes hours, so the test's time limit fails it."""
    found = split_eligibility("Inclusion Criteria:\n" + unit * 50_000 + "\n- end")
    assert found.items[-1].text.endswith("end")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Step 2 Inclusion Criteria:", "inclusion"),
        ("Inclusion Criteria (main ones):", "inclusion"),
        ("INCLUSION CRITERIA - Patient:", "inclusion"),
        ("Exclusion criteria for healthy volunteers:", "exclusion"),
        ("Criteria for exclusion:", "exclusion"),
        ("5.2 Exclusion criteria", "exclusion"),
        ("Excluded within 30 days of study entry:", "exclusion"),
        ("You will not be eligible for this study if you:", "exclusion"),
        ("You may be eligible for this study if you:", "inclusion"),
        ("Inclusion and exclusion criteria:", "unspecified"),
        ("Eligibility Criteria:", None),
    ],
)
def test_headings(line, kind):
    found = eligibility_heading(line, marked=False)
    assert found == (kind, len(line))


@pytest.mark.parametrize(
    "line",
    [
        "No exclusion criteria",
        "Further exclusion criteria apply",
        "Inclusion of women and minorities:",
        "Subjects who meet the inclusion criteria: all",
        "Prior exclusive radiotherapy",
        "Pregnant women are excluded.",
    ],
)
def test_sentences_are_no_headings(line):
    assert eligibility_heading(line, marked=False) is None


# --- real cases, where they are at hand ---------------------------------------------


def criteria(path) -> str:
    record = json.loads(path.read_text(encoding="utf8"))
    return record["protocolSection"]["eligibilityModule"]["eligibilityCriteria"]


def test_layout_cases(t2v_data):
    path = t2v_data / "cases" / "c03_eligibility_layouts.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]
    assert len(rows) == 22
    for row in rows:
        found = split_eligibility(row["text"])
        got = {kind: list(getattr(found, kind)) for kind in row["expected"]}
        assert got == row["expected"], row["id"]


@pytest.mark.parametrize("clean", [False, True])
def test_escaped_case(t2v_data, clean):
    cases = t2v_data / "cases"
    expected = json.loads((cases / "c02_escaped_markdown.expected.json").read_text())
    text = criteria(cases / "c02_escaped_markdown.json")
    if clean:
        text = clean_text(unescape_markdown(text)) or ""
        assert "\\" not in text
    found = split_eligibility(text)
    assert list(found.inclusion) == expected["inclusion"]
    assert list(found.exclusion) == expected["exclusion"]
    assert parents(found) == expected["parent_of"]


def test_export_case(t2v_data):
    cases = t2v_data / "cases"
    expected = json.loads((cases / "c12_aact_eligibilities.expected.json").read_text())
    rows = (
        (cases / "c12_aact_eligibilities.txt").read_text(encoding="utf8").splitlines()
    )
    for cells in (row.split("|") for row in rows[1:4]):
        text = cells[8]
        if text[0] == text[-1] == '"':
            text = text[1:-1]
        found = split_eligibility(restore_breaks(text))
        for kind in ("inclusion", "exclusion", "unspecified"):
            assert list(getattr(found, kind)) == expected[cells[1]].get(kind, [])


@pytest.mark.parametrize("name", ["a", "b"])
def test_long_cases(t2v_data, name):
    found = split_eligibility(criteria(t2v_data / "cases" / f"c15_long_{name}.json"))
    assert (len(found.inclusion), len(found.exclusion)) == (399, 1)


def test_blank_run_case(t2v_data):
    found = split_eligibility(criteria(t2v_data / "cases" / "c15_runs.json"))
    assert (len(found.inclusion), len(found.exclusion)) == (1, 1)


def test_real_records_rarely_miss_their_exclusion_criteria(t2v_data):
    path = t2v_data / "data" / "trials_sample.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]
    texts = [t for r in rows if (t := r.get("eligibility")) and "exclu" in t.lower()]
    missed = sum(not split_eligibility(text).exclusion for text in texts)
    assert texts and missed / len(texts) < 0.03
