"""Packages of the extra `suite`, imported where they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import Errors, error


def library(name: str, task: str) -> Any:
    """Import a module. RAISES (T202): It is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as err:
        raise error(Errors.T202, task=task, library=name) from err
