"""Parts to learn from, to choose on and to test on: at random, or by time.

A random split is the paper's (70/10/20). It lets a model learn from trials that started
after those it is tested on; the split by date does not, and is nearer to use.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from ..errors import Errors, error
from ..trial import Trial
from ..values import PartialDate

_SHARES = (0.7, 0.1, 0.2)  # train, dev, test
_DEV_OF_EARLY = 1 / 8  # of train and dev together, as in _SHARES


@dataclass(frozen=True)
class Split:
    """Ids of each part. dropped: Trials in no part, by reason."""

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]
    dropped: dict[str, int]


def random_split(
    ids: Iterable[str],
    seed: int,
    *,
    groups: Mapping[str, Hashable | None] | None = None,
) -> Split:
    """Train, dev and test parts (70/10/20), decided by the seed and the set of ids
    alone.

    groups: Group (such as the sponsor) of each id. A group is kept in one part, so that
        the shares are met as well as its size allows; an id without one stands alone.
    """
    members: dict[Hashable, list[str]] = {}
    for nct_id in sorted(set(ids)):
        group = (groups or {}).get(nct_id)
        key = ("id", nct_id) if group is None else ("group", group)
        members.setdefault(key, []).append(nct_id)
    units = list(members.values())
    n = sum(map(len, units))
    ends = np.cumsum(_SHARES) * n
    parts: tuple[list[str], ...] = ([], [], [])
    start = 0
    for place in np.random.default_rng(seed).permutation(len(units)):
        middle = start + len(units[place]) / 2
        parts[min(2, int(np.searchsorted(ends, middle)))].extend(units[place])
        start += len(units[place])
    train, dev, test = (tuple(sorted(part)) for part in parts)
    return Split(train, dev, test, {})


def date_split(trials: Iterable[Trial], cutoff: str) -> Split:
    """What could have been learnt at the cut-off, and trials that started from then on.

    trials: Labelled ones; the status is not looked at. Of one id the first counts.
    cutoff (str): "2018-01-01".
    RETURNS: Of 80 trials to learn from, the 10 that started last are dev: a threshold
        and a temperature are chosen on what is nearest to the test part. Mind that of
        late starters only those that ended soon are there, and more of these were
        stopped. `dropped` counts "unknown at cut-off" (started before, no end before
        it), "astride the cut-off" (the start is not exact enough), and "undated" (no
        start, or started before and no date that tells when its outcome was known).
    RAISES (T2VError): T147 for a cut-off that is no day.

    A date of a year or month alone counts as its last day where something must be
    before the cut-off, and as its first where it must be after. When the outcome was
    known is the earlier of completion (unless it is only planned) and last update.
    """
    day = _cutoff(cutoff)
    reasons = ("unknown at cut-off", "astride the cut-off", "undated")
    dropped = dict.fromkeys(reasons, 0)
    early: list[tuple[date, str]] = []
    test: list[str] = []
    for trial in {t.nct_id: t for t in reversed(list(trials))}.values():
        start, known = _range(trial.start_date), _known_on(trial)
        if start is None or (known is None and start[1] < day):
            dropped["undated"] += 1
        elif start[0] >= day:
            test.append(trial.nct_id)
        elif start[1] >= day:
            dropped["astride the cut-off"] += 1
        elif known is None or known >= day:
            dropped["unknown at cut-off"] += 1
        else:
            early.append((start[0], trial.nct_id))
    ids = [nct_id for _, nct_id in sorted(early)]
    first_dev = len(ids) - round(_DEV_OF_EARLY * len(ids))
    return Split(
        tuple(sorted(ids[:first_dev])),
        tuple(sorted(ids[first_dev:])),
        tuple(sorted(test)),
        dropped,
    )


def _cutoff(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as err:
        raise error(Errors.T147, value=value) from err


def _range(day: PartialDate | None) -> tuple[date, date] | None:
    """First and last day it can mean; None if there is no valid date."""
    if day is None or not day.value:
        return None
    year, month, number = ([int(part) for part in day.value.split("-")] + [0, 0])[:3]
    if not year:
        return None
    last_month = month or 12
    last = number or monthrange(year, last_month)[1]
    return date(year, month or 1, number or 1), date(year, last_month, last)


def _known_on(trial: Trial) -> date | None:
    """The last day on which the outcome can have become known."""
    completion = trial.completion_date
    planned = completion is not None and completion.actual is False
    dates = [_range(None if planned else completion), _range(trial.last_updated)]
    return min((day[1] for day in dates if day), default=None)
