"""The pipe trial_parser."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

import t2v_spacy.pipeline.trial_parser  # noqa: F401
from t2v_spacy.doc import make_trial_doc
from t2v_spacy.trial import Trial

TEXT = (
    "Gout and diet\n\nConditions: gout\n\nInclusion Criteria:\n- adults\n\nExclusion: -"
)
TRIAL = Trial("NCT90000001", title="A", conditions=("B, c",), status="COMPLETED")
TEXTS = [TEXT, "", "  ", TRIAL.to_text(), "Adults with asthma", "\n\n", "\u200b"]


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    return nlp


def found(doc: Doc) -> tuple:
    spans = [
        (key, s.label_, s.start, s.end) for key in doc.spans for s in doc.spans[key]
    ]
    return doc.text, spans, doc._.trial


def test_sections_and_record(nlp):
    doc = nlp(TEXT)
    assert [s.label_ for s in doc.spans["sections"]] == [
        *("title", "condition", "inclusion", "exclusion")
    ]
    assert doc._.trial.title == "Gout and diet"
    assert doc._.trial.conditions == ("gout",)
    assert doc._.trial.criteria.inclusion == ("adults",)


def test_declared_annotations(nlp):
    meta = nlp.get_pipe_meta("trial_parser")
    assert meta.assigns == ["doc.spans", "doc._.trial"]
    assert meta.default_config == {"overwrite": False}


@pytest.mark.parametrize("text", ["", "  ", "\n\n\n", "\t", "\xa0", "\u200b"])
def test_blank_text(nlp, text):
    doc = nlp(text)
    assert len(doc.spans["sections"]) == 0
    assert doc._.trial is None


def test_batch_of_only_blank_texts(nlp):
    docs = list(nlp.pipe(["", " ", "\n"]))
    assert [len(doc.spans["sections"]) for doc in docs] == [0, 0, 0]


def test_batch_equals_one_by_one(nlp):
    one_by_one = [found(nlp(text)) for text in TEXTS]
    assert [found(doc) for doc in nlp.pipe(TEXTS, batch_size=3)] == one_by_one
    assert [found(doc) for doc in nlp.pipe(TEXTS, n_process=2)] == one_by_one


def test_existing_sections_are_left_alone(nlp):
    doc = nlp.make_doc(TEXT)
    doc.spans["sections"] = [Span(doc, 0, 2, label="other")]
    assert found(nlp(doc))[1] == [("sections", "other", 0, 2)]
    assert doc._.trial is None


def test_overwrite():
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser", config={"overwrite": True})
    doc = nlp.make_doc(TEXT)
    doc.spans["sections"] = [Span(doc, 0, 2, label="other")]
    doc._.trial = TRIAL
    assert found(nlp(doc)) == found(nlp(TEXT))


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_record_of_a_doc_made_from_it_is_kept(overwrite):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser", config={"overwrite": overwrite})
    doc = make_trial_doc(nlp, TRIAL)
    before = found(doc)
    assert found(nlp(doc)) == before
    assert doc._.trial == TRIAL


def test_half_of_a_surrogate_pair_stops_nothing(nlp):
    doc = nlp(make_trial_doc(nlp, Trial("NCT90000001", title="half \ud83d")))
    assert doc.text == "## Title\nhalf \ufffd" == doc._.trial.to_text()
    assert doc._.trial.nct_id == "NCT90000001"


def on_disk(nlp, path):
    nlp.to_disk(path / "a folder")
    return spacy.load(path / "a folder")


def as_bytes(nlp, path):
    again = spacy.blank("en")
    again.add_pipe("trial_parser", config={"overwrite": True})
    return again.from_bytes(nlp.to_bytes())


def pickled(nlp, path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize("travel", [on_disk, as_bytes, pickled])
def test_saved_pipelines_do_the_same(tmp_path, travel):
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser", config={"overwrite": True})
    again = travel(nlp, tmp_path)
    assert [found(d) for d in again.pipe(TEXTS)] == [found(d) for d in nlp.pipe(TEXTS)]
    assert again.get_pipe("trial_parser").overwrite is True


def test_two_pipelines_side_by_side(nlp):
    other = spacy.blank("en")
    other.add_pipe("trial_parser", name="second", config={"overwrite": True})
    assert found(nlp(TEXT)) == found(other(TEXT))


def test_extensions_are_installed_again_when_used(nlp):
    Doc.remove_extension("trial")
    assert nlp(TEXT)._.trial.title == "Gout and diet"


def test_docs_in_a_doc_bin(nlp):
    data = DocBin(store_user_data=True, docs=nlp.pipe(TEXTS)).to_bytes()
    docs = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert [found(doc) for doc in docs] == [found(nlp(text)) for text in TEXTS]


def test_importing_the_pipe_is_cheap():
    """Every `spacy.blank` imports this module, so it may not bring in heavy ones."""
    code = (
        "import sys, spacy; import t2v_spacy.pipeline.trial_parser; "
        "heavy = {'annoy', 'pandas', 'sklearn', 'scispacy', 'transformers'}; "
        "assert not heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
