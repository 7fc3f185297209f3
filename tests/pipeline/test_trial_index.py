from __future__ import annotations

import importlib.util
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.pipeline.trial_index import TrialIndexPipe
from t2v_spacy.search import TrialIndex

from ..search.toys import make_entry, make_index, make_nlp, make_trial, nct


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("indexes") / "toys"
    make_index(30).to_disk(path)
    return path


def make_pipeline(path=None, **settings) -> Language:
    nlp = make_nlp()
    config = {"path": path and str(path), **settings}
    nlp.add_pipe("trial_index", config=config)
    return nlp


def found(doc: Doc) -> list[str]:
    return [hit["nct_id"] for hit in doc._.similar_trials]


def test_docs_get_plain_values(folder):
    nlp = make_pipeline(folder, k=4)
    doc = nlp(make_trial_doc(nlp, make_trial(6)))
    expected = TrialIndex.from_disk(folder).search(nct(6), 4)
    assert found(doc) == [hit.nct_id for hit in expected]
    for hit in doc._.similar_trials:
        assert set(hit) == {"nct_id", "score", "rank", "title", "why", "ranks"}
        assert set(hit["why"]) == {"title", "condition", "intervention"}
    copy = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert copy._.similar_trials == doc._.similar_trials
    bin_ = DocBin(store_user_data=True, docs=[doc])
    copy = next(bin_.get_docs(nlp.vocab))
    assert list(copy._.similar_trials) == doc._.similar_trials


def test_a_doc_without_vector_gets_none(folder):
    nlp = make_pipeline(folder)
    assert nlp("")._.similar_trials is None
    texts = ["", "gout", "  "]
    lengths = [d._.similar_trials and len(found(d)) for d in nlp.pipe(texts)]
    assert lengths == [None, 10, None]


def test_no_index(tmp_path):
    nlp = make_pipeline()
    with pytest.raises(T2VError, match=r"T050.*'trial_index'.*trial_index\.path"):
        nlp("gout")
    with pytest.raises(T2VError, match="T001"):
        make_pipeline(tmp_path / "nowhere")("gout")
    with pytest.raises(T2VError, match="T040"):
        make_pipeline(tmp_path)("gout")
    with pytest.raises(T2VError, match="T047"):
        TrialIndexPipe(k=0)


def test_the_index_can_be_set(folder):
    nlp = make_pipeline()
    nlp.get_pipe("trial_index").index = make_index(5)
    assert len(found(nlp("gout"))) == 5


def test_only_trials_that_pass_filters(tmp_path):
    phases = [frozenset((f"PHASE{1 + number % 3}",)) for number in range(30)]
    entries = [make_entry(make_trial(n, phases=p)) for n, p in enumerate(phases)]
    TrialIndex.build(entries).to_disk(tmp_path / "index")
    nlp = make_pipeline(tmp_path / "index", k=4, filters={"phase": ["2"]})
    expected = [nct(number) for number in range(30) if number % 3 == 1]
    doc = nlp("gout")
    assert len(found(doc)) == 4
    assert set(found(doc)) <= set(expected)
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert found(loaded("gout")) == found(doc)
    other = {"components.trial_index.filters": {"phase": "3"}}
    loaded = spacy.load(tmp_path / "pipeline", config=other)
    assert set(found(loaded("gout"))).isdisjoint(expected)
    with pytest.raises(T2VError, match="T160.*phases"):
        make_pipeline(filters={"phase": "9"})


def test_initialize_opens_the_index(folder, tmp_path):
    nlp = make_pipeline()
    nlp.config["initialize"]["components"]["trial_index"] = {"path": str(folder)}
    nlp.initialize()
    assert len(found(nlp("gout"))) == 10
    with pytest.raises(T2VError, match="T001"):
        make_pipeline(tmp_path / "nowhere").initialize()


def test_the_index_is_saved_with_the_pipeline(folder, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(folder, mine)
    nlp = make_pipeline(mine, k=3)
    expected = found(nlp("gout"))
    nlp.to_disk(tmp_path / "pipeline")
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(mine)
    shutil.move(tmp_path / "pipeline", tmp_path / "moved")
    loaded = spacy.load(tmp_path / "moved")
    assert found(loaded("gout")) == expected
    loaded.to_disk(tmp_path / "moved")
    assert found(spacy.load(tmp_path / "moved")("gout")) == expected


def test_the_config_given_at_load_counts(folder, tmp_path):
    make_pipeline(folder, k=3).to_disk(tmp_path)
    loaded = spacy.load(tmp_path, config={"components.trial_index.k": 2})
    assert len(found(loaded("gout"))) == 2
    other = make_pipeline(k=4).from_bytes(make_pipeline(folder, k=3).to_bytes())
    assert len(found(other("gout"))) == 4


def test_a_packaged_pipeline_knows_no_folder_of_the_builder(folder, tmp_path):
    script = Path(__file__).parents[2] / "scripts" / "package_model.py"
    spec = importlib.util.spec_from_file_location("package_model", script)
    package_model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package_model)
    nlp = make_pipeline(folder)
    nlp.config["paths"]["train"] = str(tmp_path / "gone")
    nlp.to_disk(tmp_path / "pipeline")
    config = tmp_path / "pipeline" / "config.cfg"
    assert str(folder) in config.read_text()
    package_model.forget_folders(config)
    assert str(folder.parent) not in config.read_text()
    assert str(tmp_path) not in config.read_text()
    loaded = spacy.load(tmp_path / "pipeline")
    assert loaded.get_pipe("trial_index").path == folder.name
    assert found(loaded("gout")) == found(nlp("gout"))


def test_a_pipeline_without_an_index_is_saved(tmp_path):
    make_pipeline().to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    with pytest.raises(T2VError, match="T050"):
        loaded("gout")


def test_bytes_and_pickle(folder):
    nlp = make_pipeline(folder)
    expected = found(nlp("gout"))
    other = make_pipeline().from_bytes(nlp.to_bytes())
    assert found(other("gout")) == expected
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe("trial_index")))
    doc = make_nlp()("gout")
    assert found(pipe(doc)) == expected
    bare = make_pipeline(k=3).get_pipe("trial_index")
    assert pickle.loads(pickle.dumps(bare)).k == 3


@pytest.mark.timeout(120)
def test_two_processes(folder):
    nlp = make_pipeline(folder)
    texts = ["gout", "asthma in adults", ""] * 5
    one = [doc._.similar_trials for doc in nlp.pipe(texts)]
    two = [doc._.similar_trials for doc in nlp.pipe(texts, n_process=2, batch_size=4)]
    assert one == two


def test_importing_the_factory_imports_nothing_heavy():
    code = (
        "import sys, t2v_spacy.pipeline.trial_index as module\n"
        "heavy = {'annoy', 't2v_spacy.search.annoy_store', 'sqlite3'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert module.TrialIndexPipe\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_analysis_knows_what_is_read_and_written():
    problems = make_pipeline().analyze_pipes()
    assert problems["attrs"]["doc._.similar_trials"]["assigns"] == ["trial_index"]
    assert problems["attrs"]["doc._.trial_vector"]["requires"] == ["trial_index"]
