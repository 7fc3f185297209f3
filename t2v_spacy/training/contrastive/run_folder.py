"""What a run of `train_contrastive` leaves: checkpoints, and what it was."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import srsly

from ...errors import Errors, error
from ...files import replaced_file, writing
from ..resume import difference
from .pairs import Source
from .settings import ContrastiveSettings

REPORT = "contrastive.json"
LOG = "log.jsonl"
_KEY = "run.json"
# A run may go on with other values of these: they do not change the steps done so far.
_FREE = ("average", "save_every", "mini_batch_size")


def run_key(
    settings: ContrastiveSettings, backbone: str, sources: Sequence[Source]
) -> dict[str, Any]:
    """What must be the same for a run to go on. backbone: digest of its weights."""
    values = {k: v for k, v in asdict(settings).items() if k not in _FREE}
    return {"settings": values, "backbone": backbone, "pairs": pairs_digest(sources)}


def pairs_digest(sources: Iterable[Source]) -> str:
    found = hashlib.sha256()
    for source in sources:
        found.update(f"{source.name}\n".encode())
        for pair in source.pairs:
            found.update(json.dumps([pair.texts, pair.groups]).encode())
    return found.hexdigest()


def last_checkpoint(work: Path, key: Mapping[str, Any]) -> str | None:
    """The folder to go on from, None at the beginning; `work` is ready to write in.

    RAISES (T010): not writable. (T122): `work` is of another run, or damaged.
    """
    path = work / _KEY
    if path.is_file():
        try:
            reason = difference(srsly.read_json(path), key)
        except (ValueError, KeyError, TypeError, AttributeError):
            reason = f"{path.name} is damaged"
        if reason:
            raise error(Errors.T122, path=work, reason=reason)
    with writing(work):
        work.mkdir(exist_ok=True)
        if not path.is_file():
            with replaced_file(path) as new:
                srsly.write_json(new, dict(key))
    # The state is what a checkpoint is ended with: without it, it was cut short.
    done = {int(p.parent.name.split("-")[1]): p.parent for p in _states(work)}
    for folder in work.glob("checkpoint-*"):
        if folder not in done.values():
            shutil.rmtree(folder, ignore_errors=True)
    return str(done[max(done)]) if done else None


def describe_sources(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """Counts and checksums for the report."""
    return [
        {
            "name": source.name,
            "pairs": len(source.pairs),
            "with_negative": sum(bool(pair.negatives) for pair in source.pairs),
            "read": source.report.read,
            "repeated": source.report.repeated,
            "refused": len(source.report.refused),
            "sha256": source.sha256,
        }
        for source in sources
    ]


def _states(work: Path) -> Iterable[Path]:
    return work.glob("checkpoint-*/trainer_state.json")
