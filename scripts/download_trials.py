"""Download trial records from ClinicalTrials.gov as JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.errors import T2VError
from t2v_spacy.readers.download import API, download_studies, read_ids


def main(
    out: Annotated[Path, typer.Argument(help="File to write, JSON lines.")],
    condition: Annotated[str, typer.Option(help="Condition to search for.")] = "",
    term: Annotated[str, typer.Option(help="Other words to search for.")] = "",
    status: Annotated[str, typer.Option(help="Statuses, such as COMPLETED.")] = "",
    param: Annotated[
        list[str] | None, typer.Option(help="Any parameter of the API, name=value.")
    ] = None,
    ids: Annotated[Path | None, typer.Option(help="Text file of NCT ids.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many records.")] = None,
    page_size: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    delay: Annotated[float, typer.Option(help="Seconds between pages.")] = 0.5,
    url: Annotated[str, typer.Option(help="Address of the API.")] = API,
) -> None:
    """Download the studies of a search, or of a list of ids. Run again to resume."""
    query = {"query.cond": condition, "query.term": term}
    query["filter.overallStatus"] = status
    for item in param or []:
        name, separator, value = item.partition("=")
        if not separator:
            raise typer.BadParameter(f"'{item}' is not name=value")
        query[name] = value
    try:
        chosen = None
        if ids:
            found = read_ids(ids)
            chosen = found.valid
            for name in found.other_registry:
                typer.echo(f"Skipped {name}: of another registry", err=True)
            for name in found.invalid:
                typer.echo(f"Skipped {name}: not an NCT id", err=True)
        number = download_studies(
            out,
            query={name: value for name, value in query.items() if value},
            ids=chosen,
            url=url,
            page_size=page_size,
            limit=limit,
            delay=delay,
        )
    except T2VError as err:
        typer.echo(str(err), err=True)
        raise typer.Exit(1) from err
    typer.echo(f"{number} studies in {out}")


if __name__ == "__main__":
    typer.run(main)
