"""Any text about a trial as a record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.sections.labels import HEADINGS
from t2v_spacy.sections.parse import parse_sections
from t2v_spacy.trial import Arm, Design, Enrollment, Intervention, Outcome, Trial
from t2v_spacy.trial_text import parse_trial
from t2v_spacy.values import INTERVENTION_TYPES, PHASES, STUDY_TYPES, split_type

from .sections.pages import CLASSIC_PAGE, CURRENT_PAGE, SYNOPSIS


def test_current_page():
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
    trial = parse_trial(SYNOPSIS, "NCT90000001")
    assert trial.nct_id == "NCT90000001"
    assert trial.outcomes == (
        Outcome("Survival"),
        Outcome("Pain", "secondary"),
        Outcome("Sleep", "secondary"),
    )
    assert trial.criteria.inclusion == ("Women", "Age over 18")


@pytest.mark.parametrize("text", ["", "   ", "\n\n\n", "\t", "\u200b", "\xa0"])
def test_blank_text(text):
    assert parse_trial(text) == Trial("")


@pytest.mark.parametrize("blank", ["\r\n", "\n"])
def test_line_ends_do_not_matter(blank):
    text = CLASSIC_PAGE.replace("\n", blank)
    assert parse_trial(text) == parse_trial(CLASSIC_PAGE)
    assert parse_trial(Trial("", title="A").to_text().replace("\n", blank)).title == "A"


@pytest.mark.parametrize(
    "text",
    [
        "Drugamab in asthma\nnct90000002\n\nProse.",
        "ClinicalTrials.gov ID NCT90000002\nA title",
        "A title\nClinicalTrials.gov Identifier: NCT90000002.\nProse",
        "A title\n\n1.2 NCT Number (registry):\tNCT90000002\r\nProse",
        "nct_id: NCT90000002\nbrief_title: A",
        "Trial registration: NCT90000002\nNCT90000002\nas in NCT90000003",
    ],
)
def test_own_id(text):
    assert parse_trial(text).nct_id == "NCT90000002"
    assert parse_trial(text, "NCT90000009").nct_id == "NCT90000009"


@pytest.mark.parametrize(
    "text",
    [
        "Trial NCT90000002 of X",
        "A follow-up of the study NCT90000002",
        "Extension (ClinicalTrials.gov Identifier: NCT90000002) in asthma",
        "Earlier trials:\n- NCT90000002\n",
        "Earlier trials\nNCT90000002\nNCT90000003",
        "NCT900000021",
        "## Title\nA\n\n## Brief Summary\nNCT90000002",
        "x " * 1000 + "\nNCT90000002",
    ],
)
def test_an_id_that_is_only_referred_to(text):
    assert parse_trial(text).nct_id == ""


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
