"""Any text about a trial as sections and as a record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.sections.labels import HEADINGS, SECTION_LABELS
from t2v_spacy.sections.parse import parse_sections, parse_trial
from t2v_spacy.trial import Arm, Design, Enrollment, Intervention, Outcome, Trial
from t2v_spacy.values import INTERVENTION_TYPES, PHASES, STUDY_TYPES, split_type

CURRENT_PAGE = """Study of Drugamab in Asthma (DRAST)
ClinicalTrials.gov ID NCT90001234
Sponsor
Some University

Study Overview
Brief Summary
This study tests drugamab.

Detailed Description
Attacks are common.

More prose.
Official Title
A Randomised Study of Drugamab
Conditions
Asthma
Asthma, Allergic
Intervention / Treatment
Drug: Drugamab
Drug: Placebo
Study Start (Actual)
2020-01-01
Enrollment (Estimated)
120
Study Type
Interventional
Phase
Phase 2
Phase 3

Participation Criteria
Eligibility Criteria
Description
Inclusion Criteria:

* Adults
* FEV1 below 80%

Exclusion Criteria:

* Smokers
Ages Eligible for Study
18 Years to 65 Years (Adult, Older Adult )
Sexes Eligible for Study
All
Accepts Healthy Volunteers
No
Study Plan
How is the study designed?
Design Details
Primary Purpose : Treatment
Allocation : Randomized
Interventional Model : Parallel Assignment
Masking : Double (Participant, Investigator)
Arms and Interventions
Participant Group / Arm
Intervention / Treatment
Experimental: A
Drug: Drugamab
What is the study measuring?
Primary Outcome Measures
Outcome Measure
Measure Description
Time Frame
FEV1 change
In litres
12 weeks
Keywords Provided by Some University
biologic
attacks
"""
CLASSIC_PAGE = """Brief Summary:
The purpose is to test a stent.
Condition or disease:\tAngina
Study Type :\tInterventional  (Clinical Trial)
Actual Enrollment :\t90 participants
Official Title:\tStent or no Stent
Primary Outcome Measures :
1. Death [ Time Frame: 1 year ]
2. Pain score [ Time Frame: 30 days ]
Criteria
Inclusion Criteria:
- Angina
Exclusion Criteria:
- Shock
Ages Eligible for Study:   \t18 Years and older   (Adult, Older Adult)
Sexes Eligible for Study:   \tFemale
"""
SYNOPSIS = """PROTOCOL SYNOPSIS
Protocol Title: Tablet X in breast cancer
Indication: Metastatic breast cancer
Investigational product: X 10 mg
Objectives: To assess survival.
Primary endpoint: Survival
Secondary endpoints:
- Pain
- Sleep
Study design: Open label
5.1 Inclusion criteria
1. Women
2. Age over 18
5.2 Exclusion criteria
1. Pregnancy
Test product, dose and mode of administration: X 10 mg by mouth
Number of subjects (planned): 50
Statistical methods: Kaplan-Meier.
"""


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
    trial = parse_trial(CURRENT_PAGE)
    assert trial == Trial(
        "NCT90001234",
        title="Study of Drugamab in Asthma (DRAST)",
        official_title="A Randomised Study of Drugamab",
        brief_summary="This study tests drugamab.",
        detailed_description="Attacks are common.\n\nMore prose.",
        conditions=("Asthma", "Asthma, Allergic"),
        keywords=("biologic", "attacks"),
        interventions=(
            Intervention("Drugamab", "DRUG"),
            Intervention("Placebo", "DRUG"),
        ),
        outcomes=(Outcome("FEV1 change", "primary", "12 weeks"),),
        eligibility="Inclusion Criteria:\n\n* Adults\n* FEV1 below 80%\n\n"
        "Exclusion Criteria:\n\n* Smokers",
        sex="ALL",
        min_age=18.0,
        max_age=65.0,
        healthy_volunteers=False,
        phases=frozenset({"PHASE2", "PHASE3"}),
        study_type="INTERVENTIONAL",
        design=Design(
            allocation="RANDOMIZED",
            intervention_model="PARALLEL_ASSIGNMENT",
            masking="DOUBLE",
            primary_purpose="TREATMENT",
        ),
        enrollment=Enrollment(120, actual=False),
    )


def test_classic_page():
    trial = parse_trial(CLASSIC_PAGE)
    assert trial.title is None
    assert trial.official_title == "Stent or no Stent"
    assert trial.brief_summary == "The purpose is to test a stent."
    assert trial.conditions == ("Angina",)
    assert trial.study_type == "INTERVENTIONAL"
    assert trial.enrollment == Enrollment(90, actual=True)
    assert trial.outcomes == (
        Outcome("Death", "primary", "1 year"),
        Outcome("Pain score", "primary", "30 days"),
    )
    assert trial.criteria.inclusion == ("Angina",)
    assert trial.criteria.exclusion == ("Shock",)
    assert (trial.min_age, trial.max_age, trial.sex) == (18.0, None, "FEMALE")


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
    trial = parse_trial(SYNOPSIS, "NCT90000001")
    assert trial.nct_id == "NCT90000001"
    assert trial.outcomes == (
        Outcome("Survival"),
        Outcome("Pain", "secondary"),
        Outcome("Sleep", "secondary"),
    )
    assert trial.criteria.inclusion == ("Women", "Age over 18")


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
    assert parse_trial(text) == Trial("")


@pytest.mark.parametrize("blank", ["\r\n", "\n"])
def test_line_ends_do_not_matter(blank):
    text = CLASSIC_PAGE.replace("\n", blank)
    assert parse_trial(text) == parse_trial(CLASSIC_PAGE)
    assert parse_trial(Trial("", title="A").to_text().replace("\n", blank)).title == "A"


def test_id_is_taken_from_the_head_only():
    assert parse_trial("Trial nct90000002 of X").nct_id == "NCT90000002"
    assert parse_trial("x " * 1000 + "NCT90000002").nct_id == ""
    assert parse_trial("Trial NCT900000021 of X").nct_id == ""


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


# --- our own text reads back exactly --------------------------------------------------

WORD = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=8)
LINE = st.lists(
    WORD | st.sampled_from(["-", "##", "Title", "*", "1."]), min_size=1, max_size=6
)
LINE = LINE.map(" ".join) | st.sampled_from(
    [f"## {h}" for h in HEADINGS] + ["\\## Title"]
)
PROSE = (
    st.lists(LINE | st.just(""), min_size=1, max_size=5).map("\n".join).map(str.strip)
)
PROSE = PROSE.filter(bool)
NAME = LINE.filter(lambda name: split_type(name)[0] is None)


def maybe(strategy):
    return st.none() | strategy


def one_of(values):
    return maybe(st.sampled_from(values))


def many(strategy):
    return st.lists(strategy, max_size=3).map(tuple)


ROLES = ("primary", "secondary", "other")
AGES = maybe(st.floats(0, 120) | st.sampled_from([90 / 525_960, 3 / 365.25]))
TRIALS = st.builds(
    Trial,
    nct_id=st.just("NCT90000001"),
    title=maybe(LINE),
    official_title=maybe(LINE),
    acronym=maybe(LINE),
    brief_summary=maybe(PROSE),
    detailed_description=maybe(PROSE),
    eligibility=maybe(PROSE),
    conditions=many(LINE),
    keywords=many(LINE),
    interventions=many(
        st.builds(Intervention, NAME, one_of(INTERVENTION_TYPES), many(LINE))
    ),
    arms=many(st.builds(Arm, LINE)),
    outcomes=st.tuples(
        *(many(st.builds(Outcome, LINE, st.just(role), maybe(LINE))) for role in ROLES)
    ).map(lambda groups: groups[0] + groups[1] + groups[2]),
    sex=one_of(["ALL", "FEMALE", "MALE"]),
    min_age=AGES,
    max_age=AGES,
    healthy_volunteers=maybe(st.booleans()),
    phases=st.frozensets(st.sampled_from(PHASES[:5])) | st.just(frozenset({"NA"})),
    study_type=one_of(STUDY_TYPES),
    design=maybe(
        st.builds(
            Design,
            allocation=st.sampled_from(["NA", "RANDOMIZED", "NON_RANDOMIZED"]),
            masking=one_of(["NONE", "DOUBLE"]),
            primary_purpose=one_of(["TREATMENT", "ECT", "BASIC_SCIENCE"]),
        )
    ),
    enrollment=maybe(st.builds(Enrollment, st.integers(0, 10**6), st.just(False))),
)  # fmt: skip


@given(TRIALS)
def test_own_text_reads_back_exactly(trial):
    text = trial.to_text()
    assert parse_trial(text, trial.nct_id) == trial
    sections = parse_sections(text)
    assert "".join(text[s.start : s.end] for s in sections) == text


def test_outcome_of_the_trial_is_not_in_its_text():
    trial = Trial(
        "NCT90000001",
        title="A",
        status="TERMINATED",
        why_stopped="slow",
        enrollment=Enrollment(7, actual=True),
        has_results=True,
    )
    assert trial.to_text() == "## Title\nA"
