"""A toy knowledge base, and trials whose views can be checked by hand."""

from __future__ import annotations

from functools import lru_cache

from spacy.language import Language
from spacy.training import Example

from t2v_spacy.kb import Concept, KnowledgeBase
from t2v_spacy.training.knowledge_views import Mention, View
from t2v_spacy.training.training_trial import TrainingTrial, make_training_doc
from t2v_spacy.trial import Intervention, Outcome, Trial

DISEASE, DRUG = ("T047",), ("T121",)
CONCEPTS = [
    Concept("D:0", "Disease", (), DISEASE),
    Concept("D:1", "Joint disease", (), DISEASE, parents=("D:0",)),
    Concept("D:2", "Gout", ("Podagra",), DISEASE, parents=("D:1",)),
    Concept("D:3", "Osteoarthritis", ("Joint wear",), DISEASE, parents=("D:1",)),
    Concept("D:4", "Lung disease", (), DISEASE, parents=("D:0",)),
    Concept("D:5", "Asthma", ("Bronchial asthma",), DISEASE, parents=("D:4",)),
    Concept("R:0", "Drug", (), DRUG),
    Concept("R:1", "Colchicine", ("Colcrys",), DRUG, parents=("R:0",)),
    Concept("R:2", "Allopurinol", ("Zyloprim",), DRUG, parents=("R:0",)),
    Concept("R:3", "Placebos", ("placebo", "Dummy pill"), DRUG, parents=("R:0",)),
]
GOUT, ASTHMA, COLCHICINE, ALLOPURINOL, PLACEBO = "D:2", "D:5", "R:1", "R:2", "R:3"


@lru_cache
def toy_kb() -> KnowledgeBase:
    return KnowledgeBase.from_concepts(CONCEPTS, info={"name": "toy", "version": "1"})


def make_training_trials() -> list[TrainingTrial]:
    """Two of gout with different drugs, the first with a placebo, one of asthma, one of
    a fracture that links to nothing, and one with a single section."""
    rows = [
        {
            "title": "Colchicine against gout attacks",
            "condition": "Gout",
            "intervention": "Colchicine, Placebo",
            "summary": "Does it ease the pain of a hot big toe?",
            "eligibility": "Adults with a swollen toe",
        },
        {
            "title": "Allopurinol to keep urate low",
            "condition": "Gout, Kidney stones",
            "intervention": "Allopurinol, Placebo",
            "outcome": "Urate below six",
            "description": "Blood is drawn each month for a year.",
        },
        {
            "title": "Breathing lessons for children",
            "condition": "Asthma",
            "intervention": "Breathing lessons",
            "keyword": "wheeze",
            "summary": "Lessons at school, twice a week.",
        },
        {
            "title": "Early walking after hip fracture",
            "condition": "Hip fracture",
            "intervention": "Walking",
            "inclusion": "Over seventy years",
            "exclusion": "Unable to stand",
        },
        {"title": "A registry"},
    ]
    mentions = [
        [(COLCHICINE, "title", "Colchicine"), (GOUT, "title", "gout"),
         (GOUT, "condition", "Gout"), (COLCHICINE, "intervention", "Colchicine"),
         (PLACEBO, "intervention", "Placebo")],
        [(ALLOPURINOL, "title", "Allopurinol"), (GOUT, "condition", "Gout"),
         (ALLOPURINOL, "intervention", "Allopurinol")],
        [(ASTHMA, "condition", "Asthma")],
        [],
        [],
    ]  # fmt: skip
    return [
        TrainingTrial(f"NCT9000010{i}", sections, tuple(Mention(*m) for m in found))
        for i, (sections, found) in enumerate(zip(rows, mentions, strict=True), 1)
    ]


VIEWS = [
    [
        View("condition", "positive", "Podagra", GOUT),
        View("condition", "negative", "Asthma", ASTHMA),
        View("title", "positive", "Colcrys against gout attacks", COLCHICINE),
        View("title", "negative", "against gout attacks", ""),
        View("title", "negative", "Drug against gout attacks", "R:0"),
        View("other", "name", "Gout", GOUT),
        View("other", "name", "Podagra", GOUT),
    ],
    [View("title", "positive", "Zyloprim to keep urate low", ALLOPURINOL)],
    [
        View("condition", "positive", "Bronchial asthma", ASTHMA),
        View("other", "name", "Osteoarthritis", "D:3"),
        View("other", "name", "Joint wear", "D:3"),
    ],
    [],
    [],
]


def make_examples(nlp: Language, *, views: bool = True) -> list[Example]:
    """Examples of the training trials, with the views above."""
    docs = [
        make_training_doc(nlp, trial, made if views else ())
        for trial, made in zip(make_training_trials(), VIEWS, strict=True)
    ]
    return [Example(doc, doc) for doc in docs]


def make_records() -> list[Trial]:
    """Records with all that the reader has to join and cut, one of them too short."""
    return [
        Trial(
            "NCT90000201",
            title="Colchicine for gout flares",
            conditions=("Gout",),
            interventions=(Intervention("Colchicine", "DRUG"),),
            outcomes=(
                Outcome("Pain of the toe at day three"),
                Outcome("Joint swelling", "secondary"),
            ),
            brief_summary="Does colchicine ease pain in acute gout?",
            eligibility="Inclusion Criteria:\n\n- Adults with gout\n\n"
            "Exclusion Criteria:\n\n- Renal failure",
        ),
        Trial(
            "NCT90000202",
            title="Allopurinol or placebo in gout",
            conditions=("Gout", "Hyperuricemia"),
            interventions=(
                Intervention("Allopurinol", "DRUG"),
                Intervention("Placebo", "DRUG"),
            ),
            keywords=("urate", "gout"),
            eligibility="Adults with tophi",
        ),
        Trial(
            "NCT90000203",
            title="Breathing exercises for asthma",
            conditions=("Asthma",),
            interventions=(Intervention("Breathing exercises", "BEHAVIORAL"),),
            detailed_description="Children practise with a nurse. " * 8,
            eligibility="Children with asthma",
        ),
        Trial(
            "NCT90000204",
            title="Montelukast in asthma",
            conditions=("Asthma",),
            interventions=(Intervention("Montelukast", "DRUG"),),
            eligibility="Asthma since childhood",
        ),
        Trial("NCT90000205", title="A registry of rare cough"),
    ]
