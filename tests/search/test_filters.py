from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from datetime import date

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import Filters
from t2v_spacy.values import PartialDate


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("phases", "2", ("PHASE2",)),
        ("phases", 2, ("PHASE2",)),
        ("phases", ["Phase II", "PHASE2"], ("PHASE2",)),
        ("phases", {"III", "1"}, ("PHASE1", "PHASE3")),
        ("phases", "2/3", ("PHASE2/PHASE3",)),
        ("phases", "not applicable", ("NA",)),
        ("phases", "0", ("EARLY_PHASE1",)),
        ("statuses", "Active, not recruiting", ("ACTIVE_NOT_RECRUITING",)),
        ("statuses", ("completed", "Unknown status"), ("COMPLETED", "UNKNOWN")),
        ("recruiting", "yes", True),
        ("study_type", "Observational [Patient Registry]", ("OBSERVATIONAL",)),
        ("intervention_types", ["drug", "Dietary Supplement"], ("DIETARY_SUPPLEMENT", "DRUG")),
        ("started_after", 2015, PartialDate("2015", "year")),
        ("started_before", "September 2015", PartialDate("2015-09", "month")),
        ("completed_after", date(2015, 9, 4), PartialDate("2015-09-04", "day")),
        ("country", " Germany ", ("Germany",)),
        ("age", 50, (50, 50)),
        ("age", "6 months", (0.5, 0.5)),
        ("age", "18-65", (18, 65)),
        ("age", "6 months to 2 years", (0.5, 2)),
        ("age", (18, 65.5), (18, 65.5)),
        ("age", "2-30 months", (2 / 12, 2.5)),
        ("age", "1 to 18 months", (1 / 12, 1.5)),
        ("age", "6-12 months", (0.5, 1)),
        ("age", "6-12Months", (0.5, 1)),
        ("age", "18 – 65 years of age", (18, 65)),
        ("age", "6 months to 2", (0.5, 2)),
        ("sex", "both", ("ALL",)),
        ("sponsor_class", "U.S. Fed", ("FED",)),
        ("has_results", False, False),
        ("condition_concept", "MESH:D006073", ("MESH:D006073",)),
    ],
)  # fmt: skip
def test_values_come_to_one_form(name, given, expected):
    filters = Filters(**{name: given})
    assert getattr(filters, name) == expected
    assert list(filters.active()) == [(name, expected)]
    assert replace(filters) == filters
    assert hash(replace(filters)) == hash(filters)


@pytest.mark.parametrize(
    ("name", "given", "allowed"),
    [
        ("phases", "5", "PHASE4"),
        ("phases", ["2", ""], "PHASE2"),
        ("statuses", "finished", "COMPLETED"),
        ("recruiting", "perhaps", "true or false"),
        ("recruiting", 1, "true or false"),
        ("study_type", "trial", "INTERVENTIONAL"),
        ("intervention_types", "pill", "DRUG"),
        ("started_after", "soon", "2015-09"),
        ("started_after", "", "2015-09"),
        ("started_after", "2015-02-30", "2015-09"),
        ("started_after", "03/04/2020", "2015-09"),
        ("country", "", "text"),
        ("country", 49, "text"),
        ("age", "old", "18-65"),
        ("age", -1, "18-65"),
        ("age", float("nan"), "18-65"),
        ("age", (1, 2, 3), "18-65"),
        ("age", "65-18", "before it begins"),
        ("age", "30-2 months", "before it begins"),
        ("age", "18-65 (mean 5 years)", "18-65"),
        ("age", "between 1 and 18 months", "18-65"),
        ("age", "2-30 lunar months", "18-65"),
        ("sex", "other", "FEMALE, MALE, ALL"),
        ("sponsor_class", "Pfizer", "INDUSTRY"),
        ("condition_concept", " ", "text"),
    ],
)
def test_other_values_are_refused(name, given, allowed):
    with pytest.raises(T2VError, match=rf"T160\] The filter {name} .*{allowed}"):
        Filters(**{name: given})


def test_days_in_the_wrong_order():
    assert Filters(started_after="2015", started_before="2015")
    assert Filters(started_after="2015-09", started_before="2015")
    with pytest.raises(
        T2VError, match=r"T160.*started_before.*'2014-12'.*started_after"
    ):
        Filters(started_after="2015", started_before="2014-12")
    with pytest.raises(T2VError, match="T160.*completed_before"):
        Filters(completed_after="2015-09-04", completed_before="2015-09-03")


def test_of_a_mapping():
    filters = Filters.of({"phase": {"PHASE3"}, "status": "completed", "age": [18, 65]})
    assert filters == Filters(phases="3", statuses="COMPLETED", age=(18, 65))
    assert Filters.of(filters) is filters
    assert Filters.of({"intervention_type": "drug"}) == Filters(
        intervention_types="drug"
    )
    with pytest.raises(T2VError, match=r"T162.*'phasen'.*phases, statuses, recruiting"):
        Filters.of({"phasen": "2"})
    with pytest.raises(T2VError, match="T160.*filters"):
        Filters.of("2")


@pytest.mark.parametrize("given", [("phase", "phases"), ("phases", "phase")])
def test_a_filter_given_by_both_its_names(given):
    with pytest.raises(T2VError, match="T160.*filter phase .*phases is given too"):
        Filters.of(dict(zip(given, "23", strict=True)))


def test_no_filters():
    for given in (None, {}, Filters(), {"phases": [], "country": None, "sex": ()}):
        assert not Filters.of(given)
    assert Filters(has_results=False)
    assert Filters(age=0)
    with pytest.raises(FrozenInstanceError):
        Filters().age = 3
