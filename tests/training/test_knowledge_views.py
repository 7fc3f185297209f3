from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.kb import KnowledgeBase
from t2v_spacy.kb.shared import no_evidence
from t2v_spacy.training.knowledge_views import (
    Mention,
    View,
    is_held_out,
    knowledge_views,
    place,
)
from tests.training.toys import (
    ALLOPURINOL,
    ASTHMA,
    COLCHICINE,
    CONCEPTS,
    GOUT,
    PLACEBO,
    make_training_trials,
    toy_kb,
)


@pytest.fixture
def kb() -> KnowledgeBase:
    return toy_kb()


def views_of(sections, mentions, kb, seed=0, **settings) -> list[View]:
    make = knowledge_views(**settings)
    rng = np.random.default_rng(seed)
    return make(sections, [Mention(*m) for m in mentions], kb, rng)


def texts(views, kind) -> set[tuple[str, str]]:
    return {(view.text, view.concept) for view in views if view.kind == kind}


TITLE = {"title": "Colchicine for gout in adults"}
GOUT_IN_TITLE = [(GOUT, "title", "gout")]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("canonical", ("Colchicine for Gout attacks", GOUT)),
        ("alias", ("Colchicine for Podagra attacks", GOUT)),
        ("sibling", ("Colchicine for Osteoarthritis attacks", "D:3")),
    ],
)
def test_a_positive_has_the_mention_renamed(kb, how, expected):
    sections = {"title": "Colchicine for gouty arthritis attacks"}
    mentions = [(GOUT, "title", "gouty arthritis")]
    views = views_of(sections, mentions, kb, positives=[how], negatives=[])
    assert views == [View("title", "positive", *expected)]


def test_a_name_that_stands_there_already_is_no_other_name(kb):
    found = set()
    for seed in range(30):
        views = views_of(TITLE, GOUT_IN_TITLE, kb, seed, positives=["canonical", "alias"])  # fmt: skip
        found |= texts(views, "positive")
    assert found == {("Colchicine for Podagra in adults", GOUT)}
    assert not views_of(TITLE, GOUT_IN_TITLE, kb, positives=["canonical"])


def test_negatives_delete_the_mention_or_put_in_something_unlike(kb):
    unlike, deleted = set(), set()
    for seed in range(40):
        negatives = [v for v in views_of(TITLE, GOUT_IN_TITLE, kb, seed) if v.kind == "negative"]  # fmt: skip
        assert len(negatives) == 2
        deleted.add((negatives[0].text, negatives[0].concept))
        unlike.add((negatives[1].text, negatives[1].concept))
    assert deleted == {("Colchicine for in adults", "")}
    # Of the diseases, none of the joints.
    assert unlike == {
        ("Colchicine for Disease in adults", "D:0"),
        ("Colchicine for Lung disease in adults", "D:4"),
        ("Colchicine for Asthma in adults", ASTHMA),
    }


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Gout, Obesity", "Obesity"),
        ("Obesity, Gout", "Obesity"),
        ("Obesity, Gout, Stroke", "Obesity, Stroke"),
        ("Obesity (Gout), Stroke", "Obesity, Stroke"),
        ("Doses of 1,500 mg in Gout", "Doses of 1,500 mg in"),
    ],
)
def test_a_deletion_leaves_no_hole(kb, text, rest):
    views = views_of({"condition": text}, [(GOUT, "condition", "Gout")], kb, negatives=["deletion"])  # fmt: skip
    assert texts(views, "negative") == {(rest, "")}


def test_a_mention_alone_cannot_be_deleted(kb):
    views = views_of({"condition": "Gout"}, [(GOUT, "condition", "Gout")], kb)
    assert [view.kind for view in views] == ["positive", "negative"]
    assert views[1].text in {"Disease", "Lung disease", "Asthma"}


def test_only_whole_words_are_a_mention(kb):
    sections = {"title": "GOUTY joints and GOUT"}
    views = views_of(sections, [(GOUT, "title", "GOUT")], kb, positives=["alias"], negatives=["deletion"])  # fmt: skip
    assert texts(views, "positive") == {("GOUTY joints and Podagra", GOUT)}
    assert texts(views, "negative") == {("GOUTY joints and", "")}
    assert place("RA", "RANDOMISED") is None
    assert place("RA (old)", "in RA (old), x") == (3, 11)
    assert not views_of({"title": "GOUTY"}, [(GOUT, "title", "GOUT")], kb)


