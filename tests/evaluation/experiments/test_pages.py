"""Plots, the page of the map, markdown: texts of records are not ours to trust."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from t2v_spacy.evaluation.experiments import plots
from t2v_spacy.evaluation.experiments.concepts import OTHER
from t2v_spacy.evaluation.experiments.map_page import write_map_page
from t2v_spacy.evaluation.experiments.markdown import interval, p_value, safe, table

EVIL = "</script><script>alert('1')</script><img src=x onerror=alert(2)> {{data}} \u2028 $\\frac$"
RESULT = {
    "system": "<b>Mine</b>",
    "places": [[0.0, 1.0], [1.0, 1.0], [4.0, 4.0], [5.0, 5.0]],
    "groups": ["Gout", "Gout", "Asthma", OTHER],
    "ids": ["N1", "N2", "N3", EVIL],
    "titles": [EVIL, "two", "", "four"],
}
PNG = b"\x89PNG\r\n"


def test_the_page_holds_its_data_and_runs_no_title(tmp_path):
    write_map_page(tmp_path / "map.html", RESULT)
    page = (tmp_path / "map.html").read_text("utf8")
    assert page.count("<script") == page.count("</script>") == 2
    assert "onerror" not in page.replace("onerror=alert(2)\\u003e", "")
    assert "&lt;b&gt;Mine&lt;/b&gt;" in page and "<b>" not in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert [p[4] for p in data["points"]] == RESULT["titles"]
    assert [g["name"] for g in data["groups"]] == ["Gout", "Asthma", OTHER]
    assert data["groups"][0]["median"] == [0.5, 1.0] and data["groups"][0]["size"] == 2
    assert [p[2] for p in data["points"]] == [0, 0, 1, 2]


def test_the_page_asks_nobody(tmp_path):
    write_map_page(tmp_path / "map.html", RESULT)
    page = (tmp_path / "map.html").read_text("utf8")
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|innerHTML|fetch\(|src=[\"']", page)


def test_a_map_is_drawn(tmp_path):
    plots.plot_map(tmp_path / "map.png", RESULT | {"system": "$x^"})
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)


def test_names_of_groups_do_not_lie_on_each_other():
    figure, (axis,) = plots.figure_of(ncols=1, width=6, rows=10)
    axis.scatter([0, 1], [0, 1])
    names = ["Nervous System Diseases", "Infections", "Neoplasms", "Eye Diseases"]
    texts = [
        plots._label(axis, n, np.array([i % 2, 0.5 + i / 100]), "#000000")
        for i, n in enumerate(names)
    ]
    plots._part(figure, axis, texts)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts]
    plot = axis.get_window_extent()
    assert all(plot.x0 < box.x0 and box.x1 < plot.x1 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_colours_of_groups():
    found = plots.group_colors(RESULT["groups"])
    assert list(found) == ["Gout", "Asthma", OTHER]
    assert found[OTHER] == plots.GREY
    many = [f"group {i}" for i in range(12)]
    assert len(set(plots.group_colors(many).values())) == 12


def test_rows_and_parts_are_drawn(tmp_path):
    rows = {"BM25": (0.5, 0.4, 0.6), "A $": (0.7, 0.7, 0.7)}
    plots.plot_rows(tmp_path / "a.png", {"map": rows, "ndcg@5": rows}, "toy")
    parts = {
        "BM25": {"title": (0.5, 0.4, 0.6), "condition": (0.5, 0.4, 0.6)},
        "A": {"title": (0.5, 0.4, 0.6), "title + condition": (0.5, 0.4, 0.6)},
    }
    plots.plot_parts(tmp_path / "b.png", parts, "map", "toy")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    assert (tmp_path / "b.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b\n\nc", r"a \| b c"),
        ("[x](http://a) <i>", r"\[x\](http://a) \<i\>"),
        (None, ""),
        ("word " * 30, "word " * 17 + "word…"),
    ],
)
def test_a_text_is_safe_in_a_table(text, expected):
    assert safe(text) == expected


def test_figures_of_a_table():
    assert interval(0.8944, 0.8, 1) == "0.894 (0.800 to 1.000)"
    assert interval(-0.1, -0.2, 0.05, sign=True) == "-0.100 (-0.200 to +0.050)"
    assert interval(None, None, None) == "–"
    assert (p_value(0.0004), p_value(0.0312)) == ("< 0.001", "0.031")
    assert table(["a", "b", "c"], [["1", "2", "x"]]) == [
        "| a | b | c |",
        "|---|---:|---|",
        "| 1 | 2 | x |",
        "",
    ]
