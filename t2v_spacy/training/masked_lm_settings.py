"""Settings and result of `train_masked_lm`."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Errors, error


@dataclass(frozen=True)
class MaskedLMSettings:
    """How a backbone is trained further.

    max_steps: Updates of the encoder. max_minutes: Stop after so long, if that comes
        first; the learning rate then reaches zero there, so that the result depends on
        the speed of the machine. Defaults to None.
    head_steps: Updates of a new head alone, before the encoder moves; a random head
        would wreck it. Without effect if the backbone has a head.
    batch_tokens: Wordpieces of one update. max_tokens: Padded wordpieces of one
        forward pass; bounds the memory.
    window: Wordpieces of one sequence. join_sections: The sections of a trial follow
        one another in a sequence; otherwise each is read alone.
    mask_rate, whole_words: See `Masker`.
    learn_rate: Reached after `warmup_steps`, then falls to zero. head_learn_rate:
        That of the head alone.
    dropout: Whether to train with the dropout of the backbone. It costs two fifths
        of the speed and pays only where the same text is read many times.
    frozen_layers: Embeddings and so many of the lowest layers stay as they are; 0
        trains everything.
    average: Share of the weights before training in the result, 0 to 1. Masked words
        alone harm an encoder that was trained on sentences.
    dev_records: Trials held out, at most a tenth. eval_every: Updates between two
        evaluations on them; the run can be resumed from each, and the best is kept.
    precision: "auto", "float32" or "bf16". Defaults to "auto".
    """

    seed: int = 0
    max_steps: int = 2000
    max_minutes: float | None = None
    head_steps: int = 200
    batch_tokens: int = 8192
    max_tokens: int = 2048
    window: int = 256
    join_sections: bool = True
    mask_rate: float = 0.15
    whole_words: bool = False
    learn_rate: float = 5e-5
    head_learn_rate: float = 1e-3
    warmup_steps: int = 100
    weight_decay: float = 0.01
    grad_clip: float = 1.0
    dropout: bool = False
    frozen_layers: int = 0
    average: float = 0.0
    dev_records: int = 200
    eval_every: int = 200
    precision: str = "auto"

    def __post_init__(self) -> None:
        """RAISES (T026): a setting is out of range."""
        for name in ("max_steps", "dev_records", "eval_every"):
            self._check(name, getattr(self, name) >= 1, "at least 1")
        for name in ("seed", "head_steps", "warmup_steps", "frozen_layers"):
            self._check(name, getattr(self, name) >= 0, "at least 0")
        for name in ("learn_rate", "head_learn_rate", "grad_clip"):
            self._check(name, getattr(self, name) > 0, "above 0")
        self._check("weight_decay", self.weight_decay >= 0, "at least 0")
        minutes = self.max_minutes
        self._check("max_minutes", minutes is None or minutes > 0, "above 0")
        for name in ("window", "batch_tokens", "max_tokens"):
            self._check(name, getattr(self, name) >= 8, "at least 8")
        self._check("mask_rate", 0 < self.mask_rate < 1, "between 0 and 1")
        self._check("average", 0 <= self.average <= 1, "0 to 1")
        trainable = self.precision != "int8"
        self._check("precision", trainable, "train in 'float32' or 'bf16'")

    def _check(self, name: str, good: bool, reason: str) -> None:
        if not good:
            value = getattr(self, name)
            raise error(Errors.T026, setting=name, value=value, reason=reason)


@dataclass(frozen=True)
class MaskedLMResult:
    """steps: updates done, those of the head alone included; best_step: after how many
    of them the weights kept were reached. perplexity: of hidden wordpieces of the
    held-out trials, before training, and of the result. records, held_out: trials read,
    and those of them not trained on. refused: ids of trials without a text."""

    steps: int
    best_step: int
    perplexity_before: float
    perplexity: float
    records: int
    held_out: int
    refused: list[str]
