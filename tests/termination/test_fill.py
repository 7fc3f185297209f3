from __future__ import annotations

import numpy as np
import pytest

from t2v_spacy.termination.fill import (
    FILL_FIELDS,
    REQUIRED,
    fill_by_label,
    fill_vectors,
    is_complete,
)
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
    trial = Trial("NCT90000001", why_stopped="x", enrollment=Enrollment(0, True))
    assert not fill_vectors([trial]).any()
    assert fill_vectors([]).shape == (0, len(FILL_FIELDS))


def test_shares_by_label():
    trials = [
        Trial("NCT90000001", status="TERMINATED", title="A"),
        Trial("NCT90000002", status="WITHDRAWN"),
        Trial("NCT90000003", status="COMPLETED", title="C", sponsor="Acme"),
        Trial("NCT90000004", status="RECRUITING"),
    ]
    shares = fill_by_label(trials)
    assert shares["title"] == (0.5, 1.0)
    assert shares["sponsor"] == (0.0, 1.0)
    assert shares["status"] == (1.0, 1.0)
    with pytest.raises(ValueError, match="terminated and completed"):
        fill_by_label(trials[2:])


def test_complete_records_are_filled_alike_whatever_their_end(t2v_data):
    """The shared collection is merged from copies of which some hold one label only."""
    from itertools import islice

    from t2v_spacy.readers import read_trials

    path = t2v_data / "data" / "trials.jsonl.gz"
    trials = [t for t in islice(read_trials(path), 3000) if t.status]
    whole = [trial for trial in trials if is_complete(trial)]
    gaps = [
        max(abs(np.subtract(*fill_by_label(part)[name])) for name in FILL_FIELDS)
        for part in (trials, whole)
    ]
    assert gaps[1] < gaps[0]
