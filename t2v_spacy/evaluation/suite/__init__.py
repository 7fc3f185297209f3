"""The 20 medical tasks of the model card "Clinical UltraBERT", for any encoder.

Local data need no package beside the extra `evaluation`; the hub's need `suite`.
"""

from __future__ import annotations

from .encoders import MAX_LENGTH, Encoder, load_encoder, vectors
from .mteb_encoder import as_mteb
from .published import read_published
from .runner import Row, run_suite
from .score import NoData, Score
from .table import markdown
from .tasks import TASKS, HubData, SuiteTask, find_tasks

__all__ = [
    "MAX_LENGTH",
    "TASKS",
    "Encoder",
    "HubData",
    "NoData",
    "Row",
    "Score",
    "SuiteTask",
    "as_mteb",
    "find_tasks",
    "load_encoder",
    "markdown",
    "read_published",
    "run_suite",
    "vectors",
]
