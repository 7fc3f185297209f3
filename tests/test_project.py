"""The project workflow and the wheels it builds, in a folder with a blank in its name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import srsly

ROOT = Path(__file__).parent.parent
PARTS = ("project.yml", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "configs", "scripts", "t2v_spacy")  # fmt: skip


@pytest.fixture(scope="module")
def project(tiny_backbone, tmp_path_factory) -> Path:
    """A copy of the project with a small sample, run once from end to end."""
    folder = tmp_path_factory.mktemp("my project")
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / part)
    (folder / "corpus" / "sample").mkdir(parents=True)
    whole = (ROOT / "corpus" / "sample" / "areas_01_10.jsonl").read_text(
        encoding="utf8"
    )
    some = "".join(whole.splitlines(keepends=True)[:12])
    (folder / "corpus" / "sample" / "trials.jsonl").write_text(some, encoding="utf8")
    run_all(folder, tiny_backbone)
    return folder


def run_all(folder: Path, backbone: str) -> str:
    done = subprocess.run(
        [
            sys.executable, "-m", "spacy", "project", "run", "all", str(folder),
            "--vars.config=configs/test/trial2vec.cfg",
            f"--vars.backbone={backbone}",
            "--vars.at_least=12",
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_step_makes_what_it_names(project):
    config = srsly.read_yaml(project / "project.yml")
    for command in config["commands"]:
        if command["name"] not in config["workflows"]["all"]:
            continue
        for output in command.get("outputs", []):
            path = project / output.replace("${vars.name}", "trial2vec")
            assert path.exists(), path
    assert json.loads((project / "metrics/corpus.json").read_text())["written"] == 12


def test_a_second_run_skips_what_is_unchanged_and_searches_again(
    project, tiny_backbone
):
    out = run_all(project, tiny_backbone)
    assert out.count("nothing changed") == 5
    assert "NCT9101" in out


def test_a_step_that_makes_nothing_fails(project, tmp_path):
    (tmp_path / "empty").mkdir()
    check = [sys.executable, str(project / "scripts/check_sample.py")]
    done = subprocess.run([*check, project / "corpus/sample", tmp_path / "out.json"])
    assert done.returncode == 1  # fewer than the 240 it asks for
    assert not (tmp_path / "out.json").exists()


def test_every_command_has_help_deps_and_double_quotes():
    for command in srsly.read_yaml(ROOT / "project.yml")["commands"]:
        assert command["help"]
        assert command["name"] == "clean" or command["deps"]
        for line in command["script"]:
            outside = re.sub(r'"[^"]*"', "", line)
            assert "'" not in outside, line


@pytest.fixture(scope="module")
def clean_python(project, tmp_path_factory) -> str:
    """An environment with the two wheels, in which our checkout is not installed."""
    home = tmp_path_factory.mktemp("clean environment")
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    wheels = [str(wheel) for wheel in (project / "packages").glob("*.whl")]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]  # fmt: skip
    subprocess.run([*install, *wheels], check=True)
    # What the wheels require is there; links to checkouts there do not work from here.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return str(home / "bin" / "python")


def run(python: str, code: str, folder: Path) -> str:
    env = {"HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, env=env, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheels_load_in_a_clean_environment(project, clean_python, tmp_path):
    out = run(
        clean_python,
        "import spacy; nlp = spacy.load('en_trial2vec'); import t2v_spacy;"
        "print(nlp('Gout')._.trial_vector.shape, t2v_spacy.__file__)",
        tmp_path,
    )
    assert out.startswith("(24,)")
    assert "clean environment" in out


def test_the_package_names_its_library_and_no_path_of_this_machine(project):
    import zipfile

    (wheel,) = (project / "packages").glob("en_trial2vec-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert str(project).encode() not in content, name
            assert str(ROOT).encode() not in content, name
            assert b"/tmp/" not in content, name
        wanted = json.loads(archive.read("en_trial2vec/meta.json"))["requirements"]
    assert any(w.startswith("t2v_spacy>=") and "," in w for w in wanted)
    assert any(w.startswith("spacy-transformers") or w.startswith("spacy_transformers") for w in wanted)  # fmt: skip
