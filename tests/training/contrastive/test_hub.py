from __future__ import annotations

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.training.contrastive.hub import (
    HubColumns,
    load_hub_source,
    parse_hub,
    source_of_rows,
)

ROWS = [
    {"question": "what is gout", "answer": "a disease", "far": ["a drug"]},
    {"question": "what is gout", "answer": None, "far": []},
    {"question": "what is asthma", "answer": "another disease", "far": []},
]


def test_a_spec_names_configuration_split_and_columns():
    assert parse_hub("me/set#q,a") == ("me/set", None, "train", HubColumns("q", "a"))
    assert parse_hub("me/set@small:test[:9]#q, a, n") == (
        "me/set",
        "small",
        "test[:9]",
        HubColumns("q", "a", "n"),
    )
    for spec in ("me/set", "me/set#q", "me/set#q,", "#q,a", "me/set#a,b,c,d"):
        with pytest.raises(T2VError, match="T195.*ANCHOR,POSITIVE"):
            parse_hub(spec)


def test_rows_become_pairs_by_their_columns():
    source = source_of_rows("me/set", ROWS, HubColumns("question", "answer", "far"), 10)
    assert source.name == "set" and len(source.sha256) == 64
    assert [pair.negatives for pair in source.pairs] == [("a drug",), ()]
    assert str(source.report.refused[0]).startswith("me/set, row 2: it has no text")


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(T2VError, match="T195.*no column 'q'.*question, answer, far"):
        source_of_rows("me/set", ROWS, HubColumns("q", "answer"), 10)


def test_without_a_network_the_error_says_what_to_do():
    pytest.importorskip("datasets")
    with pytest.raises(T2VError, match="T195.*me/not_there.*JSON lines"):
        load_hub_source("me/not_there#q,a", 10)
