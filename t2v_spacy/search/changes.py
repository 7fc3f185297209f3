"""Changes to an index, saved beside its files: `changes-…/` and meta.json.

The added trials are a folder of the same files as an index has, without trees; each
save writes a new one. The positions removed from the index itself are in meta.json,
which names the folder and takes effect by one replacement.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import srsly

from ..files import describe, replaced_file, replaced_folder, writing
from .annoy_store import METRIC, VECTORS, AnnoyStore
from .build import FORMAT_VERSION, META, write_entries

if TYPE_CHECKING:
    from .corpus import Corpus

CHANGES = "changes-"
# A program that knows no changes would overlook them: it must not open the folder.
CHANGES_VERSION = 2


def write_changes(
    folder: Path, meta: Mapping[str, Any], stamp: str, corpus: Corpus
) -> dict[str, Any]:
    """Save the changes in the folder of the index, which is locked. Returns what
    meta.json says now.

    stamp: checksum of meta.json as it was; the new folder is named by it.
    """
    kept = {k: v for k, v in meta.items() if k not in ("changes", "updated")}
    new = {
        **kept,
        "format_version": FORMAT_VERSION,
        "not_indexed": corpus.not_indexed(),
        "updated": date.today().isoformat(),
    }
    if corpus.added or corpus.removed:
        new["format_version"] = CHANGES_VERSION
        new["changes"] = {
            "folder": None,
            "n_items": 0,
            "sections": {},
            "files": {},
            "removed": corpus.removed_positions(),
        }
    if corpus.added:
        name = f"{CHANGES}{stamp[:16]}"
        with replaced_folder(folder / name) as part:
            new["changes"] |= {"folder": name, **_write_part(part, corpus)}
    with writing(folder), replaced_file(folder / META) as file:
        srsly.write_json(file, new)
    return new


def _write_part(folder: Path, corpus: Corpus) -> dict[str, Any]:
    facts = write_entries(folder, corpus.added_entries(), {})
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    shape = {"width": corpus.width, "metric": METRIC, "n_items": len(vectors)}
    facts["store"] = AnnoyStore(vectors, None, shape).save(folder)
    with writing(folder):
        return {**facts, "files": describe(folder)}


def sweep(folder: Path, meta: Mapping[str, Any]) -> None:
    """Delete what runs that were killed left in the folder of an index, which is
    locked, and beside it; and changes that meta.json names no more."""
    named = (meta.get("changes") or {}).get("folder")
    left = [
        path
        for path in folder.iterdir()
        if path.name.startswith((CHANGES, f".{CHANGES}", f".{META}."))
        and path.name != named
    ]
    beside = [folder.with_name(f".{folder.name}.{end}") for end in ("new", "old")]
    for path in (*left, *beside):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)
