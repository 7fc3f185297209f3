from __future__ import annotations

import gzip
import json
import warnings

import pytest
import spacy

from t2v_spacy.errors import T2VError
from t2v_spacy.ml.batch_info import read_batch
from t2v_spacy.training.corpus import is_prepared, link_trials, trial_corpus
from t2v_spacy.training.knowledge_views import knowledge_views
from t2v_spacy.training.training_trial import (
    Mention,
    TrainingTrial,
    make_training_doc,
)
from t2v_spacy.trial import Intervention, Trial
from tests.training.toys import (
    ALLOPURINOL,
    ASTHMA,
    COLCHICINE,
    GOUT,
    PLACEBO,
    make_records,
    make_training_trials,
    toy_kb,
)

TOO_SHORT = "T138.*1 of 5 trials.*1 have fewer than 2 sections"


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("trial_parser")
    nlp.add_pipe("umls_linker").set_kb(toy_kb())
    return nlp


@pytest.fixture
def records(tmp_path):
    lines = [json.dumps(trial.to_dict()) for trial in make_records()]
    path = tmp_path / "my records.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.fixture
def prepared(tmp_path, nlp, records):
    path = tmp_path / "prepared.jsonl"
    write(path, link_trials(nlp, records, 200))
    return path


def write(path, trials) -> None:
    lines = [json.dumps(trial.to_dict()) + "\n" for trial in trials]
    path.write_text("".join(lines), encoding="utf8")


def shown(example) -> dict:
    """All of an example that training reads."""
    doc = example.predicted
    return {
        "id": doc.user_data["t2v_nct_id"],
        "text": doc.text,
        "sections": [(s.label_, s.text.strip()) for s in doc.spans["sections"]],
        "views": [
            (s.label_, s.id_, s.kb_id_, s.text.strip()) for s in doc.spans["views"]
        ],
        "concepts": doc._.concepts,
    }


def ids(examples) -> list[str]:
    return [eg.predicted.user_data["t2v_nct_id"][-1] for eg in examples]


def test_an_example_has_the_sections_concepts_and_views_of_a_trial(nlp, prepared):
    corpus = trial_corpus(prepared, knowledge_views(positives=["alias"]))
    with pytest.warns(UserWarning, match=TOO_SHORT):
        first = next(corpus(nlp))
    found = shown(first)
    assert first.predicted is first.reference
    assert found["sections"] == [
        ("title", "Colchicine for gout flares"),
        ("condition", "Gout"),
        ("intervention", "Colchicine"),
        ("outcome", "Pain of the toe at day three, Joint swelling"),
        ("summary", "Does colchicine ease pain in acute gout?"),
        ("inclusion", "Adults with gout"),
        ("exclusion", "Renal failure"),
    ]
    assert {"id": GOUT, "section": "condition", "text": "Gout"} in found["concepts"]
    assert {"id": COLCHICINE, "section": "title", "text": "Colchicine"} in found["concepts"]  # fmt: skip
    assert len({label for label, *_ in found["views"]}) == 2
    positives = {(c, text) for _, kind, c, text in found["views"] if kind == "positive"}
    assert positives <= {
        (GOUT, "Podagra"),
        (GOUT, "Colchicine for Podagra flares"),
        (COLCHICINE, "Colcrys"),
        (COLCHICINE, "Colcrys for gout flares"),
    }
    info = read_batch([first.predicted])
    assert info.conditions == [{GOUT}]
    assert info.interventions == [{COLCHICINE}]
    assert len(info.views) == len(found["views"])


