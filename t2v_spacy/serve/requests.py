"""What may be asked, checked before anything is done: types, lengths, numbers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from ..plain import sound_text
from ..sections.labels import SECTION_LABELS

MAX_TEXT = 200_000  # bytes of UTF-8 of all texts of one query
MAX_K = 100
MAX_OFFSET = 990
MAX_EXPORT = 10_000
MAX_LIKE = 10
COMPARED = (2, 5)

_MANY_VALUES = 100
_WEIGHT = 10.0


def _bounded(text: str) -> str:
    text = sound_text(text)
    if len(text.encode()) > MAX_TEXT:
        raise ValueError(f"it is longer than {MAX_TEXT:,} bytes")
    return text


def _label(name: str) -> str:
    if name not in SECTION_LABELS:
        raise ValueError(f"known are {', '.join(SECTION_LABELS)}")
    return name


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


def _number_text(given: Any) -> Any:
    """A number, or two of them, as the text that filters read."""
    numbers = given if isinstance(given, list) else [given]
    plain = (int, float)
    if 1 <= len(numbers) <= 2 and all(type(one) in plain for one in numbers):
        if any(abs(one) > 1e6 for one in numbers):
            raise ValueError("it is out of range")
        return "-".join(f"{one:g}" for one in numbers)
    return given


Short = Annotated[str, Field(max_length=200)]
Text = Annotated[str, AfterValidator(_bounded)]
Id = Annotated[
    str, Field(min_length=1, max_length=100, description="Id or alias of a trial.")
]
Several = Annotated[
    list[Short], Field(max_length=_MANY_VALUES), BeforeValidator(_listed)
]
Day = Annotated[Short, BeforeValidator(_number_text)]
Label = Annotated[str, AfterValidator(_label)]
Weight = Annotated[float, Field(ge=0, le=_WEIGHT, allow_inf_nan=False)]
Against = Literal["trial", "section"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Filtered(Strict):
    """Filters by their names in `t2v_spacy.search.Filters`; of several values of one,
    one is enough."""

    phases: Several | None = None
    statuses: Several | None = None
    recruiting: bool | None = None
    study_type: Several | None = None
    intervention_types: Several | None = None
    started_after: Day | None = Field(
        default=None, description="2015, 2015-09 or 2015-09-04"
    )
    started_before: Day | None = None
    completed_after: Day | None = None
    completed_before: Day | None = None
    country: Several | None = None
    age: Day | None = Field(default=None, description='50, "18-65" or "6 months"')
    sex: Several | None = None
    healthy_volunteers: bool | None = None
    sponsor_class: Several | None = None
    has_results: bool | None = None
    condition_concept: Several | None = None
    intervention_concept: Several | None = None

    def given(self) -> dict[str, Any]:
        """The filters that are set."""
        return {n: getattr(self, n) for n in FILTERS if getattr(self, n) is not None}


FILTERS = tuple(Filtered.model_fields)


class Page(Strict):
    k: int = Field(default=10, ge=1, le=MAX_K, description="Results of a page.")
    offset: int = Field(
        default=0, ge=0, le=MAX_OFFSET, description="Results before it."
    )
    against: Against = Field(default="trial", description="What is compared.")


class SimpleSearch(Page, Filtered):
    """A search that fits an address: a text or an id, and filters."""

    text: Text = ""
    id: Id | None = None

    def whole(self) -> Search:
        return Search(
            text=self.text,
            id=self.id,
            filters=Filtered(**self.given()),
            k=self.k,
            offset=self.offset,
            against=self.against,
        )


class Part(Strict):
    """A section of the query. weight: how much more than usual it counts; without a
    text it is that of the section in `text`, `id` and `like`."""

    text: Text = ""
    weight: Weight = 1.0


class Search(Page):
    """A text, parts, and trials to be like or unlike, each of which may be left out.

    id: a trial of the index to start from, in place of a text. parts: by section label.
    """

    text: Text = ""
    id: Id | None = None
    parts: dict[Label, Part] = Field(default_factory=dict)
    like: list[Id] = Field(default_factory=list, max_length=MAX_LIKE)
    unlike: list[Id] = Field(default_factory=list, max_length=MAX_LIKE)
    filters: Filtered = Filtered()
    hybrid: bool = Field(default=False, description="Rank by words and concepts too.")
    reasons: bool = Field(default=True, description="Say why each trial was found.")

    @model_validator(mode="after")
    def _all_texts(self) -> Search:
        total = [self.text, *(part.text for part in self.parts.values())]
        if sum(len(text.encode()) for text in total) > MAX_TEXT:
            raise ValueError(f"its texts are longer than {MAX_TEXT:,} bytes together")
        return self


class Compare(Strict):
    ids: list[Id] = Field(min_length=COMPARED[0], max_length=COMPARED[1])


class Risk(Strict):
    """Of a trial of the index, or of a draft."""

    id: Id | None = None
    text: Text = ""


class Export(Search):
    format: Literal["csv", "json", "ris"] = "csv"
    k: int = Field(default=MAX_K, ge=1, le=MAX_EXPORT)
