from __future__ import annotations

import json
import socket

import pytest

from t2v_spacy import cli_serve
from t2v_spacy.cli_serve import prepare
from t2v_spacy.errors import T2VError

SETTINGS = {
    "model": None,
    "host": "127.0.0.1",
    "port": 0,
    "termination": None,
    "allow_remote": False,
    "allow_host": (),
    "seconds": 30.0,
    "waiting": 32,
}


def prepared(index, **settings):
    app, listening = prepare(index, **{**SETTINGS, **settings})
    listening.close()
    return app, listening


def test_a_missing_pipeline_leaves_the_search_by_id(served_index, capsys):
    app, _ = prepared(served_index)
    out, err = capsys.readouterr()
    assert out == ""
    assert "T027" in err
    assert "searches start from trials only" in err
    with pytest.raises(T2VError, match="T027"):
        prepared(served_index, model="no_such_pipeline")


def test_other_hosts_need_a_word_and_are_warned_of(served_index, capsys, monkeypatch):
    monkeypatch.setattr(cli_serve, "_load", lambda *_: None)
    with pytest.raises(T2VError, match="T187.*--allow-remote"):
        prepared(served_index, host="0.0.0.0")
    capsys.readouterr()
    prepared(served_index, host="0.0.0.0", allow_remote=True)
    assert "no password" in capsys.readouterr().err
    prepared(served_index)
    assert capsys.readouterr().err == ""


def test_a_port_that_is_taken(served_index, monkeypatch):
    monkeypatch.setattr(cli_serve, "_load", lambda *_: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(T2VError, match=f"T187.*{port}.*--port"):
            prepared(served_index, port=port)


def test_answers_are_sent_at_once(served_index, monkeypatch):
    monkeypatch.setattr(cli_serve, "_load", lambda *_: None)
    _, listening = prepare(served_index, **SETTINGS)
    with listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_missing_library_is_named(served_index, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else real(name))  # fmt: skip
    with pytest.raises(T2VError, match=r"T188.*uvicorn.*t2v_spacy\[serve\]"):
        prepared(served_index)


def test_the_names_that_it_answers_to():
    hosts = cli_serve._hosts("127.0.0.1", 8000, ["trials.example"])
    assert "localhost:8000" in hosts
    assert "trials.example:8000" in hosts
    assert "10.1.2.3:8000" not in hosts
    remote = cli_serve._hosts("0.0.0.0", 8000, [])
    assert "10.1.2.3:8000" in remote
    assert "evil.example:8000" not in remote


def test_importing_the_command_is_light():
    import subprocess
    import sys

    code = "import json, sys, t2v_spacy.cli_serve; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    heavy = {"fastapi", "uvicorn", "pydantic", "torch", "spacy", "numpy"}
    assert not heavy & set(json.loads(done.stdout))
