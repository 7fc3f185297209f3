from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import IndexEntry, TrialIndex
from t2v_spacy.search.duplicates import (
    DUPLICATE,
    EXTENSION,
    KINDS,
    REREGISTRATION,
    SISTER,
    Pair,
    find_duplicates,
    same_study_groups,
)
from t2v_spacy.search.duplicates.words import drug_words, title_words, words
from t2v_spacy.trial import Enrollment, Intervention, Trial
from t2v_spacy.values import parse_date

from .toys import nct

CRITERIA = "Inclusion Criteria:\n\n- Adults with gout\n- Two flares in the last year"
BASE = Trial(
    nct(1),
    title="Colzumab for Flares of Chronic Gout",
    conditions=("Gout, Chronic",),
    interventions=(Intervention("Colzumab 50 mg", "DRUG"), Intervention("Placebo")),
    brief_summary="Whether colzumab prevents flares in people with chronic gout.",
    eligibility=CRITERIA,
    phases=frozenset(("PHASE3",)),
    status="COMPLETED",
    sponsor="Arbor Pharmaceuticals, Inc.",
    enrollment=Enrollment(312, True),
    start_date=parse_date("2015-03-02"),
    completion_date=parse_date("2017-06"),
    first_posted=parse_date("2015-02-01"),
)


def other(number: int = 2, **values) -> Trial:
    values.setdefault("first_posted", parse_date("2016-01-01"))
    return replace(BASE, nct_id=nct(number), **values)


def build(*trials: Trial) -> TrialIndex:
    vector = np.array((1, 0), np.float32)
    return TrialIndex.build(IndexEntry(trial, vector) for trial in trials)


def find(*trials: Trial, **settings) -> list[Pair]:
    return find_duplicates(build(*trials), **settings)


def kinds(*trials: Trial) -> list[str]:
    return [pair.kind for pair in find(*trials)]


def test_one_study_twice():
    again = other(sponsor="ARBOR Pharmaceuticals", start_date=parse_date("2015-03"))
    (pair,) = find(again, BASE)
    assert (pair.first, pair.second, pair.kind) == (nct(1), nct(2), DUPLICATE)
    # Nine of nine agree, and one counts for what is not known.
    assert pair.score == pytest.approx(0.9)
    assert pair.titles == (BASE.title, BASE.title)
    assert pair.evidence == (
        "title, facts and text agree",
        "same title",
        "same sponsor (Arbor Pharmaceuticals, Inc.)",
        "same interventions",
        "same conditions",
        "same phase (Phase 3)",
        "same enrolment (312)",
        "same start (2015-03-02)",
        "same completion (2017-06)",
        "text 100% the same words",
    )
    assert pair.to_dict()["evidence"] == list(pair.evidence)


@pytest.mark.parametrize(
    "values",
    [
        {"enrollment": Enrollment(300, True)},  # twins count their own participants
        {"title": "Colzumab for Flares of Chronic Gout, Study 2"},
        {"title": "Colzumab for Flares of Chronic Gout II"},
        {"first_posted": BASE.first_posted},  # two at once are meant
        {"start_date": parse_date("2016-03"), "completion_date": parse_date("2018-01")},
        {"phases": frozenset(("PHASE2",))},
        {
            "enrollment": None,
            "start_date": None,
            "completion_date": None,
            "eligibility": "Children with gout who were never treated before",
        },
    ],
)
def test_what_differs_makes_it_a_sister_study(values):
    assert kinds(BASE, other(**values)) == [SISTER]


@pytest.mark.parametrize(
    "values",
    [
        {"sponsor": "University of Elsewhere", "enrollment": Enrollment(300)},
        {"sponsor": None, "enrollment": None, "start_date": None},
        {"conditions": ("Psoriasis",), "title": "Colzumab for Plaques of Psoriasis"},
        {"interventions": (Intervention("Allopurinol"),), "title": "Allopurinol for Flares of Chronic Gout"},
    ],
)  # fmt: skip
def test_other_studies_are_no_pair(values):
    assert kinds(BASE, other(**values)) == []


def test_two_sponsors_of_one_study():
    assert kinds(BASE, other(sponsor="University of Elsewhere")) == [DUPLICATE]
    partner = {"sponsor": "Elsewhere", "collaborators": ("Arbor Inc",)}
    (pair,) = find(BASE, other(**partner, completion_date=None))
    assert pair.kind == DUPLICATE
    assert "the sponsor of one collaborates in the other" in pair.evidence


def test_a_record_without_participants_was_registered_again():
    empty = replace(
        BASE,
        status="WITHDRAWN",
        enrollment=Enrollment(0, True),
        start_date=parse_date("2014-01"),
        completion_date=None,
    )
    (pair,) = find(empty, other())
    assert (pair.kind, pair.first) == (REREGISTRATION, nct(1))
    assert pair.evidence[0] == "nobody took part in one of them"
    assert pair.evidence[-1] == f"nobody took part in {nct(1)}"


def test_a_record_that_says_so():
    text = f"This study was previously registered as {nct(1)}."
    (pair,) = find(BASE, other(brief_summary=text, enrollment=None, start_date=None))
    assert pair.kind == REREGISTRATION
    assert pair.evidence[0] == "the second says that the other is the same study"


