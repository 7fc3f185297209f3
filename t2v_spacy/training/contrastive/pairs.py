"""Pair files: JSON lines {"anchor", "positive", "negative", "groups"}, one a source."""

from __future__ import annotations

import gzip
import heapq
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from ...errors import Errors, error
from ...files import digest, replaced_file, writing
from ...plain import sound_text
from ...readers.report import Refusal
from .texts import plain, rank

ENDINGS = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Pair:
    """Two texts that belong together, and texts that do not belong to the anchor.

    groups: What the pair is about ("MESH:D006073"). Pairs that share one are no
        negatives of each other: no batch holds both, and neither is mined for the
        other.
    line (int): Where it stands in its file, from 1; 0 if in none.
    """

    anchor: str
    positive: str
    negatives: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.anchor, self.positive, *self.negatives)


@dataclass
class PairReport:
    """read: sound pairs; repeated: those that came before; refused: bad lines."""

    read: int = 0
    repeated: int = 0
    refused: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    """Pairs of one kind. sha256: of the file; of a hub data set, of its pairs."""

    name: str
    pairs: tuple[Pair, ...]
    sha256: str
    report: PairReport = field(default_factory=PairReport, compare=False)


class Sample:
    """Up to `most` pairs of many, each different pair once, in the order they came.

    Which ones depends on the seed and the texts alone; memory does not grow with the
    number of pairs but by 16 bytes each, to know them again.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seed = most, seed
        self.repeated = 0
        self._kept: list[tuple[int, int, int, Pair]] = []  # the last to keep is first
        self._seen: set[tuple[int, int]] = set()

    def add(self, pair: Pair, *, preferred: bool = False) -> bool:
        """preferred: Comes before all that are not. RETURNS: whether it is new."""
        key = (rank(0, plain(pair.anchor)), rank(1, plain(pair.positive)))
        if key in self._seen:
            self.repeated += 1
            return False
        draw = rank(self.seed, f"{key}")
        entry = (int(preferred), -draw, -len(self._seen), pair)
        self._seen.add(key)
        if len(self._kept) < self.most:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)
        return True

    def pairs(self) -> tuple[Pair, ...]:
        return tuple(entry[3] for entry in sorted(self._kept, key=lambda e: -e[2]))


def read_pairs(path: Path | str, report: PairReport | None = None) -> Iterator[Pair]:
    """Pairs of a file, one at a time; may be packed (.gz).

    report: Takes the lines that are no pairs, with the reason; reading goes on.
    RAISES (T001): No such file.
    """
    path = Path(path)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    report = PairReport() if report is None else report
    number = 0
    try:
        with _open(path) as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    pair = make_pair(json.loads(line), number)
                except (ValueError, RecursionError) as err:
                    refusal = Refusal(str(path), f"line {number}", _plain(err))
                    report.refused.append(refusal)
                else:
                    report.read += 1
                    yield pair
    except (OSError, EOFError, zlib.error) as err:
        refusal = Refusal(str(path), f"after line {number}", f"damaged ({err})")
        report.refused.append(refusal)


def make_pair(record: Any, line: int = 0) -> Pair:
    """RAISES (ValueError): the record is no pair; says why."""
    if not isinstance(record, dict):
        raise ValueError("it is no object")
    anchor, positive = (_text(record, name) for name in ("anchor", "positive"))
    negatives = _texts(record, "negative")
    own = plain(anchor)
    if own == plain(positive):
        raise ValueError("'anchor' and 'positive' are the same text")
    if any(plain(text) in (own, plain(positive)) for text in negatives):
        raise ValueError("a 'negative' is the text of 'anchor' or 'positive'")
    return Pair(anchor, positive, negatives, _texts(record, "groups"), line)


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """RAISES (T010): not writable. An older file stays until the new one is whole."""
    with (
        writing(path),
        replaced_file(path) as new,
        new.open("w", encoding="utf8") as file,
    ):
        for pair in pairs:
            file.write(json.dumps(_record(pair), ensure_ascii=False) + "\n")


def load_source(path: Path | str, most_pairs: int, seed: int = 0) -> Source:
    """The pairs of a file, at most `most_pairs`, drawn by the seed; repeats once.

    RAISES (T001): No such file. A file without a pair gives a source without one.
    """
    path = Path(path)
    report = PairReport()
    sample = Sample(most_pairs, seed)
    for pair in read_pairs(path, report):
        sample.add(pair)
    report.repeated = sample.repeated
    return Source(_name(path), sample.pairs(), digest(path), report)


def load_sources(
    paths: Iterable[Path | str], most_pairs: int, seed: int = 0
) -> list[Source]:
    """Sources of pair files, or of all pair files in folders, those without a pair too.

    RAISES (T001): No such path. (T193): Not one pair, or two sources of one name.
    """
    files = [file for path in paths for file in pair_files(Path(path))]
    names = [_name(file) for file in files]
    for name in names:
        if names.count(name) > 1:
            shown = ", ".join(str(file) for file in files if _name(file) == name)
            reason = f"two sources are called '{name}'"
            raise error(Errors.T193, path=shown, reason=reason)
    sources = [load_source(file, most_pairs, seed) for file in files]
    check_pairs(sources, ", ".join(map(str, files)) or ", ".join(map(str, paths)))
    return sources


def check_pairs(sources: Iterable[Source], path: str) -> None:
    """RAISES (T193): no source has a pair."""
    sources = list(sources)
    if not any(source.pairs for source in sources):
        refused = [str(line) for source in sources for line in source.report.refused]
        reason = "; ".join(refused[:3]) or "no pair is left"
        raise error(Errors.T193, path=path, reason=reason)


def pair_files(path: Path) -> list[Path]:
    """A file itself, or the pair files in a folder by name. RAISES (T001)."""
    if path.is_dir():
        found = (file for file in path.iterdir() if file.name.endswith(ENDINGS))
        return sorted(found)
    if not path.is_file():
        raise error(Errors.T001, path=path)
    return [path]


def _record(pair: Pair) -> dict[str, Any]:
    record: dict[str, Any] = {"anchor": pair.anchor, "positive": pair.positive}
    if pair.negatives:
        one = len(pair.negatives) == 1
        record["negative"] = pair.negatives[0] if one else list(pair.negatives)
    if pair.groups:
        record["groups"] = list(pair.groups)
    return record


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it has no text as '{name}'")
    return sound_text(value.strip())


def _texts(record: dict[str, Any], name: str) -> tuple[str, ...]:
    value = record.get(name)
    values = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise ValueError(f"'{name}' is neither a text nor a list of texts")
    texts = (sound_text(text.strip()) for text in values)
    return tuple(dict.fromkeys(text for text in texts if text))


def _open(path: Path) -> BinaryIO:
    file = path.open("rb")
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast(BinaryIO, gzip.open(file)) if packed else file


def _name(path: Path) -> str:
    ending = next((e for e in reversed(ENDINGS) if path.name.endswith(e)), "")
    return path.name.removesuffix(ending) if ending else path.stem


def _plain(err: Exception) -> str:
    if isinstance(err, json.JSONDecodeError):
        return f"it is no JSON ({err})"
    if isinstance(err, UnicodeDecodeError):
        return "it is no UTF-8"
    return "it is nested too deeply" if isinstance(err, RecursionError) else str(err)
