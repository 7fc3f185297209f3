from __future__ import annotations

import itertools

import pytest

from t2v_spacy.readers import read_trials
from t2v_spacy.termination.wording import outcome_spans, without_outcome


def passages(text):
    """With single blanks."""
    return [" ".join(text[a:b].split()) for a, b in outcome_spans(text)]


TOLD = [
    "The study was terminated early due to low enrollment.",
    "This trial has been terminated as of August 2002 upon recommendation of the board.",
    "Study stopped before progressing to Phase II portion.",
    "THIS STUDY HAS BEEN DISCONTINUED.",
    "Study withdrawn.",
    "Trial terminated",
    "Study was withdrawn prior to enrollment.",
    "The study was prematurely closed because of funding issues.",
    "Prematurely closed due to low accrual.",
    "The trial never started.",
    "Slow accrual led to closure of the study.",
    "The study has been suspended.",
    "This study stopped accrual early with 19 subjects accrued out of 72 planned.",
    "The study A4001060 has been discontinued on April 22, 2008.",
    "It was decided to halt the study because of lack of overall efficacy.",
    "The decision to terminate the trial was not based on any safety concerns.",
    "The committee met in November 2015 and recommended the termination of the study.",
    "The DSMB recommended that the trial be stopped because of harm.",
    "Neither safety nor efficacy reasons were the cause of the study termination.",
    "The termination of the trial was not based on safety.",
    "In October 2008, accrual to the anemia arm was closed by the board.",
    "In June 2010 the recruitment was stopped due to lack of support.",
    "Recruitment was completed in July 1990.",
    "No participants were enrolled.",
    "The sponsor withdrew its funding.",
    "It is over; it terminated early because of toxicity.",
    "The study was completed in July 1986.",
    "This part closed to accrual as of 4/20/2009.",
    "The study was halted due to poor recruitment after 41 patients.",
    "Terminated early by the sponsor.",
    "Withdrawn before enrollment.",
]
PLANNED = [
    "Treatment will be terminated if toxicity occurs.",
    "The study will be terminated if 8 or more patients are misclassified.",
    "If 8 or more patients are misclassified, the study was terminated.",
    "The study was to be terminated upon an adverse event of Grade 3.",
    "The trial may be stopped early for futility.",
    "Medical termination of pregnancy during the second trimester.",
    "Patients who terminated prior therapy more than 4 weeks ago",
    "Patients who have withdrawn consent",
    "Blood pressure after drug withdrawal and alcohol withdrawal syndrome.",
    "Subjects will be withdrawn from the study after two missed visits.",
    "Non-responders and virological failures were terminated from the study.",
    "Study drug was stopped in all subjects with rash.",
    "The study drug was discontinued due to adverse events in earlier work.",
    "In a previous trial, the study was stopped early for harm.",
    "In the SMART study, therapy was stopped or deferred.",
    "A pilot study was terminated early because of harm.",
    "Number of adverse events that led to discontinuation of the study treatment",
    "Treatment lasts until progression, toxicity or study termination.",
    "After the study has been terminated, samples are destroyed.",
    "Once recruitment is closed the blind is broken.",
    "Cohort II will be closed to enrollment in September.",
    "Accrual for that cohort is stopped while data are reviewed.",
    "The decision to terminate the study will be made by the board.",
    "The trial was stopped when the subject no longer answered.",
    "Alveolar recruitment was stopped at 40 cm of water.",
    "Complete wound closure; patients with closed head injury.",
    "Suspended sediment; a suspension of the study product.",
    "Never smokers; patients who never started the study treatment.",
    "Subjects completed the study and results showed a benefit.",
    "Use of samples collected in a terminated protocol.",
    "Anti-inflammatory drugs discontinued 2 weeks before study entry.",
]


@pytest.mark.parametrize("sentence", TOLD)
def test_a_sentence_on_the_end_is_found_and_taken_out(sentence):
    text = f"Does colchicine ease pain?\n\n{sentence} Adults are seen twice."
    stop = "" if sentence[-1] == "." else "."
    text = text.replace(sentence, sentence + stop)
    assert passages(text) == [sentence + stop]
    kept = "Does colchicine ease pain?\n\nAdults are seen twice."
    assert without_outcome(text) == kept
    assert without_outcome(sentence) is None


