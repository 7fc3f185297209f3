"""What the search of this package answers to what was asked, as plain JSON values.

The one file that knows how search, reasons, comparisons and exports are called. Nothing
here is kept from one request to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..cli_predict import predict_trials
from ..errors import T2VError
from ..search import Filters, Hit, TrialIndex
from ..search.composed import Composed
from ..search.filters import read_value
from ..search.fingerprint import vector_fingerprint
from ..search.query_ids import read_ids
from ..trial import Trial
from ..trial_text import parse_trial
from . import facts
from .failures import Refusal, refuse
from .heap import give_back
from .library import Edition
from .requests import MAX_K, MAX_LIKE, Export, Filtered, Risk, Search
from .vocabulary import forgetting

if TYPE_CHECKING:
    from spacy.language import Language

P = ParamSpec("P")
T = TypeVar("T")
_ECHO = 200  # characters of a text that an answer repeats
_EXPLAINED = 200  # pairs of a hit and what it is compared with
# spaCy's tokenizer takes time that grows with the square of what has no blank in it.
_LONG_RUN = re.compile(r"\S{100}")


@dataclass(frozen=True)
class Models:
    """nlp: encodes texts, None if only ids can be searched by. risk: was trained on
    termination, None without."""

    nlp: Language | None = None
    risk: Language | None = None


def _forgetful(answer: Callable[P, T]) -> Callable[P, T]:
    @wraps(answer)
    def answer_and_forget(*args: P.args, **kwargs: P.kwargs) -> T:
        models = next(arg for arg in args if isinstance(arg, Models))
        try:
            with forgetting({nlp for nlp in (models.nlp, models.risk) if nlp}):
                return answer(*args, **kwargs)
        finally:
            give_back()

    return answer_and_forget


def warm(models: Models) -> None:
    """Load what the first explanation would wait for."""
    from ..search.reasons import explain

    explain("", Trial(""), nlp=models.nlp)


@_forgetful
def search(edition: Edition, models: Models, ask: Search) -> dict[str, Any]:
    """A page of results. RAISES: T2VError, Refusal."""
    filters = read_filters(ask.filters)
    hits = _hits(edition, models, ask, filters)
    index = edition.index
    report = index.filter_report(filters) if filters else None
    reasons: list[Any] = [None] * len(hits)
    if ask.reasons:
        reasons = _explain(edition, models, ask, hits)
    return {
        "query": _echo(ask),
        "total": report.matching if report else len(index),
        "k": ask.k,
        "offset": ask.offset,
        "notes": report.lines(_name_of_filter) if report else [],
        "hits": [
            {
                "nct_id": hit.nct_id,
                "rank": hit.rank,
                "score": None if isnan(hit.score) else round(hit.score, 4),
                "title": trial.title or trial.official_title,
                "ranks": hit.ranks,
                "sections": {k: round(v, 4) for k, v in hit.why.items()},
                "facts": facts.card(trial),
                "reasons": why,
            }
            for hit, why in zip(hits, reasons, strict=True)
            for trial in (hit.trial,)
        ],
    }


@_forgetful
def to_export(
    edition: Edition, models: Models, ask: Export
) -> tuple[list[Hit], list[str | None] | None]:
    """The results, and the main reasons of each in a line; None of the last ones of
    very many, or if they were not asked for. RAISES as `search`."""
    hits = _hits(edition, models, ask, read_filters(ask.filters))
    if not ask.reasons:
        return hits, None
    found = _explain(edition, Models(), ask, hits)
    return hits, [why["line"] if why else None for why in found]


def export(hits: list[Hit], lines: list[str | None] | None, format: str) -> bytes:
    """Results as the bytes of a file. Their records are read, which needs no model."""
    from ..search.export import export_hits

    with TemporaryDirectory(prefix="t2v-export-") as folder:
        path = Path(folder) / "trials"
        export_hits(
            hits,
            path,
            format="jsonl" if format == "json" else format,
            reasons=lines,
            bom=format == "csv",
        )
        data = path.read_bytes()
    return b"[%s]" % b",".join(data.splitlines()) if format == "json" else data


def record(edition: Edition, nct_id: str, whole: bool) -> dict[str, Any]:
    return facts.record(edition.index[nct_id], whole)


@_forgetful
def compare(edition: Edition, models: Models, ids: list[str]) -> dict[str, Any]:
    """Two to five trials side by side. RAISES (T043); T185 for one given twice."""
    from ..search.compare import compare as compare_trials

    trials = [edition.index[nct_id] for nct_id in ids]
    names = [trial.nct_id for trial in trials]
    if len(set(names)) < len(names):
        raise refuse("ids: a trial is given twice", field="ids")
    found = compare_trials(trials, nlp=models.nlp).to_dict()
    cards = {trial.nct_id: facts.card(trial) for trial in trials}
    return {**found, "ids": names, "cards": cards}


@_forgetful
def risk(edition: Edition, models: Models, ask: Risk) -> dict[str, Any]:
    """How likely a trial of the index, or a draft, is to be terminated."""
    if models.risk is None:
        remedy = "Start `t2v serve` with --termination."
        raise refuse("there is no model of termination", remedy, status=404)
    if bool(ask.id) == bool(ask.text.strip()):
        raise refuse("give either id or text", field="id")
    draft = _readable(ask.text)
    trial = edition.index[ask.id] if ask.id else parse_trial(draft, "draft")
    index = edition.index if _compares(models.risk, edition.index) else None
    found = next(predict_trials(models.risk, [trial], index))
    return {**found.to_dict(), "nct_id": trial.nct_id if ask.id else None}


def _compares(nlp: Language, index: TrialIndex) -> bool:
    """Whether the vectors of a pipeline may be compared with those of an index."""
    width, made = _vectors_of(nlp)
    known = index.meta.get("fingerprint")
    return width == index.meta["width"] and known in (None, made)


@lru_cache(maxsize=1)
def _vectors_of(nlp: Language) -> tuple[int | None, str | None]:
    """Width, and what they are made with."""
    vector = nlp("a")._.trial_vector
    return None if vector is None else len(vector), vector_fingerprint(nlp)


def read_filters(given: Filtered) -> Filters:
    """RAISES (Refusal): A value that is not known, with the name of its filter."""
    for name, value in given.given().items():
        try:
            read_value(name, value)
        except T2VError as err:
            raise Refusal(err, f"filters.{name}") from err
    try:
        return Filters.of(given.given())
    except T2VError as err:
        raise Refusal(err, "filters") from err


def _hits(edition: Edition, models: Models, ask: Search, filters: Filters) -> list[Hit]:
    """Of one page."""
    for nct_id in filter(None, (ask.id, *ask.like, *ask.unlike)):
        edition.index.vector(nct_id)  # a text that is no id must not pass for one
    found = edition.index.search(
        _query(ask, edition.index),
        ask.offset + ask.k,
        against=ask.against,
        nlp=models.nlp,
        exact=ask.k > MAX_K,  # trees take longer to find so many
        filters=filters,
        hybrid=ask.hybrid,
    )
    return found[ask.offset :]


def _query(ask: Search, index: TrialIndex) -> Any:
    """What the index is searched with. A text that is the whole query is searched with
    as it is; with more beside it, it is one of the trials to be like."""
    if ask.id is not None and ask.text.strip():
        raise refuse("give either id or text", field="id")
    # A part of weight 0 does not count; 1 is as usual, which needs no saying.
    counted = {label: part for label, part in ask.parts.items() if part.weight}
    parts = {label: _readable(p.text) for label, p in counted.items() if p.text.strip()}
    weights = {label: p.weight for label, p in counted.items() if p.weight != 1}
    start = [ask.id] if ask.id is not None else [_readable(ask.text)]
    start = [one for one in start if one.strip()]
    several = read_ids(index, ask.text) if ask.text.strip() else []
    if len(several) > MAX_LIKE:
        raise refuse(f"the text is more than {MAX_LIKE} ids", field="text")
    if start and not (parts or weights or ask.like or ask.unlike):
        return start[0]
    if not (parts or ask.like or start):
        reason = "there is nothing to search with"
        raise refuse(reason, "Give text, id, parts or like.", "text")
    return Composed(
        parts=parts, weights=weights, like=[*start, *ask.like], unlike=ask.unlike
    )


def _explain(
    edition: Edition, models: Models, ask: Search, hits: list[Hit]
) -> list[dict[str, Any] | None]:
    """The reasons of each hit; None for the last ones of very many."""
    from ..search.reasons import explain_hits

    starts = len(ask.like) + max(1, len(read_ids(edition.index, ask.text)))
    some = hits[: max(1, _EXPLAINED // starts)]
    asked = _query(ask, edition.index)
    found = explain_hits(edition.index, asked, some, models.nlp)
    left_out = [None] * (len(hits) - len(some))
    return [*(reasons.to_dict() for reasons in found), *left_out]


def _readable(text: str) -> str:
    return _LONG_RUN.sub(r"\g<0> ", text)


def _echo(ask: Search) -> dict[str, Any]:
    return {
        "text": ask.text[:_ECHO],
        "id": ask.id,
        "parts": sorted(ask.parts),
        "like": ask.like,
        "unlike": ask.unlike,
    }


def _name_of_filter(name: str) -> str:
    return name.replace("_", " ")
