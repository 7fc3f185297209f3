"""The Python of the README runs as it stands and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from itertools import islice
from pathlib import Path

import pytest
import spacy

from t2v_spacy import read_trials
from t2v_spacy.search.encode import build_index

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


@pytest.fixture
def newcomer(shipped_nlp, tmp_path, monkeypatch):
    """A folder with an index of some sample trials, and en_trial2vec installed."""
    trials = islice(read_trials(ROOT / "corpus" / "sample"), 24)
    build_index(shipped_nlp, trials, tmp_path / "indexes" / "trials", progress=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spacy, "load", lambda name: shipped_nlp)


def test_python_blocks_run_and_print_what_they_say(newcomer):
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", README, re.S)
    assert len(blocks) == 5
    namespace: dict = {}
    for code, said in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, namespace)
        if said:
            assert out.getvalue().strip() == said.strip()


def test_the_tables_of_formats_and_components_are_complete():
    from t2v_spacy.cli import app

    for command in app.registered_commands:
        assert f"t2v {command.callback.__name__}" in README
    for factory in ("trial_parser", "umls_linker", "trial2vec", "trial_index"):
        assert f"`{factory}`" in README
