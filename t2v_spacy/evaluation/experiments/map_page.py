"""The map of trials as one HTML file: hover, zoom, groups on and off, search.

Titles come from strangers: they stand in the page as JSON without "<" and reach the
screen as text only; the page may load nothing and call nobody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ...files import replaced_file, writing
from .concepts import OTHER
from .plots import group_colors

PAGE = Path(__file__).with_name("map_page.html")


def write_map_page(path: Path, result: Mapping[str, Any]) -> None:
    """Write the page of a result of `MapJob`."""
    colors = group_colors(result["groups"])
    number = {name: i for i, name in enumerate(colors)}
    places, groups = np.array(result["places"]), np.array(result["groups"])
    medians = {
        name: np.median(places[groups == name], axis=0).round(2).tolist()
        for name in colors
        if name != OTHER
    }
    data = {
        "groups": [
            {
                "name": name,
                "color": color,
                "size": int((groups == name).sum()),
                "median": medians.get(name),
            }
            for name, color in colors.items()
        ],
        "points": [
            [x, y, number[group], name, title]
            for (x, y), group, name, title in zip(
                result["places"],
                result["groups"],
                result["ids"],
                result["titles"],
                strict=True,
            )
        ],
    }
    title = escape(f"{len(places):,} trials by t-SNE, {result['system']}")
    page = PAGE.read_text(encoding="utf8").replace("{{title}}", title)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as new:
            new.write_text(page.replace("{{data}}", script_json(data)), "utf8")


def script_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
