from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import TrialIndex
from t2v_spacy.search.facet_values import (
    CATEGORIES,
    NO_LIMIT,
    age_days,
    date_span,
    to_bits,
    trial_categories,
    trial_spans,
)
from t2v_spacy.search.facets import FACETS, Facets, FacetWriter
from t2v_spacy.trial import Intervention, Location, Trial
from t2v_spacy.values import STATUS_LABELS, PartialDate, parse_age, parse_date

from .filter_toys import random_entries

GOUT = {"condition": {"C2": ("C1", "C0")}, "intervention": {}}
FLARE = {"condition": {"C3": ("C2", "C1", "C0"), "C9": ()}, "intervention": {"C5": ()}}


def read(folder) -> Facets:
    with np.load(folder / FACETS, allow_pickle=False) as file:
        return Facets(dict(file))


def made(*pairs) -> FacetWriter:
    writer = FacetWriter()
    for trial, concepts in pairs:
        writer.append(trial, concepts)
    return writer


def places(*names: str | None) -> Trial:
    return Trial("", locations=tuple(Location(country=name) for name in names))


def test_a_date_is_the_days_it_may_mean():
    assert date_span(parse_date("2015-09-04")) == (20150904, 20150904)
    assert date_span(parse_date("2015-09")) == (20150900, 20150999)
    assert date_span(parse_date("2015")) == (20150000, 20159999)
    assert date_span(None) == date_span(parse_date("soon")) == (-1, -1)


def test_ages_are_the_same_in_every_unit():
    assert age_days(parse_age("6 Months")) == age_days(0.5)
    assert age_days(parse_age("52 Weeks")) < age_days(1) == 365
    assert age_days(1e12) == NO_LIMIT


def test_spans_of_a_trial():
    day, later = parse_date("2015-09-04"), parse_date("2018")
    assert trial_spans(Trial("")) == dict.fromkeys(
        ("started", "completed", "age"), (-1, -1)
    )
    spans = trial_spans(
        Trial("", start_date=day, primary_completion_date=later, max_age=10)
    )
    assert spans["started"] == (20150904, 20150904)
    assert spans["completed"] == (20180000, 20189999)
    assert spans["age"] == (0, age_days(10))
    bad = PartialDate("", "invalid", raw="soon")
    spans = trial_spans(Trial("", completion_date=bad, primary_completion_date=later))
    assert spans["completed"] == (20180000, 20189999)
    both = Trial("", completion_date=day, primary_completion_date=later)
    assert trial_spans(both)["completed"] == (20150904, 20150904)


def test_no_age_is_no_limit_only_where_the_record_says_who_may_take_part():
    assert trial_spans(Trial("", sex="ALL"))["age"] == (0, NO_LIMIT)
    assert trial_spans(Trial("", min_age=18.0))["age"] == (age_days(18), NO_LIMIT)
    assert trial_spans(Trial(""))["age"] == (-1, -1)


def test_recruiting_of_each_status():
    said = {
        s: trial_categories(Trial("", status=s))["recruiting"] for s in STATUS_LABELS
    }
    yes = {status for status, found in said.items() if found == ("yes",)}
    assert yes == {"RECRUITING", "ENROLLING_BY_INVITATION", "AVAILABLE"}
    assert {s for s, found in said.items() if not found} == {"UNKNOWN", "WITHHELD"}
    assert trial_categories(Trial("", status="On hold"))["recruiting"] == ()


def test_bits():
    assert to_bits(("a", "b", "c"), ["c", "a", "z"]) == 0b101
    assert to_bits(("a", "b"), ()) == 0
    assert all(len(known) <= 16 for known in CATEGORIES.values())


def test_categories():
    trials = [
        Trial("", phases=frozenset(("PHASE2", "PHASE3")), sex="ALL"),
        Trial("", phases=frozenset(("PHASE2",)), sex="MALE"),
        Trial(""),
        Trial("", phases=frozenset(("PHASE9",)), interventions=(Intervention("x"),)),
    ]
    facets = Facets(made(*((trial, None) for trial in trials)).columns())
    found, known = facets.category("phases", ("PHASE3",))
    assert found.tolist() == [True, False, False, False]
    assert known.tolist() == [True, True, False, False]
    assert facets.category("phases", ("PHASE2/PHASE3",))[0].tolist() == [
        True,
        False,
        False,
        False,
    ]
    assert facets.category("phases", ("PHASE1", "PHASE2"))[0].sum() == 2
    assert not facets.category("phases", ("PHASE9",))[0].any()
    assert facets.category("sex", ("FEMALE",))[0].tolist() == [
        True,
        False,
        False,
        False,
    ]
    assert not facets.category("intervention_types", ("DRUG",))[1].any()


