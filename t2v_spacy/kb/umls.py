"""A knowledge base from a user's own UMLS: names, types, definitions, hierarchy.

Memory is bounded by what is kept: numbers and names in flat arrays, no row objects.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import Errors, error
from .columns import Ragged, Strings
from .knowledge_base import Concept, KnowledgeBase
from .rrf import Release

# Definitions of these sources come first, the first of them before the others.
DEFINITION_SOURCES = ("NCI_BRIDG", "NCI_NCI-GLOSS", "NCI", "GO", "MSH", "NCI_FDA")
_NAME_COLUMNS = (
    *("CUI", "LAT", "TS", "STT", "ISPREF"),
    *("SAB", "TTY", "STR", "SRL", "SUPPRESS"),
)
# Term types that are no names: permuted and short forms, fully specified names, doses.
_NO_NAMES = frozenset(
    ["PM", "DEV", "DSV", "FN", "SCD", "SCDC", "SCDF", "SCDG"]
    + ["SBD", "SBDC", "SBDF", "SBDG", "BPCK", "GPCK", "DF", "DFG"]
)
_NO_SOURCES = frozenset(("LNC",))
_LONGEST = 100
_JUNK = re.compile(r"\bNOS$|^\[[A-Z]\]|\(disorder\)$|\[Ambiguous\]$")
_TUI = re.compile(r"T\d{3}", re.ASCII)
_LETTER = re.compile(r"[^\W\d_]")
_UP = frozenset(("PAR", "RB"))
_DOWN = frozenset(("CHD", "RN"))
_NCI = 1_000_000_000
_IS_A = frozenset(("isa", "inverse_isa"))


@dataclass(frozen=True)
class Keep:
    """What of a release to keep.

    sources: SAB codes ("MSH", "NCI"); None keeps all but LOINC.
    categories: Licence categories (SRL). 0 is free to share; 9 is SNOMED CT; 3 and 4,
        which restrict use most, are left out by default.
    types: Semantic types; a concept with none of them is left out. None keeps all.
    """

    language: str = "ENG"
    sources: frozenset[str] | None = None
    categories: frozenset[str] = frozenset("0129")
    types: frozenset[str] | None = None

    def has_source(self, sab: str) -> bool:
        if self.sources is None:
            return sab not in _NO_SOURCES
        return sab in self.sources


def read_umls(
    meta: str | Path, keep: Keep | None = None, *, progress: bool = False
) -> KnowledgeBase:
    """Base of the META folder of a release. MRCONSO and MRSTY are needed; MRREL, MRDEF,
    MRRANK and MRFILES are used if they are there.

    RAISES: T001 for a missing file, T005 for a bad row, T085 if nothing is kept.
    """
    keep = keep or Keep()
    release = Release(meta, progress=progress)
    types = _read_types(release)
    names = _read_names(release, keep, types)
    cuis = names.cuis
    if not len(cuis):
        reason = f"no row of MRCONSO.RRF passes the filters ({_describe(keep)})"
        raise error(Errors.T085, path=release.folder, reason=reason)
    parents = _read_parents(release, keep, cuis)
    definitions = _read_definitions(release, keep, cuis)
    concepts = _concepts(names, types, parents, definitions)
    return KnowledgeBase.from_concepts(concepts, info=_info(release, keep))


class _Types:
    """TUIs by CUI, as one sorted array of numbers CUI * 1000 + TUI."""

    def __init__(self, codes: array[int]) -> None:
        self._codes = np.unique(np.array(codes, np.int64))

    def of(self, cui: int) -> tuple[str, ...]:
        first, last = np.searchsorted(self._codes, [cui * 1000, (cui + 1) * 1000])
        return tuple(f"T{code % 1000:03}" for code in self._codes[first:last].tolist())

    def cuis_with(self, tuis: Collection[str]) -> frozenset[int]:
        numbers = [int(tui[1:]) for tui in tuis]
        kept = self._codes[np.isin(self._codes % 1000, numbers)]
        return frozenset((kept // 1000).tolist())


class _Names:
    """Names by CUI: the best first, as many as there are."""

    def __init__(self, cuis: array[int], ranks: array[int], blob: bytearray) -> None:
        owners = np.array(cuis, np.int32)
        self._order = np.lexsort((np.array(ranks, np.int32), owners))
        self.cuis, starts = np.unique(owners[self._order], return_index=True)
        self._ends = np.append(starts[1:], len(owners))
        self._starts = starts
        self._names = Strings(bytes(blob))

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        for cui, start, end in zip(
            self.cuis.tolist(), self._starts, self._ends, strict=True
        ):
            yield cui, [self._names[i] for i in self._order[start:end].tolist()]


def _read_types(release: Release) -> _Types:
    codes = array("q")
    for cui, tui in release.rows("MRSTY", ("CUI", "TUI")):
        if not _TUI.fullmatch(tui):
            reason = f"'{tui}' is not a semantic type"
            raise error(Errors.T083, concept_id=cui, reason=reason)
        codes.append(_number(cui) * 1000 + int(tui[1:]))
    return _Types(codes)


def _read_names(release: Release, keep: Keep, types: _Types) -> _Names:
    allowed = None if keep.types is None else types.cuis_with(keep.types)
    source_rank = _read_ranks(release)
    cuis, ranks, blob = array("i"), array("i"), bytearray()
    for row in release.rows("MRCONSO", _NAME_COLUMNS):
        cui, lat, ts, stt, ispref, sab, tty, name, srl, suppress = row
        if lat != keep.language or suppress != "N" or tty in _NO_NAMES:
            continue
        if srl not in keep.categories or not keep.has_source(sab) or not _is_name(name):
            continue
        number = _number(cui)
        if allowed is not None and number not in allowed:
            continue
        best = ispref == "Y" and ts == "P" and stt == "PF"
        cuis.append(number)
        # Ranks of MRRANK grow with preference and are below 10,000.
        ranks.append(-10_000 if best else -source_rank.get((sab, tty), 0))
        blob += " ".join(name.split()).encode() + b"\n"
    return _Names(cuis, ranks, blob)


def _read_ranks(release: Release) -> dict[tuple[str, str], int]:
    if release.path("MRRANK") is None:
        return {}
    rows = release.rows("MRRANK", ("RANK", "SAB", "TTY"))
    return {(sab, tty): int(rank) for rank, sab, tty in rows}


def _read_parents(release: Release, keep: Keep, cuis: np.ndarray) -> Ragged:
    """Row of `cuis` -> rows of its parents. REL says what CUI2 is to CUI1: `PAR` and
    `RB` make CUI2 broader, `CHD` and `RN` make it narrower."""
    children, parents, exact = array("i"), array("i"), array("b")
    if release.path("MRREL") is not None:
        wanted = ("CUI1", "REL", "CUI2", "RELA", "SAB", "SUPPRESS")
        for one, rel, other, rela, sab, suppress in release.rows("MRREL", wanted):
            if rel in _UP:
                child, parent = one, other
            elif rel in _DOWN:
                child, parent = other, one
            else:
                continue
            if suppress == "N" and one != other and keep.has_source(sab):
                children.append(_number(child))
                parents.append(_number(parent))
                exact.append(rela in _IS_A)
    below, above = _rows_of(children, cuis), _rows_of(parents, cuis)
    is_a = np.array(exact, bool)
    known = (below >= 0) & (above >= 0)
    below, above, is_a = below[known], above[known], is_a[known]
    # Where a source says "is a", looser relations of the same concept are noise.
    has_exact = np.zeros(len(cuis), bool)
    has_exact[below[is_a]] = True
    kept = is_a | ~has_exact[below]
    pairs = np.unique(np.stack([below[kept], above[kept]]), axis=1)
    return Ragged.of(pairs[0], pairs[1], len(cuis))


def _read_definitions(release: Release, keep: Keep, cuis: np.ndarray) -> dict[int, str]:
    if release.path("MRDEF") is None:
        return {}
    rank = {sab: place for place, sab in enumerate(DEFINITION_SOURCES)}
    known = frozenset(cuis.tolist())
    found: dict[int, tuple[int, str]] = {}
    wanted = ("CUI", "SAB", "DEF", "SUPPRESS")
    for cui, sab, text, suppress in release.rows("MRDEF", wanted):
        number = _number(cui)
        if suppress != "N" or number not in known or not keep.has_source(sab):
            continue
        place = rank.get(sab, len(rank))
        if number not in found or place < found[number][0]:
            found[number] = (place, text)
    return {number: text for number, (_, text) in found.items()}


def _concepts(
    names: _Names, types: _Types, parents: Ragged, definitions: dict[int, str]
) -> Iterator[Concept]:
    cuis = names.cuis
    for row, (cui, all_names) in enumerate(names.rows()):
        yield Concept(
            _cui(cui),
            all_names[0],
            tuple(all_names[1:]),
            types.of(cui),
            definitions.get(cui),
            tuple(map(_cui, cuis[parents[row]].tolist())),
        )


def _rows_of(numbers: array[int], cuis: np.ndarray) -> np.ndarray:
    wanted = np.array(numbers, np.int32)
    rows = np.searchsorted(cuis, wanted)
    rows[rows == len(cuis)] = 0
    return np.where(cuis[rows] == wanted, rows, -1)


def _is_name(name: str) -> bool:
    return (
        len(name) <= _LONGEST
        and _LETTER.search(name) is not None
        and _JUNK.search(name) is None
    )


def _number(cui: str) -> int:
    """RAISES: T083 for a text that is no CUI."""
    # Subsets of the NCI Metathesaurus have their own: CL and six digits.
    start, base = ("CL", _NCI) if cui.startswith("CL") else ("C", 0)
    digits = cui.removeprefix(start)
    if not cui.startswith(start) or not digits.isdecimal() or int(digits) >= _NCI:
        reason = "a CUI is C and seven digits"
        raise error(Errors.T083, concept_id=cui, reason=reason)
    return base + int(digits)


def _cui(number: int) -> str:
    return f"C{number:07}" if number < _NCI else f"CL{number - _NCI:06}"


def _describe(keep: Keep) -> str:
    sources = "all" if keep.sources is None else ", ".join(sorted(keep.sources))
    categories = ", ".join(sorted(keep.categories))
    return f"language {keep.language}, sources {sources}, categories {categories}"


def _info(release: Release, keep: Keep) -> dict[str, object]:
    version = _version(release) or "of unknown release"
    return {
        "name": "UMLS",
        "version": f"UMLS {version}",
        "sources": [
            {
                "name": "UMLS Metathesaurus",
                "version": version,
                "licence": "UMLS Metathesaurus License Agreement",
                "notice": "Made from the user's own UMLS; do not pass it on. "
                f"Kept: {_describe(keep)}.",
            }
        ],
    }


def _version(release: Release) -> str:
    """Release name of the file that NLM puts beside the RRF files."""
    for path in (release.folder / "release.dat", release.folder.parent / "release.dat"):
        if path.is_file():
            for line in path.read_text(encoding="utf8").splitlines():
                if line.startswith("umls.release.name="):
                    return line.partition("=")[2].strip()
    return ""
