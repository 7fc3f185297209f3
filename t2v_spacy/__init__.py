"""Clinical-trial similarity as spaCy components.

Nothing heavy is imported here: each name loads its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .about import __version__

if TYPE_CHECKING:
    from .doc import make_trial_doc
    from .readers import read_trials
    from .search import TrialIndex
    from .trial import Trial

_HOME = {
    "Trial": "trial",
    "TrialIndex": "search",
    "make_trial_doc": "doc",
    "read_trials": "readers",
}
__all__ = ["Trial", "TrialIndex", "__version__", "make_trial_doc", "read_trials"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
