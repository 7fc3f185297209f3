"""Pairs from a data set of a hub, or of a folder that `datasets` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...errors import Errors, T2VError, error
from ...readers.report import Refusal
from .packages import need
from .pairs import PairReport, Sample, Source, make_pair
from .run_folder import pairs_digest

_SPEC = re.compile(
    r"(?P<name>[^:#]+?)(?:@(?P<config>[^:#]+))?(?::(?P<split>[^#]+))?#(?P<columns>.+)"
)
_FORM = "NAME[@CONFIG][:SPLIT]#ANCHOR,POSITIVE[,NEGATIVE]"


class HubColumns(NamedTuple):
    """What the columns of a data set are called. A negative may be a text or a list."""

    anchor: str
    positive: str
    negative: str | None = None


def parse_hub(spec: str) -> tuple[str, str | None, str, HubColumns]:
    """(name, config, split, columns) of "NAME[@CONFIG][:SPLIT]#ANCHOR,POSITIVE".

    The split is "train" by default. RAISES (T195): another form.
    """
    match = _SPEC.fullmatch(spec)
    columns = [c.strip() for c in match["columns"].split(",")] if match else []
    if match is None or len(columns) not in (2, 3) or not all(columns):
        remedy = f"Write {_FORM}."
        reason = "this does not say which columns are the pairs"
        raise error(Errors.T195, name=spec, reason=reason, remedy=remedy)
    split = match["split"] or "train"
    return match["name"], match["config"], split, HubColumns(*columns)


def load_hub_source(spec: str, most_pairs: int, seed: int = 0) -> Source:
    """Pairs of a data set, read as a stream, at most `most_pairs`, drawn by the seed.

    spec (str): As `parse_hub` reads it.
    RAISES (T192): `datasets` is missing. (T195): another form, no such data set or
    column, or no network.
    """
    name, config, split, columns = parse_hub(spec)
    need("datasets")
    from datasets import load_dataset

    remedy = (
        "Connect to the network, or save its pairs as JSON lines with 'anchor' and "
        "'positive' and give that file"
    )
    try:
        rows = load_dataset(name, config, split=split, streaming=True)
        source = source_of_rows(name, rows, columns, most_pairs, seed)
    except T2VError:
        raise
    except Exception as err:  # of many libraries, and of the network
        reason = str(err).split("\n")[0].rstrip(".") or type(err).__name__
        raise error(Errors.T195, name=name, reason=reason, remedy=f"{remedy}.") from err
    return source


def source_of_rows(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    columns: HubColumns,
    most_pairs: int,
    seed: int = 0,
) -> Source:
    """A source of rows that name their columns otherwise. RAISES (T195): no column of
    that name. Rows that are no pairs are refused in the source's report."""
    report, sample = PairReport(), Sample(most_pairs, seed)
    wanted = [column for column in columns if column]
    for number, row in enumerate(rows, 1):
        if lacking := [column for column in wanted if column not in row]:
            reason = f"it has no column '{lacking[0]}'"
            remedy = f"Its columns are {', '.join(row)}."
            raise error(Errors.T195, name=name, reason=reason, remedy=remedy)
        record = {
            "anchor": row[columns.anchor],
            "positive": row[columns.positive],
            "negative": row[columns.negative] if columns.negative else None,
        }
        try:
            pair = make_pair(record, number)
        except ValueError as err:
            report.refused.append(Refusal(name, f"row {number}", str(err)))
        else:
            report.read += 1
            sample.add(pair)
    report.repeated = sample.repeated
    short = name.rstrip("/").split("/")[-1]
    source = Source(short, sample.pairs(), "", report)
    return Source(short, source.pairs, pairs_digest([source]), report)
