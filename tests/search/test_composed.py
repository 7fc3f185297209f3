from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search import Composed
from t2v_spacy.search.composed import (
    composed_vector,
    parts_text,
    reweighed,
    section_weights,
)
from t2v_spacy.search.query import needs_pipeline, read_query
from t2v_spacy.sections.labels import SECTION_LABELS
from t2v_spacy.trial import Intervention, Trial

from .toys import make_index, make_nlp, make_trial, nct, text_vector

X, Y, Z = np.eye(3)


@pytest.fixture(scope="module")
def index():
    return make_index(60)


@pytest.fixture(scope="module")
def nlp():
    return make_nlp()


def cosine(one, two) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


# what is asked


def test_one_of_several_may_stand_alone_and_blank_parts_are_left_out():
    asked = Composed({"title": " ", "condition": "gout", "outcome": None}, like=nct(1), unlike=make_trial(2))  # fmt: skip
    assert asked.parts == {"condition": "gout"}
    assert asked.like == (nct(1),)
    assert asked.unlike == (make_trial(2),)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"parts": {"conditions": "gout"}}, "T008"),
        ({"weights": {"drug": 2}}, "T008"),
        ({"weights": {"title": 0}}, "T174"),
        ({"weights": {"title": -1.0}}, "T174"),
        ({"weights": {"title": float("nan")}}, "T174"),
        ({"weights": {"title": "2"}}, "T174"),
        ({"weights": {"title": True}}, "T174"),
        ({"unlike_weight": 1.1}, "T026"),
        ({"unlike_weight": float("nan")}, "T026"),
    ],
)
def test_what_cannot_be_asked(values, code):
    with pytest.raises(T2VError, match=code):
        Composed(**values)


def test_parts_are_written_as_the_text_of_a_record():
    trial = Trial("", title="A trial", conditions=("gout", "asthma"), interventions=(Intervention("colchicine"),), eligibility="Adults\n\nInclusion Criteria:\n\nflare")  # fmt: skip
    parts = {
        "inclusion": "flare",
        "eligibility": "Adults",
        "intervention": "colchicine",
        "condition": "gout; - asthma\n",
        "title": "A\ntrial",
        "outcome": None,
    }
    assert (
        parts_text(dict(sorted(parts.items()))).split("Eligibility")[0]
        == (trial.to_text().split("Eligibility")[0])
    )
    assert set(parts_text({"inclusion": "flare", "eligibility": "Adults"}).split()) == (
        {"##", "Eligibility", "Adults", "Inclusion", "Criteria:", "flare"}
    )


def test_a_heading_in_the_text_of_a_part_starts_no_section():
    from t2v_spacy.sections.parse import parse_sections

    text = parts_text({"summary": "One\n## Title\ntwo"})
    assert [section.label for section in parse_sections(text)] == ["summary"]


# directions


def test_the_mean_of_likes():
    assert composed_vector([X, Y], [], 0.75) == pytest.approx((X + Y) / np.sqrt(2))


def test_unlike_takes_its_share_of_what_is_common():
    like = (X + Y) / np.sqrt(2)
    assert composed_vector([like], [X], 0.75) == pytest.approx(
        like - 0.75 * like[0] * X
    )
    assert composed_vector([like], [X], 1.0) == pytest.approx(like[1] * Y)
    assert composed_vector([like], [X], 0.0) == pytest.approx(like)
    assert composed_vector([X], [Z], 1.0) == pytest.approx(X)


def test_a_copy_of_an_unlike_adds_little_and_another_counts_in_full():
    like = (X + Y + Z) / np.sqrt(3)
    once = composed_vector([like], [X], 0.75)
    twice = composed_vector([like], [X, X], 0.75)
    assert like[0] * 0.25 == pytest.approx(once[0])
    assert 0 < twice[0] < once[0]
    assert composed_vector([like], [X, X], 1.0) == pytest.approx(like - like[0] * X)
    both = composed_vector([like], [X, Y], 0.75)
    assert both == pytest.approx([like[0] / 4, like[1] / 4, like[2]])


def test_weights_move_a_vector_from_what_the_model_counts():
    sections = {"title": X, "condition": Y}
    counts = {"title": 1.0, "condition": 0.5}
    own = (X + 0.5 * Y) / np.linalg.norm([1, 0.5])
    same = reweighed(own, sections, {}, counts)
    assert same == pytest.approx(X + 0.5 * Y)
    more = reweighed(own, sections, {"condition": 4.0}, counts)
    assert more == pytest.approx(X + 2 * Y)


