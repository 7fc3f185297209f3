"""An index that changes on disk is served anew, and no request is cut short."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.search.build import META
from t2v_spacy.serve import library as module
from t2v_spacy.serve.answers import Models
from t2v_spacy.serve.library import Library

from .conftest import make_client, nct, served_trials, write_index


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll; the limit of pytest-timeout ends it."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.01)


@pytest.fixture
def folder(tmp_path):
    return write_index(tmp_path / "index", served_trials()[:6])


def test_a_replaced_index_is_opened_and_the_old_one_stays_usable(folder):
    library = Library(folder)
    first = library.current()
    assert library.current() is first
    write_index(folder, served_trials()[:9])
    assert library.current() is first  # it does not wait
    wait_until(lambda: len(library.current().index) == 9)
    assert library.current().facets["total"] == 9
    assert library.failure is None
    # What a running request holds answers on, though its files have gone.
    assert len(first.index) == 6
    assert first.index[nct(5)].conditions == ("anaemia",)
    assert first.index.filter_report({"country": "France"}).matching == 3
    assert first.index.search(nct(1), 3)


def test_a_server_goes_on_through_a_replacement(folder):
    with make_client(Library(folder), Models()) as client:

        def total() -> int:
            answer = client.get("/api/v1/health")
            assert answer.status_code == 200
            return answer.json()["index"]["n_items"]

        assert total() == 6
        shutil.move(folder, folder.with_name("away"))
        assert total() == 6
        write_index(folder, served_trials()[:7])
        wait_until(lambda: total() == 7)
        assert client.get(f"/api/v1/records/{nct(6)}").status_code == 200


def test_a_damaged_replacement_is_not_served(folder):
    library = Library(folder)
    first = library.current()
    (folder / META).write_text("{}")
    wait_until(lambda: library.current() is first and library.failure is not None)
    assert "T04" in library.failure
    library.current()
    write_index(folder, served_trials()[:8])
    wait_until(lambda: len(library.current().index) == 8)
    assert library.failure is None


def test_an_index_that_changes_while_it_is_opened_is_opened_again(folder, monkeypatch):
    library = Library(folder)
    opens = []

    real = module.open_edition

    def patched(path):
        edition = real(path)
        opens.append(len(edition.index))
        if len(opens) == 1:
            write_index(folder, served_trials()[:9])
        return edition

    monkeypatch.setattr(module, "open_edition", patched)
    write_index(folder, served_trials()[:7])
    wait_until(lambda: len(library.current().index) == 9)
    assert opens == [7, 9]


def test_no_index_at_the_start_is_an_error(tmp_path):
    with pytest.raises(T2VError, match="T001"):
        Library(tmp_path / "none")
