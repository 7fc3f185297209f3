from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.training.contrastive.mining import MiningSettings, mine_negatives
from t2v_spacy.training.contrastive.pairs import Pair


def encoder(angles: dict[str, float]):
    """Texts as vectors of length 3 at an angle (degrees): cosines are known."""

    def encode(texts):
        radians = np.radians([angles[text] for text in texts])
        return 3 * np.stack([np.cos(radians), np.sin(radians)], axis=1)

    return encode


# Cosines to "gout" (0 degrees): podagra .98, near .94, hard .87, easy .5
ANGLES = {
    "gout": 0, "podagra": 10, "near": 20, "hard": 30, "easy": 60,
    "a": 90, "b": 91, "c": 92, "Gout!": 0,
}  # fmt: skip


def negatives(pairs, **settings):
    mined = mine_negatives(pairs, encoder(ANGLES), MiningSettings(**settings))
    assert [(p.anchor, p.positive, p.groups) for p in mined] == [
        (p.anchor, p.positive, p.groups) for p in pairs
    ]
    return [pair.negatives for pair in mined]


def test_the_nearest_that_is_allowed_is_taken():
    pairs = [Pair("gout", "podagra"), Pair("a", "hard"), Pair("b", "easy")]
    assert negatives(pairs)[0] == ("hard",)
    assert negatives(pairs, max_score=0.8)[0] == ("easy",)
    assert negatives(pairs, min_score=0.9, max_score=0.95)[0] == ()
    assert negatives(pairs, skip=1)[0] == ("easy",)
    assert negatives(pairs, skip=2)[0] == ()


def test_what_is_about_as_near_as_the_positive_may_be_right_as_well():
    pairs = [Pair("gout", "podagra"), Pair("a", "near"), Pair("b", "hard")]
    assert negatives(pairs, margin=0.0, max_score=1.0)[0] == ("near",)
    # .985 - 5 % = .936 < .940
    assert negatives(pairs, margin=0.05, max_score=1.0)[0] == ("hard",)


def test_never_another_positive_of_the_same_anchor():
    pairs = [Pair("gout", "podagra"), Pair("Gout!", "hard"), Pair("b", "easy")]
    assert negatives(pairs)[:2] == [("easy",), ("easy",)]


def test_never_the_anchor_itself():
    pairs = [Pair("gout", "podagra"), Pair("a", "Gout!"), Pair("b", "hard")]
    assert negatives(pairs, margin=0.0, max_score=1.0)[0] == ("hard",)


def test_never_a_text_of_the_same_group():
    pairs = [
        Pair("gout", "podagra", groups=("G",)),
        Pair("a", "hard", groups=("F", "G")),
        Pair("b", "easy"),
        Pair("c", "hard", groups=("F",)),
    ]
    assert negatives(pairs)[0] == ("easy",)


def test_a_pair_keeps_the_negatives_it_has():
    pairs = [Pair("gout", "podagra", ("mine",)), Pair("a", "hard")]
    assert negatives(pairs)[0] == ("mine",)


def test_none_where_there_is_none():
    assert negatives([Pair("gout", "podagra")]) == [()]
    assert mine_negatives([], encoder({})) == []


def test_many_candidates_are_searched_to_the_end():
    angles = {"gout": 0.0, "right": 1.0, "far": 120.0}
    angles |= {f"n{i}": 30 + i / 10 for i in range(100)} | {
        f"x{i}": 200.0 for i in range(100)
    }
    pairs = [Pair("gout", "right", groups=("G",)), Pair("x0", "far")]
    pairs += [Pair(f"x{i}", f"n{i}", groups=("G",)) for i in range(1, 100)]
    mined = mine_negatives(pairs, encoder(angles))
    assert mined[0].negatives == ("far",)


@pytest.mark.parametrize(
    "settings",
    [
        {"margin": -0.1},
        {"margin": 1.1},
        {"max_score": 2},
        {"min_score": 0.95},
        {"skip": -1},
    ],
)
def test_settings_out_of_range_are_named(settings):
    with pytest.raises(T2VError, match=f"T026.*{next(iter(settings))}"):
        MiningSettings(**settings)
