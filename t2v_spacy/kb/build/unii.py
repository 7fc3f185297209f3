"""Substances of the FDA's registry (UNII): brand names, new drugs, codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..normalise import fold
from ..semantic_groups import DRUG_TYPES
from .draft import Draft, Entry

# Kinds of name, in order of use: official, brand, common, code.
_KINDS = ("of", "bn", "cn", "cd")
# Systematic chemical names only help to recognise a substance; no trial uses them.
_SYSTEMATIC = "sys"
_NAMED = frozenset(("of", "bn"))
_LONGEST, _MOST = 40, 40
# Code of a maker ("PTK787"), not the number that a collection gave to a chemical.
_CODE = re.compile(
    r"(?!NSC|FEMA|NCI|CCRIS|INS|CI-|EINECS|ENT|HALON|LS|UN)[A-Z]{2,6}[- ]?\d{2,}[A-Z]?"
)
_WORD = re.compile(r"[A-Za-z]{8,}")
_NOT_A_NAME = re.compile(r"\b(?:IMPURITY|COMPONENT|INGREDIENT)\b")
_ORIGIN = re.compile(r"\s*\[[^\]]*\]$")
_GREEK_LETTER = re.compile(
    r"\.(ALPHA|BETA|GAMMA|DELTA|EPSILON|ZETA|ETA|THETA|IOTA|KAPPA|LAMBDA|MU|NU|XI|PI|"
    r"RHO|SIGMA|TAU|PHI|CHI|PSI|OMEGA)\."
)
# What salts and esters of a drug add to its name.
_SALT = re.compile(
    r"\b(?:(?:mono|di|tri|hemi|sesqui)?(?:hydrochloride|hydrobromide|hydrate|sodium|"
    r"potassium|phosphate|acetate|nitrate|fumarate|citrate|mesylate|chloride|"
    r"propionate)|calcium|magnesium|zinc|lithium|anhydrous|mesilate|sulfate|sulphate|"
    r"maleate|tartrate|bitartrate|bromide|iodide|succinate|tosylate|besylate|besilate|"
    r"esylate|isethionate|lactate|pamoate|embonate|palmitate|decanoate|enanthate|"
    r"valerate|furoate|butyrate|caproate|stearate|gluconate|malate|oxalate|benzoate|"
    r"nicotinate|salicylate|lysine|arginine|meglumine|tromethamine|trometamol|"
    r"olamine|diolamine|erbumine|mofetil|medoxomil|axetil|etexilate|disoproxil|"
    r"alafenamide|pivoxil|proxetil)\b"
)
_ACID = re.compile(r"ate$")
_CHEMICAL = DRUG_TYPES | {"T002", "T005", "T007", "T168"}
# "Pharmaceutical Preparations", for a substance of which nothing more is known.
_ANY_DRUG = "MESH:D004364"


@dataclass
class Substance:
    """One substance of the registry: its shown name, names by kind, and products of
    several substances that it is a part of."""

    unii: str
    name: str
    names: dict[str, list[str]] = field(default_factory=dict)
    products: list[str] = field(default_factory=list)

    @property
    def is_named(self) -> bool:
        """Whether it has an official or a brand name."""
        return not _NAMED.isdisjoint(self.names)

    def all_names(self) -> Iterator[str]:
        yield self.name
        for kind in _KINDS:
            yield from self.names.get(kind, ())


def read_substances(rows: Iterable[Sequence[str]]) -> list[Substance]:
    """Substances from (name, kind, UNII, shown name); the first row is a heading."""
    found: dict[str, Substance] = {}
    for name, kind, unii, shown in rows:
        if kind not in _KINDS and kind != _SYSTEMATIC:
            continue
        if unii not in found:
            found[unii] = Substance(unii, _clean(shown))
        substance = found[unii]
        product, part_of, _ = name.partition(" COMPONENT ")
        if part_of:
            substance.products.append(_clean(product))
        elif not _NOT_A_NAME.search(name):
            substance.names.setdefault(kind, []).append(_clean(name))
    return [found[unii] for unii in sorted(found)]


def substance_names(substances: Iterable[Substance]) -> frozenset[str]:
    """Folded names of all substances and of the products that have them as a part."""
    found: set[str] = set()
    for substance in substances:
        found.update(map(fold, substance.all_names()))
        found.update(map(fold, substance.names.get(_SYSTEMATIC, ())))
        found.update(map(fold, substance.products))
    return frozenset(found)


def add_substances(draft: Draft, substances: Iterable[Substance]) -> int:
    """Add those with an official or brand name; returns how many were merged into a
    chemical that is there. A salt of a known drug becomes its child."""
    merged = 0
    for substance in substances:
        if not substance.is_named:
            continue
        names = [n for n in dict.fromkeys(substance.all_names()) if len(n) < _LONGEST]
        if target := _target(draft, substance):
            draft.add_names(target, names[:_MOST])
            merged += 1
        elif not _others(draft, substance.name):
            new = f"UNII:{substance.unii}"
            parent = _base(draft, substance.name) or _ANY_DRUG
            draft.add(Entry(new, substance.name, types=("T121",), parents=[parent]))
            draft.add_names(new, names[:_MOST])
    for substance in substances:
        if not substance.is_named:
            _add_codes(draft, substance)
    return merged


def _add_codes(draft: Draft, substance: Substance) -> None:
    """Codes and single words for a substance that has no official name of its own,
    often a salt, go to the drug of its shown name, or to the drug it is made of."""
    named = [i for i in draft.find(substance.name) if _is_chemical(draft, i)]
    target = next(iter(named), None) or _base(draft, substance.name)
    if target is None or "T121" not in draft[target].types:
        return
    codes = [n for n in substance.names.get("cd", ()) if _CODE.fullmatch(n)]
    common = [n for n in substance.names.get("cn", ()) if _WORD.fullmatch(n)]
    draft.add_names(target, dict.fromkeys(codes + common))


def _target(draft: Draft, substance: Substance) -> str | None:
    """The chemical with the shown name, else the one that most of the names belong to.

    A substance of the registry is none: each has a number of its own."""
    named = [i for i in _others(draft, substance.name) if _is_chemical(draft, i)]
    if named or _others(draft, substance.name):
        return next(iter(named), None)
    found = (_others(draft, name) for name in substance.all_names())
    hits = Counter(next(filter(partial(_is_chemical, draft), ids), "") for ids in found)
    del hits[""]
    return hits.most_common(1)[0][0] if hits else None


def _base(draft: Draft, name: str) -> str | None:
    """The chemical that a salt or ester is made of, by name."""
    bare = " ".join(_SALT.sub("", fold(name)).split())
    for spelling in (bare, _ACID.sub("ic acid", bare)):
        for i in draft.find(spelling):
            if _is_chemical(draft, i):
                return i
    return None


def _others(draft: Draft, name: str) -> list[str]:
    return [i for i in draft.find(name) if not i.startswith("UNII:")]


def _is_chemical(draft: Draft, concept_id: str) -> bool:
    return not _CHEMICAL.isdisjoint(draft[concept_id].types)


def _clean(name: str) -> str:
    """Without its origin in brackets, Greek letters as words, words in lower case;
    codes keep their capitals."""
    name = _GREEK_LETTER.sub(r"\1", _ORIGIN.sub("", name)).strip()
    if any(char.isdigit() for char in name):
        return name
    return name.capitalize()
