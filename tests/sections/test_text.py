"""Cleaning of registry text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2v_spacy.sections.text import (
    clean_line,
    clean_text,
    is_blank,
    restore_breaks,
    unescape_markdown,
    unwrap,
)

PIECES = [*"ab 1.-*\n\t~\\&;#", "\r\n", "\xa0", "\u200b", "&gt;", "A:", "  "]
MESSY = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@pytest.mark.parametrize("text", [None, "", "  ", "\r\n\t\r\n", "\u200b", "&#13;&#10;"])
def test_nothing_left_is_none(text):
    assert clean_text(text) is None
    assert clean_line(text) is None


def test_clean_text_normalises_entities_and_blanks():
    text = (
        "\r\n Age &gt;= 18&#13;&#10;\xa0&#8805; 38 &deg;C \t\r\n\r\n\r\n\r\nEnd\u200b "
    )
    assert clean_text(text) == "Age >= 18\n ≥ 38 °C\n\nEnd"


def test_only_closed_entities_are_decoded():
    assert clean_line("AT&T and A&para &amp; B&lt;5") == "AT&T and A&para & B<5"


def test_common_indentation_goes_and_nesting_stays():
    text = "\n        Inclusion:\n\n          -  one\n               more\n"
    assert clean_text(text) == "Inclusion:\n\n  -  one\n       more"
    assert clean_text("* a\n  * b") == "* a\n  * b"


def test_clean_line_folds_all_white_space():
    assert clean_line(" A\ttrial \r\n of\u2003x ") == "A trial of x"


@given(MESSY)
def test_cleaning_twice_changes_nothing(text):
    once = clean_text(text.replace("&", "and"))
    assert clean_text(once) == once


@given(MESSY)
def test_cleaning_keeps_every_other_character(text):
    text = text.replace("&", "and")
    kept = "".join((clean_text(text) or "").split())
    assert kept == "".join(text.replace("\u200b", "").split())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"Age \>= 18 and \< 75", "Age >= 18 and < 75"),
        (
            r"10\^9/L, \[0-10\], 50\~90, 1.5\*ULN, drug\_A",
            "10^9/L, [0-10], 50~90, 1.5*ULN, drug_A",
        ),
        (r"1\. one \- two \+ three \# four\!", "1. one - two + three # four!"),
        ("**Inclusion Criteria:**\n\n* a **b** c", "Inclusion Criteria:\n\n* a b c"),
        (r"and\or C:\dir", r"and\or C:\dir"),
        ("2 ** 3 ** 4", "2 ** 3 ** 4"),
    ],
)
def test_unescape_markdown(text, plain):
    assert unescape_markdown(text) == plain


WRAPPED = """This study compares two ways to give the drug to people who had a stroke
within the last day. It is done at

- Women and men who can give consent or whose next of kin can do so for them in the
  first six hours after the event

    1. nested entry that is also longer than one line of the page that was printed and
       goes on here
    2. short one
INCLUSION CRITERIA:
Adults only"""


def test_unwrap_joins_wrapped_lines_and_keeps_the_rest():
    assert unwrap(WRAPPED).split("\n") == [
        "This study compares two ways to give the drug to people who had a stroke "
        "within the last day. It is done at",
        "",
        "- Women and men who can give consent or whose next of kin can do so for them "
        "in the first six hours after the event",
        "",
        "    1. nested entry that is also longer than one line of the page that was "
        "printed and goes on here",
        "    2. short one",
        "INCLUSION CRITERIA:",
        "Adults only",
    ]


@pytest.mark.parametrize(
    "text", ["one\ntwo\nthree", "* a\n  * b", "x" * 300 + "\nnext"]
)
def test_unwrap_leaves_text_that_is_not_hard_wrapped(text):
    assert unwrap(text) == text


@given(st.lists(st.text(st.sampled_from("ab c.:-*1"), max_size=100)).map("\n".join))
def test_unwrap_changes_only_white_space(text):
    assert "".join(unwrap(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        (
            "Inclusion Criteria:~* At ~500 mL~* 50~90~Exclusion Criteria:~* None",
            "Inclusion Criteria:\n* At ~500 mL\n* 50~90\nExclusion Criteria:\n* None",
        ),
        ("- one~~- two", "- one\n\n- two"),
        (
            "given for up to (~5) days in~therapy",
            "given for up to (~5) days in\ntherapy",
        ),
        ("Age 18-65~2. Consent", "Age 18-65\n2. Consent"),
        ("no sign", "no sign"),
    ],
)
def test_restore_breaks(text, restored):
    assert restore_breaks(text) == restored


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "\xa0"])
def test_blank(text):
    assert is_blank(text)
    assert not is_blank(text + "a")
