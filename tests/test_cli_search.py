from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from t2v_spacy import TrialIndex, cli
from t2v_spacy.cli_search import (
    compose,
    facts,
    read_given,
    read_parts,
    read_weights,
    table,
)
from t2v_spacy.errors import T2VError
from t2v_spacy.readers.write import write_trials
from t2v_spacy.search import Composed

from .readers.documents_toys import SYNOPSIS, lines_at, make_pdf, write_docx
from .search.toys import make_index, make_nlp, make_trial, nct


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("an index")
    make_index(60).to_disk(path / "index")
    return path / "index"


@pytest.fixture
def t2v(folder, monkeypatch, capsys):
    """Runs `t2v search INDEX …` with the toy pipeline; gives exit code, stdout, stderr
    and, as its attribute, the pipelines that were loaded."""
    loaded: list[str] = []

    def load(name):
        loaded.append(name)
        return make_nlp()

    monkeypatch.setattr(cli, "load_pipeline", load)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["t2v", "search", str(folder), *map(str, arguments)])  # fmt: skip
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    run.loaded = loaded  # type: ignore[attr-defined]
    return run


def found(t2v, *arguments: object) -> list[str]:
    code, out, err = t2v(*arguments, "--json")
    assert code == 0, err
    return [hit["nct_id"] for hit in json.loads(out)]


def hits_of(folder, asked, k=10, **settings) -> list[str]:
    index = TrialIndex.from_disk(folder)
    return [h.nct_id for h in index.search(asked, k, nlp=make_nlp(), **settings)]


def test_texts_of_parts(t2v, folder):
    ids = found(t2v, "--condition", "gout", "--intervention", "drug3", "--weight", "condition=2.5")  # fmt: skip
    parts = {"condition": "gout", "intervention": "drug3"}
    assert ids == hits_of(folder, Composed(parts, {"condition": 2.5}))
    assert ids != hits_of(folder, Composed(parts, {"intervention": 2.5}))
    by_section = found(t2v, "--condition", "gout", "--against", "section")
    assert by_section == hits_of(folder, Composed({"condition": "gout"}), against="section")  # fmt: skip


def test_like_and_unlike(t2v, folder):
    ids = found(t2v, nct(1), "--like", nct(7).lower(), "--unlike", nct(2), "-k", 20)
    assert ids == hits_of(folder, Composed(like=[nct(1), nct(7)], unlike=[nct(2)]), 20)
    assert not {nct(1), nct(2), nct(7)} & set(ids)
    assert ids[:20] == found(t2v, "--like", f"{nct(1)}, {nct(7)}", "--unlike", nct(2), "-k", 20)  # fmt: skip
    assert t2v.loaded == []  # nothing to encode
    little = Composed(like=[nct(1)], unlike=[nct(2)], unlike_weight=0.1)
    ids = found(t2v, nct(1), "--unlike", nct(2), "--unlike-weight", 0.1, "-k", 20)
    assert ids == hits_of(folder, little, 20)
    assert ids != found(t2v, nct(1), "--unlike", nct(2), "-k", 20)
    assert found(t2v, f"NCT {nct(1)[3:]}; {nct(7)}") == hits_of(folder, Composed(like=[nct(1), nct(7)]))  # fmt: skip
    some = found(t2v, "--like", nct(1), "--unlike", "sepsis", "--condition", "gout")
    asked = Composed({"condition": "gout"}, like=[nct(1)], unlike=["sepsis"])
    assert some == hits_of(folder, asked)
    assert t2v.loaded == ["toy"]


def test_files_of_every_kind_are_the_same_query(t2v, folder, tmp_path):
    parts = {h: b for h, b in SYNOPSIS.items() if h != "Study drug"}
    write_docx(tmp_path / "my draft.docx", table=False, parts=parts)
    text = "\n\n".join(f"{h}\n{b}" for h, b in parts.items())
    (tmp_path / "draft.txt").write_text(f"Protocol Synopsis\n\n{text}")
    marked = "\n\n".join(f"# {h}\n\n{b}" for h, b in parts.items())
    (tmp_path / "draft.md").write_text(f"# Protocol Synopsis\n\n{marked}")
    lines = "\n".join(f"{h}\n{b}\n" for h, b in parts.items()).split("\n")
    pages = [lines_at(["Protocol Synopsis", "", *lines])]
    (tmp_path / "draft.pdf").write_bytes(make_pdf(pages))
    by_kind = {
        name: found(t2v, "--file", tmp_path / name)
        for name in ("my draft.docx", "draft.txt", "draft.md", "draft.pdf")
    }
    first = by_kind["draft.txt"]
    assert all(ids == first for ids in by_kind.values()), by_kind
    both = found(t2v, nct(1), "--file", tmp_path / "draft.txt")
    assert both == found(t2v, "--like", nct(1), "--like", tmp_path / "my draft.docx")
    assert both != first


def test_a_record_of_a_file_may_be_unlike(t2v, folder, tmp_path):
    write_trials(tmp_path / "one.jsonl", [make_trial(2)])
    code, out, err = t2v(nct(1), "--unlike", tmp_path / "one.jsonl", "--json")
    assert code == 0
    assert f"Searching with {nct(2)}, the first record of" in err
    ids = [hit["nct_id"] for hit in json.loads(out)]
    assert ids == hits_of(folder, Composed(like=[nct(1)], unlike=[make_trial(2)]))


