"""Made-up registry records of which the outcome can be told, and what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

from t2v_spacy.trial import Intervention, Outcome, Trial
from t2v_spacy.values import PartialDate

CONFIG = Path(__file__).parents[3] / "configs" / "test" / "termination.cfg"


def make_trial(i: int, *, ended: bool, year: int, whole: bool = True) -> Trial:
    """One of cough if it was terminated, else of gout; cut short unless it is whole."""
    disease = "Rare cough" if ended else "Gout"
    return Trial(
        f"NCT{i:08}",
        title=f"Tablet {i % 7} in {disease.lower()}",
        brief_summary=f"Does it ease {disease.lower()}?",
        conditions=(disease,),
        interventions=(Intervention(f"Tablet {i % 7}", "DRUG"),),
        outcomes=(Outcome("Ease at day 3"),) if whole else (),
        eligibility="Adults",
        study_type="INTERVENTIONAL",
        sponsor="A hospital" if whole else None,
        status="TERMINATED" if ended else "COMPLETED",
        start_date=PartialDate(f"{year}-03", "month"),
        completion_date=PartialDate(f"{year + 1}-03", "month", True),
    )


def make_records() -> list[Trial]:
    """72 whole records, half of them terminated, of 2006 to 2014; and 24 that are cut
    short, of which three in four are terminated."""
    whole = [make_trial(i, ended=i % 2 == 0, year=2006 + i // 2 % 9) for i in range(72)]
    cut = [
        make_trial(100 + i, ended=i % 4 > 0, year=2006 + i % 9, whole=False)
        for i in range(24)
    ]
    return [*whole, *cut]


def write(path: Path, trials: list[Trial]) -> Path:
    lines = [json.dumps(trial.to_dict()) + "\n" for trial in trials]
    path.write_text("".join(lines), encoding="utf8")
    return path