def test_a_section_the_model_ignores_counts_when_it_is_asked_for():
    nothing = np.zeros(3)
    counts = {"title": 1.0, "outcome": 0.0}
    assert reweighed(nothing, {"outcome": Z}, {}, counts) == pytest.approx(nothing)
    alone = reweighed(nothing, {"outcome": Z}, {}, counts, ["outcome"])
    assert alone == pytest.approx(Z / 2)
    both = reweighed(X, {"title": X, "outcome": Z}, {"outcome": 2.0}, counts, ["title", "outcome"])  # fmt: skip
    assert both == pytest.approx(X + Z)


def test_a_vector_without_sections_keeps_its_direction():
    assert reweighed(X, {}, {"title": 2.0}, {"title": 1.0}) == pytest.approx(X)


def test_inclusion_criteria_are_counted_once():
    """They are part of the section "eligibility", which stands for all criteria."""
    sections = {"eligibility": Y, "inclusion": Y}
    counts = {"eligibility": 0.5, "inclusion": 0.0}
    assert reweighed(Y, sections, {}, counts, ["inclusion"]) == pytest.approx(Y / 2)
    more = reweighed(Y, sections, {"inclusion": 3.0}, counts, ["inclusion"])
    assert more == pytest.approx(1.5 * Y)


def test_section_weights_of_a_pipeline(tiny_nlp, nlp):
    found = section_weights(tiny_nlp)
    assert set(found) == set(SECTION_LABELS)
    assert found["condition"] == 1.0
    assert found["summary"] == 0.5
    assert found["outcome"] == 0.0
    assert section_weights(None)["condition"] == 1.0
    assert section_weights(nlp) == section_weights(None)


# searching


def test_parts_are_encoded_as_in_a_record(index, nlp):
    asked = Composed({"condition": "gout", "title": "Study 1 of gout"})
    query = read_query(index, asked, None, nlp)
    assert query.sections["condition"] == pytest.approx(text_vector("gout"))
    assert query.sections["title"] == pytest.approx(text_vector("Study 1 of gout"))
    assert set(query.parts) == {"condition", "title"}
    assert query.text.split() == ["Study", "1", "of", "gout", "-", "gout"]
    best = index.search(asked, 10, nlp=nlp)
    assert {hit.trial.conditions for hit in best} == {("gout",)}
    best = index.search(asked, 10, nlp=nlp, against="section")
    assert best[0].nct_id == nct(1)


def test_parts_of_the_shipped_pipes_equal_the_record_that_has_them(tiny_nlp, trials):
    from t2v_spacy import make_trial_doc
    from t2v_spacy.search import IndexEntry, TrialIndex

    docs = list(tiny_nlp.pipe(make_trial_doc(tiny_nlp, trial) for trial in trials))
    index = TrialIndex.build(IndexEntry(t, d._.trial_vector, d._.section_vectors) for t, d in zip(trials, docs, strict=True))  # fmt: skip
    parts = {
        "title": "Colchicine",
        "condition": "Gout; Flare",
        "intervention": "Drug: Colchicine",
        "inclusion": "Adults",
    }
    record = Trial("", title="Colchicine", conditions=("Gout", "Flare"), interventions=(Intervention("Colchicine", "DRUG"),), eligibility="Inclusion Criteria:\n\nAdults")  # fmt: skip
    doc = tiny_nlp(make_trial_doc(tiny_nlp, record))
    query = read_query(index, Composed(parts), None, tiny_nlp)
    assert query.vector == pytest.approx(doc._.trial_vector, abs=1e-5)
    for label in parts:
        expected = doc._.section_vectors[label]
        assert query.sections[label] == pytest.approx(expected, abs=1e-5)
    assert query.trial.conditions == ("Gout", "Flare")
    # A section with the weight 0 is what is searched with when nothing else is given.
    outcome = read_query(index, Composed({"outcome": "Pain"}), None, tiny_nlp)
    assert outcome.vector == pytest.approx(outcome.sections["outcome"], abs=1e-5)
    heavy = read_query(index, Composed(parts, {"condition": 50}), None, tiny_nlp)
    assert cosine(heavy.vector, heavy.sections["condition"]) > 0.99
    with pytest.raises(T2VError, match="T049.*design"):
        read_query(index, Composed({"design": "Phase: 2"}), None, tiny_nlp)