def test_a_bit_means_what_the_file_says():
    columns = made((Trial("", status="COMPLETED"), None)).columns()
    columns["statuses.values"] = np.array(["NEW", *columns["statuses.values"].tolist()])
    columns["statuses"] = columns["statuses"] << 1
    facets = Facets(columns)
    assert facets.category("statuses", ("COMPLETED",))[0].tolist() == [True]
    assert facets.category("statuses", ("ACTIVE_NOT_RECRUITING",))[0].tolist() == [
        False
    ]


def test_countries():
    writer = made(
        (places("France", None, "France", "Korea, Republic of"), None),
        (places(), None),
        (places("South Korea"), None),
        (places(None), None),
    )
    facets = Facets(writer.columns())
    found, known = facets.country(("south korea",))
    assert found.tolist() == [True, False, True, False]
    assert known.tolist() == [True, False, True, False]
    assert facets.country(("Italy", "FRANCE"))[0].tolist() == [
        True,
        False,
        False,
        False,
    ]
    assert not facets.country(("Italy",))[0].any()


def test_concepts_and_narrower_ones():
    writer = made(
        (Trial(""), GOUT), (Trial(""), FLARE), (Trial(""), None), (Trial(""), {})
    )
    facets = Facets(writer.columns())
    found, known = facets.concept("condition_concept", ("c2",))
    assert found.tolist() == [True, True, False, False]
    assert known.tolist() == [True, True, False, False]
    assert facets.concept("condition_concept", ("C3",))[0].tolist() == [
        False,
        True,
        False,
        False,
    ]
    assert facets.concept("condition_concept", ("C0", "C9"))[0].sum() == 2
    assert not facets.concept("condition_concept", ("C5", "C77"))[0].any()
    assert facets.concept("intervention_concept", ("C5",))[0].tolist() == [
        False,
        True,
        False,
        False,
    ]
    assert facets.concepts(0) == GOUT
    assert facets.concepts(1) == FLARE
    assert facets.concepts(2) == {"condition": {}, "intervention": {}}
    assert Facets(made((Trial(""), None)).columns()).concepts(0) is None


def test_a_concept_above_another_may_be_linked_itself_later():
    late = {"condition": {"C1": ("C0",)}, "intervention": {}}
    facets = Facets(made((Trial(""), GOUT), (Trial(""), late)).columns())
    assert facets.concepts(0) == GOUT
    assert facets.concepts(1) == late
    assert facets.concept("condition_concept", ("C1",))[0].tolist() == [True, True]


def test_only_some_rows_are_kept(tmp_path):
    writer = made(
        (places("France"), GOUT),
        (places("Italy", "Spain"), FLARE),
        (places(), None),
        (places("Spain", "France"), FLARE),
    )
    writer.save(tmp_path, [1, 3])
    facets = read(tmp_path)
    assert facets.n == 2
    assert facets.country(("France",))[0].tolist() == [False, True]
    assert facets.country(("Italy",))[0].tolist() == [True, False]
    assert facets.concepts(1) == FLARE


def test_nothing_at_all(tmp_path):
    FacetWriter().save(tmp_path)
    facets = read(tmp_path)
    assert facets.n == 0
    assert facets.category("phases", ("PHASE2",))[0].shape == (0,)
    assert facets.country(("France",))[0].shape == (0,)
    assert facets.concept("condition_concept", ("C1",))[0].shape == (0,)
    assert facets.span("age", 1, 2)[0].shape == (0,)


def test_odd_names_are_kept(tmp_path):
    odd = {"condition": {"X:\ud800": ()}, "intervention": {}}
    made((places("Nowhere\ud800"), odd)).save(tmp_path)
    facets = read(tmp_path)
    assert facets.country(("nowhere\ud800",))[0].all()
    assert facets.concepts(0) == odd


def test_a_file_that_cannot_be_read(tmp_path):
    TrialIndex.build(random_entries(20)).to_disk(tmp_path / "index")
    path = tmp_path / "index" / FACETS
    data = bytearray(path.read_bytes())
    at = data.index(b"phases.npy") + 200  # within the first column of many
    data[at] ^= 255
    path.write_bytes(data)
    index = TrialIndex.from_disk(tmp_path / "index", verify=False)
    with pytest.raises(T2VError, match=f"T041.*{FACETS} cannot be read"):
        index.filter_report({"phase": "2"})
