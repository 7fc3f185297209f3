from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from t2v_spacy.errors import T2VError
from t2v_spacy.files import locked, replaced_folder
from t2v_spacy.search import TrialIndex
from tests.search.toys import make_index

ROOT = Path(__file__).parent.parent


@pytest.fixture
def folder(tmp_path):
    make_index(20).to_disk(tmp_path / "index")
    return tmp_path / "index"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(code: str, path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL


DIES_BETWEEN_THE_RENAMES = """
import os, signal, sys
from pathlib import Path
from tests.search.toys import make_index

rename = Path.rename
def first_only(self, target):
    rename(self, target)
    os.kill(os.getpid(), signal.SIGKILL)
index = make_index(30)
Path.rename = first_only
index.to_disk(sys.argv[1])
"""


@pytest.mark.parametrize("then", ["read", "write", "fail"])
def test_killed_between_the_renames(folder, then):
    run(DIES_BETWEEN_THE_RENAMES, folder)
    assert not folder.exists()
    if then == "write":
        make_index(5).to_disk(folder)
    if then == "fail":
        with pytest.raises(RuntimeError), replaced_folder(folder) as new:
            (new / "part").touch()
            raise RuntimeError
    assert len(TrialIndex.from_disk(folder)) == (5 if then == "write" else 20)
    if then != "read":
        assert names(folder.parent) == ["index"]


def test_a_rename_that_fails_leaves_the_older_index(folder, monkeypatch):
    rename = Path.rename

    def fail(self, target):
        if self.name == ".index.new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(T2VError, match="T010.*Input/output"):
        make_index(5).to_disk(folder)
    assert len(TrialIndex.from_disk(folder)) == 20
    assert names(folder.parent) == ["index"]


def test_all_files_are_on_the_disk_before_the_rename(tmp_path, monkeypatch):
    synced, renamed = set(), []
    fsync, rename = os.fsync, Path.rename
    monkeypatch.setattr(
        os, "fsync", lambda f: (synced.add(os.fstat(f).st_ino), fsync(f))
    )

    def watched(self, target):
        inside = [self, *self.rglob("*")]
        renamed.append({path.stat().st_ino for path in inside} <= synced)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    with replaced_folder(tmp_path / "out") as new:
        (new / "sections").mkdir()
        (new / "sections" / "title.npy").write_text("x")
    assert renamed == [True]
    assert tmp_path.stat().st_ino in synced


DIES_WITH_THE_LOCK = """
import os, signal, sys
from pathlib import Path
from t2v_spacy.files import locked

with locked(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_lock(tmp_path):
    path = tmp_path / "a folder" / "index"
    run(DIES_WITH_THE_LOCK, path)
    assert names(path.parent) == [".index.lock"]
    with locked(path):
        for _ in range(2):
            with pytest.raises(T2VError, match="T051.*index is being"), locked(path):
                pass
        with locked(path.parent / "other"):
            pass
    assert names(path.parent) == []


def test_a_lock_without_flock(tmp_path, monkeypatch):
    monkeypatch.setattr("t2v_spacy.files.fcntl", None)
    make_index(5).to_disk(tmp_path / "index")
    with locked(tmp_path / "index"), pytest.raises(T2VError, match="T051"):
        make_index(6).to_disk(tmp_path / "index")
    assert len(TrialIndex.from_disk(tmp_path / "index")) == 5
    assert names(tmp_path) == ["index"]
