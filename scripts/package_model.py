"""Build the wheels a user installs: t2v_spacy and the pipeline en_trial2vec."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import srsly
import typer
from thinc.api import Config

from t2v_spacy.about import __version__
from t2v_spacy.ml.backbone import DEFAULT_BACKBONE


def main(model: Path, out: Path, name: str = "trial2vec") -> None:
    """Package a pipeline with `spacy package` and the library beside it.

    model (Path): The pipeline folder. out (Path): Folder for the two wheels.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "model"
        shutil.copytree(model, staged)
        write_meta(staged / "meta.json")
        forget_folders(staged / "config.cfg")
        settings = ["--name", name, "--version", __version__, "--build", "wheel"]
        run("-m", "spacy", "package", staged, folder, *settings, "--force")
        run("-m", "build", "--wheel", "--outdir", folder, ".")
        for wheel in sorted(Path(folder).rglob("*.whl")):
            shutil.move(wheel, out / wheel.name)
    wheels = sorted(out.glob("*.whl"))
    names = {wheel.name.split("-")[0] for wheel in wheels}
    if names != {"t2v_spacy", f"en_{name}"}:
        typer.echo(f"{out} holds {sorted(names)}, not both wheels", err=True)
        raise typer.Exit(1)
    for wheel in wheels:
        typer.echo(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


def write_meta(path: Path) -> None:
    """Say in the package what it is, and whose weights it holds where that is sure."""
    meta = srsly.read_json(path)
    meta["description"] = meta["description"] or (
        "Clinical-trial documents to trial and section vectors"
    )
    if Config().from_disk(path.with_name("config.cfg"))["paths"]["backbone"] == (
        DEFAULT_BACKBONE
    ):
        meta.update(
            author="The t2v_spacy founders",
            license="MIT",
            sources=[
                {
                    "name": DEFAULT_BACKBONE,
                    "author": "sentence-transformers",
                    "license": "Apache-2.0",
                }
            ],
        )
    srsly.write_json(path, meta)


def forget_folders(path: Path) -> None:
    """Keep only the last part of each path of this machine: what it held is inside."""
    config = Config().from_disk(path, interpolate=False)
    pipes = config["components"].values()
    places = [(config["paths"], name) for name in config["paths"]]
    places += [(pipe, "path") for pipe in pipes if "path" in pipe]
    for section, name in places:
        value = section[name]
        here = Path(value) if isinstance(value, str) else None
        if here and (here.is_absolute() or here.exists()):
            section[name] = here.resolve().name
    config.to_disk(path)


def run(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        typer.echo(done.stdout + done.stderr, err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