def test_an_attribute_without_a_mention_gives_nothing(kb):
    sections = {"title": "A registry", "condition": "Gout", "summary": "Of gout."}
    mentions = [
        ("X:9", "title", "registry"),
        (GOUT, "summary", "gout"),
        (GOUT, "intervention", "Gout"),
    ]
    assert views_of(sections, mentions, kb) == []


def test_placebo_is_neither_renamed_nor_put_in(kb):
    trial = make_training_trials()[0]
    sections, mentions = dict(trial.sections), trial.mentions
    assert no_evidence(kb) == {PLACEBO}
    siblings, unlike = set(), set()
    for seed in range(60):
        views = views_of(
            sections, mentions, kb, seed, attributes=["intervention"],
            positives=["sibling"], names_per_trial=4,
        )  # fmt: skip
        assert views[0].text == "Allopurinol, Placebo"
        siblings.add(views[0].concept)
        unlike |= {v.concept for v in views if v.kind == "negative"}
        assert PLACEBO not in {v.concept for v in views if v.kind == "name"}
    assert siblings == {ALLOPURINOL}
    assert unlike == {"", "R:0", ALLOPURINOL}


def test_held_out_concepts_are_never_named(kb):
    share = 0.4
    held_out = {c.concept_id for c in CONCEPTS if is_held_out(c.concept_id, share)}
    assert held_out
    assert len(held_out) < len(CONCEPTS) - 2
    names = {n for c in CONCEPTS if c.concept_id in held_out for n in (c.canonical_name, *c.aliases)}  # fmt: skip
    seen = set()
    for trial in make_training_trials():
        for seed in range(60):
            views = views_of(
                dict(trial.sections), trial.mentions, kb, seed,
                attributes_per_trial=3, names_per_trial=4, held_out=share,
            )  # fmt: skip
            seen |= {view.concept for view in views} - {""}
            for view in views:
                if view.kind == "name":
                    assert view.text not in names
    assert seen
    assert not seen & held_out
    # Their mentions are not renamed either, in a text of their own.
    for concept in held_out:
        name = kb.name(concept)
        assert not views_of({"title": name}, [(concept, "title", name)], kb, held_out=share)  # fmt: skip


def test_the_held_out_share_is_about_the_share():
    ids = [f"MESH:D{number:06}" for number in range(4000)]
    share = sum(is_held_out(concept, 0.1) for concept in ids) / len(ids)
    assert share == pytest.approx(0.1, abs=0.02)
    assert not any(is_held_out(concept, 0.0) for concept in ids)


def test_names_come_in_pairs_of_one_concept(kb):
    views = views_of({}, [], kb, names_per_trial=40)
    assert {view.kind for view in views} == {"name"}
    for one, two in zip(views[::2], views[1::2], strict=True):
        assert one.concept == two.concept
        assert one.text != two.text
        concept = kb[one.concept]
        assert {one.text, two.text} <= {concept.canonical_name, *concept.aliases}
    assert {view.concept for view in views} == {GOUT, "D:3", ASTHMA, COLCHICINE, ALLOPURINOL}  # fmt: skip


def test_so_many_attributes_get_views_as_are_wanted(kb):
    trial = make_training_trials()[0]
    for most in (0, 1, 2, 3, 9):
        views = views_of(dict(trial.sections), trial.mentions, kb, attributes_per_trial=most)  # fmt: skip
        assert len({view.label for view in views}) == min(most, 3)


def test_the_seed_decides(kb):
    trial = make_training_trials()[0]
    one, same = (views_of(dict(trial.sections), trial.mentions, kb, 5) for _ in "ab")
    assert one == same
    others = [views_of(dict(trial.sections), trial.mentions, kb, seed) for seed in range(9)]  # fmt: skip
    assert any(other != one for other in others)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attributes": ["summary"]}, "T008.*summary"),
        ({"positives": ["cousin"]}, "T026.*positives.*cousin"),
        ({"negatives": ["sibling"]}, "T026.*negatives.*sibling"),
        ({"held_out": 1.0}, "T026.*held_out"),
        ({"attributes_per_trial": -1}, "T026.*attributes_per_trial"),
        ({"names_per_trial": -1}, "T026.*names_per_trial"),
    ],
)
def test_a_setting_out_of_range_is_named(settings, message):
    with pytest.raises(T2VError, match=message):
        knowledge_views(**settings)
