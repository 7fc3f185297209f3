"""Whether pairs hold texts that a model is to be evaluated on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...errors import Errors, error
from .evaluation_texts import EvaluationSet
from .pairs import Pair, Source, check_pairs
from .texts import plain, text_words

MODES = ("refuse", "drop", "report")
_EXAMPLES = 5


class Overlap(NamedTuple):
    """A pair that holds a text of an evaluation. kind: "exact" or "n-gram"; share: of
    the n-grams of the shorter of both texts."""

    source: str
    line: int
    evaluation: str
    where: str
    kind: str
    share: float

    def __str__(self) -> str:
        how = "equals" if self.kind == "exact" else f"shares {self.share:.0%} with"
        return f"{self.source} line {self.line} {how} {self.evaluation}, {self.where}"


@dataclass
class OverlapReport:
    """checked: pairs looked at; found: the first overlap of each pair that has one."""

    mode: str
    n: int
    share: float
    evaluations: list[EvaluationSet]
    checked: int = 0
    found: list[Overlap] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without texts and paths."""
        return {
            "mode": self.mode,
            "n": self.n,
            "share": self.share,
            "evaluations": [
                {
                    "name": evaluation.name,
                    "sha256": evaluation.sha256,
                    "texts": len(evaluation.texts),
                    "trials_without_record": len(evaluation.unknown),
                }
                for evaluation in self.evaluations
            ],
            "checked": self.checked,
            "overlapping": len(self.found),
            "exact": sum(overlap.kind == "exact" for overlap in self.found),
            "by_source": dict(Counter(overlap.source for overlap in self.found)),
            "examples": [str(overlap) for overlap in self.found[:_EXAMPLES]],
        }


class EvaluationIndex:
    """Finds the evaluation text that a text equals or overlaps.

    n (int): Words of an n-gram.
    share (float): Of the n-grams of the shorter text, from which on two texts overlap;
        0: one shared n-gram is enough.
    """

    def __init__(
        self, evaluations: Sequence[EvaluationSet], n: int = 13, share: float = 0.2
    ) -> None:
        self.n, self.share = n, share
        self._exact: dict[str, int] = {}
        self._grams: dict[int, list[int]] = defaultdict(list)
        self._names: list[tuple[str, str]] = []
        self._sizes: list[int] = []
        for evaluation in evaluations:
            for where, text in evaluation.texts:
                number = len(self._names)
                grams = self._grams_of(text)
                self._names.append((evaluation.name, where))
                self._sizes.append(len(grams))
                self._exact.setdefault(plain(text), number)
                for gram in grams:
                    self._grams[gram].append(number)

    def find(self, text: str) -> tuple[str, str, str, float] | None:
        """(evaluation, where, kind, share) of what overlaps most, or None."""
        number = self._exact.get(plain(text))
        if number is not None:
            return (*self._names[number], "exact", 1.0)
        grams = self._grams_of(text)
        shared = Counter(i for gram in grams for i in self._grams.get(gram, ()))
        size = {i: n / min(len(grams), self._sizes[i]) for i, n in shared.items()}
        if not size:
            return None
        number = max(size, key=lambda i: (size[i], -i))
        if size[number] < self.share:
            return None
        return (*self._names[number], "n-gram", size[number])

    def _grams_of(self, text: str) -> set[int]:
        words = text_words(text)
        last = len(words) - self.n + 1
        return {hash(tuple(words[i : i + self.n])) for i in range(last)}


def check_overlap(
    sources: Sequence[Source],
    evaluations: Sequence[EvaluationSet],
    *,
    mode: str = "refuse",
    n: int = 13,
    share: float = 0.2,
) -> tuple[list[Source], OverlapReport]:
    """Look for texts of the evaluations in anchors, positives and negatives.

    mode (str): "refuse": an error; "drop": such pairs are left out; "report": they
        stay, and are counted.
    RETURNS: the sources to train on, and what was found.
    RAISES (T026): `mode`, `n` or `share` out of range. (T193): "drop" leaves nothing.
    (T194): "refuse", and a pair overlaps.
    """
    _check("overlap", mode, mode in MODES, f"one of {', '.join(MODES)}")
    _check("overlap_words", n, n >= 1, "at least 1")
    _check("overlap_share", share, 0 <= share <= 1, "0 to 1")
    report = OverlapReport(mode, n, share, list(evaluations))
    if not evaluations:
        return list(sources), report
    index = EvaluationIndex(evaluations, n, share)
    kept = []
    for source in sources:
        pairs = tuple(_apart(source, index, report))
        kept.append(replace(source, pairs=pairs if mode == "drop" else source.pairs))
    if mode == "refuse" and report.found:
        shown = "; ".join(map(str, report.found[:_EXAMPLES]))
        more = len(report.found) - _EXAMPLES
        examples = f"{shown} and {more} more" if more > 0 else shown
        raise error(Errors.T194, count=len(report.found), examples=examples)
    check_pairs(kept, "What the overlap with evaluations leaves")
    return kept, report


def _apart(
    source: Source, index: EvaluationIndex, report: OverlapReport
) -> Iterator[Pair]:
    for pair in source.pairs:
        report.checked += 1
        found = next(filter(None, map(index.find, pair.texts)), None)
        if found is None:
            yield pair
        else:
            report.found.append(Overlap(source.name, pair.line, *found))


def _check(setting: str, value: object, good: bool, reason: str) -> None:
    if not good:
        raise error(Errors.T026, setting=setting, value=value, reason=reason)
