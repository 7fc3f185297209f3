"""A knowledge base from NLM's own MeSH files, as XML or ASCII; no licence is needed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast
from xml.etree.ElementTree import ParseError

from ..errors import Errors, T2VError, error
from .knowledge_base import Concept, KnowledgeBase
from .mesh_types import parents_by_tree, types_of

# "Antineoplastic Combined Chemotherapy Protocols"; what else a protocol is mapped to
# are its components.
_PROTOCOLS = "D000971"
_TREE_LINE = re.compile(rb".+;[A-Z]\d\d(?:\.\d{3})*\s*$")
_YEAR = re.compile(r"(?:desc|supp|mtrees|[dc])(\d{4})")


@dataclass
class MeshRecord:
    """One record of a MeSH file, descriptor or supplementary.

    mapped, actions: Headings it is mapped to and its pharmacological actions, by id
        (XML) or by name (ASCII).
    types: Semantic types; only the ASCII files have them.
    """

    mesh_id: str
    name: str
    terms: list[str] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    note: str | None = None
    mapped: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)


def read_mesh(paths: Sequence[str | Path]) -> KnowledgeBase:
    """Base of descriptor files (descYYYY.xml, dYYYY.bin), with supplementary records
    (suppYYYY.xml, cYYYY.bin) and mtreesYYYY.bin if given; each may be packed (.gz).

    RAISES: T001; T005 for a file that is cut or no MeSH; T085 without any record.
    """
    records: dict[str, MeshRecord] = {}
    by_name: dict[str, list[str]] = {}
    files = [Path(path) for path in paths]
    for path in files:
        if not path.is_file():
            raise error(Errors.T001, path=path)
        for item in _read(path):
            if isinstance(item, MeshRecord):
                records[item.mesh_id] = item
            else:
                by_name.setdefault(item[0], []).append(item[1])
    if not records:
        reason = "it holds no descriptor and no supplementary record"
        raise error(Errors.T085, path=", ".join(map(str, files)), reason=reason)
    for record in records.values():
        record.trees = record.trees or by_name.get(record.name, [])
    years = sorted({y for path in files for y in _YEAR.findall(path.name)})
    version = "MeSH " + ("/".join(years) or "of unknown year")
    notice = "Contains MeSH, courtesy of the U.S. National Library of Medicine."
    source = {"name": "MeSH", "version": version, "notice": notice}
    info = {"name": "MeSH", "version": version, "sources": [source]}
    return KnowledgeBase.from_concepts(_concepts(records), info=info)


def _concepts(records: dict[str, MeshRecord]) -> Iterator[Concept]:
    ids = {record.name: i for i, record in records.items()}
    parents = parents_by_tree({i: record.trees for i, record in records.items()})

    def resolve(targets: list[str]) -> list[str]:
        return [
            target if target in records else ids.get(target, "") for target in targets
        ]

    # Descriptors first: of equal names theirs is the one to prefer.
    for i in sorted(records, key=lambda i: (not i.startswith("D"), i)):
        record = records[i]
        mapped = [target for target in resolve(record.mapped) if target]
        roles = {"role": tuple(_curie(a) for a in resolve(record.actions) if a)}
        above = [*parents[i], *mapped]
        if _PROTOCOLS in mapped:
            above = [_PROTOCOLS]
            roles["component"] = tuple(_curie(m) for m in mapped if m != _PROTOCOLS)
        types = record.types or types_of(
            number for place in (i, *mapped) for number in records[place].trees
        )
        yield Concept(
            _curie(i),
            record.name,
            tuple(record.terms),
            tuple(types),
            record.note,
            tuple(map(_curie, above)),
            {kind: targets for kind, targets in roles.items() if targets},
        )


def _read(path: Path) -> Iterator[MeshRecord | tuple[str, str]]:
    """Records of a file of any kind; (heading, tree number) of an mtrees file."""
    from .mesh_ascii import iter_ascii
    from .mesh_xml import iter_xml

    try:
        with _open(path) as file:
            head = file.read(1 << 12).lstrip(b"\xef\xbb\xbf \r\n")
        with _open(path) as file:
            if head.startswith(b"<"):
                yield from iter_xml(file)
            elif head.startswith(b"*NEWRECORD"):
                yield from iter_ascii(file)
            elif _TREE_LINE.match(head.partition(b"\n")[0]):
                for line in file:
                    name, _, number = line.decode().strip().rpartition(";")
                    yield name, number
            else:
                raise ValueError("it is neither MeSH XML nor MeSH ASCII")
    except T2VError:
        raise
    except (ParseError, ValueError, EOFError, OSError) as err:
        raise error(Errors.T005, path=path, where="file", reason=err) from err


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if packed else path.open("rb")


def _curie(mesh_id: str) -> str:
    return f"MESH:{mesh_id}"
