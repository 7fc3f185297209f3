from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from t2v_spacy.compare_page import comparison_page
from t2v_spacy.search.compare import compare
from t2v_spacy.trial import Intervention

from .search.reasons_toys import ONE, TWO, toy_kb

EVIL = "<script>alert(1)</script><img src=x onerror=y>\"'&\x00\x1b"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)


def tags_of(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    return found


def test_matched_criteria_stand_in_one_row_with_what_differs_marked():
    page = comparison_page(compare([ONE, TWO], kb=toy_kb()))
    row = re.search(r"<tr><th scope=\"row\">differs</th>.*?</tr>", page).group()
    assert '<mark class="d">18</mark>' in row and '<mark class="d">21</mark>' in row


def test_shared_words_are_marked_on_both_sides():
    page = comparison_page(compare([ONE, TWO], kb=toy_kb()))
    assert "<mark>Colchicine</mark> for painful" in page
    assert "or <mark>colchicine</mark> in" in page


def test_facts_say_whether_they_agree():
    page = comparison_page(compare([ONE, TWO], kb=toy_kb()))
    assert '<span class="no">Phase 2/Phase 3</span>' in page
    assert '<span class="yes">Interventional</span>' in page


def test_text_of_a_record_is_never_markup():
    criteria = f"Inclusion Criteria:\n\n- {EVIL} tophus 3\n"
    outcomes = tuple(replace(o, measure=EVIL) for o in ONE.outcomes)
    bad = replace(
        ONE,
        title=EVIL,
        brief_summary=EVIL,
        conditions=(EVIL,),
        interventions=(Intervention(EVIL),),
        outcomes=outcomes,
        eligibility=criteria,
        status=EVIL,
    )
    page = comparison_page(compare([bad, bad], names=[EVIL, EVIL], kb=toy_kb()))
    found = tags_of(page)
    assert not {"script", "img", "link", "iframe", "a"} & set(found.tags)
    assert not any(name.startswith("on") for name in found.attributes)
    assert "&lt;script&gt;" in page and "\x1b" not in page and "\x00" not in page


def test_the_page_loads_nothing():
    page = comparison_page(compare([ONE, TWO], kb=toy_kb()))
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert "prefers-color-scheme: dark" in page


def test_long_lists_are_cut():
    many = replace(ONE, conditions=tuple(f"illness {i}" for i in range(20)))
    page = comparison_page(compare([many, TWO], kb=toy_kb()))
    assert "… and 5 more" in page and "illness 15<" not in page
