"""One row of a table from its runs over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .groups import FIELDS
from .resampling import MEASURES

Run = Mapping[str, Any]
Values = Sequence[float | None]
_GROUPED = ("n", "share", "prevalence", "roc_auc", "pr_auc")
_AREAS = ("roc_auc", "pr_auc")


def summarise(runs: Sequence[Run]) -> dict[str, Any]:
    """`runs` themselves; over those that did not fail: `mean`, `low` and `high` of each
    measure, which are the range over the seeds; `intervals` and `against`, whose ends
    and differences are means over the seeds and whose p is the highest; `within`.
    `failed` is the first reason of a run that failed, and `code` its code. What is
    undefined in a run is undefined (None) here.
    """
    failed = next((run for run in runs if "failed" in run), {})
    done = [run for run in runs if "failed" not in run]
    found: dict[str, Any] = {
        "failed": failed.get("failed"),
        "code": failed.get("code"),
        "runs": list(runs),
    }
    if not done:
        return found
    values = [_values(run) for run in done]
    for name, over in (("mean", _mean), ("low", _least), ("high", _most)):
        found[name] = {key: over([v[key] for v in values]) for key in values[0]}
    found["intervals"] = {
        name: _ends([run["intervals"][name] for run in done]) for name in MEASURES
    }
    found["against"] = None
    if all(run["against"] for run in done):
        found["against"] = {
            name: _test([run["against"][name] for run in done]) for name in MEASURES
        }
    found["within"] = None
    if all(run["within"] for run in done):
        found["within"] = {
            name: _within([run["within"][name] for run in done]) for name in FIELDS
        }
    return found


def _values(run: Run) -> dict[str, float | None]:
    return {
        **run["scores"],
        "accuracy_at_half": run["accuracy_at_half"],
        "calibration_error": run["calibration"]["error"],
        "seconds": run["seconds"],
    }


def _ends(intervals: Sequence[Sequence[float] | None]) -> list[float] | None:
    there = [interval for interval in intervals if interval is not None]
    return np.mean(there, axis=0).tolist() if len(there) == len(intervals) else None


def _test(tests: Sequence[Mapping[str, float] | None]) -> dict[str, float] | None:
    there = [test for test in tests if test is not None]
    if len(there) < len(tests):
        return None
    found = {
        name: float(np.mean([test[name] for test in there]))
        for name in ("difference", "low", "high")
    }
    return found | {"p": max(test["p"] for test in there)}


def _within(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "groups": _mean([len(part["groups"]) for part in parts]),
        **{name: _mean([part[name] for part in parts]) for name in _GROUPED},
        "together": {
            name: _mean([part["together"][name] for part in parts]) for name in _AREAS
        },
    }


def _over(function: Callable[[Any], Any], values: Values) -> float | None:
    return None if None in values else float(function(values))


def _mean(values: Values) -> float | None:
    return _over(np.mean, values)


def _least(values: Values) -> float | None:
    return _over(min, values)


def _most(values: Values) -> float | None:
    return _over(max, values)
