"""The program `t2v`: its commands, of which the larger ones have files of their own.

Results go to stdout; progress, reports and messages to stderr. Errors are one line and
exit code 2.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from .about import __version__
from .cli_bulk import duplicates, export, neighbors
from .cli_compare import compare
from .cli_kb import app as kb_app
from .cli_predict import predict
from .cli_search import search
from .cli_serve import serve
from .cli_update import add, remove, update
from .errors import Errors, T2VError, error
from .load import load_nlp
from .readers import ReadReport, read_trials
from .readers.write import write_trials
from .trial import Trial

if TYPE_CHECKING:
    from spacy.language import Language

DEFAULT_PIPELINE = "en_trial2vec"
app = typer.Typer(
    name="t2v",
    help="Find the past clinical trials that resemble one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(kb_app)


class Precision(StrEnum):
    auto = "auto"
    float32 = "float32"
    bf16 = "bf16"
    int8 = "int8"


Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Source = Annotated[Path, typer.Argument(help="File, archive or folder of records.")]
Format = Annotated[
    str | None, typer.Option(help="Format of the records; detected by default.")
]
Model = Annotated[
    str | None,
    typer.Option(help="Pipeline that encodes: an installed name or a path."),
]


@app.command()
def convert(
    source: Source,
    out: Annotated[Path, typer.Argument(help="JSON lines to write; .gz packs them.")],
    format: Format = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the report as JSON to this file.")
    ] = None,
) -> None:
    """Read records of any known format and write them as JSON lines."""
    counts = ReadReport()
    trials = read_trials(source, format=format, report=counts)
    write_trials(out, _progress(trials, "read"), counts)
    _say(*counts.lines())
    if report:
        report.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(report, counts.to_dict())
    _check_output(out)


@app.command()
def index(
    source: Source,
    out: Annotated[Path, typer.Argument(help="Folder of the index.")],
    model: Model = None,
    format: Format = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Number format of the encoder.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the Annoy trees.")] = 0,
    n_trees: Annotated[int, typer.Option(help="Annoy trees.")] = 50,
    shard_size: Annotated[
        int, typer.Option(help="Trials encoded between two saves.", min=1)
    ] = 256,
    limit: Annotated[
        int | None, typer.Option(help="Index only the first records.", min=1)
    ] = None,
    concepts: Annotated[
        bool, typer.Option(help="Keep linked concepts, for filters by these.")
    ] = True,
) -> None:
    """Encode records and build an index. A run that was stopped goes on where it was
    when the same command is given again."""
    from itertools import islice

    from .search.encode import build_index

    nlp = load_pipeline(model, precision and precision.value, concepts)
    counts = ReadReport()
    trials = islice(read_trials(source, format=format, report=counts), limit)
    built = build_index(
        nlp,
        trials,
        out,
        n_trees=n_trees,
        seed=seed,
        shard_size=shard_size,
        meta={"source": source.name, "pipeline": _pipeline_name(model)},
    )
    counts.written = len(built)
    _say(*counts.lines())
    left_out = built.info()["not_indexed"]
    said = [f"{n} {reason}" for reason, n in left_out.items() if n]
    _say(f"{len(built)} trials in {out}" + (f"; not: {', '.join(said)}" * bool(said)))
    _check_output(out)


for _command in (search, compare, export, neighbors, duplicates):
    app.command()(_command)


@app.command()
def show(
    trial: Annotated[str, typer.Argument(help="NCT id in the index, or a file.")],
    index: Annotated[Path | None, typer.Option(help="Folder of the index.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with sections and concepts.")
    ] = None,
    json: Json = False,
) -> None:
    """Print one record: of an index by its id, or the records of a file."""
    if index:
        from .search import TrialIndex

        found = [TrialIndex.from_disk(index, verify=False)[trial]]
    else:
        if not Path(trial).exists() and _is_id(trial):
            raise error(Errors.T031, nct_id=trial)
        counts = ReadReport()
        found = list(read_trials(Path(trial), report=counts))
        _say(*(f"Refused: {refusal}" for refusal in counts.refused))
    if html:
        _write_page(html, found)
        _say(f"{len(found)} records in {html}")
    elif json:
        _print_json([record.to_dict() for record in found])
    else:
        _print("\n\n".join(_readable(record) for record in found))


for _command in (predict, add, update, remove, serve):
    app.command()(_command)


@app.command()
def info(
    index: Annotated[Path, typer.Argument(help="Folder of the index.")],
    json: Json = False,
) -> None:
    """Say what is in an index, how it was made and since when."""
    from .search import TrialIndex

    facts = TrialIndex.from_disk(index).info()
    if json:
        _print_json(facts)
    else:
        _print("\n".join(f"{name}: {value}" for name, value in facts.items()))


@app.callback(invoke_without_command=True)
def version(
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        _print(__version__)
        raise typer.Exit()


def main() -> None:
    """Run the program; what a user can mend is one line on stderr and exit code 2."""
    try:
        app()
    except T2VError as err:
        _say(str(err))
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as err:
        _say(str(error(Errors.T009, reason=err)))
        sys.exit(2)


def load_pipeline(
    name: str | None, precision: str | None = None, concepts: bool = False
) -> Language:
    """Load a pipeline, with a clear message where it is missing.

    name (str | None): Installed name or path; None is the default.
    precision (str | None): Replaces the pipeline's own setting.
    concepts (bool): With the pipe that links concepts, which a search does not use.
    RAISES (T2VError): T027 if it cannot be loaded, T024 if it has no trial2vec pipe.
    """
    config: dict[str, Any] = {}
    if precision:
        config["components.transformer.model.precision"] = precision
    exclude = () if concepts else ("umls_linker",)
    nlp = load_nlp(name or DEFAULT_PIPELINE, exclude=exclude, config=config)
    if "trial2vec" not in nlp.pipe_names:
        raise error(Errors.T024, pipe="trial2vec", task="encode trials")
    return nlp


def _pipeline_name(model: str | None) -> str:
    """What a search loads: a folder by its whole path, to work from anywhere."""
    if model and Path(model).is_dir():
        return str(Path(model).resolve())
    return model or DEFAULT_PIPELINE


def _is_id(name: str) -> bool:
    from .search.query import is_id

    return is_id(name)


def _readable(trial: Trial) -> str:
    facts = {"status": trial.status, "why stopped": trial.why_stopped}
    facts["start"] = str(trial.start_date) if trial.start_date else None
    facts["sponsor"] = trial.sponsor
    shown = [f"{name}: {value}" for name, value in facts.items() if value]
    return "\n".join([trial.nct_id, *shown, "", trial.to_text()])


def _write_page(path: Path, trials: list[Trial]) -> None:
    import spacy

    from .displacy import render
    from .doc import make_trial_doc

    nlp = spacy.blank("en")
    nlp.add_pipe("umls_linker")
    docs = list(nlp.pipe(make_trial_doc(nlp, trial) for trial in trials))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(docs), encoding="utf8")
    _check_output(path)


def _progress(trials: Any, unit: str) -> Any:
    from tqdm import tqdm

    return tqdm(trials, unit=unit, disable=None)


def _check_output(path: Path) -> None:
    """A step that made nothing must not count as done."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        raise error(Errors.T010, path=path, reason="nothing was written")


def _print(text: str) -> None:
    typer.echo(text)


def _print_json(value: Any) -> None:
    typer.echo(srsly.json_dumps(value, indent=2))


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line, err=True)