def test_like_several_but_not_one(index):
    wanted = [nct(1), nct(7)]  # gout
    hits = index.search(Composed(like=wanted), 12)
    assert {hit.nct_id for hit in hits}.isdisjoint(wanted)
    assert all(hit.trial.conditions == ("gout",) for hit in hits[:8])
    asked = Composed(
        like=[nct(1), nct(2)], unlike=[nct(8)]
    )  # gout and sepsis, less sepsis
    without = {
        hit.trial.conditions for hit in index.search(Composed(like=asked.like), 8)
    }
    assert ("sepsis",) in without
    hits = index.search(asked, 8)
    assert ("sepsis",) not in {hit.trial.conditions for hit in hits}
    assert hits[0].trial.conditions == ("gout",)
    assert nct(8) not in {hit.nct_id for hit in index.search(asked, 60)}
    before = cosine(index.vector(nct(1)) + index.vector(nct(2)), index.vector(nct(8)))
    after = read_query(index, asked, None, None).vector @ index.vector(nct(8))
    assert after < before / 2


def test_unlike_alone_cannot_be_searched_with_nor_the_same_trial_twice(index, nlp):
    for asked, reason in [
        (Composed(unlike=[nct(1)]), "unlike"),
        (Composed(), "blank"),
        (Composed({"condition": "  "}), "blank"),
        (Composed(like=[nct(1), nct(2)], unlike=[nct(1).lower()]), nct(1)),
        (Composed(like=[X8], unlike=[X8], unlike_weight=1.0), "nothing is left"),
    ]:
        with pytest.raises(T2VError, match=f"T173.*{reason}"):
            index.search(asked, nlp=nlp)


X8 = np.eye(24, dtype=np.float32)[8]


def test_filters_and_numbers_of_results(index):
    from t2v_spacy.search import Filters

    asked = Composed(like=[nct(1)], unlike=[nct(2)])
    assert len(index.search(asked, 99)) == 58
    assert index.search(asked, 5, filters=Filters(phases="2")) == []


def test_kinds_mix_and_words_of_unlike_are_not_the_query_s(index, nlp):
    asked = Composed({"condition": "gout"}, like=[nct(3), "a free text", make_trial(61)], unlike=["sepsis"])  # fmt: skip
    query = read_query(index, asked, None, nlp)
    assert query.ids >= {nct(3), nct(61)}
    assert query.trial is None
    assert query.parts == {}
    for words in ("Study 3 of migraine", "a free text", "Study 61 of gout"):
        assert words in query.text
    assert "sepsis" not in query.text
    assert read_query(index, Composed(like=[nct(3)]), None, None).trial == make_trial(3)


def test_like_by_a_part(index):
    query = read_query(index, Composed(like=[nct(1), nct(7)]), ["condition"], None)
    assert query.vector == pytest.approx(text_vector("gout"), abs=2e-3)
    assert query.text == "- gout\n\n- gout"


def test_weights_of_what_is_not_there(index):
    with pytest.raises(T2VError, match="T049.*outcome"):
        index.search(Composed(like=[nct(1)], weights={"outcome": 2}))
    usual = read_query(index, Composed(like=[nct(1)]), None, None)
    more = read_query(index, Composed(like=[nct(1)], weights={"condition": 9}), None, None)  # fmt: skip
    section = usual.sections["condition"]
    assert more.vector @ section > usual.vector @ section


def test_only_what_is_no_id_needs_a_pipeline(index):
    assert not needs_pipeline(index, nct(1))
    assert not needs_pipeline(index, f"{nct(1)}, {nct(2)}")
    assert not needs_pipeline(index, Composed(like=[nct(1)], unlike=[nct(2)]))
    assert not needs_pipeline(index, X8)
    assert needs_pipeline(index, "gout")
    assert needs_pipeline(index, make_trial(1))
    assert needs_pipeline(index, Composed(like=[nct(1)], unlike=["gout"]))
    assert needs_pipeline(index, Composed({"condition": "gout"}))
    assert needs_pipeline(index, Composed(like=[nct(1)], weights={"title": 2}))
    with pytest.raises(T2VError, match="T024"):
        index.search(Composed({"condition": "gout"}))


def test_the_text_of_a_part_is_one_text():
    with pytest.raises(T2VError, match=r"T026.*condition"):
        Composed({"condition": ["gout", "asthma"]})  # type: ignore[dict-item]
