"""Extensions of Doc and Span."""

from __future__ import annotations

import importlib
import pickle

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from t2v_spacy import extensions
from t2v_spacy.doc import make_trial_doc, set_sections
from t2v_spacy.extensions import DOC_EXTENSIONS, SPAN_EXTENSIONS, install_extensions
from t2v_spacy.sections.parse import parse_sections
from t2v_spacy.trial import Intervention, Trial

TRIAL = Trial(
    "NCT90000001",
    title="Tablet A in gout",
    conditions=("Gout", "Pain, acute"),
    interventions=(Intervention("Tablet A", "DRUG", ("A-1",)), Intervention("Diet")),
    brief_summary="One\n\n## Title\ntwo.",
    eligibility="Inclusion Criteria:\n\n* Adults\n\nExclusion Criteria:\n\n* Stroke",
)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def doc(nlp) -> Doc:
    return make_trial_doc(nlp, TRIAL)


def labels(doc: Doc, key: str = "sections") -> list[str]:
    return [span.label_ for span in doc.spans[key]]


def test_all_are_there_and_installing_again_changes_nothing():
    install_extensions()
    before = {name: Doc.get_extension(name) for name in DOC_EXTENSIONS}
    install_extensions()
    assert {name: Doc.get_extension(name) for name in DOC_EXTENSIONS} == before
    assert all(map(Span.has_extension, SPAN_EXTENSIONS))


def test_an_extension_of_somebody_else_is_left_alone():
    def theirs(doc):
        return "theirs"

    Doc.set_extension("trial", getter=theirs, force=True)
    try:
        install_extensions()
        assert Doc.get_extension("trial")[2] is theirs
    finally:
        Doc.remove_extension("trial")
        install_extensions()
    assert Doc.get_extension("trial")[2] is extensions.get_trial


def test_a_reloaded_module_replaces_its_own_extensions(doc):
    old = Doc.get_extension("trial")[2]
    module = importlib.reload(extensions)
    module.install_extensions()
    assert Doc.get_extension("trial")[2] is module.get_trial is not old
    assert doc._.trial == TRIAL


def test_defaults(nlp):
    doc = nlp.make_doc("A text")
    assert doc._.trial is None
    assert doc._.trial_vector is None
    assert doc._.section_vectors is None
    assert doc._.similar_trials is None
    assert doc._.truncated is None
    assert doc[:1]._.section is None
    assert doc[:1]._.body == doc[:1]


def test_trial_can_be_set_and_removed(doc):
    assert doc._.trial == TRIAL
    doc._.trial = Trial("NCT90000002")
    assert doc._.trial == Trial("NCT90000002")
    doc._.trial = None
    assert doc._.trial is None


def to_bytes(doc: Doc) -> Doc:
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def doc_bin(doc: Doc) -> Doc:
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(doc.vocab))


def pickled(doc: Doc) -> Doc:
    return pickle.loads(pickle.dumps(doc))


@pytest.mark.parametrize("travel", [to_bytes, doc_bin, pickled, Doc.copy])
def test_everything_survives(doc, travel):
    doc._.trial_vector = numpy.arange(3, dtype="float32")
    doc._.section_vectors = {"title": numpy.ones(3, dtype="float32")}
    again = travel(doc)
    assert again._.trial == TRIAL
    assert again._.trial_vector.tolist() == [0.0, 1.0, 2.0]
    assert again._.section_vectors["title"].dtype == numpy.float32
    assert labels(again) == labels(doc)
    assert labels(again, "headings") == labels(doc, "headings")


def test_similarity(nlp):
    one, two, none = (nlp.make_doc("a") for _ in range(3))
    one._.trial_vector = numpy.array([2.0, 0.0], dtype="float32")
    two._.trial_vector = numpy.array([3.0, 4.0], dtype="float32")
    assert one._.trial_similarity(two) == pytest.approx(0.6)
    assert one._.trial_similarity(one) == pytest.approx(1.0)
    assert one._.trial_similarity(none) == none._.trial_similarity(one) == 0.0


# --- sections on a Doc ----------------------------------------------------------------


def test_sections_of_a_record(doc):
    assert doc.text == TRIAL.to_text()
    assert labels(doc) == [
        *("title", "condition", "intervention", "summary", "inclusion", "exclusion")
    ]
    covered = [token.i for span in doc.spans["sections"] for token in span]
    assert covered == list(range(len(doc)))
    assert [span.text for span in doc.spans["headings"]] == [
        "## Title",
        "## Conditions",
        "## Interventions",
        "## Brief Summary",
        "## Eligibility\nInclusion Criteria:",
        "Exclusion Criteria:",
    ]


def test_section_and_body_of_a_span(doc):
    for section in doc.spans["sections"]:
        assert section._.section == section.label_
        assert section[-1:]._.section == section.label_
    assert doc[:]._.section is None
    bodies = [span._.body.text.strip() for span in doc.spans["sections"]]
    assert bodies[0] == "Tablet A in gout"
    assert bodies[4:] == ["* Adults", "* Stroke"]


def test_section_without_body(nlp):
    text = "Study Overview\nConditions\nGout"
    doc = nlp.make_doc(text)
    set_sections(doc, parse_sections(text))
    first = doc.spans["sections"][0]
    assert not first._.body.text.strip()


def test_record_without_text(nlp):
    doc = make_trial_doc(nlp, Trial("NCT90000003"))
    assert len(doc) == 0
    assert labels(doc) == []
    assert doc._.trial == Trial("NCT90000003")


def test_text_over_the_limit_of_the_pipeline(nlp):
    trial = Trial("NCT90000004", title="A", detailed_description="word " * 60)
    small = spacy.blank("en")
    small.max_length = 100
    assert make_trial_doc(small, trial)._.trial == trial


@pytest.mark.parametrize(
    "text", ["a  \n\nTitle:x\n \nConditions: y", "Title:a\n\n\n", "x"]
)
def test_each_token_is_in_one_section(nlp, text):
    doc = nlp.make_doc(text)
    set_sections(doc, parse_sections(text))
    covered = [token.i for span in doc.spans["sections"] for token in span]
    assert covered == list(range(len(doc)))
