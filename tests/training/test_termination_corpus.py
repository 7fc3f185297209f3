from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import spacy

from t2v_spacy.doc import make_trial_doc
from t2v_spacy.errors import T2VError
from t2v_spacy.extensions import NCT_ID
from t2v_spacy.ml.trial_textcat import FACTS_KEY
from t2v_spacy.termination.facts import registration_facts
from t2v_spacy.termination.labels import NEGATIVE, POSITIVE
from t2v_spacy.termination.registration import registration_view
from t2v_spacy.training import termination_trials
from t2v_spacy.training.termination_corpus import termination_corpus
from t2v_spacy.trial import Trial
from t2v_spacy.values import PartialDate
from tests.training.toys import make_records

STATUSES = ("TERMINATED", "COMPLETED", "RECRUITING", "WITHDRAWN", None)


def records(copies: int = 1) -> list[Trial]:
    """Trials of five statuses, of which three give a label; the titles are told apart."""
    return [
        replace(
            trial,
            nct_id=f"NCT9{i:02}{trial.nct_id[-5:]}",
            title=f"{trial.title} {i}",
            brief_summary="A short summary. The study was terminated due to slow accrual.",
            status=status,
            why_stopped="slow accrual" if status == "TERMINATED" else None,
            sponsor=f"Sponsor {i}",
            study_type="INTERVENTIONAL",
            start_date=PartialDate(f"{2001 + i}-05-01", "day"),
            completion_date=PartialDate(f"{2002 + i}-05-01", "day", True),
        )
        for i in range(copies)
        for trial, status in zip(make_records(), STATUSES, strict=True)
    ]


def write(path, trials):
    path.write_text(
        "".join(json.dumps(t.to_dict()) + "\n" for t in trials), encoding="utf8"
    )
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("records") / "records.jsonl", records(20))


