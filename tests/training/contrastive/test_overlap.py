from __future__ import annotations

import json

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.training.contrastive.evaluation_texts import (
    EvaluationSet,
    EvaluationText,
    read_evaluation,
)
from t2v_spacy.training.contrastive.overlap import EvaluationIndex, check_overlap
from t2v_spacy.training.contrastive.pairs import Pair, Source
from tests.conftest import make_trials

WORDS = " ".join(f"w{i}" for i in range(20))
SET = EvaluationSet("secret.tsv", (EvaluationText("line 7", WORDS),), "sha")


def source(*pairs: Pair) -> Source:
    return Source("mine", pairs, "")


def found(text: str, **settings):
    return EvaluationIndex([SET], **settings).find(text)


def test_an_equal_text_is_found_whatever_its_case_and_punctuation():
    assert found(WORDS.upper().replace(" ", ", ")) == (
        "secret.tsv",
        "line 7",
        "exact",
        1.0,
    )
    assert found("w1") is None


def test_shared_ngrams_count_by_the_shorter_text():
    # 20 words have 8 13-grams; 15 of them in a row have 3 of 3.
    inside = " ".join(WORDS.split()[:15])
    assert found(inside) == ("secret.tsv", "line 7", "n-gram", 1.0)
    # 13 words of the set among 30: 1 of the 8 of the shorter.
    padded = (
        f"a b c {' '.join(WORDS.split()[:13])} {' '.join(f'v{i}' for i in range(14))}"
    )
    assert found(padded, share=0.1) == ("secret.tsv", "line 7", "n-gram", 0.125)
    assert found(padded, share=0.2) is None
    assert found(padded, share=0.0) is not None
    assert found(" ".join(WORDS.split()[:12])) is None
    assert found(" ".join(WORDS.split()[:3]), n=3) is not None


def test_a_text_shorter_than_an_ngram_is_found_only_whole():
    index = EvaluationIndex(
        [EvaluationSet("s", (EvaluationText("x", "gout of the toe"),), "")]
    )
    assert index.find("Gout of the toe!") is not None
    assert index.find("gout of the toe and more") is None


@pytest.mark.parametrize(
    "pair", [Pair(WORDS, "b"), Pair("a", WORDS), Pair("a", "b", ("c", WORDS))]
)
def test_refuse_names_source_line_and_set(pair):
    pair = Pair(pair.anchor, pair.positive, pair.negatives, line=3)
    with pytest.raises(T2VError, match="T194.*mine line 3 equals secret.tsv, line 7"):
        check_overlap([source(Pair("x", "y"), pair)], [SET])


def test_drop_and_report():
    clean, dirty = Pair("x", "y", line=1), Pair(WORDS, "b", line=2)
    sources = [source(clean, dirty)]
    kept, report = check_overlap(sources, [SET], mode="drop")
    assert kept[0].pairs == (clean,)
    same, _ = check_overlap(sources, [SET], mode="report")
    assert same == sources
    values = report.to_dict()
    assert (values["checked"], values["overlapping"], values["exact"]) == (2, 1, 1)
    assert values["by_source"] == {"mine": 1}
    assert values["evaluations"][0]["name"] == "secret.tsv"
    assert WORDS not in json.dumps(values)


def test_nothing_left_after_drop_is_an_error():
    with pytest.raises(T2VError, match="T193"):
        check_overlap([source(Pair(WORDS, "b"))], [SET], mode="drop")


def test_no_evaluation_is_no_check():
    sources = [source(Pair(WORDS, "b"))]
    kept, report = check_overlap(sources, [])
    assert kept == sources and report.checked == 0


@pytest.mark.parametrize("settings", [{"mode": "no"}, {"n": 0}, {"share": 1.5}])
def test_settings_out_of_range(settings):
    with pytest.raises(T2VError, match="T026.*overlap"):
        check_overlap([source(Pair("a", "b"))], [SET], **settings)


def test_files_of_evaluation_are_read_by_their_ending(tmp_path):
    birco = {
        "query": {"q1": "A man with gout."},
        "corpus": {"d": "Title: A trial"},
        "qrel": {"q1": {"d": 2}},
    }
    (tmp_path / "birco.json").write_text(json.dumps(birco))
    (tmp_path / "pairs.tsv").write_text(
        "sentence1\tsentence2\tscore_mean\none two\tthree four\t1.5\n"
    )
    (tmp_path / "q.jsonl").write_text(
        '{"q": ["a question", "word"]}\n\n{"q": "another one"}\n'
    )
    (tmp_path / "plain.txt").write_text("one line\n\nword\nother line\n")
    paths = [
        tmp_path / name for name in ("birco.json", "pairs.tsv", "q.jsonl", "plain.txt")
    ]
    sets = read_evaluation(paths)
    assert [[tuple(text) for text in s.texts] for s in sets] == [
        [("query q1", "A man with gout."), ("corpus d", "Title: A trial")],
        [("line 2", "one two"), ("line 2", "three four")],
        [("line 1 q", "a question"), ("line 3 q", "another one")],
        [("line 1", "one line"), ("line 4", "other line")],
    ]


def test_trials_named_by_id_are_read_from_the_records(tmp_path):
    path = tmp_path / "graded.json"
    path.write_text(
        json.dumps(
            [
                {
                    "query": "NCT90000001",
                    "candidates": ["NCT90000003", "NCT99999999"],
                    "grades": [1, 2],
                }
            ]
        )
    )
    records = tmp_path / "trials.jsonl"
    lines = [json.dumps(trial.to_dict()) for trial in make_trials()]
    records.write_text("\n".join(lines))
    (found,) = read_evaluation([path], records)
    assert found.unknown == ("NCT99999999",)
    assert ("NCT90000003 title", "Breathing exercises for asthma") in found.texts
    assert not any("NCT90000002" in text.where for text in found.texts)
    assert not any(text.text == "Asthma" for text in found.texts)
    with pytest.raises(T2VError, match="T196.*--records"):
        read_evaluation([path])


def test_bad_files_of_evaluation_are_named(tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(T2VError, match="T001"):
        read_evaluation([path])
    path.write_text("{")
    with pytest.raises(T2VError, match="T196.*x.json.*damaged"):
        read_evaluation([path])
    path.write_text('["word"]')
    with pytest.raises(T2VError, match="T196.*no text of more than one word"):
        read_evaluation([path])
