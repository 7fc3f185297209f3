"""The training log: a table on the console, JSON lines on disk, and the guards."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import srsly
from spacy.language import Language
from spacy.training.loggers import console_logger_v3

from ..errors import Errors, error

Log = tuple[Callable[[dict[str, Any] | None], None], Callable[[], None]]


def train_logger(
    path: Path | None = None,
    max_cosine: float = 0.95,
    progress_bar: str | None = "eval",
) -> Callable[[Language, IO, IO], Log]:
    """Logger `t2v.TrainLogger.v1`: spaCy's console table, and one JSON line for each
    evaluation with step, epoch, seconds, words, losses since the last one, all scores,
    and as `floor` the scores of the first evaluation. With a warm-up that starts at 0
    that is the untrained model.

    path (Path | None): Lines are added to what is there, so that a resumed run goes on
        in one file. None writes none.
    max_cosine (float): Mean cosine of different trials above which, if it was lower at
        first, the vectors have collapsed and the training stops. Defaults to 0.95.
    progress_bar: "train", "eval" or None; none is shown where stderr is no terminal.
    RAISES (T2VError T134): In a step, on collapse. spaCy has saved the best model.
    """

    def setup(nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr) -> Log:
        bar = progress_bar if stderr.isatty() else None
        log_console, finish_console = console_logger_v3(bar)(nlp, stdout, stderr)
        floor: dict[str, Any] = {}
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)

        def log_step(info: dict[str, Any] | None) -> None:
            log_console(info)
            if info is None:
                return
            given = info["other_scores"] or {}
            scores = {name: _plain(value) for name, value in given.items()}
            if not floor:
                floor.update(scores)
            if path is not None:
                row = {
                    "step": info["step"],
                    "epoch": info["epoch"],
                    "seconds": info["seconds"],
                    "words": info["words"],
                    "losses": {k: _plain(v) for k, v in info["losses"].items()},
                    "score": _plain(info["score"]),
                    "scores": scores,
                    "floor": dict(floor),
                }
                srsly.write_jsonl(path, [row], append=True, append_new_line=False)
            cosine = given.get("trial2vec_mean_cosine", 0.0)
            before = floor.get("trial2vec_mean_cosine") or 0.0
            # A backbone that was never trained starts there and comes down. Not ">":
            # a mean that is no number is no better.
            if not cosine <= max(max_cosine, before):
                raise error(
                    Errors.T134, cosine=cosine, step=info["step"], limit=max_cosine
                )

        return log_step, finish_console

    return setup


def _plain(value: Any) -> Any:
    """As JSON has it, which knows no infinity and nothing that is no number."""
    if not hasattr(value, "__float__"):
        return value
    return float(value) if math.isfinite(value) else None
