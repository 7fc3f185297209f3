"""Tasks from the hub: the fifteen through mteb, the other five through datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import Errors, error
from .encoders import Encoder
from .libraries import library
from .mteb_encoder import as_mteb
from .probe import Items, Probe, divide
from .score import NoData, Score
from .tasks import HubData, SuiteTask


def load_mteb(task: SuiteTask) -> Any:
    """The task of mteb with its data. RAISES (NoData): They cannot be loaded."""
    mteb = library("mteb", task.name)
    found = mteb.get_task(task.mteb, hf_subsets=list(task.subsets) or None)
    try:
        found.load_data()
    except Exception as err:  # whatever the hub's client or a data set's code raises
        raise NoData(_reason(err)) from err
    return found


def score_mteb(task: SuiteTask, loaded: Any, encoder: Encoder) -> Score:
    """mteb's main score, the mean over subsets; mteb gives no interval.

    RAISES (T206): mteb fails.
    """
    mteb = library("mteb", task.name)
    try:
        result = mteb.evaluate(
            as_mteb(encoder),
            loaded,
            cache=None,
            co2_tracker=False,
            show_progress_bar=False,
        )
        found = result.task_results[0]
        value = float(found.get_score())
    except Exception as err:  # an hour of other tasks must not be lost by it
        raise error(Errors.T206, task=task.name, reason=_reason(err)) from err
    return Score(value, None, None, 0)


def load_own(task: SuiteTask) -> Probe:
    """Items of one of the five. RAISES (NoData): They cannot be loaded."""
    datasets = library("datasets", task.name)
    hub = task.hub
    if hub is None:
        raise NoData("the hub does not have it")
    try:
        found = datasets.load_dataset(hub.path, hub.config, revision=hub.revision)
        if hub.test is None:
            train, test = divide(_items(found[hub.train], hub, task.many))
        else:
            train, test = (
                _items(found[part], hub, task.many) for part in (hub.train, hub.test)
            )
    except Exception as err:  # as above; a column that was renamed, too
        raise NoData(_reason(err)) from err
    return Probe(task.name, train, test)


def _items(rows: Any, hub: HubData, many: bool) -> Items:
    feature = rows.features[hub.label]
    names = getattr(getattr(feature, "feature", feature), "int2str", str)
    texts, labels = [], []
    for text, given in zip(rows[hub.text], rows[hub.label], strict=True):
        found: Sequence[Any] = given if many else [given]
        own = tuple(sorted({names(one) for one in found if one is not None}))
        own = tuple(name for name in own if name not in hub.ignored)
        if text and (own or many):
            texts.append(text)
            labels.append(own)
    return Items(tuple(texts), tuple(labels))


def _reason(err: Exception) -> str:
    text = str(err).strip().split("\n")[0].rstrip(".")
    return f"{type(err).__name__}: {text}" if text else type(err).__name__