@pytest.mark.parametrize("sentence", PLANNED)
def test_wording_of_a_protocol_stays(sentence):
    assert passages(sentence) == []
    assert without_outcome(sentence) == sentence


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Lonafarnib in Leukemia (Study P02978AM3)(TERMINATED)", "Lonafarnib in Leukemia (Study P02978AM3)"),
        ("Sunscreen Formulas (P08236) (COMPLETED)", "Sunscreen Formulas (P08236)"),
        ("Tablet A in gout [Terminated]", "Tablet A in gout"),
        ("Tablet A in gout (study withdrawn)", "Tablet A in gout"),
        ("WITHDRAWN: Tablet A in gout", "Tablet A in gout"),
        ("Tablet A in gout - Suspended", "Tablet A in gout"),
        ("Tablet A in gout - Terminated early", "Tablet A in gout"),
        ("Tablet A in gout: Withdrawn prior to enrollment", "Tablet A in gout"),
        ("Tablet A in gout - Prematurely Closed", "Tablet A in gout"),
        ("Tablet A in gout, Terminated Early", "Tablet A in gout"),
        ("Tablet A in gout - Study was stopped early due to low accrual.", "Tablet A in gout"),
        ("Prematurely terminated: Tablet A in gout", "Tablet A in gout"),
        ("Arm III (closed to accrual as of 4/20/2009)", "Arm III"),
    ],
)  # fmt: skip
def test_a_tag_of_a_title_goes_without_the_title(title, kept):
    assert len(passages(title)) == 1
    assert without_outcome(title) == kept


@pytest.mark.parametrize(
    "title",
    [
        "Termination of Atrial Fibrillation (TERMINATE-AF)",
        "Caffeine Withdrawal (Acute)",
        "Two Closure Techniques of Excised Keloids",
        "Patients Who Have Stopped Their Medication",
        "Antidepressants, stopped before study start",
    ],
)
def test_a_title_about_an_end_of_something_else_stays(title):
    assert without_outcome(title) == title


def test_only_the_innermost_brackets_go():
    text = (
        "Patients with tumors (sarcoma [closed to accrual as of 5/19/03] vs lymphoma) "
        "will get arm I (closed to accrual on 4/1/04): vincristine on day 1."
    )
    assert without_outcome(text) == (
        "Patients with tumors (sarcoma vs lymphoma) "
        "will get arm I: vincristine on day 1."
    )


def test_a_sentence_ends_where_it_ends():
    text = (
        "Results vs. Placebo count. This study was terminated on 27 October 2010 "
        "following a U.S. FDA clinical hold,\nwhich stopped dosing.The dose is 2.5 mg."
    )
    assert without_outcome(text) == "Results vs. Placebo count. The dose is 2.5 mg."


def test_a_sentence_may_begin_a_line_after_one_without_a_full_stop():
    text = "Adults with gout\nStudy was terminated due to low accrual."
    assert without_outcome(text) == "Adults with gout"
    other = "It was found that a pilot\nstudy was terminated due to low accrual."
    assert without_outcome(other) == other


def test_blanks_do_not_hide_a_passage():
    text = "Adults. No  participants\n were enrolled."
    assert passages(text) == ["No participants were enrolled."]
    assert without_outcome(text) == "Adults."


def test_lines_of_a_list_stay_lines():
    text = "- Adults\n- NOTE: accrual has been closed\n- Gout\n\nThe study was halted.\n\nEnd"
    assert without_outcome(text) == "- Adults\n- Gout\n\nEnd"
    assert passages(text) == [
        "- NOTE: accrual has been closed",
        "The study was halted.",
    ]


@pytest.mark.parametrize("text", [None, "", "Gout", "(", "[)(]", "closed"])
def test_nothing_to_find(text):
    assert without_outcome(text) == (text or None)


def test_real_records(t2v_data):
    """Of real trials few tell their end, and taking it out leaves nothing to take."""
    path = t2v_data / "data" / "trials_sample.jsonl"
    trials = list(itertools.islice(read_trials(path), 400))
    texts = [t.detailed_description for t in trials if t.detailed_description]
    assert len(texts) > 100
    changed = [text for text in texts if without_outcome(text) != text]
    assert len(changed) < 0.05 * len(texts)
    for text in changed:
        assert passages(without_outcome(text)) == []
