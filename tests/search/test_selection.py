from __future__ import annotations

import random

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import Filters, TrialIndex
from t2v_spacy.search.build import IndexEntry
from t2v_spacy.trial import Intervention, Location, Trial
from t2v_spacy.values import parse_date

from .filter_toys import passes, random_entries, random_filters
from .toys import entry, nct

ADULT = {"condition": {"C2": ("C1",)}, "intervention": {}}


def make(*records: dict, concepts=None) -> TrialIndex:
    """An index of records with these fields and the ids 0, 1, 2, …"""
    entries = []
    for number, values in enumerate(records):
        linked = values.pop("concepts", None)
        made = entry(nct(number), [1, number], **values)
        entries.append(IndexEntry(made.trial, made.vector, concepts=linked))
    return TrialIndex.build(entries)


def passing(index: TrialIndex, **filters) -> list[int]:
    """Numbers of the trials that a search finds."""
    hits = index.search([1.0, 0.0], 99, filters=filters)
    assert len(hits) == index.filter_report(filters).matching
    return sorted(int(hit.nct_id[4:]) for hit in hits)


def unknown(index: TrialIndex, **filters) -> list[int]:
    return [count.unknown for count in index.filter_report(filters).filters]


def phases(*names: str) -> frozenset[str]:
    return frozenset(names)


def day(text: str):
    return parse_date(text)


def places(*names: str) -> tuple[Location, ...]:
    return tuple(Location(country=name) for name in names)


