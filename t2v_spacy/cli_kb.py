"""The commands `t2v kb`: build, show, info."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from .errors import Errors, error

if TYPE_CHECKING:
    from .kb import KnowledgeBase

app = typer.Typer(
    name="kb",
    help="Medical knowledge: build a base, look up a term.",
    no_args_is_help=True,
)
Base = Annotated[
    Path | None, typer.Option(help="File of a base; the built-in one by default.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
_MANY = 20


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="File to write.")],
    umls: Annotated[
        Path | None, typer.Option(help="META folder of your own UMLS release.")
    ] = None,
    mesh: Annotated[
        list[Path] | None,
        typer.Option(help="MeSH file of NLM, XML or ASCII; repeatable."),
    ] = None,
    jsonl: Annotated[Path | None, typer.Option(help="JSON lines of concepts.")] = None,
    language: Annotated[str, typer.Option(help="UMLS: language of names.")] = "ENG",
    source: Annotated[
        list[str] | None,
        typer.Option(help="UMLS: keep this source (SAB); repeatable. Default: all."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="UMLS: keep this licence category (SRL); repeatable."),
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(help="UMLS: keep concepts of this type (TUI); repeatable."),
    ] = None,
) -> None:
    """Build a base from UMLS, MeSH or JSON lines, and write it as one file."""
    from .kb import KnowledgeBase

    if sum(map(bool, (umls, mesh, jsonl))) != 1:
        reason = "give one of --umls, --mesh, --jsonl"
        raise error(
            Errors.T026, setting="source", value="(none or several)", reason=reason
        )
    if umls:
        from .kb.umls import Keep, read_umls

        chosen: dict[str, Any] = {"language": language}
        given = {"sources": source, "categories": category, "types": type}
        chosen |= {name: frozenset(value) for name, value in given.items() if value}
        kb = read_umls(umls, Keep(**chosen), progress=True)
    elif mesh:
        from .kb.mesh import read_mesh

        kb = read_mesh(mesh)
    else:
        assert jsonl is not None
        kb = KnowledgeBase.open(jsonl)
    typer.echo(f"{len(kb)} concepts read; packing", err=True)
    kb.to_disk(out)
    typer.echo("\n".join(_summary(kb)), err=True)


@app.command()
def show(
    term: Annotated[str, typer.Argument(help="Name or id of a concept.")],
    kb: Base = None,
    json: Json = False,
) -> None:
    """Print the concepts with this id or name, the preferred one first."""
    base = _open(kb)
    ids = [term] if term in base else list(base.lookup(term) or base.lookup_norm(term))
    if not ids:
        raise error(Errors.T082, concept_id=term, name=base.info()["name"])
    if json:
        typer.echo(srsly.json_dumps([base[i]._asdict() for i in ids], indent=2))
    else:
        typer.echo("\n\n".join("\n".join(_lines(base, i)) for i in ids))


@app.command()
def info(kb: Base = None, json: Json = False) -> None:
    """Say what is in a base: sources, versions, and the notices they require."""
    base = _open(kb)
    if json:
        typer.echo(srsly.json_dumps(base.info(), indent=2))
    else:
        typer.echo("\n".join(_summary(base)))


def _open(path: Path | None) -> KnowledgeBase:
    from .kb import KnowledgeBase, load_builtin

    return KnowledgeBase.open(path) if path else load_builtin()


def _summary(base: KnowledgeBase) -> list[str]:
    facts = base.info()
    lines = [f"{facts['name']}, version {facts['version']}"]
    lines.append(f"{facts['concepts']} concepts, {facts['aliases']} aliases")
    lines.append(f"{facts['with_parents']} with parents")
    for kind, number in facts["not_in_base"].items():
        lines.append(f"left out: {number} {kind} that are not in the base")
    for source in facts["sources"]:
        lines += ["", f"{source['name']} {source['version']}", source["notice"]]
    return lines


def _lines(base: KnowledgeBase, concept_id: str) -> list[str]:
    concept = base[concept_id]
    lines = [f"{concept_id}  {concept.canonical_name}"]
    if concept.types:
        lines.append(f"types: {', '.join(concept.types)}")
    if concept.definition:
        lines.append(f"definition: {concept.definition}")
    related = {
        "parents": concept.parents,
        **concept.roles,
        "children": base.children(concept_id),
        "siblings": base.siblings(concept_id),
    }
    names = {k: [f"{base.name(i)} ({i})" for i in ids] for k, ids in related.items()}
    for kind, shown in {"aliases": list(concept.aliases), **names}.items():
        if shown:
            more = f"; {len(shown) - _MANY} more" if len(shown) > _MANY else ""
            lines.append(f"{kind}: {'; '.join(shown[:_MANY])}{more}")
    return lines
