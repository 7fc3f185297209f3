"""An index as a folder: opened while others may write it, and written anew."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import Errors, T2VError, error
from ..files import digest, locked, recover, replaced_folder, writing
from .annoy_store import TREES
from .build import FORMAT, FORMAT_VERSION, META, write_index
from .changes import CHANGES, CHANGES_VERSION, sweep, write_changes
from .corpus import Corpus

_TRIES, _PAUSE = 100, 0.05  # seconds
_OF_CHANGES = ("changes", "updated")


@dataclass(frozen=True)
class Opened:
    """An index folder as it was at one moment.

    meta (dict): What meta.json says. stamp (str): Checksum of that file.
    """

    folder: Path
    meta: dict[str, Any]
    stamp: str
    corpus: Corpus

    @property
    def is_current(self) -> bool:
        """Whether no other run has changed or replaced the folder since."""
        return _stamp(self.folder) == self.stamp


def open_index(folder: Path, verify: bool) -> Opened:
    """Open a folder as it was before, or is after, a change that another run makes
    meanwhile: never a mixture. RAISES as `TrialIndex.from_disk`."""
    for left in range(_TRIES, -1, -1):
        before = _stamp(folder)
        try:
            opened = _open(folder, verify)
            if opened.is_current or not left:
                return opened
        except (OSError, T2VError) as err:
            moving = getattr(err, "code", None) == Errors.T051[0]
            if not left or not (moving or _stamp(folder) != before):
                raise
            if moving:  # the moment between two renames
                time.sleep(_PAUSE)
    raise AssertionError


def save_changes(opened: Opened) -> None:
    """Write what was changed beside the files, which are not touched.

    RAISES (T010): not writable. (T051): another run is writing the index. (T165):
    another run has changed it since.
    """
    folder = opened.folder.resolve()
    with locked(folder):
        _check_current(opened)
        sweep(folder, opened.meta)
        meta = write_changes(folder, opened.meta, opened.stamp, opened.corpus)
        sweep(folder, meta)


def save_index(opened: Opened, path: Path) -> None:
    """Write the whole index, changes merged, in the place of what is in `path`.

    RAISES as `save_changes`; (T048): no trial is left.
    """
    with replaced_folder(path) as new:
        if path == opened.folder.resolve():
            _check_current(opened)
        write_copy(opened, new)


def write_copy(opened: Opened, folder: Path) -> None:
    """Fill an empty folder with the index, changes merged."""
    corpus, meta = opened.corpus, opened.meta
    if not corpus.changed and opened.is_current:
        left_overs = shutil.ignore_patterns(f"{CHANGES}*", f".{CHANGES}*", f".{META}*")
        with writing(folder):
            shutil.copytree(
                opened.folder, folder, dirs_exist_ok=True, ignore=left_overs
            )
        return
    facts = {name: value for name, value in meta.items() if name not in _OF_CHANGES}
    write_index(
        folder,
        corpus.entries(),
        n_trees=meta["n_trees"],
        seed=meta["seed"],
        exact_below=meta["exact_below"],
        meta={**facts, "not_indexed": corpus.not_indexed()},
    )


def check_replaceable(path: Path) -> None:
    """RAISES (T010): the path holds something that is not an index."""
    if path.is_dir() and not (path / META).is_file() and any(path.iterdir()):
        reason = "the folder holds files that are not a trial index"
        raise error(Errors.T010, path=path, reason=reason)
    if path.exists() and not path.is_dir():
        raise error(Errors.T010, path=path, reason="a file is in the way")


def temporary_folder(parent: Path | str | None = None) -> Path:
    """RAISES (T010): not writable."""
    with writing(Path(parent or tempfile.gettempdir())):
        return Path(tempfile.mkdtemp(prefix="t2v-index-", dir=parent))


def _open(folder: Path, verify: bool) -> Opened:
    meta, stamp = _read_meta(folder)
    try:
        _verify_files(folder, meta["files"], verify)
        if changes := meta.get("changes"):
            _verify_files(folder / (changes["folder"] or ""), changes["files"], verify)
        return Opened(folder, meta, stamp, Corpus(folder, meta))
    except (KeyError, TypeError) as err:
        reason = f"{META} is not complete ({err!r})"
        raise error(Errors.T041, path=folder, reason=reason) from err


def _stamp(folder: Path) -> str | None:
    try:
        return digest(folder / META)
    except OSError:
        return None


def _check_current(opened: Opened) -> None:
    if not opened.is_current:
        raise error(Errors.T165, path=opened.folder)


def _read_meta(folder: Path) -> tuple[dict[str, Any], str]:
    recover(folder)
    if not folder.exists():
        raise error(Errors.T001, path=folder)
    if not (folder / META).is_file():
        raise error(Errors.T040, path=folder, reason=f"it has no {META}")
    data = (folder / META).read_bytes()
    try:
        meta = json.loads(data)
    except ValueError as err:
        reason = f"{META} is not JSON ({err})"
        raise error(Errors.T041, path=folder, reason=reason) from err
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        reason = f"{META} is not that of an index"
        raise error(Errors.T040, path=folder, reason=reason)
    if meta.get("format_version") not in (FORMAT_VERSION, CHANGES_VERSION):
        reason = (
            f"it has format version {meta.get('format_version')}, this version of "
            f"t2v_spacy reads versions {FORMAT_VERSION} and {CHANGES_VERSION}"
        )
        raise error(Errors.T040, path=folder, reason=reason)
    return meta, sha256(data).hexdigest()


def _verify_files(folder: Path, files: Mapping[str, Any], checksums: bool) -> None:
    for name, expected in files.items():
        path = folder / name
        reason = None
        if not path.is_file():
            reason = f"{name} is missing"
        elif path.stat().st_size != expected["size"]:
            size = path.stat().st_size
            reason = f"{name} has {size} bytes instead of {expected['size']}"
        # The store checks the Annoy file itself, whatever is asked for here.
        elif checksums and name != TREES and digest(path) != expected["sha256"]:
            reason = f"{name} has a wrong checksum"
        if reason:
            raise error(Errors.T041, path=folder, reason=reason)
