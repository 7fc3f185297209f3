"""Settings and result of `train_contrastive`."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Errors, error


@dataclass(frozen=True)
class ContrastiveSettings:
    """How a backbone is trained on pairs. The defaults are the published recipe of
    Clinical UltraBERT: ten sources of 10,000 pairs each.

    epochs: How often each pair is read. max_steps: End after so many updates, if that
        comes first; the learning rate reaches zero there. Either may be None.
    most_pairs: Of a source, drawn by the seed; `load_sources` takes it.
    batch_size: Pairs of one update, all of one source. mini_batch_size: Texts of one
        pass; bounds the memory. At `batch_size` or more, gradients are not cached:
        the same loss and gradients, each text read once, for more memory.
    negatives: Of those that a pair brings, how many are used, the first ones.
    learn_rate: Reached after `warmup_ratio` of the updates, then falls to zero.
    weight_decay, beta2: Of AdamW; biases and norms do not decay.
    grad_clip: Longest gradient of one update.
    max_length: Wordpieces read of a text.
    scale: What cosines are multiplied by: 1 / temperature.
    dropout: Whether to train with the dropout of the backbone.
    average: Share of the weights before training in the result, 0 to 1.
    save_every: Updates between two checkpoints, from which a run can be resumed.
    precision: "auto", "float32" or "bf16". Defaults to "auto".
    """

    seed: int = 0
    epochs: int | None = 10
    max_steps: int | None = None
    most_pairs: int = 10_000
    batch_size: int = 64
    mini_batch_size: int = 32
    negatives: int = 1
    learn_rate: float = 5e-5
    warmup_ratio: float = 0.05
    weight_decay: float = 0.01
    beta2: float = 0.98
    grad_clip: float = 1.0
    max_length: int = 128
    scale: float = 20.0
    dropout: bool = False
    average: float = 0.0
    save_every: int = 500
    precision: str = "auto"

    def __post_init__(self) -> None:
        """RAISES (T026): a setting is out of range."""
        for name in ("most_pairs", "mini_batch_size", "save_every"):
            self._check(name, getattr(self, name) >= 1, "at least 1")
        for name in ("epochs", "max_steps"):
            value = getattr(self, name)
            self._check(name, value is None or value >= 1, "at least 1")
        bounded = self.epochs is not None or self.max_steps is not None
        self._check("epochs", bounded, "give epochs, or max_steps")
        self._check("batch_size", self.batch_size >= 2, "at least 2")
        for name in ("seed", "negatives", "weight_decay"):
            self._check(name, getattr(self, name) >= 0, "at least 0")
        for name in ("learn_rate", "grad_clip", "scale"):
            self._check(name, getattr(self, name) > 0, "above 0")
        self._check("warmup_ratio", 0 <= self.warmup_ratio < 1, "0 or more, below 1")
        self._check("beta2", 0 < self.beta2 < 1, "between 0 and 1")
        self._check("max_length", self.max_length >= 8, "at least 8")
        self._check("average", 0 <= self.average <= 1, "0 to 1")
        trainable = self.precision != "int8"
        self._check("precision", trainable, "train in 'float32' or 'bf16'")

    def _check(self, name: str, good: bool, reason: str) -> None:
        if not good:
            value = getattr(self, name)
            raise error(Errors.T026, setting=name, value=value, reason=reason)


@dataclass(frozen=True)
class ContrastiveResult:
    """steps: updates done; epochs: how often the pairs were read. pairs: of all
    sources; left_out: those of them that an epoch passes over, on average, to keep
    false negatives and small batches out. losses: of each source, the mean over the
    first and over the last fifth of its updates; no two sources compare.
    loss_before, loss: their means over the sources."""

    steps: int
    epochs: float
    pairs: int
    left_out: float
    losses: dict[str, tuple[float, float]]

    @property
    def loss_before(self) -> float:
        return sum(first for first, _ in self.losses.values()) / len(self.losses)

    @property
    def loss(self) -> float:
        return sum(last for _, last in self.losses.values()) / len(self.losses)
