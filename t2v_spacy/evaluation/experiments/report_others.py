"""The parts of a report beside the tables: sentence pairs, the map, the cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import plots
from .map_page import write_map_page
from .markdown import interval, safe, table
from .report_tables import failed, image

Data = Mapping[str, Any]


def pairs(data: Data, figures: Path) -> Iterator[str]:
    """The correlation of each system."""
    rows = [
        [
            safe(row["system"]),
            interval(*(row["spearman"][key] for key in ("value", "low", "high"))),
            f"{row['spearman']['pairs']}",
        ]
        for row in data["rows"]
    ]
    if rows:
        labelled = safe(data["rows"][0]["labelled_by"], 200)
        yield f"Spearman's correlation with the annotators; labelled {labelled}."
        yield ""
        yield from table(["system", "correlation (95 % interval)", "pairs"], rows)
    yield from failed(data)


def trial_map(data: Data, figures: Path) -> Iterator[str]:
    """The map and its page, and how far the vectors agree with disease groups."""
    if "failed" in data:
        yield from failed({"failed": [data]})
        return
    plots.plot_map(figures / "map.png", data)
    write_map_page(figures / "map.html", data)
    records = data["records"]
    yield (
        f"{len(data['ids']):,} trials of {safe(records['path'], 200)} (sha256 "
        f"{records['sha256'][:16]}), {safe(data['system'])}, t-SNE with perplexity "
        f"{data['perplexity']:.0f}; {data['without_vector']} trials without a vector "
        f"are left out. [Interactive page]({figures.name}/map.html)."
    )
    yield ""
    yield from image(figures / "map.png", "Map of trials")
    found = data["agreement"]
    if found is None:
        yield "There are fewer than two disease groups, so agreement means nothing."
        yield ""
        return
    pure, nmi = found["purity"], found["nmi"]
    rows = [
        [
            f"own group among the {found['neighbours']} nearest (cosine)",
            interval(pure["mean"], pure["low"], pure["high"]),
            f"{found['chance']:.3f} for neighbours at random",
        ],
        [
            f"normalised mutual information of k-means, {nmi['seeds']} seeds",
            interval(nmi["mean"], nmi["low"], nmi["high"]),
            "about 0 for clusters at random",
        ],
    ]
    yield (
        f"Agreement of the vectors with {len(found['groups'])} disease groups, over "
        f"{found['trials']:,} trials that are in one:"
    )
    yield ""
    yield from table(["measure", "value (95 %)", "to compare"], rows)


def cases(data: Data, figures: Path) -> Iterator[str]:
    """Each query with what the systems rank first, side by side."""
    rows = data["rows"]
    for number, case in enumerate(rows[0]["cases"] if rows else ()):
        yield f"### {safe(case['query'])}: {safe(case['title'], 200)}"
        yield ""
        found = [row["cases"][number]["hits"] for row in rows]
        most = max(map(len, found))
        body = [
            [
                f"{place + 1}",
                *(_hit(hits[place]) if place < len(hits) else "–" for hits in found),
            ]
            for place in range(most)
        ]
        yield from table(["#", *(safe(row["system"]) for row in rows)], body)
    if rows:
        yield (
            "In brackets the grade, where there is one; in italics the concepts of "
            "conditions and interventions that a program linked in both."
        )
        yield ""
    yield from failed(data)


def _hit(hit: Data) -> str:
    grade = "" if hit["grade"] is None else f" [{hit['grade']}]"
    shared = safe(", ".join(hit["shared"][:4]), 80)
    lines = [f"{safe(hit['id'])}{grade}", safe(hit["title"]), shared and f"*{shared}*"]
    return "<br>".join(filter(None, lines))
