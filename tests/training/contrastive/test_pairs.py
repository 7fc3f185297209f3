from __future__ import annotations

import gzip
import json

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.training.contrastive.pairs import (
    Pair,
    PairReport,
    Sample,
    load_source,
    load_sources,
    read_pairs,
    write_pairs,
)
from t2v_spacy.training.contrastive.texts import plain

from .toys import make_pairs, write_lines

GOOD = {"anchor": "Colchicine", "positive": "a drug for gout"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Crohn's  disease", "crohn s disease", True),
        ("β-blocker", "Β-Blocker.", True),
        ("ﬁbrosis", "FIBROSIS", True),
        ("type 1", "type 2", False),
        ("+", "-", False),
        ("", " ", True),
    ],
)
def test_texts_are_the_same_but_for_case_and_punctuation(one, other, same):
    assert (plain(one) == plain(other)) is same


def test_pairs_are_read_as_they_were_written(tmp_path):
    pairs = [
        Pair("a b", "c d"),
        Pair("é", "ü", ("n",), ("MESH:D1",)),
        Pair("x", "y", ("1", "2")),
    ]
    write_pairs(tmp_path / "s.jsonl", pairs)
    assert list(read_pairs(tmp_path / "s.jsonl")) == pairs
    lines = (tmp_path / "s.jsonl").read_text(encoding="utf8").splitlines()
    assert [json.loads(line).get("negative") for line in lines] == [
        None,
        "n",
        ["1", "2"],
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "it is no object"),
        ("{", "it is no JSON"),
        ('{"anchor": "a"}', "no text as 'positive'"),
        ('{"anchor": "  ", "positive": "b"}', "no text as 'anchor'"),
        ('{"anchor": null, "positive": "b"}', "no text as 'anchor'"),
        ('{"anchor": "Gout.", "positive": "gout"}', "are the same text"),
        (
            '{"anchor": "a", "positive": "b", "negative": "B!"}',
            "a 'negative' is the text",
        ),
        (
            '{"anchor": "a", "positive": "b", "negative": [1]}',
            "neither a text nor a list",
        ),
        (
            '{"anchor": "a", "positive": "b", "negative": {}}',
            "neither a text nor a list",
        ),
        ('{"anchor": "a", "positive": "b", "groups": 3}', "neither a text nor a list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path, line, reason):
    path = tmp_path / "s.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{line}\n{json.dumps(GOOD)}\n")
    report = PairReport()
    pairs = list(read_pairs(path, report))
    assert [pair.line for pair in pairs] == [1, 4]
    (refusal,) = report.refused
    assert refusal.path == str(path) and refusal.where == "line 3"
    assert reason in refusal.reason


def test_a_line_that_is_no_utf8_is_named(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"anchor": "\xff", "positive": "b"}\n' + json.dumps(GOOD).encode()
    )
    report = PairReport()
    assert len(list(read_pairs(path, report))) == 1
    assert "line 1: it is no UTF-8" in str(report.refused[0])


def test_packed_files_are_read_and_cut_ones_up_to_the_cut(tmp_path):
    path = tmp_path / "s.jsonl.gz"
    write_pairs(tmp_path / "s.jsonl", make_pairs(400))
    packed = gzip.compress((tmp_path / "s.jsonl").read_bytes())
    path.write_bytes(packed)
    assert len(list(read_pairs(path))) == 400
    path.write_bytes(packed[:-200])
    report = PairReport()
    assert 0 < len(list(read_pairs(path, report))) < 400
    assert "damaged" in report.refused[0].reason


def test_most_pairs_are_drawn_by_the_seed_each_once_in_their_order(tmp_path):
    pairs = make_pairs(50)
    write_pairs(tmp_path / "s.jsonl", pairs + pairs[:5])
    source = load_source(tmp_path / "s.jsonl", 20, seed=1)
    assert len(source.pairs) == 20
    assert list(source.pairs) == sorted(source.pairs, key=pairs.index)
    assert source.report.read == 55 and source.report.repeated == 5
    assert source == load_source(tmp_path / "s.jsonl", 20, seed=1)
    assert source.pairs != load_source(tmp_path / "s.jsonl", 20, seed=2).pairs
    assert len(load_source(tmp_path / "s.jsonl", 99).pairs) == 50


def test_what_is_drawn_does_not_depend_on_the_order_of_the_file(tmp_path):
    pairs = make_pairs(30)
    write_pairs(tmp_path / "a.jsonl", pairs)
    write_pairs(tmp_path / "b.jsonl", pairs[::-1])
    one, other = (load_source(tmp_path / f"{n}.jsonl", 9).pairs for n in "ab")
    assert set(one) == set(other)


def test_preferred_pairs_are_kept_before_others():
    pairs = make_pairs(20)
    sample = Sample(6, seed=0)
    for i, pair in enumerate(pairs):
        sample.add(pair, preferred=i % 4 == 0)
    assert set(pairs[::4]) < set(sample.pairs())


def test_sources_come_from_folders_and_files_by_name(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "notes.txt"):
        write_pairs(tmp_path / name, make_pairs(2))
    alone = write_lines(tmp_path / "alone.json", [GOOD])
    sources = load_sources([tmp_path, alone], 10)
    assert [source.name for source in sources] == ["a", "b", "alone"]
    assert len(sources[0].sha256) == 64


def test_nothing_left_is_an_error_that_says_why(tmp_path):
    write_lines(tmp_path / "a.jsonl", [{"anchor": "a"}])
    with pytest.raises(T2VError, match="T193.*a.jsonl.*line 1.*no text as 'positive'"):
        load_sources([tmp_path], 10)
    write_lines(tmp_path / "b.jsonl", [GOOD])
    assert [len(s.pairs) for s in load_sources([tmp_path], 10)] == [0, 1]
    with pytest.raises(T2VError, match="T001"):
        load_sources([tmp_path / "none.jsonl"], 10)
    (tmp_path / "empty").mkdir()
    with pytest.raises(T2VError, match="T193"):
        load_sources([tmp_path / "empty"], 10)


def test_two_sources_of_one_name_are_refused(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_lines(tmp_path / folder / "a.jsonl", [GOOD])
    with pytest.raises(T2VError, match="T193.*two sources are called 'a'"):
        load_sources([tmp_path / "one", tmp_path / "two"], 10)
