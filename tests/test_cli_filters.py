from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from t2v_spacy.cli import main
from t2v_spacy.cli_filters import filter_lines, read_options, shown
from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.readers.write import write_trials
from t2v_spacy.search import Filters, IndexEntry, TrialIndex
from t2v_spacy.trial import Intervention, Location, Trial
from t2v_spacy.values import parse_date
from tests.conftest import make_trials

BROADER = {"C2": ("C1",)}


def make_record(number: int, **values) -> Trial:
    return Trial(f"NCT9000000{number}", title=f"Study {number}", **values)


RECORDS = [
    make_record(0),
    make_record(
        1,
        phases=frozenset(("PHASE2", "PHASE3")),
        status="RECRUITING",
        study_type="INTERVENTIONAL",
        interventions=(Intervention("a", "DRUG"),),
        start_date=parse_date("2016-05"),
        completion_date=parse_date("2019"),
        locations=(Location(country="Germany"),),
        min_age=18.0,
        max_age=65.0,
        sex="ALL",
        healthy_volunteers=False,
        sponsor_class="INDUSTRY",
        has_results=False,
    ),
    make_record(
        2,
        phases=frozenset(("PHASE4",)),
        status="COMPLETED",
        study_type="OBSERVATIONAL",
        interventions=(Intervention("b", "DEVICE"),),
        start_date=parse_date("2012"),
        completion_date=parse_date("2014"),
        locations=(Location(country="United States"),),
        min_age=66.0,
        sex="FEMALE",
        healthy_volunteers=True,
        sponsor_class="NIH",
        has_results=True,
    ),
]
CONCEPTS = [
    None,
    {"condition": BROADER, "intervention": {}},
    {"condition": {"C3": ()}, "intervention": BROADER},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    entries = [
        IndexEntry(record, np.array([1, number], np.float32), concepts=linked)
        for number, (record, linked) in enumerate(zip(RECORDS, CONCEPTS, strict=True))
    ]
    path = tmp_path_factory.mktemp("filters") / "index"
    TrialIndex.build(entries).to_disk(path)
    return path


@pytest.fixture
def t2v(capsys, monkeypatch):
    """(exit code, stdout, stderr) of the program in this process."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["t2v", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def search(t2v, folder):
    """(numbers of the trials that a search with options finds, stderr)."""

    def run(*options: str) -> tuple[list[int], str]:
        code, out, err = t2v("search", folder, "NCT90000000", "--json", *options)
        assert code == 0, err
        return sorted(int(hit["nct_id"][3:]) - 90000000 for hit in json.loads(out)), err

    return run


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", [1, 2]),
        ("--phase 2", [1]),
        ("--phase 2 --phase IV", [1, 2]),
        ("--status recruiting", [1]),
        ("--recruiting", [1]),
        ("--no-recruiting", [2]),
        ("--study-type observational", [2]),
        ("--type drug", [1]),
        ("--since 2016", [1]),
        ("--until 2016-04", [2]),
        ("--since 2010 --until 2020", [1, 2]),
        ("--completed-since 2015", [1]),
        ("--completed-until 2015", [2]),
        ("--country germany", [1]),
        ("--country USA", [2]),
        ("--age 50", [1]),
        ("--age 60-70", [1, 2]),
        ("--sex male", [1]),
        ("--sex female", [1, 2]),
        ("--healthy-volunteers", [2]),
        ("--no-healthy-volunteers", [1]),
        ("--sponsor industry", [1]),
        ("--results", [2]),
        ("--no-results", [1]),
        ("--condition-concept C1", [1]),
        ("--condition-concept C1 --condition-concept c3", [1, 2]),
        ("--intervention-concept C2", [2]),
        ("--phase 2 --country Germany --age 50 --type drug --exact", [1]),
    ],
)
def test_each_option(search, options, found):
    assert search(*options.split())[0] == found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--phase 9", "--phase cannot be '9'"),
        ("--status finished", "known are ACTIVE_NOT_RECRUITING"),
        ("--study-type trial", "--study-type cannot be 'trial': known are INTERVENTIONAL"),
        ("--type pill", "--type cannot be 'pill': known are BEHAVIORAL"),
        ("--since soon", "--since cannot be 'soon': write it as 2015"),
        ("--since 2016 --until 2015", "--until cannot be '2015': --since is later"),
        ("--completed-until 2015-13", "--completed-until"),
        ("--age old", "--age cannot be 'old'"),
        ("--sex other", "--sex cannot be 'other': known are FEMALE, MALE, ALL"),
        ("--sponsor Pfizer", "--sponsor cannot be 'Pfizer': known are INDUSTRY"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_by_the_name_of_the_option(
    t2v, folder, options, said
):
    code, out, err = t2v("search", folder, "NCT90000000", *options.split())
    assert (code, out) == (2, "")
    assert err.startswith("[T160] The filter --")
    assert said in err
    assert err.count("\n") == 1


def test_what_was_left_out_is_said(search):
    found, err = search("--phase", "2")
    assert found == [1]
    assert err == "1 trial left out because its phase is unknown\n"
    assert search()[1] == ""


def test_an_empty_result_says_which_filter_left_nothing(search):
    found, err = search("--phase", "2", "--country", "Germny")
    assert found == []
    assert err.splitlines()[-1] == (
        "None of 3 trials passes --country Germny. Did you mean Germany?"
    )
    found, err = search("--phase", "2", "--sponsor", "nih")
    assert found == []
    assert err.splitlines()[-1] == (
        "No trial passes all filters: 1 of 3 pass --sponsor NIH, but none of the 1 "
        "that pass --phase PHASE2."
    )


def test_an_empty_result_says_that_only_the_query_passes(folder):
    index = TrialIndex.from_disk(folder)
    filters = Filters(sponsor_class="nih")
    own, other = (
        filter_lines(index, filters, index.search(RECORDS[i].nct_id, filters=filters))
        for i in (2, 0)
    )
    assert own == [
        "1 trial left out because its class of sponsor is unknown",
        "Only the query itself passes all filters; a search never finds that.",
    ]
    assert other == own[:1]
    none = filter_lines(index, Filters(sponsor_class="fed"), [])
    assert none[1:] == ["None of 3 trials passes --sponsor FED."]
    assert filter_lines(index, filters, [], "section")[-1] == (
        "No other trial that passes all filters has a section to compare with."
    )
    assert filter_lines(index, Filters(), []) == []


def test_every_filter_has_an_option():
    from dataclasses import fields

    names = [field.name for field in fields(Filters)]
    assert all(shown(name).startswith("--") for name in names)
    assert read_options(dict.fromkeys(names)) == Filters()


def test_an_index_of_the_program_keeps_concepts(t2v, tiny_nlp, tmp_path):
    import spacy

    nlp = spacy.blank("en")
    for name in tiny_nlp.pipe_names:
        nlp.add_pipe(name, source=tiny_nlp)
    kb = KnowledgeBase.from_concepts(
        [
            Concept("C0000001", "Joint disease", types=("T047",)),
            Concept("C0000002", "Gout", types=("T047",), parents=("C0000001",)),
        ]
    )
    nlp.add_pipe("umls_linker").set_kb(kb)
    nlp.to_disk(tmp_path / "model")
    write_trials(tmp_path / "trials.jsonl", make_trials())
    base = ("index", tmp_path / "trials.jsonl")
    asked = ("NCT90000003", "--condition-concept", "C0000001", "--json")

    code, _, err = t2v(*base, tmp_path / "a", "--model", tmp_path / "model")
    assert code == 0, err
    code, out, _ = t2v("search", tmp_path / "a", *asked)
    assert {hit["nct_id"] for hit in json.loads(out)} == {"NCT90000001", "NCT90000002"}

    code, _, err = t2v(*base, tmp_path / "b", "--model", tmp_path / "model", "--no-concepts")  # fmt: skip
    assert code == 0, err
    code, out, err = t2v("search", tmp_path / "b", *asked)
    assert code == 2
    assert err.startswith("[T161] This index cannot be filtered by condition_concept")
