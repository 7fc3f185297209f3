from __future__ import annotations

import json
import subprocess
import sys

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite import find_tasks, run_suite
from t2v_spacy.evaluation.suite.table import markdown

from .toy import RETRIEVAL, Toy, write_lines, write_retrieval

pytest.importorskip("sklearn")
BIOSSES = (
    "\tsentence1\tsentence2\tscore_mean\n1\taab\taab\t4\n2\taab\tab\t3\n3\taab\tc\t0\n"
)


def test_a_task_without_data_is_a_row_and_says_why(tmp_path):
    write_retrieval(tmp_path / "scifact")
    (tmp_path / "SciRepEval-DRSM").mkdir()
    write_lines(
        tmp_path / "SciRepEval-DRSM" / "train.jsonl", {"text": "a", "label": "x"}
    )
    said: list[str] = []
    rows = run_suite(
        Toy(RETRIEVAL), find_tasks([]), folder=tmp_path, report=said.append
    )
    assert len(rows) == len(said) == 20
    by_name = {row.task: row for row in rows}
    assert by_name["SciFact"].status == "ran"
    assert by_name["SciFact"].source == "scifact"
    assert by_name["SciRepEval DRSM"].why == "SciRepEval-DRSM lacks test.jsonl"
    assert by_name["HoC"].why == "the folder of data has nothing of that name"
    assert {row.status for row in rows if row.task != "SciFact"} == {"no data"}
    (nothing, *_) = run_suite(Toy(), find_tasks([]))
    assert nothing.why == "neither a folder of data nor the hub was given"


def test_bad_data_of_one_task_do_not_stop_the_others(tmp_path):
    write_retrieval(tmp_path / "NFCorpus")
    (tmp_path / "NFCorpus" / "queries.jsonl").write_text("{oops\n")
    (tmp_path / "biosses.tsv").write_text(BIOSSES)
    bad, good = run_suite(Toy(), find_tasks(["NFCorpus", "BIOSSES"]), folder=tmp_path)
    assert bad.status == "failed"
    assert "[T201]" in bad.why
    assert "queries.jsonl, line 1," in bad.why
    assert good.score.value == pytest.approx(1)


def test_qrels_that_are_lacking_fail_by_name(tmp_path):
    write_retrieval(tmp_path / "NFCorpus")
    (tmp_path / "NFCorpus" / "qrels.tsv").unlink()
    (row,) = run_suite(Toy(), find_tasks(["NFCorpus"]), folder=tmp_path)
    assert row.status == "failed"
    assert "qrels.tsv" in row.why


def test_a_part_of_a_task_is_labelled(tmp_path):
    path = tmp_path / "birco_dev" / "clinical_trial_dev.json"
    path.parent.mkdir()
    data = {
        "query": {"q": "aa"},
        "corpus": {"d": "ab", "e": "c"},
        "qrel": {"q": {"d": 1, "e": 0}},
    }
    path.write_text(json.dumps(data))
    (row,) = run_suite(Toy(), find_tasks(["BIRCO Clinical-Trial"]), folder=tmp_path)
    assert row.score.value == 1
    assert "not the test split" in row.score.note
    assert "1 items" in markdown(find_tasks(["BIRCO Clinical-Trial"]), {"toy": [row]})


def test_every_kind_runs_from_files(tmp_path):
    write_lines(
        tmp_path / "HoC" / "train.jsonl",
        {"text": "aaa", "labels": ["x"]},
        {"text": "bbb", "labels": []},
    )
    write_lines(tmp_path / "HoC" / "test.jsonl", {"text": "aaa", "labels": ["x"]})
    for name in ("train", "test"):
        rows = {"text": "aaa", "label": "x"}, {"text": "bbb", "label": "y"}
        write_lines(tmp_path / "MTSamples" / f"{name}.jsonl", *rows)
    write_lines(tmp_path / "ClusTREC-Covid" / "test.jsonl", *rows)
    (tmp_path / "BIOSSES").mkdir()
    (tmp_path / "BIOSSES" / "test.tsv").write_text(BIOSSES)
    wanted = find_tasks(["HoC", "MTSamples", "ClusTREC-Covid", "BIOSSES"])
    rows = run_suite(Toy(), wanted, folder=tmp_path)
    assert [row.score.value for row in rows] == pytest.approx([1, 1, 1, 1])


def test_a_stopped_run_goes_on(tmp_path):
    write_retrieval(tmp_path / "data" / "NFCorpus")
    (tmp_path / "data" / "biosses.tsv").write_text(BIOSSES)
    wanted = find_tasks(["NFCorpus", "BIOSSES"])
    settings = {"folder": tmp_path / "data", "cache": tmp_path / "cache"}

    class Stops(Toy):
        def encode(self, texts):
            if "aab" in texts:
                raise KeyboardInterrupt
            return super().encode(texts)

    with pytest.raises(KeyboardInterrupt):
        run_suite(Stops(), wanted, **settings)
    toy = Toy()
    first = run_suite(toy, wanted, **settings)
    assert set(toy.asked) == {"aab", "ab", "c"}  # the sentences alone
    toy.asked.clear()
    assert run_suite(toy, wanted, **settings) == first
    assert not toy.asked
    other = Toy(checksum="two")
    run_suite(other, wanted[:1], **settings)
    assert other.asked  # another model
    (tmp_path / "data" / "biosses.tsv").write_text(BIOSSES.replace("\tc\t", "\td\t"))
    run_suite(toy, wanted, **settings)
    assert set(toy.asked) == {"aab", "ab", "d"}  # other data
    toy.asked.clear()
    run_suite(toy, wanted[:1], seed=1, **settings)
    assert toy.asked


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "biosses.tsv").write_text(BIOSSES)
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(T2VError, match="T010"):
        run_suite(
            Toy(), find_tasks(["BIOSSES"]), folder=tmp_path, cache=tmp_path / "cache"
        )


def test_local_tasks_need_no_mteb():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('mteb', 'datasets', 'sentence_transformers')));"
        "import t2v_spacy.evaluation.suite as suite;"
        "assert 'torch' not in sys.modules and 'sklearn' not in sys.modules;"
        "from tests.evaluation.suite.toy import Toy;"
        "rows = suite.run_suite(Toy(), suite.find_tasks(['SciFact', 'HoC']), hub=True);"
        "assert all('[T202]' in row.why and '[suite]' in row.why for row in rows), rows"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
