"""A served index of invented trials, with a pipeline that hashes words."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from fastapi.testclient import TestClient  # noqa: E402

from t2v_spacy.cli_serve import uvicorn_config  # noqa: E402
from t2v_spacy.search import TrialIndex  # noqa: E402
from t2v_spacy.serve.answers import Models  # noqa: E402
from t2v_spacy.serve.app import make_app  # noqa: E402
from t2v_spacy.serve.library import Library  # noqa: E402
from t2v_spacy.serve.limits import LOOPBACK, Hosts, Limits  # noqa: E402
from t2v_spacy.trial import Enrollment, Location, Trial  # noqa: E402
from t2v_spacy.values import parse_date  # noqa: E402
from tests.search.toys import make_entry, make_nlp, make_trial, nct  # noqa: E402

PORT = 8765
N = 30
HOSTILE = "\"><script>document.title='owned'</script><img src=x onerror=alert(1)>"
STATUSES = ("COMPLETED", "RECRUITING", "TERMINATED")
PHASES = ({"PHASE1"}, {"PHASE2", "PHASE3"})


def served_trials() -> list[Trial]:
    """N trials: three statuses and two kinds of phase in turn, years from 2010 on, and
    one with markup for a title."""
    trials = [
        make_trial(
            number,
            status=STATUSES[number % 3],
            phases=frozenset(PHASES[number % 2]),
            study_type="INTERVENTIONAL",
            start_date=parse_date(f"{2010 + number % 5}-03"),
            enrollment=Enrollment(10 * number, True),
            sponsor=f"Sponsor {number % 4}",
            brief_summary=f"A summary of trial {number}.",
            eligibility="Inclusion Criteria:\n\n- Adults\n\n"
            "Exclusion Criteria:\n\n- Pregnancy",
            locations=(Location(country="Peru" if number % 2 else "France"),),
            sex="ALL",
        )
        for number in range(N - 1)
    ]
    return [*trials, replace(make_trial(N - 1), title=f"{HOSTILE} of anaemia")]


def write_index(folder: Path, trials: list[Trial] | None = None) -> Path:
    entries = [make_entry(trial) for trial in trials or served_trials()]
    meta = {"source": "toys", "pipeline": "toy"}
    TrialIndex.build(entries, meta=meta).to_disk(folder)
    return folder


@pytest.fixture(scope="session")
def toy_nlp():
    return make_nlp()


@pytest.fixture(scope="session")
def served_index(tmp_path_factory) -> Path:
    return write_index(tmp_path_factory.mktemp("served") / "my trials")


def make_client(library: Library, models: Models, limits: Limits | None = None):
    app = make_app(library, models, Hosts(LOOPBACK, PORT), limits)
    return TestClient(
        app, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False
    )


@pytest.fixture(scope="session")
def client(served_index, toy_nlp):
    with make_client(Library(served_index), Models(toy_nlp)) as client:
        yield client


@contextmanager
def running(library: Library, models: Models):
    """The address of a real server, in a thread, on a free port."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(
        uvicorn_config(make_app(library, models, Hosts(LOOPBACK, port)))
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


__all__ = ["HOSTILE", "N", "PORT", "make_client", "nct", "running", "write_index"]
