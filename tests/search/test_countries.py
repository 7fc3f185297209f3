from __future__ import annotations

import pytest

from t2v_spacy.search.countries import country_key


@pytest.mark.parametrize(
    "names",
    [
        ("United States", "USA", "u.s.", "U.S.A.", "The United States of America"),
        ("United Kingdom", "UK", "U.K.", "great britain"),
        ("South Korea", "Korea, Republic of", "Republic of Korea"),
        ("Turkey", "Turkey (Türkiye)", "Türkiye", "TURKIYE"),
        ("Côte D'Ivoire", "Cote d’Ivoire", "Ivory Coast"),
        ("Netherlands", "the Netherlands", "Holland"),
        ("Réunion", "reunion"),
    ],
)
def test_one_country_has_one_key(names):
    assert len({country_key(name) for name in names}) == 1


def test_countries_that_look_alike_are_kept_apart():
    names = "Niger,Nigeria,South Korea,North Korea,Korea,Congo,Guinea,Guinea-Bissau,DRC"
    assert len({country_key(name) for name in names.split(",")}) == 9
