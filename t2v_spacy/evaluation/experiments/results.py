"""Results on disk: plain values as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...files import replaced_file, writing

Result = dict[str, Any]


def read_result(path: Path) -> Result:
    return json.loads(path.read_text("utf8"))


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """Write plain values, whole or not at all. (Not by srsly, which rounds the last
    digits of floats, so that ties would be none.) RAISES (T010): Not writable."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as new:
            new.write_text(json.dumps(result, indent=1) + "\n", "utf8")
