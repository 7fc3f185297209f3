from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

PROJECT = tomllib.loads(
    (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf8")
)["project"]
ENTRY_POINTS = [
    EntryPoint(name, value, group)
    for group, members in PROJECT["entry-points"].items()
    for name, value in members.items()
]


@pytest.mark.parametrize("point", ENTRY_POINTS, ids=lambda point: point.name)
def test_each_entry_point_loads_what_it_names(point):
    assert point.load() is not None


def test_every_factory_and_function_is_an_entry_point():
    """A user who only installs the wheel can add any pipe and use any function."""
    package = Path(__file__).parent.parent / "t2v_spacy"
    source = "".join(path.read_text(encoding="utf8") for path in package.rglob("*.py"))
    written = set(re.findall(r'"(t2v\.\w+\.v\d+)"', source))
    written |= set(re.findall(r'@Language\.factory\(\s*"(\w+)"', source))
    named = {point.name for point in ENTRY_POINTS}
    assert written <= named
    assert {"trial_parser", "trial2vec", "trial_index"} <= named


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_blank_pipeline_imports_nothing_heavy_of_ours():
    """Every `spacy.blank` imports all installed factory modules, ours included."""
    out = run(
        "import sys, spacy; spacy.blank('en');"
        "print([m for m in ('annoy', 'scispacy', 'datasets', 'onnxruntime',"
        " 't2v_spacy.ml.architectures', 't2v_spacy.search.trial_index')"
        " if m in sys.modules])"
    )
    assert out.strip() == "[]"


def test_factory_modules_import_without_torch():
    modules = {
        point.value.split(":")[0]
        for point in ENTRY_POINTS
        if point.group == "spacy_factories"
    }
    run(
        "import sys\n"
        "for name in ('torch', 'transformers', 'spacy_transformers', 'annoy'):\n"
        "    sys.modules[name] = None\n"
        f"import importlib\nfor name in {sorted(modules)!r}:\n"
        "    importlib.import_module(name)\n"
    )


def test_importing_the_package_is_light():
    out = run(
        "import sys, t2v_spacy; print(t2v_spacy.__version__,"
        " [m for m in ('spacy', 'torch', 'annoy', 'numpy') if m in sys.modules])"
    )
    assert out.strip().endswith("[]")


def test_no_requirement_names_a_model():
    """Model names on package indexes are squatted; ours is only built, never asked."""
    wanted = PROJECT["dependencies"] + sum(
        PROJECT["optional-dependencies"].values(), []
    )
    assert not [w for w in wanted if w.startswith(("en_", "en-"))]
