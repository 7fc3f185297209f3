"""When, where and with what a result was made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...about import __version__

_LIBRARIES = (
    *("spacy", "thinc", "torch", "transformers"),
    *("numpy", "scikit-learn", "bm25s", "gensim"),
)


def provenance() -> dict[str, Any]:
    """date (UTC), machine (processor, cores; no name of it) and versions."""
    now = datetime.now(UTC)
    return {
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "versions": versions(),
    }


def machine() -> str:
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()
    )
    threads = os.environ.get("OMP_NUM_THREADS")
    limit = f", OMP_NUM_THREADS {threads}" if threads else ""
    return f"{_processor()}, {cores} cores{limit}, {platform.system()}"


def versions() -> dict[str, str]:
    found = {"t2v_spacy": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
    return (names[0] if names else platform.processor() or platform.machine()).strip()
