"""A small invented base and two trials to explain."""

from __future__ import annotations

from functools import lru_cache

from t2v_spacy.kb.knowledge_base import Concept, KnowledgeBase
from t2v_spacy.trial import (
    Design,
    Enrollment,
    Intervention,
    Location,
    Outcome,
    Trial,
)
from t2v_spacy.values import PartialDate

CONCEPTS = (
    Concept("X:1", "Joint Diseases", types=("T047",)),
    Concept("X:2", "Gout", ("gouty arthritis",), ("T047",), parents=("X:1",)),
    Concept("X:3", "Arthrosis", types=("T047",), parents=("X:1",)),
    Concept("X:4", "Tophaceous Gout", types=("T047",), parents=("X:2",)),
    Concept("X:5", "Asthma", types=("T047",)),
    Concept("X:6", "Chronic Disease", types=("T047",)),
    Concept("X:7", "Long Cough", types=("T047",), parents=("X:6",)),
    Concept("X:8", "Long Itch", types=("T047",), parents=("X:6",)),
    Concept("X:20", "Colchicine", types=("T121", "T109")),
    Concept("X:21", "SGLT2 inhibitors", types=("T121",)),
    Concept("X:22", "Dapagliflozin", types=("T121", "T109")),
    Concept("X:23", "Empagliflozin", types=("T121", "T109")),
    Concept("X:24", "Placebo", ("placebos",), types=("T121",)),
    Concept("X:25", "Lovastatin", types=("T121", "T109")),
    Concept("X:26", "Simvastatin", types=("T121", "T109"), parents=("X:25",)),
    Concept(
        "X:27", "Interferon-alpha", ("interferon alfa-2a", "interferon alfa-2b"),
        types=("T121",),
    ),
)  # fmt: skip


@lru_cache(maxsize=1)
def toy_kb() -> KnowledgeBase:
    return KnowledgeBase.from_concepts(CONCEPTS, info={"name": "toy", "version": "1"})


def trial(number: int, conditions=(), drugs=(), criteria: str | None = None, **more):
    return Trial(
        f"NCT9{number:07}",
        conditions=tuple(conditions),
        interventions=tuple(Intervention(name) for name in drugs),
        eligibility=criteria,
        **more,
    )


ONE = trial(
    1,
    ["Gout"],
    ["Colchicine"],
    "Inclusion Criteria:\n\n- Age 18 years or older\n- Serum urate > 8 mg/dL\n\n"
    "Exclusion Criteria:\n\n- Pregnant or lactating women\n- Gouty tophi",
    title="Colchicine for painful gout, XYZ-1234",
    brief_summary="Does colchicine help?",
    phases=frozenset(("PHASE3",)),
    study_type="INTERVENTIONAL",
    design=Design(allocation="RANDOMIZED", masking="DOUBLE"),
    enrollment=Enrollment(100, False),
    status="RECRUITING",
    sex="ALL",
    min_age=18.0,
    sponsor_class="INDUSTRY",
    start_date=PartialDate("2020-03", "month"),
    locations=(Location(country="France"), Location(country="Chile")),
    outcomes=(Outcome("Pain at day 3"),),
)
TWO = trial(
    2,
    ["Tophaceous gout"],
    ["Colchicine 1 mg", "Placebo"],
    "Inclusion Criteria:\n\n- Serum urate > 7 mg/dL\n- Aged 21 years or older\n\n"
    "Exclusion Criteria:\n\n- Pregnancy or lactation\n- Serum urate > 12 mg/dL",
    title="XYZ 1234 or colchicine in gout",
    phases=frozenset(("PHASE2", "PHASE3")),
    study_type="INTERVENTIONAL",
    enrollment=Enrollment(120, True),
    sex="ALL",
    min_age=21.0,
    max_age=80.0,
    start_date=PartialDate("2020", "year"),
    locations=(Location(country="Chile"),),
    outcomes=(Outcome("Pain score at day 7"),),
)
