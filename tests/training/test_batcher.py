from __future__ import annotations

import pytest
import spacy
from spacy.training import Example

from t2v_spacy.errors import T2VError
from t2v_spacy.extensions import install_extensions
from t2v_spacy.training.batcher import batch_by_condition


def examples(*conditions: str) -> list[Example]:
    """One Doc a condition, or several with a + between; its text is its place."""
    install_extensions()
    nlp = spacy.blank("en")
    found = []
    for place, ids in enumerate(conditions):
        doc = nlp.make_doc(str(place))
        doc._.concepts = [
            {"id": concept, "section": "condition"} for concept in ids.split("+")
        ] + [{"id": "everywhere", "section": "intervention"}]
        found.append(Example(doc, doc))
    return found


def places(batches) -> list[list[int]]:
    return [[int(eg.predicted.text) for eg in batch] for batch in batches]


def test_trials_of_one_condition_meet():
    given = examples("a", "b", "c", "d", "c", "a", "d", "b")
    found = places(batch_by_condition(2)(given))
    assert found == [[0, 5], [1, 7], [2, 4], [3, 6]]


def test_more_partners_are_brought_along():
    given = examples("a", "b", "a+c", "c", "a", "b")
    found = places(batch_by_condition(3, partners=2)(given))
    assert found == [[0, 2, 4], [1, 5, 3]]


def test_without_partners_the_order_stays():
    given = examples("a", "b", "a", "b", "c")
    found = places(batch_by_condition(2, partners=0)(given))
    assert found == [[0, 1], [2, 3]]


def test_each_trial_comes_once_and_a_rest_of_one_is_left_out():
    given = examples(*["a", "b", "c"] * 33)
    batches = places(batch_by_condition(7)(given))
    assert [len(batch) for batch in batches] == [7] * 14
    seen = [place for batch in batches for place in batch]
    assert len(set(seen)) == len(seen) == 98


def test_a_stream_is_read_by_pools():
    given = iter(examples(*["a", "b"] * 100))
    first = next(batch_by_condition(2)(given))
    assert len(first) == 2
    assert len(list(given)) == 160  # 20 batches were looked through


def test_trials_without_concepts_are_batched_too():
    nlp = spacy.blank("en")
    docs = [nlp.make_doc(str(place)) for place in range(4)]
    given = [Example(doc, doc) for doc in docs]
    assert places(batch_by_condition(2)(given)) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("size", [1, 0, -3])
def test_a_size_below_two_names_the_setting(size):
    with pytest.raises(T2VError, match=r"T026.*size.*training\.batcher\.size"):
        batch_by_condition(size)


def test_negative_partners_are_named():
    with pytest.raises(T2VError, match="T026.*partners"):
        batch_by_condition(2, partners=-1)


def test_a_batch_has_no_more_words_than_asked_but_two_trials():
    nlp = spacy.blank("en")
    docs = [nlp.make_doc(" ".join("w" * n)) for n in (3, 3, 3, 9, 9, 1)]
    given = [Example(doc, doc) for doc in docs]
    found = batch_by_condition(4, partners=0, max_words=7)(given)
    assert [[len(eg.predicted) for eg in batch] for batch in found] == [
        [3, 3],
        [3, 9],
        [9, 1],
    ]
    with pytest.raises(T2VError, match="max_words"):
        batch_by_condition(4, max_words=-1)