def test_parts_of_a_record_with_weights(t2v, folder):
    ids = found(t2v, nct(1), "--part", "condition", "--part", "title", "--weight", "title=3")  # fmt: skip
    parts = {"condition": 1.0, "title": 3.0}
    assert ids == hits_of(folder, nct(1), parts=parts)
    heavy = found(t2v, nct(1), "--weight", "condition=5")
    assert heavy == hits_of(folder, Composed(like=[nct(1)], weights={"condition": 5}))


def test_what_does_not_go_together_is_one_line(t2v, tmp_path):
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "page.html").write_text("<html><body>gout</body></html>")
    for expected, *arguments in [
        ("T028",),
        ("T028", "--weight", "title=2"),
        ("T173", "--unlike", nct(1)),
        ("T173", nct(1), "--unlike", nct(1)),
        ("T173", "--condition", "  "),
        ("T026", nct(1), "--unlike", nct(2), "--unlike-weight", 1.5),
        ("T175", nct(1), "--unlike-weight", 0.5),
        ("T174", nct(1), "--weight", "title"),
        ("T174", nct(1), "--weight", "title=0"),
        ("T008", nct(1), "--weight", "titel=2"),
        ("T049", nct(1), "--weight", "outcome=2"),
        ("T175", "--condition", "gout", "--part", "condition"),
        ("T175", nct(1), "--part", "condition", "--weight", "title=2"),
        ("T043", "--like", "NCT99999999"),
        ("T043", f"{nct(1)}, NCT99999999"),
        ("T001", "--like", "no such.docx"),
        ("T001", "--file", "no such.docx"),
        ("T030", "--like", tmp_path),
        ("T030", "--file", tmp_path / "page.html"),
        ("T025", "--file", tmp_path / "empty.txt"),
        ("T025", "--like", nct(1), "--unlike", "???"),
    ]:
        code, out, err = t2v(*arguments)
        assert (code, out) == (2, ""), arguments
        assert err.startswith(f"[{expected}]"), (arguments, err)
        assert err.count("\n") == 1


def test_filters_hold_for_several(t2v):
    code, out, err = t2v("--like", nct(1), "--unlike", nct(2), "--phase", "2", "--json")
    assert (code, json.loads(out)) == (0, [])
    assert "--phase" in err


def test_one_query_alone_stays_what_it_is():
    assert compose(["gout"], [], {}, {}) == "gout"
    assert compose([make_trial(1)], [], {}, {}) == make_trial(1)
    several = compose(["gout", nct(1)], [nct(2)], {"title": "x"}, {"title": 2.0})
    assert vars(several) == vars(Composed({"title": "x"}, {"title": 2.0}, ["gout", nct(1)], [nct(2)]))  # fmt: skip


def test_weights_and_parts_by_the_names_of_the_options():
    assert read_weights(["criteria=2", " title = 0.5"]) == {"eligibility": 2.0, "title": 0.5}  # fmt: skip
    assert read_parts([], {}, {}) is None
    assert read_parts(["criteria"], {}, {}) == ["eligibility"]
    assert read_parts(["title", "criteria"], {"title": 2.0}, {}) == {"title": 2.0, "eligibility": 1.0}  # fmt: skip
    with pytest.raises(T2VError, match="T175.*--criteria"):
        read_parts(["title"], {}, {"eligibility": "adults"})


def test_a_text_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_given("gout / pseudogout") == "gout / pseudogout"
    assert read_given("x" * 5000) == "x" * 5000
    (tmp_path / "gout").write_text("A trial of gout")
    assert read_given("gout") == "A trial of gout"


def test_facts_and_table(folder):
    hits = TrialIndex.from_disk(folder).search(nct(1), 2)
    assert facts(hits[0].trial)["conditions"] == ["gout"]
    rows = table(hits, [None] * len(hits)).split("\n")
    assert len(rows) == 4
    assert hits[0].nct_id in rows[2]
    assert table([], []).startswith("#")


def test_results_say_why_and_go_to_a_file(t2v, tmp_path):
    out = tmp_path / "hits.csv"
    code, shown, err = t2v(nct(1), "-k", 3, "--export", out)
    assert code == 0
    assert "same condition" in shown
    assert "3 trials in" in err
    lines = out.read_text("utf8").splitlines()
    assert len(lines) == 4
    assert "same condition" in lines[1]
    _, shown, _ = t2v(nct(1), "-k", 3, "--no-reasons")
    assert "same condition" not in shown


def test_an_export_that_cannot_be_is_said_before_the_search(t2v, tmp_path):
    code, out, err = t2v("gout", "--export", tmp_path / "hits.doc")
    assert (code, out) == (2, "")
    assert "T181" in err
    code, _, err = t2v("gout", "--export", tmp_path / "hits.csv", "--link", "here")
    assert code == 2
    assert "T184" in err
    assert not t2v.loaded


def test_words_as_well_as_vectors(t2v):
    _, out, _ = t2v("gout drug3", "--hybrid", "--json")
    (first, *_) = json.loads(out)
    assert first["ranks"].keys() == {"vectors", "words"}
    assert first["reasons"]["nct_id"] == first["nct_id"]
