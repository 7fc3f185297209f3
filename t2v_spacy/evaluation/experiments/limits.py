"""What the figures of a report do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .markdown import safe


def limits(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Lines of the report's last section, with what its own benchmarks are."""
    seen: dict[str, Mapping[str, Any]] = {}
    for data in found.values():
        for part in data.get("tables", ()):
            if part["facts"]:
                seen.setdefault(part["benchmark"], part["facts"])
    for name, facts in seen.items():
        yield (
            f"- {safe(name)}: {facts['queries']} queries. Labelled "
            f"{safe(facts['labelled_by'], 400)}. {safe(facts['seen'], 400)}".rstrip()
        )
    yield from (f"- {text}" for text in _ALWAYS)
    if any(not facts["closed"] for facts in seen.values()):
        yield (
            "- Where a whole corpus is ranked, a trial that nobody judged counts as "
            "not relevant, though some are: such figures are too low, and only compare "
            "systems."
        )
    if any(facts["clusters"] for facts in seen.values()):
        yield (
            "- Queries of one cluster (a review) are no independent evidence; few "
            "clusters give wide and themselves uncertain intervals."
        )
    if "map" in found:
        yield (
            "- The disease groups of the map are linked by a program, with its errors, "
            "and a trial of two groups counts in one. t-SNE keeps neighbours, not "
            "distances; the agreement is measured in the vectors, not on the map."
        )


_ALWAYS = (
    "Labels that were seen while systems were made give no estimate for queries that "
    "nobody has seen.",
    "An interval says how far the mean would move with other queries drawn like these. "
    "It says nothing of other labellers, other diseases or other registries.",
    "p is two-sided, of a permutation test that swaps two systems query by query. It "
    "is not corrected for the number of comparisons; with so many, some fall below "
    "0.05 by chance alone.",
    "Systems that learn have read the text of the records, those that are ranked "
    "among them where the corpus holds them, but no label.",
    "Systems that learn have been trained with one seed; no interval holds what "
    "another would change.",
)
