"""The 20 medical tasks of the model card "Clinical UltraBERT", for any models.

Prints the card's table in Markdown. Progress goes to stderr. The exit code is 0 if
every task that was asked for ran with every model, 3 if some did not, 1 if a model or
the table of published figures cannot be read.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.evaluation.suite import (
    MAX_LENGTH,
    TASKS,
    Encoder,
    Row,
    find_tasks,
    load_encoder,
    markdown,
    read_published,
    run_suite,
)
from t2v_spacy.evaluation.suite.runner import RAN
from t2v_spacy.files import replaced_file, writing

LIBRARIES = ("torch", "transformers", "scikit-learn", "sentence-transformers", "mteb")


def main(
    models: Annotated[
        list[str], typer.Argument(help="Backbones, sentence-transformers, pipelines.")
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder of local data, a folder a task.")
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Names of tasks, with commas or again; default all 20."),
    ] = None,
    published: Annotated[
        Path | None, typer.Option(help="CSV of published figures: task, then models.")
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Results: a .json or .md file; or both.")
    ] = None,
    hub: Annotated[
        bool | None,
        typer.Option(help="Load from the hub what --data has not."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Keeps results; default NAME_cache beside the first --out."),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="auto, backbone, sentence-transformers or pipeline.")
    ] = "auto",
    max_length: Annotated[int, typer.Option(help="Wordpieces.")] = MAX_LENGTH,
    precision: Annotated[str, typer.Option(help="auto, float32 or bf16.")] = "auto",
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Evaluate models on the tasks that have data here."""
    if hub is None:
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper()
        hub = offline not in ("1", "ON", "YES", "TRUE")
    if cache is None and out:
        cache = out[0].with_name(f"{out[0].stem}_cache")
    systems: dict[str, list[Row]] = {}
    about: dict[str, Any] = {}
    broken = False
    try:
        names = [name for given in tasks or () for name in given.split(",")]
        wanted = find_tasks(filter(None, map(str.strip, names)))
        table = read_published(published) if published else {}
        for model in models:
            try:
                encoder = load_encoder(
                    model, kind=kind, max_length=max_length, precision=precision
                )
            except T2VError as err:
                typer.echo(str(err), err=True)
                broken = True
                continue
            name = unique_name(encoder.name, systems)
            systems[name] = run_suite(
                encoder,
                wanted,
                folder=data,
                hub=hub,
                cache=cache,
                seed=seed,
                report=lambda line: typer.echo(line, err=True),
            )
            about[name] = facts(encoder)
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    if not systems:
        raise typer.Exit(1)
    text = markdown(wanted, systems, table)
    ran = {
        name: sum(row.status == RAN for row in rows) for name, rows in systems.items()
    }
    for path in out or ():
        results = {
            "suite": "the 20 tasks of the model card Clinical UltraBERT",
            "date": date.today().isoformat(),
            "settings": {
                "max_length": max_length,
                "precision": precision,
                "seed": seed,
                "hub": hub,
            },
            "versions": versions(),
            "of": len(TASKS),
            "ran": ran,
            "systems": {
                name: about[name] | {"tasks": [asdict(row) for row in rows]}
                for name, rows in systems.items()
            },
            "published": table,
        }
        write(path, text if path.suffix == ".md" else json.dumps(results, indent=1))
    typer.echo(text + "\n")
    counts = (f"{number} with {name}" for name, number in ran.items())
    asked = f" ({len(wanted)} asked for)" if len(wanted) < len(TASKS) else ""
    typer.echo(f"Of {len(TASKS)} tasks{asked} ran: {', '.join(counts)}.")
    if broken:
        raise typer.Exit(1)
    if min(ran.values()) < len(wanted):
        raise typer.Exit(3)


def unique_name(name: str, taken: dict[str, list[Row]]) -> str:
    """Folders of one name must not take each other's column."""
    same = [name, *(f"{name} {n}" for n in range(2, len(taken) + 2))]
    return next(one for one in same if one not in taken)


def facts(encoder: Encoder) -> dict[str, Any]:
    names = ("kind", "checksum", "max_length", "width")
    return {name: getattr(encoder, name) for name in names}


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def write(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as new:
            new.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