@pytest.mark.parametrize("max_words", [None, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_records_and_the_prepared_file_give_the_same_examples(
    nlp, records, prepared, max_words, packed
):
    if packed:
        text = prepared.read_bytes()
        prepared = prepared.with_suffix(".jsonl.gz")
        prepared.write_bytes(gzip.compress(text))
    settings = {"views": knowledge_views(), "max_words": max_words, "shuffle": True}
    found = []
    for path in (records, prepared):
        with pytest.warns(UserWarning, match=TOO_SHORT):
            found.append([shown(eg) for eg in trial_corpus(path, **settings)(nlp)])
    assert found[0] == found[1]
    assert len(found[0]) == 4
    if max_words:
        longest = max(len(t.split()) for eg in found[0] for _, t in eg["sections"])
        assert longest == 3
        by_id = {eg["id"][-1]: dict(eg["sections"]) for eg in found[0]}
        assert by_id["1"]["outcome"] == "Pain of the"  # of both lists together


def test_a_mention_beyond_the_cut_is_left_out(nlp, prepared):
    with pytest.warns(UserWarning, match="T138"):
        first = next(trial_corpus(prepared, max_words=2)(nlp))
    titles = [c["text"] for c in first.predicted._.concepts if c["section"] == "title"]
    assert titles == ["Colchicine"]


def test_placebo_makes_no_trials_alike(nlp, tmp_path):
    path = tmp_path / "prepared.jsonl"
    drugs = [COLCHICINE, ALLOPURINOL]
    trials = [
        TrainingTrial(
            f"NCT9000040{i}",
            {"title": name, "condition": "Gout", "intervention": f"{name}, Placebo"},
            (
                Mention(GOUT, "condition", "Gout"),
                Mention(drug, "intervention", name),
                Mention(PLACEBO, "intervention", "Placebo"),
            ),
        )
        for i, (name, drug) in enumerate(
            zip(("Colchicine", "Allopurinol"), drugs, strict=True)
        )
    ]
    write(path, trials)
    batch = read_batch(eg.predicted for eg in trial_corpus(path)(nlp))
    assert batch.same_condition()[0, 1]
    assert not batch.alike()[0, 1]
    assert batch.interventions == [{COLCHICINE}, {ALLOPURINOL}]


def test_each_epoch_draws_order_and_views_anew_and_each_run_the_same(nlp, prepared):
    def epochs(seed):
        corpus = trial_corpus(prepared, knowledge_views(), shuffle=True, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [[shown(eg) for eg in corpus(nlp)] for _ in range(6)]

    one, same, other = epochs(1), epochs(1), epochs(2)
    assert one == same
    assert one != other
    assert len({tuple(eg["id"] for eg in epoch) for epoch in one}) > 1
    assert all(sorted(eg["id"] for eg in e) == sorted(eg["id"] for eg in one[0]) for e in one)  # fmt: skip
    views = {str([eg["views"] for eg in epoch if eg["id"].endswith("1")]) for epoch in one}  # fmt: skip
    assert len(views) > 1


def test_without_shuffle_the_order_of_the_file_stays(nlp, prepared):
    with pytest.warns(UserWarning, match="T138"):
        corpus = list(trial_corpus(prepared)(nlp))
    assert ids(corpus) == ["1", "2", "3", "4"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the short one is not reached
        assert ids(trial_corpus(prepared, limit=3)(nlp)) == ["1", "2", "3"]


def test_sections_can_be_chosen(nlp, prepared):
    labels = ["title", "condition", "eligibility"]
    with pytest.warns(UserWarning, match="T138"):
        examples = list(trial_corpus(prepared, sections=labels)(nlp))
    assert [[s[0] for s in shown(eg)["sections"]] for eg in examples] == [
        ["title", "condition"],
        labels,
        labels,
        labels,
    ]
    assert {c["section"] for eg in examples for c in eg.predicted._.concepts} <= {*labels}  # fmt: skip


def test_alike_trials_can_be_brought_together(nlp, tmp_path):
    path = tmp_path / "prepared.jsonl"
    trials = []
    for i in range(10):
        illness, name = ((GOUT, "Gout"), (ASTHMA, "Asthma"))[i % 2]
        trials.append(
            TrainingTrial(
                f"NCT9000050{i}",
                {"condition": name, "intervention": "Colchicine"},
                (
                    Mention(illness, "condition", name),
                    Mention(COLCHICINE, "intervention", "Colchicine"),
                ),
            )
        )
    write(path, trials[:8])
    order = ids(trial_corpus(path, shuffle=True, alike=1.0)(nlp))
    assert sorted(order) == list("01234567")
    for one, two in zip(order[::2], order[1::2], strict=True):
        assert int(one) % 2 == int(two) % 2


def test_views_without_a_linker_are_an_error_that_names_it(prepared):
    with pytest.raises(T2VError, match="T133.*umls_linker"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        next(trial_corpus(prepared, knowledge_views())(spacy.blank("en")))


def test_a_prepared_file_needs_no_pipes(prepared):
    with pytest.warns(UserWarning, match="T138"):
        assert ids(trial_corpus(prepared)(spacy.blank("en"))) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize(
    "broken",
    [
        '{"nct_id": "NCT9000',
        "",
        '{"nct_id": "NCT90000001", "sections": {"title": "x"}}',
        '{"nct_id": "N", "sections": {"title": 7}, "mentions": []}',
        '{"nct_id": "N", "sections": {}, "mentions": [["D:2", "title"]]}',
        "[1, 2]",
    ],
)
def test_a_broken_line_is_named_by_file_and_line(nlp, prepared, number, broken):
    lines = prepared.read_text().splitlines()
    lines[number - 1] = broken
    prepared.write_text("\n".join(lines))
    with pytest.raises(T2VError, match=rf"T137.*prepared\.jsonl, line {number}: "):
        list(trial_corpus(prepared)(nlp))


def test_a_packed_file_that_is_cut_is_named(nlp, prepared):
    data = gzip.compress(prepared.read_bytes() * 400)
    path = prepared.with_suffix(".jsonl.gz")
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(T2VError, match=r"T137.*prepared\.jsonl\.gz, line"):
        list(trial_corpus(path)(nlp))


def test_nothing_to_train_on_is_an_error_that_says_why(nlp, tmp_path):
    with pytest.raises(T2VError, match=r"T132.*paths\.train.*no path is given"):
        next(trial_corpus(None)(nlp))
    with pytest.raises(T2VError, match="T001.*nowhere"):
        next(trial_corpus(tmp_path / "nowhere.jsonl")(nlp))
    path = tmp_path / "short.jsonl"
    write(path, make_training_trials()[4:])
    with pytest.raises(T2VError, match="T132.*1 have fewer than 2 sections.*min_sect"):
        next(trial_corpus(path)(nlp))
    assert ids(trial_corpus(path, min_sections=1)(nlp)) == ["5"]


def test_refused_records_are_counted_and_named(nlp, records):
    with records.open("a", encoding="utf8") as file:
        file.write("{broken\n")
    message = "T138.*2 of 6 trials.*1 have fewer than 2 sections.*line 6"
    with pytest.warns(UserWarning, match=message):
        assert len(list(trial_corpus(records)(nlp))) == 4


def test_a_record_of_nothing_is_passed_over_and_counted(nlp, tmp_path):
    trials = [
        Trial("NCT90000601", conditions=("Gout",), interventions=(Intervention("Rest"),)),
        Trial("NCT90000602"),
    ]  # fmt: skip
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(json.dumps(trial.to_dict()) for trial in trials))
    with pytest.warns(UserWarning, match="T138.*1 of 2 trials"):
        (example,) = trial_corpus(path)(nlp)
    # The empty title is no word either.
    assert shown(example)["text"] == "Gout\nRest"


def test_a_prepared_file_is_known_by_its_lines(tmp_path, prepared, records):
    assert is_prepared(prepared)
    assert not is_prepared(records)
    assert not is_prepared(tmp_path)
    other = tmp_path / "trials.csv"
    other.write_text(prepared.read_text())
    assert not is_prepared(other)
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    assert not is_prepared(binary)


def test_training_docs_do_not_make_the_strings_grow(nlp, prepared):
    corpus = trial_corpus(prepared, knowledge_views(names_per_trial=4), shuffle=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(30):
            list(corpus(nlp))
        before = len(nlp.vocab.strings)
        for _ in range(30):
            list(corpus(nlp))
    assert len(nlp.vocab.strings) - before < 5


def test_a_training_doc_survives_a_copy(nlp):
    """spaCy copies each Doc before it is used."""
    trial = make_training_trials()[0]
    make = knowledge_views()
    import numpy

    views = make(dict(trial.sections), trial.mentions, toy_kb(), numpy.random.default_rng(0))  # fmt: skip
    doc = make_training_doc(nlp, trial, views)
    copied = doc.copy()
    for key in ("sections", "views"):
        for one, two in zip(doc.spans[key], copied.spans[key], strict=True):
            assert (one.text, one.label_, one.id_, one.kb_id_) == (two.text, two.label_, two.id_, two.kb_id_)  # fmt: skip
    assert copied._.concepts == doc._.concepts
    assert [view.text for view in views] == [span.text.strip() for span in copied.spans["views"]]  # fmt: skip


def test_a_training_trial_survives_json():
    for trial in make_training_trials():
        data = json.loads(json.dumps(trial.to_dict()))
        assert TrainingTrial.from_dict(data) == trial
