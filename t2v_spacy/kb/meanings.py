"""What a name means in a trial: which concepts, in which order, or none.

A base says which concepts have a name. Here are the rules on top of that: the types a
section asks for, short names that mean a dozen things, salts, germs, everyday words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .general_names import GENERAL_NAMES, GENERAL_ROOTS
from .normalise import fold, norm_folded
from .semantic_groups import CONDITION_TYPES, INTERVENTION_TYPES

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

ROLE_TYPES = {
    "condition": CONDITION_TYPES,
    "intervention": INTERVENTION_TYPES,
    "any": CONDITION_TYPES | INTERVENTION_TYPES,
    # Hospital services and research methods are right as an item of a list, but in
    # running text seldom what the trial is about.
    "text": (CONDITION_TYPES | INTERVENTION_TYPES) - {"T058", "T062"},
}
_GERM_TYPES = frozenset(("T004", "T005", "T007", "T204"))
_SALTS = (
    *("acetate", "anhydrous", "besylate", "bisulfate", "bitartrate", "bromide"),
    *("calcium", "camsylate", "chloride", "citrate", "dihydrate", "dihydrochloride"),
    *("diisethionate", "dimesylate", "diphosphate", "disodium", "ditosylate"),
    *("esylate", "fumarate", "hcl", "hyclate", "hydrobromide", "hydrochloride"),
    *("isethionate", "lactate", "magnesium", "malate", "maleate", "mesylate"),
    *("monohydrate", "nitrate", "palmitate", "phosphate", "potassium", "sodium"),
    *("succinate", "sulfate", "tartrate", "tosylate", "trihydrate"),
)
_SHORT = 4
_CODE = re.compile(r"([a-z]{2,6})( ?)(\d{3,}[a-z]?)")


class Named(NamedTuple):
    """how is "exact", "folded", "normalised" or "curated"; ids are all concepts of the
    name, the best first."""

    how: str
    ids: tuple[str, ...]


class Meanings:
    """Meanings of names, by a base.

    kb (KnowledgeBase): The base.
    cache_size (int): Distinct names whose meaning is kept.
    """

    def __init__(self, kb: KnowledgeBase, cache_size: int = 100_000) -> None:
        self.kb = kb
        self.cache_size = cache_size
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self._fits: dict[tuple[str, str], bool] = {}
        self._found: dict[tuple[str, str, bool], Named | None] = {}
        self._headings: dict[str, str] = {}

    def find(self, text: str, role: str, typed: bool) -> Named | None:
        """What a whole text names, or None.

        role (str): A key of ROLE_TYPES: the types that are preferred.
        typed (bool): Whether other types are not taken at all.
        """
        key = (text, role, typed)
        try:
            return self._found[key]
        except KeyError:
            if len(self._found) >= self.cache_size:
                self._found.clear()
            named = self._found[key] = self._find(text, role, typed)
            return named

    def _find(self, text: str, role: str, typed: bool) -> Named | None:
        folded = fold(text)
        if not folded:
            return None
        ids: Sequence[str] = self.kb.lookup_folded(folded)
        how = "folded"
        if ids and self.kb.is_curated(folded):
            how = "curated"
            # Somebody saw that this is what trials do, be it a survey or education.
            typed = typed and role != "intervention"
        elif ids and not self.is_readable(text, folded):
            return None
        elif ids:
            how = "exact" if self._is_spelled(text, folded, ids[0]) else "folded"
        elif not is_short(folded):
            ids, how = self.kb.lookup_normed(norm_folded(folded)), "normalised"
            ids = ids or self.kb.lookup_folded(_other_spelling(folded))
        if typed and folded in GENERAL_NAMES:
            return None
        if len(ids) > 1 and how != "curated":
            ids = self._by_name(ids, norm_folded(folded))
        fitting = self._fitting(ids, role, typed)
        return Named(how, fitting) if fitting else None

    def within(self, folded: str, role: str) -> tuple[str, ...]:
        """Concepts of a folded name that is a part of a longer text."""
        key = (folded, role)
        ids = self._known.get(key)
        if ids is None:
            if len(self._known) >= self.cache_size:
                self._known.clear()
            found = () if folded in GENERAL_NAMES else self.kb.lookup_folded(folded)
            # Two words that somebody chose are safe, of whatever type the concept is.
            chosen = role == "intervention" and " " in folded
            typed = not (chosen and self.kb.is_curated(folded))
            ids = self._known[key] = self._fitting(found, role, typed)
        return ids

    def fits(self, concept_id: str, role: str) -> bool:
        """Whether a concept has one of the role's types. A base without types cannot
        tell, so all of it fits."""
        key = (concept_id, role)
        known = self._fits.get(key)
        if known is None:
            if len(self._fits) >= self.cache_size:
                self._fits.clear()
            types = self.kb.types(concept_id)
            fits = not types or not ROLE_TYPES[role].isdisjoint(types)
            known = self._fits[key] = fits and concept_id not in self._general
        return known

    def is_readable(self, text: str, folded: str) -> bool:
        """Whether a name is safe to read as it stands: short ones are not, unless they
        are curated or the base's own heading; "MDD" is a dozen things."""
        if not is_short(folded):
            return True
        ids = self.kb.lookup_folded(folded)
        if self.kb.is_curated(folded):
            return self._has_short(ids[0], text, folded, True)
        return any(self._has_short(i, text, folded, False) for i in ids)

    def is_clear(self, text: str, folded: str, concept_id: str) -> bool:
        """Whether words within a text are likely meant as a name. In lower case, the
        trade name of a substance is more likely just a word ("score", "impact")."""
        if not self.is_readable(text, folded):
            return False
        word = text.islower() and text.isalpha()
        trade = word and concept_id.startswith(("MESH:C", "UNII:"))
        return not trade or fold(self.kb.name(concept_id)) == folded

    @cached_property
    def _has_curated(self) -> bool:
        return bool(self.kb.info().get("curated_aliases"))

    @cached_property
    def _general(self) -> frozenset[str]:
        """Concepts that say how a disease is."""
        found = {root for root in GENERAL_ROOTS if root in self.kb}
        todo = list(found)
        while todo:
            new = set(self.kb.children(todo.pop())) - found
            found |= new
            todo += new
        return frozenset(found)

    def _fitting(self, ids: Sequence[str], role: str, typed: bool) -> tuple[str, ...]:
        """Ids of the role's types first; none if there are none and `typed`."""
        if not ids:
            return ()
        fitting = tuple([i for i in ids if self.fits(i, role)])
        if not fitting and role == "condition":
            fitting = tuple(self._infections(ids))
        if fitting:
            best = tuple(dict.fromkeys(map(self._heading, fitting)))
            if len(ids) == 1 and best == (ids[0],):
                return best
            return best + tuple(i for i in ids if i not in (*fitting, *best))
        if typed:
            return ()
        # A disease is never what is given, whatever its aliases say.
        unfit = CONDITION_TYPES if role == "intervention" else frozenset()
        return tuple(
            i
            for i in ids
            if i not in self._general and unfit.isdisjoint(self.kb.types(i))
        )

    def _by_name(self, ids: Sequence[str], key: str) -> Sequence[str]:
        """Among equals of one vocabulary, first those whose own name it is: "infection"
        is Infections before Communicable Diseases."""
        equal = ids[0][: len("MESH:D")]
        return sorted(
            ids,
            key=lambda i: (
                not i.startswith(equal),
                norm_folded(fold(self.kb.name(i))) != key,
            ),
        )

    def _infections(self, ids: Sequence[str]) -> Iterator[str]:
        """The infection of a germ that is given as a condition."""
        for germ in ids:
            if not _GERM_TYPES.isdisjoint(self.kb.types(germ)):
                for ending in ("infection", "infections", "disease"):
                    found = self.kb.lookup(f"{self.kb.name(germ)} {ending}")
                    yield from (i for i in found[:1] if self.fits(i, "condition"))

    def _heading(self, concept_id: str) -> str:
        """The MeSH heading of a substance that is a salt of it, or that it is a salt
        of: to MeSH, sildenafil and sildenafil citrate are one."""
        if not concept_id.startswith("UNII:"):
            return concept_id
        known = self._headings.get(concept_id)
        if known is None:
            if len(self._headings) >= self.cache_size:
                self._headings.clear()
            known = self._headings[concept_id] = self._made_of(concept_id)
        return known

    def _made_of(self, concept_id: str) -> str:
        words = fold(self.kb.name(concept_id)).split()
        while len(words) > 1 and words[-1] in _SALTS:
            words.pop()
        base = " ".join(words)
        for name in (base, *(f"{base} {salt}" for salt in _SALTS)):
            for found in self.kb.lookup_folded(name):
                if found.startswith("MESH:D"):
                    return found
        return concept_id

    def _is_spelled(self, text: str, folded: str, concept_id: str) -> bool:
        """Whether a name of the concept is this one but for case, or all that folding
        took from that name was its marks."""
        lower = text.lower()
        if lower == folded:
            return True
        concept = self.kb[concept_id]
        names = (concept.canonical_name, *concept.aliases)
        return any(lower == name.lower() for name in names)

    def _has_short(
        self, concept_id: str, text: str, folded: str, curated: bool
    ) -> bool:
        concept = self.kb[concept_id]
        spelled = [name for name in concept.aliases if fold(name) == folded]
        if fold(concept.canonical_name) == folded:
            spelled.insert(0, concept.canonical_name)
        elif self._has_curated and not curated:
            return False
        # "PET" is not a pet, "all" is not ALL.
        capitals = _is_capitals(text)
        return text in spelled or any(_is_capitals(n) <= capitals for n in spelled)


def _other_spelling(folded: str) -> str:
    """Code of a maker with the blank that it may or may not have: "amg 334" of
    "amg334" and the other way round; "" for what is no code."""
    match = _CODE.fullmatch(folded)
    return f"{match[1]}{'' if match[2] else ' '}{match[3]}" if match else ""


def is_short(text: str) -> bool:
    """Whether a name is too short to mean one thing."""
    return len(text) - text.count(" ") <= _SHORT


def _is_capitals(text: str) -> bool:
    return sum(char.isupper() or char.isdigit() for char in text) >= 2
