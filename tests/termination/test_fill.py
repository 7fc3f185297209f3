from __future__ import annotations

import numpy as np

from t2v_spacy.termination.fill import (
    FILL_FIELDS,
    REQUIRED,
    fill_by_label,
    fill_vectors,
    is_complete,
)
from t2v_spacy.termination.labels import termination_label
from t2v_spacy.termination.registration import registration_view
from t2v_spacy.trial import Enrollment, Intervention, Outcome, Trial

WHOLE = {
    "title": "Tablet A in gout",
    "brief_summary": "Tablet A may ease gout.",
    "conditions": ("Gout",),
    "interventions": (Intervention("Tablet A"),),
    "outcomes": (Outcome("Pain"),),
    "eligibility": "Adults",
    "study_type": "INTERVENTIONAL",
    "sponsor": "Acme",
}


def test_a_record_without_a_required_field_is_not_complete():
    assert is_complete(Trial("NCT90000001", **WHOLE))
    for name in REQUIRED:
        rest = {key: value for key, value in WHOLE.items() if key != name}
        assert not is_complete(Trial("NCT90000001", **rest)), name


def test_zero_and_false_are_no_empty_fields():
    trial = Trial("NCT90000001", healthy_volunteers=False, min_age=0.0)
    row = dict(zip(FILL_FIELDS, fill_vectors([trial])[0], strict=True))
    assert [name for name, there in row.items() if there] == [
        "min_age",
        "healthy_volunteers",
    ]


def test_vectors_know_nothing_of_the_end():
    told = Trial("NCT90000001", why_stopped="x", enrollment=Enrollment(9, False))
    assert not fill_vectors([registration_view(told)]).any()
    assert "enrollment" not in FILL_FIELDS
    assert fill_vectors([]).shape == (0, len(FILL_FIELDS))


def test_shares_by_label():
    trials = [
        Trial("NCT90000001", title="A"),
        Trial("NCT90000002"),
        Trial("NCT90000003", title="C", sponsor="Acme"),
    ]
    shares = fill_by_label(fill_vectors(trials), [True, True, False])
    assert tuple(shares) == FILL_FIELDS
    assert shares["title"] == (0.5, 1.0)
    assert shares["sponsor"] == (0.0, 1.0)


def test_complete_records_are_filled_alike_whatever_their_end(t2v_data):
    """The shared collection is merged from copies of which some hold one label only."""
    from itertools import islice

    from t2v_spacy.readers import read_trials

    path = t2v_data / "data" / "trials.jsonl.gz"
    labelled = [
        (registration_view(trial), label)
        for trial in islice(read_trials(path), 3000)
        if (label := termination_label(trial.status)) is not None
    ]
    whole = [pair for pair in labelled if is_complete(pair[0])]
    gaps = []
    for part in (labelled, whole):
        views, gold = zip(*part, strict=True)
        shares = fill_by_label(fill_vectors(views), gold)
        gaps.append(max(abs(np.subtract(*pair)) for pair in shares.values()))
    assert gaps[1] < gaps[0]