# field -> records, then (value of the filter, trials that pass), and how many of the
# records do not say
CASES = {
    "phases": (
        [
            {"phases": phases("PHASE2")},
            {"phases": phases("PHASE1", "PHASE2")},
            {"phases": phases("PHASE2", "PHASE3")},
            {"phases": phases("PHASE3")},
            {"phases": phases("NA")},
            {},
        ],
        [("2", [0, 1, 2]), ("2/3", [2]), (["1", "3"], [1, 2, 3]), ("N/A", [4])],
        1,
    ),
    "statuses": (
        [{"status": "COMPLETED"}, {"status": "UNKNOWN"}, {"status": "On hold"}, {}],
        [("completed", [0]), (["Unknown status", "completed"], [0, 1]), ("withdrawn", [])],
        2,
    ),
    "recruiting": (
        [
            {"status": "RECRUITING"},
            {"status": "ENROLLING_BY_INVITATION"},
            {"status": "NOT_YET_RECRUITING"},
            {"status": "COMPLETED"},
            {"status": "UNKNOWN"},
            {},
        ],
        [(True, [0, 1]), (False, [2, 3])],
        2,
    ),
    "study_type": (
        [{"study_type": "INTERVENTIONAL"}, {"study_type": "OBSERVATIONAL"}, {}],
        [("interventional", [0]), ("observational", [1]), ("expanded access", [])],
        1,
    ),
    "intervention_types": (
        [
            {"interventions": (Intervention("a", "DRUG"), Intervention("b"))},
            {"interventions": (Intervention("a", "DEVICE"), Intervention("b", "DRUG"))},
            {"interventions": (Intervention("a", "BEHAVIORAL"),)},
            {"interventions": (Intervention("a"),)},
            {},
        ],
        [("drug", [0, 1]), (["device", "behavioral"], [1, 2]), ("radiation", [])],
        2,
    ),
    "started_after": (
        [
            {"start_date": day("2015")},
            {"start_date": day("2015-09")},
            {"start_date": day("2015-09-04")},
            {"start_date": day("2014-12-31")},
            {"start_date": day("soon")},
            {},
        ],
        [
            ("2015", [0, 1, 2]),
            ("2015-09", [0, 1, 2]),
            ("2015-09-05", [0, 1]),
            ("2015-10", [0]),
            ("2016", []),
        ],
        2,
    ),
    "started_before": (
        [
            {"start_date": day("2015")},
            {"start_date": day("2015-09")},
            {"start_date": day("2015-09-04")},
            {},
        ],
        [
            ("2015", [0, 1, 2]),
            ("2015-09-04", [0, 1, 2]),
            ("2015-09-03", [0, 1]),
            ("2015-08", [0]),
            ("2014", []),
        ],
        1,
    ),
    "completed_after": (
        [
            {"completion_date": day("2015"), "primary_completion_date": day("2012")},
            {"primary_completion_date": day("2015-06")},
            {"start_date": day("2020")},
        ],
        [("2015-06", [0, 1]), ("2015-07", [0])],
        1,
    ),
    "completed_before": (
        [{"completion_date": day("2015-01-01")}, {}],
        [("2015-01-01", [0]), ("2014", [])],
        1,
    ),
    "country": (
        [
            {"locations": places("United States", "France")},
            {"locations": places("United Kingdom")},
            {"locations": (Location(city="Bonn"),)},
            {},
        ],
        [("usa", [0]), ("FRANCE", [0]), (["UK", "us"], [0, 1]), ("Germany", [])],
        2,
    ),
    "age": (
        [
            {"min_age": 18.0, "max_age": 65.0},
            {"min_age": 18.0},
            {"max_age": 0.5},
            {"sex": "ALL"},
            {},
        ],
        [
            (50, [0, 1, 3]),
            (65, [0, 1, 3]),
            (66, [1, 3]),
            ("6 months", [2, 3]),
            ("7 months", [3]),
            ((10, 17), [3]),
            ("10-18", [0, 1, 3]),
        ],
        1,
    ),
    "sex": (
        [{"sex": "FEMALE"}, {"sex": "MALE"}, {"sex": "ALL"}, {}],
        [("female", [0, 2]), ("male", [1, 2]), ("all", [2]), (["male", "female"], [0, 1, 2])],
        1,
    ),
    "healthy_volunteers": (
        [{"healthy_volunteers": True}, {"healthy_volunteers": False}, {}],
        [(True, [0]), (False, [1])],
        1,
    ),
    "sponsor_class": (
        [{"sponsor_class": "INDUSTRY"}, {"sponsor_class": "NIH"}, {"sponsor_class": "UNKNOWN"}],
        [("industry", [0]), (["Industry", "NIH"], [0, 1]), ("other", [])],
        1,
    ),
    "has_results": (
        [{"has_results": False}, {"has_results": True}, {}],
        [(True, [1]), (False, [0])],
        1,
    ),
    "condition_concept": (
        [
            {"concepts": ADULT},
            {"concepts": {"condition": {"C1": ()}, "intervention": {}}},
            {"concepts": {"condition": {}, "intervention": {"C2": ("C1",)}}},
            {},
        ],
        [("C2", [0]), ("c1", [0, 1]), (["C2", "C9"], [0]), ("C9", [])],
        2,
    ),
    "intervention_concept": (
        [{"concepts": {"condition": {}, "intervention": {"C2": ("C1",)}}}, {"concepts": ADULT}],
        [("C1", [0]), ("C2", [0]), ("C3", [])],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_filter(name):
    records, expected, silent = CASES[name]
    index = make(*(dict(record) for record in records))
    for value, numbers in expected:
        assert passing(index, **{name: value}) == numbers, value
        assert unknown(index, **{name: value}) == [silent], value


def test_the_cases_cover_all_filters():
    from dataclasses import fields

    assert list(CASES) == [field.name for field in fields(Filters)]


def test_random_filters_agree_with_the_records_themselves():
    entries = random_entries(300)
    index = TrialIndex.build(entries)
    draw = random.Random(1)
    sizes = set()
    for _ in range(150):
        filters = random_filters(draw)
        expected = {e.trial.nct_id for e in entries if passes(e, filters)}
        hits = index.search([1.0] * 16, 300, filters=filters)
        assert {hit.nct_id for hit in hits} == expected, filters
        sizes.add(len(expected))
    assert 0 in sizes
    assert len(sizes) > 40


def test_all_filters_must_be_passed_and_what_is_not_known_is_counted():
    index = make(
        {"status": "COMPLETED", "sex": "ALL"},
        {"status": "COMPLETED"},
        {"sex": "FEMALE"},
        {},
        {"status": "TERMINATED"},
        {"status": "COMPLETED", "sex": "MALE"},
    )
    report = index.filter_report({"statuses": "completed", "sex": "female"})
    assert (report.total, report.matching) == (6, 1)
    status, sex = report.filters
    assert (status.name, status.value, status.matching, status.left) == ("statuses", "COMPLETED", 3, 3)  # fmt: skip
    assert (sex.name, sex.value, sex.matching, sex.left) == ("sex", "FEMALE", 2, 1)
    # Trial 4 is rejected by what it says, so that its sex, not said, does not matter.
    assert (status.unknown, sex.unknown) == (2, 2)
    assert report.lines() == [
        "2 trials left out because their status is unknown",
        "2 trials left out because their sex is unknown",
    ]


def test_lines_are_silent_where_there_is_nothing_to_say():
    index = make({"status": "COMPLETED"}, {"status": "TERMINATED"})
    assert index.filter_report({"status": "completed"}).lines() == []
    assert index.filter_report(None).lines() == []
    assert index.filter_report(None).matching == 2


def test_lines_in_words():
    index = make({"sex": "ALL", "max_age": 9.0}, {"has_results": True}, {})
    report = index.filter_report({"age": (2, 3.5), "has_results": False})
    assert report.lines() == [
        "1 trial left out because its age limits are unknown",
        "2 trials left out because their posting of results is unknown",
        "None of 3 trials passes has_results no.",
    ]
    assert [count.value for count in report.filters] == ["2-3.5", "no"]
    values = {"country": ["USA", "Peru"], "started_after": "2015-09", "age": 50}
    shown = [c.value for c in index.filter_report(values).filters]
    assert shown == ["2015-09", "Peru or USA", "50"]


def test_two_filters_of_one_fact_say_once_that_it_is_unknown():
    index = make(
        {"start_date": day("2015"), "completion_date": day("2016"), "status": "UNKNOWN"},
        {"start_date": day("2015"), "completion_date": day("2016"), "status": "COMPLETED"},
        {},
    )  # fmt: skip

    def said(**filters) -> list[str]:
        return index.filter_report(filters).lines()

    assert said(started_after="2014", started_before="2018") == [
        "1 trial left out because its start date is unknown"
    ]
    assert said(completed_after="2014", completed_before="2018") == [
        "1 trial left out because its completion date is unknown"
    ]
    assert said(statuses="completed", recruiting=False) == [
        "1 trial left out because its status is unknown"
    ]
    # That a status is unknown is a status too, but does not say who is recruited.
    assert said(statuses=["completed", "unknown"], recruiting=False) == [
        "2 trials left out because their status is unknown"
    ]


def test_the_filter_that_left_nothing_is_named():
    index = make(
        {"status": "COMPLETED", "locations": places("Germany")},
        {"status": "TERMINATED", "locations": places("France")},
    )
    none = index.filter_report({"status": "completed", "country": "Germny"})
    assert none.lines() == [
        "None of 2 trials passes country Germny. Did you mean Germany?"
    ]
    both = index.filter_report({"status": "completed", "country": "France"})
    assert both.lines(lambda name: f"--{name}") == [
        "No trial passes all filters: 1 of 2 pass --country France, but none of the 1 "
        "that pass --statuses COMPLETED."
    ]
    assert passing(index, status="completed", country="France") == []


def test_a_concept_that_no_trial_has():
    index = make({"concepts": ADULT})
    said = index.filter_report({"condition_concept": "C7"}).lines()
    assert said == [
        "None of 1 trials passes condition_concept C7. `t2v kb show NAME` finds the id "
        "of a concept."
    ]


def test_an_index_without_concepts_refuses_to_filter_by_them():
    index = make({"status": "COMPLETED"})
    for name in ("condition_concept", "intervention_concept"):
        with pytest.raises(T2VError, match=f"T161.*{name}.*umls_linker"):
            index.search([1.0, 0.0], filters={"status": "completed", name: "C1"})
    index.add(
        [
            IndexEntry(
                Trial(nct(5), title="x"), entry(nct(5), [1, 1]).vector, concepts=ADULT
            )
        ]
    )
    assert passing(index, condition_concept="C1") == [5]