@pytest.fixture(scope="module")
def encoder(tiny_nlp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    tiny_nlp.to_disk(folder)
    return folder


@pytest.fixture
def nlp():
    return spacy.blank("en")


def ids(nlp, reader) -> list[str]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*T138")
        return ids_of(reader(nlp))


def ids_of(examples) -> list[str]:
    return [eg.predicted.user_data[NCT_ID] for eg in examples]


@pytest.mark.filterwarnings("ignore:.*T138")
def test_each_ended_trial_is_one_example_with_its_label(nlp, tmp_path):
    path = write(tmp_path / "r.jsonl", records())
    examples = list(termination_corpus(path, part="all")(nlp))
    found = {eg.predicted.user_data[NCT_ID][-1]: eg.reference.cats for eg in examples}
    assert found == {
        "1": {POSITIVE: 1.0, NEGATIVE: 0.0},
        "2": {POSITIVE: 0.0, NEGATIVE: 1.0},
        "4": {POSITIVE: 1.0, NEGATIVE: 0.0},
    }
    for example, trial in zip(examples, [records()[i] for i in (0, 1, 3)], strict=True):
        doc = example.predicted
        assert doc._.trial == registration_view(trial)
        assert doc._.trial.status is None
        assert "A short summary." in doc.text
        assert "accrual" not in doc.text
        assert {span.label_ for span in doc.spans["sections"]} >= {"title", "condition"}
        assert not doc.cats
        assert doc._.trial_vector is None


def test_what_is_left_out_is_counted_by_reason(nlp, tmp_path):
    path = write(
        tmp_path / "r.jsonl",
        [
            *records(),
            records()[0],
            replace(records()[0], nct_id="NCT90000999", sponsor=None),
        ],
    )
    with path.open("a") as file:
        file.write("{broken\n")
    with pytest.warns(UserWarning, match="T138") as said:
        examples = list(termination_corpus(path, part="all")(nlp))
    assert len(examples) == 4
    text = str(said[0].message)
    for part in (
        "4 of 8",
        "2 with a status that gives no label",
        "1 given twice",
        "1 refused",
        "line 8",
    ):
        assert part in text
    with pytest.warns(UserWarning, match="not complete"):
        examples = list(termination_corpus(path, part="all", complete=True)(nlp))
    assert [eg.predicted.user_data[NCT_ID] for eg in examples] == [records()[0].nct_id]


def test_what_a_model_reads_is_complete_and_does_not_lack_what_told(nlp, tmp_path):
    """The summary of the second says nothing but the end: left out, whatever is asked."""
    told = "The study was terminated due to slow accrual."
    one = replace(records()[0], detailed_description=None)
    trials = [one, replace(one, nct_id="NCT90000998", brief_summary=told)]
    path = write(tmp_path / "r.jsonl", trials)
    for complete in (False, True):
        with pytest.warns(UserWarning, match="1 with a field that only tells"):
            reader = termination_corpus(path, part="all", complete=complete)
            assert ids_of(reader(nlp)) == [one.nct_id]


def test_the_parts_share_no_trial_and_the_seed_decides(nlp, file):
    parts = {
        p: ids(nlp, termination_corpus(file, part=p))
        for p in ("train", "dev", "test", "all")
    }
    assert [len(parts[p]) for p in parts] == [42, 6, 12, 60]
    assert sorted(parts["train"] + parts["dev"] + parts["test"]) == sorted(parts["all"])
    assert ids(nlp, termination_corpus(file)) == parts["train"]
    assert set(ids(nlp, termination_corpus(file, seed=1))) != set(parts["train"])


def test_a_sponsor_is_in_one_part_if_asked(nlp, file):
    whole = [
        {
            i[4:6]
            for i in ids(nlp, termination_corpus(file, part=p, group_by_sponsor=True))
        }
        for p in ("train", "dev", "test")
    ]
    assert sum(map(len, whole)) == 20
    loose = [
        {i[4:6] for i in ids(nlp, termination_corpus(file, part=p))}
        for p in ("train", "dev", "test")
    ]
    assert sum(map(len, loose)) > 20


def test_a_split_by_date_tests_on_what_started_later(nlp, file):
    reader = {
        p: termination_corpus(file, part=p, split="date", cutoff="2011-01-01")
        for p in ("train", "dev", "test")
    }
    years = {p: {2001 + int(i[4:6]) for i in ids(nlp, reader[p])} for p in reader}
    assert years["test"] == set(range(2011, 2021))
    # A trial of 2010 ended in 2011: nobody could have learnt from it.
    assert years["train"] | years["dev"] == set(range(2001, 2010))
    assert max(years["train"]) <= min(years["dev"])
    with pytest.warns(UserWarning, match="3 unknown at cut-off"):
        list(
            termination_corpus(file, part="dev", split="date", cutoff="2011-01-01")(nlp)
        )


def test_an_encoder_sees_each_trial_once(nlp, file, encoder, tmp_path, monkeypatch):
    made = []

    def counted(nlp, trials, work_dir, **settings):
        made.extend(trials)
        return encode(nlp, trials, work_dir, **settings)

    encode = termination_trials.encode_corpus
    monkeypatch.setattr(termination_trials, "encode_corpus", counted)
    settings = {"encoder": encoder, "cache": tmp_path / "cache", "limit": 9}
    train, dev = (
        termination_corpus(file, part=p, **settings) for p in ("train", "dev")
    )
    first = ids(nlp, train)
    assert (len(first), len(made)) == (6, 9)
    again = termination_corpus(file, part="train", **settings)
    assert ids(nlp, train) == ids(nlp, again) == first
    ids(nlp, dev)
    assert len(made) == 9
    assert all(trial.status is None for trial in made)
    assert list((tmp_path / "cache").iterdir())


@pytest.mark.filterwarnings("ignore:.*T138")
def test_encoded_examples_hold_what_the_encoder_says_of_the_registration(
    nlp, tiny_nlp, encoder, file
):
    examples = list(termination_corpus(file, part="all", limit=3, encoder=encoder)(nlp))
    trials = [
        t for t in records() if t.status in ("TERMINATED", "COMPLETED", "WITHDRAWN")
    ]
    for example, trial in zip(examples, trials, strict=True):
        view = registration_view(trial)
        doc = tiny_nlp(make_trial_doc(tiny_nlp, view))
        for made in (example.predicted, example.reference):
            assert len(made) == 1
            np.testing.assert_allclose(
                made._.trial_vector, doc._.trial_vector, atol=1e-5
            )
            assert made._.section_vectors.keys() == doc._.section_vectors.keys()
            np.testing.assert_array_equal(
                made.user_data[FACTS_KEY], registration_facts(view)
            )
        assert set(example.reference.cats) == {POSITIVE, NEGATIVE}
        assert not example.predicted.cats


def test_a_changed_file_is_read_again(nlp, tmp_path):
    path = write(tmp_path / "r.jsonl", records())
    assert len(ids(nlp, termination_corpus(path, part="all"))) == 3
    write(path, records(2))
    assert len(ids(nlp, termination_corpus(path, part="all"))) == 6


def test_order_changes_only_with_shuffle_and_is_reproducible(nlp, file):
    plain = termination_corpus(file)
    assert ids(nlp, plain) == ids(nlp, plain)
    one, two = (termination_corpus(file, shuffle=True) for _ in range(2))
    first, second = ids(nlp, one), ids(nlp, one)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(ids(nlp, plain))
    assert [first, second] == [ids(nlp, two), ids(nlp, two)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"part": "dve"}, "T026.*part = dve.*train, dev, test"),
        ({"split": "time"}, "T026.*split = time"),
        ({"split": "date"}, "T026.*cutoff"),
        ({"split": "date", "cutoff": "spring"}, "T147"),
        ({"path": None}, "T132.*no path"),
        ({"limit": 1, "part": "dev"}, "T132.*part 'dev'"),
        ({"encoder": "no_such_pipeline"}, "T153.*no_such_pipeline.*--paths.encoder"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*T138")
def test_wrong_settings_are_named(nlp, file, settings, message):
    with pytest.raises(T2VError, match=message):
        list(termination_corpus(**({"path": file} | settings))(nlp))


@pytest.mark.filterwarnings("ignore:.*T138")
def test_a_pipeline_that_encodes_itself_is_refused(tiny_nlp, encoder, file):
    """It would write vectors of the one word over those of the trial."""
    with pytest.raises(T2VError, match="T026.*encoder.*trial2vec"):
        list(termination_corpus(file, encoder=encoder)(tiny_nlp))


def test_a_file_without_an_ended_trial_is_an_error(nlp, tmp_path):
    path = write(tmp_path / "r.jsonl", [records()[2]])
    with (
        pytest.warns(UserWarning, match="T138"),
        pytest.raises(T2VError, match=re.escape("none of 0 labelled")),
    ):
        list(termination_corpus(path, part="all")(nlp))
