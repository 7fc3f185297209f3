"""The experiments of the paper, from one file of settings to one report."""

from __future__ import annotations

from .report import write_report
from .settings import Settings, read_settings
from .workflow import run_experiments

__all__ = ["Settings", "read_settings", "run_experiments", "write_report"]