def test_the_id_of_the_organisation():
    left = replace(BASE, org_study_id="ARB-0123/a", enrollment=None, start_date=None)
    right = other(
        title="Colzumab in Chronic Gout",
        org_study_id="arb 0123 A",
        enrollment=None,
        eligibility=None,
    )
    (pair,) = find(left, right)
    assert pair.kind == DUPLICATE
    assert "same id of the organisation (ARB-0123/a)" in pair.evidence
    assert kinds(left, replace(right, org_study_id=None)) == [SISTER]


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("An Extension Study of Colzumab for Flares of Chronic Gout", EXTENSION),
        ("Colzumab for Flares of Chronic Gout: Rollover", EXTENSION),
        ("Long-term Safety of Colzumab for Flares of Chronic Gout", EXTENSION),
        ("Follow-up Study of Colzumab for Flares of Chronic Gout", EXTENSION),
        ("Colzumab for Flares of Chronic Gout Part 2", EXTENSION),
        ("Colzumab for Flares of Chronic Gout, Japanese Cohort", EXTENSION),
        ("Colzumab for Flares of Chronic Gout With an Open-Label Extension", SISTER),
        ("Colzumab for Flares of Chronic Gout: Part 1 and Part 2", SISTER),
        ("Colzumab for Flares of Chronic Gout on Long-Term Allopurinol", SISTER),
    ],
)
def test_a_title_that_says_it_follows(title, kind):
    later = other(
        title=title, enrollment=Enrollment(200), start_date=parse_date("2017-01")
    )
    (pair,) = find(BASE, later)
    assert pair.kind == kind
    if kind == EXTENSION:
        assert pair.evidence[0].startswith("the title of the second says ")


def test_nothing_follows_what_began_later_or_another_study():
    title = "Extension Study of Colzumab for Flares of Chronic Gout"
    values = {"title": title, "enrollment": Enrollment(200)}
    early = other(**values, start_date=parse_date("2014-01"))
    assert kinds(BASE, early) == [SISTER]
    of_another = f"Participants of {nct(99)} are asked."
    later = other(**values, brief_summary=of_another, start_date=parse_date("2017-01"))
    assert kinds(BASE, later) == [SISTER]


def test_a_record_that_names_where_its_participants_come_from():
    values = {
        "title": "Colzumab for One More Year",
        "sponsor": None,
        "conditions": (),
        "enrollment": None,
    }
    criteria = f"Participants must have completed study {nct(1)}."
    (pair,) = find(BASE, other(**values, eligibility=criteria))
    assert pair.kind == EXTENSION
    assert pair.evidence[0].startswith("the second names the other")
    by_code = replace(BASE, org_study_id="ARB-0123")
    criteria = "Participants must have completed study ARB-0123."
    assert kinds(by_code, other(**values, eligibility=criteria)) == [EXTENSION]
    compared = f"Others saw less pain ({nct(1)})."
    assert kinds(BASE, other(**values, eligibility=compared)) == []


def test_named_and_equal_titles_are_compared_without_being_near():
    far = [np.eye(40, dtype=np.float32)[i] for i in range(40)]
    trials = [
        BASE,
        *(Trial(nct(i), title=f"Word{i}", sponsor="S") for i in range(10, 48)),
        other(99),
    ]
    entries = map(IndexEntry, trials, far)
    index = TrialIndex.build(entries)
    assert [p.kind for p in find_duplicates(index, k=1)] == [DUPLICATE]


def test_kinds_order_and_groups():
    sister = other(4, enrollment=Enrollment(50, True))
    third = other(3, first_posted=parse_date("2016-02-02"))
    trials = (BASE, other(2), third, sister)
    pairs = find(*trials)
    assert [p.kind for p in pairs] == [DUPLICATE] * 3 + [SISTER] * 3
    assert find(*trials, kinds=[SISTER]) == pairs[3:]
    assert same_study_groups(pairs) == [(nct(1), nct(2), nct(3))]
    assert same_study_groups(pairs[3:]) == []
    # Two groups that a third pair joins.
    chain = [replace(pairs[0], first=a, second=b) for a, b in ("ab", "cd", "bc", "xy")]
    assert same_study_groups(chain) == [("a", "b", "c", "d"), ("x", "y")]


def test_progress_and_refusals():
    seen = []
    find(BASE, Trial(nct(5), title="Cough"), progress=lambda *now: seen.append(now))
    assert seen == [(1, 2), (2, 2)]
    for settings, code in [({"kinds": ["twin"]}, "T026"), ({"k": 0}, "T047")]:
        with pytest.raises(T2VError) as caught:
            find(BASE, **settings)
        assert caught.value.code == code


def test_bare_records_are_no_pair():
    assert kinds(Trial(nct(1), title="A Study"), Trial(nct(2), title="A Trial")) == []
    bare = [Trial(nct(n), official_title="Gout and Diet") for n in (1, 2)]
    assert kinds(*bare) == []
    assert len(KINDS) == 4


def test_words():
    assert words("PF-0123 Éclair 0.5 studies") == {"pf0123", "éclair", "0.5", "studie"}
    assert words(None) == frozenset()
    assert title_words("A Phase II/III Study of Colzumab in Gout: Part II") == {
        "colzumab",
        "gout",
        "part",
        "ii",
    }
    assert drug_words(["Colzumab 50 mg tablets", "low dose X-7"]) == {"colzumab", "x7"}
