"""Whether a run may write where it is told to, and go on with what another began."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import Errors, error


def check_output(path: Path, report: str) -> None:
    """report: The file by which a result of ours is known. RAISES (T010): the path
    holds something that no earlier run has written."""
    if path.is_dir() and not (path / report).is_file() and any(path.iterdir()):
        reason = f"the folder holds files that are no backbone of ours (no {report})"
        raise error(Errors.T010, path=path, reason=reason)
    if path.exists() and not path.is_dir():
        raise error(Errors.T010, path=path, reason="a file is in the way")


def difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """How the run that was begun differs from this one, or "". Each is "settings", a
    mapping, and digests by name."""
    if theirs["settings"] != ours["settings"]:
        names = [
            k for k, v in ours["settings"].items() if theirs["settings"].get(k) != v
        ]
        return f"its settings are others ({', '.join(names)})"
    different = [name for name in ours if theirs[name] != ours[name]]
    return f"its {' and '.join(different)} are others" if different else ""
