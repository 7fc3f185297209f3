"""What an evaluation is made of: its settings, and records and vectors that are read
and made when first asked for, so that a run in which nothing is new reads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from time import perf_counter
from typing import Any

from ...errors import Errors, error
from ...ml.backbone import find_backbone
from ...termination.splits import date_split
from ...training.termination_trials import LabelledTrial, encode_trials
from ..experiments.inputs import content_hash, plain_hash
from ..experiments.machine import provenance
from ..experiments.results import read_result, write_result
from ..systems import make_system
from ..systems.base import VectorSystem
from .groups import LEAST
from .records import Records, read_records


@dataclass(frozen=True)
class StudySettings:
    """records: In any format `read_trials` reads. encoder: Pipeline that makes trial
    vectors. config: `spacy train` config of the classifier. cache: Folder that keeps
    vectors; None is a folder in that of the results. cutoff: Of the split by date.
    seeds: Random splits, and trainings of what a seed decides, from seed 0.
    limit, study_type: See `read_records`. word2vec: Whether it has a row. backbone: Of
    TrialBERT, None for no row. finetuned: Config that trains the encoder along, None
    for no row; it has one run of a split, since it takes long. complete_only: Leave out
    the tables of all records. rounds: Of resampling.
    least: Trials of a group of like records.
    RAISES (T2VError): T026 for less than one seed, T147 for a cut-off that is no day.
    """

    records: Path
    encoder: Path
    config: Path = Path("configs/termination.cfg")
    cache: Path | None = None
    cutoff: str = "2012-01-01"
    seeds: int = 3
    limit: int = 0
    study_type: str | None = "INTERVENTIONAL"
    word2vec: bool = True
    backbone: str | None = None
    finetuned: Path | None = None
    complete_only: bool = False
    rounds: int = 1000
    least: int = LEAST

    def __post_init__(self) -> None:
        if self.seeds < 1:
            reason = "at least one"
            raise error(Errors.T026, setting="seeds", value=self.seeds, reason=reason)
        date_split((), self.cutoff)  # now, not after the rows of a random split


class StudyInputs:
    """work: Folder for the vectors if the settings have no `cache`.
    RAISES (T2VError T001): A file of the settings is not there."""

    def __init__(self, settings: StudySettings, work: Path) -> None:
        self.settings, self._cache = settings, settings.cache or work
        self.hashes: dict[str, str | None] = {
            "records": content_hash(settings.records),
            "config": content_hash(settings.config),
            "encoder": _place_hash(settings.encoder),
        }
        if settings.finetuned:
            self.hashes["finetuned"] = content_hash(settings.finetuned)
        if settings.backbone:
            place = Path(find_backbone(settings.backbone))
            self.hashes["backbone"] = _place_hash(place)

    @property
    def about_records(self) -> dict[str, Any]:
        """Plain values that decide `records`."""
        given = self.settings
        return {
            "sha256": self.hashes["records"],
            "study_type": given.study_type,
            "limit": given.limit,
        }

    @cached_property
    def records(self) -> Records:
        given = self.settings
        return read_records(
            given.records, study_type=given.study_type, limit=given.limit
        )

    @cached_property
    def trials(self) -> list[LabelledTrial]:
        """The records with the vectors of the encoder."""
        start = perf_counter()
        trials = encode_trials(
            self.records.trials, self.settings.encoder, self._vectors
        )
        self._keep_cost(len(trials), perf_counter() - start)
        return trials

    @cached_property
    def trialbert(self) -> VectorSystem:
        """Keeps the vector of each text it has seen, for all rows."""
        system = make_system(
            "trialbert",
            backbone=self.settings.backbone,
            cache=self._cache / "trialbert",
        )
        assert isinstance(system, VectorSystem)
        return system

    @property
    def cost(self) -> dict[str, Any] | None:
        """trials, seconds and where it was made, of the vectors of `trials`."""
        return read_result(self._cost_file) if self._cost_file.is_file() else None

    @property
    def about_encoder(self) -> list[Any]:
        """Plain values that decide the vectors of `trials`."""
        return [self.settings.encoder.name, self.hashes["encoder"]]

    @property
    def _vectors(self) -> Path:
        """Other records do not write over the vectors of these."""
        key = plain_hash([self.about_records, self.about_encoder])
        return self._cache / f"vectors-{key[:12]}"

    @property
    def _cost_file(self) -> Path:
        return self._vectors.with_suffix(".json")

    def _keep_cost(self, trials: int, seconds: float) -> None:
        """The highest seen counts: a later run takes vectors from the cache."""
        if (self.cost or {"seconds": -1.0})["seconds"] < seconds:
            found = {"trials": trials, "seconds": round(seconds, 1)}
            write_result(self._cost_file, found | {"made": provenance()})


def _place_hash(place: Path) -> str | None:
    """None for what is neither a folder nor installed nor in the cache of the hub."""
    if place.exists():
        return content_hash(place)
    name = place.as_posix()
    return _package_hash(name) or _hub_hash(name)


def _package_hash(name: str) -> str | None:
    """Of the checksums with which a package was installed."""
    try:
        record = distribution(name).read_text("RECORD")
    except (PackageNotFoundError, ValueError):
        return None
    return plain_hash(record) if record else None


def _hub_hash(name: str) -> str | None:
    """Of the revision of a model of the hub that is in its cache."""
    from huggingface_hub import try_to_load_from_cache

    try:
        config = try_to_load_from_cache(name, "config.json")
    except ValueError:  # not a name of the hub
        return None
    return plain_hash(Path(config).parent.name) if isinstance(config, str) else None
