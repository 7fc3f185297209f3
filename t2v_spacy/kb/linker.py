"""Link mentions of trials to concepts, and say of each link how it was found.

A mention is one item of a list ("Recurrent Adult Soft Tissue Sarcoma"); running text is
searched for names instead. Nothing here needs spaCy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .general_names import GENERAL_NAMES
from .matcher import NameMatcher, SpellingMatcher, pick
from .mentions import CONTROL, Part, split, stripped, trim, without_brackets
from .normalise import Word, fold, norm_folded, words
from .semantic_groups import CONDITION_TYPES, INTERVENTION_TYPES

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

# The share of links of a method that were right when read one by one.
SCORES = {
    "exact": 1.0,
    "folded": 1.0,
    "normalised": 1.0,
    "curated": 1.0,
    "abbreviation": 1.0,
    "parenthetical": 1.0,
    "stripped": 1.0,
    "split": 1.0,
    "spelling": 1.0,
    "ngram": 1.0,
}
METHODS = tuple(SCORES)
ROLE_TYPES = {
    "condition": CONDITION_TYPES,
    "intervention": INTERVENTION_TYPES,
    "any": CONDITION_TYPES | INTERVENTION_TYPES,
}
# Hospital services, research methods and the like: right as an item of a list, but in
# running text seldom what the trial is about.
TEXT_TYPES = ROLE_TYPES["any"] - {"T058", "T062"}
GERM_TYPES = frozenset(("T004", "T005", "T007", "T204"))
SALTS = frozenset(
    """acetate anhydrous besylate bromide calcium chloride citrate dihydrate
    dihydrochloride diphosphate disodium ditosylate esylate fumarate hcl hydrobromide
    hydrochloride magnesium malate maleate mesylate monohydrate palmitate phosphate
    potassium sodium succinate sulfate tartrate tosylate trihydrate""".split()
)
_SHORT = 4
_LONGEST_ITEM = 25
# Names are not sought across these.
_BREAK = re.compile(r"[\n\r\t;:()\[\]!?•|]|[.,] |\s[-–—+/]\s")
Fuzzy = Callable[[Sequence[str]], list[list[tuple[str, float]]]]


class Link(NamedTuple):
    """ids are all concepts the name fits, the best first; how is one of METHODS or
    "fuzzy"; start and end are characters of the mention or text."""

    ids: tuple[str, ...]
    how: str
    start: int
    end: int
    score: float


class ConceptLinker:
    """Links strings to the concepts of a base; results are kept per distinct string.

    kb (KnowledgeBase): The base.
    methods (Sequence[str]): Which of METHODS may be used.
    fuzzy (Callable | None): Candidates of strings that no method links, each as (id,
        similarity), the best first; see `kb/fuzzy.py`.
    cache_size (int): Distinct strings to keep.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        methods: Sequence[str] = METHODS,
        fuzzy: Fuzzy | None = None,
        cache_size: int = 100_000,
    ) -> None:
        self.kb = kb
        self.methods = frozenset(methods)
        self.fuzzy = fuzzy
        self.cache_size = cache_size
        self._links: dict[tuple, list[Link]] = {}
        self._named: dict[tuple[str, str], tuple[str, ...]] = {}

    @cached_property
    def matcher(self) -> NameMatcher:
        return NameMatcher(name for name, _ in self.kb.names())

    @cached_property
    def _has_curated(self) -> bool:
        return bool(self.kb.info().get("curated_aliases"))

    @cached_property
    def spelling(self) -> SpellingMatcher:
        return SpellingMatcher(name for name, _ in self.kb.names())

    def link(
        self, mention: str, role: str = "any", defined: Mapping[str, str] | None = None
    ) -> list[Link]:
        """Concepts of one item, in order of place; [] if there is none.

        role (str): "condition", "intervention" or "any": which types are looked for.
        defined (Mapping[str, str] | None): Abbreviations of the trial, short to long.
        """
        used = _used(mention, defined)
        key = (mention, role, *used.items())
        links = self._links.get(key)
        if links is None:
            if len(self._links) >= self.cache_size:
                self._links.clear()
            links = self._links[key] = self._link(mention, role, used)
        return links

    def link_text(
        self,
        text: str,
        role: str = "any",
        defined: Mapping[str, str] | None = None,
        *,
        types: frozenset[str] | None = None,
    ) -> list[Link]:
        """Names and defined abbreviations in running text, in order of place."""
        found = list(words(text))
        links = []
        if "ngram" in self.methods:
            allowed = f"{role} text" if types is None else role
            runs = self.matcher.find(found, _segments(text, found))
            for run in pick(runs, lambda name: bool(self._ids(name, allowed))):
                start, end = found[run.first].start, found[run.last - 1].end
                if self._is_readable(text[start:end], run.name):
                    ids = self._ids(run.name, allowed)
                    links.append(Link(ids, "ngram", start, end, SCORES["ngram"]))
        if defined:
            links = _merge(links, self._abbreviations(text, role, defined))
        return links

    def _link(self, mention: str, role: str, used: dict[str, str]) -> list[Link]:
        item = trim(mention)
        if not item.text:
            return []
        if len(item.text.split()) > _LONGEST_ITEM:
            return self.link_text(mention, role, used)
        for step in (self._whole, self._control, self._parts, self._similar):
            if links := [*step(item, role, used)]:
                return links
        if "ngram" in self.methods:
            return self.link_text(mention, role, used, types=ROLE_TYPES[role])
        return []

    def _whole(
        self, item: Part, role: str, used: Mapping[str, str], strict: bool = False
    ) -> Iterator[Link]:
        """One link for the whole of an item, or for its core.

        strict: take only concepts of the role's types, as for a part of a combination.
        """
        for how, part in self._forms(item, role, used):
            name = used.get(part.text, part.text) if how != "exact" else part.text
            if part.text in used and name == part.text:
                continue  # the trial says what it stands for
            typed = strict or how in ("parenthetical", "stripped")
            found = self._named_ids(name, role, typed)
            if found and how in self.methods | {"exact"}:
                found_how, ids = found
                how = found_how if how == "exact" else how
                if how in self.methods:
                    yield Link(ids, how, part.start, part.end, SCORES[how])
                    return

    def _forms(
        self, item: Part, role: str, used: Mapping[str, str]
    ) -> Iterator[tuple[str, Part]]:
        yield "exact", item
        if used:
            if item.text in used:
                yield "abbreviation", item
            else:
                yield "abbreviation", item._replace(text=_expand(item.text, used))
        outer, inner = without_brackets(item.text)
        if outer.text:
            yield "parenthetical", _moved(outer, item.start)
            for part in inner:
                if part.text in used or len(part.text) > _SHORT:
                    yield "parenthetical", _moved(part, item.start)
        core = outer.text or item.text
        offset = item.start + outer.start
        for side in ("condition", "intervention") if role == "any" else (role,):
            for part in stripped(core, side):
                yield "stripped", _moved(part, offset)

    def _control(
        self, item: Part, role: str, used: Mapping[str, str]
    ) -> Iterator[Link]:
        """ "Metformin placebo" is a placebo, not metformin."""
        match = CONTROL.search(item.text) if role == "intervention" else None
        if match and not self._complete(item, role, used):
            control = _moved(Part(match[0], match.start(), match.end()), item.start)
            yield from self._whole(control, role, used)

    def _parts(self, item: Part, role: str, used: Mapping[str, str]) -> Iterator[Link]:
        if "split" in self.methods:
            for part in split(item.text):
                for link in self._whole(_moved(part, item.start), role, used, True):
                    yield link._replace(how="split", score=SCORES["split"])

    def _complete(self, item: Part, role: str, used: Mapping[str, str]) -> bool:
        parts = split(item.text)
        return bool(parts) and all(
            any(self._whole(_moved(part, item.start), role, used)) for part in parts
        )

    def _similar(
        self, item: Part, role: str, used: Mapping[str, str]
    ) -> Iterator[Link]:
        if "spelling" in self.methods:
            for how, part in self._forms(item, role, used):
                if how in ("exact", "stripped"):
                    for name in self.spelling.find(fold(part.text)):
                        if ids := self._ids(name, role):
                            score = SCORES["spelling"]
                            yield Link(ids, "spelling", part.start, part.end, score)
                            return
        if self.fuzzy is not None:
            found = [c for c in self.fuzzy([item.text])[0] if self._fits(c[0], role)]
            if found:
                ids = tuple(concept_id for concept_id, _ in found)
                yield Link(ids, "fuzzy", item.start, item.end, found[0][1])

    def _abbreviations(
        self, text: str, role: str, defined: Mapping[str, str]
    ) -> Iterator[Link]:
        """Each use of a defined short form that has a concept."""
        if "abbreviation" not in self.methods:
            return
        for short, long in _used(text, defined).items():
            links = list(self._whole(trim(long), role, {}, True))
            if links:
                for match in re.finditer(_alone(short), text):
                    yield links[0]._replace(
                        how="abbreviation",
                        score=SCORES["abbreviation"],
                        start=match.start(),
                        end=match.end(),
                    )

    def _named_ids(
        self, text: str, role: str, typed: bool
    ) -> tuple[str, tuple[str, ...]] | None:
        """How a text is a name of the base, and of which concepts; None if it is not."""
        folded = fold(text)
        if not folded or (typed and folded in GENERAL_NAMES):
            return None
        ids, how = self.kb.lookup_folded(folded), "folded"
        if ids and self.kb.is_curated(folded):
            how = "curated"
        elif ids and not self._is_readable(text, folded):
            return None
        elif ids:
            how = "exact" if self._is_spelled(text, ids[0]) else "folded"
        elif len(folded) > _SHORT:
            ids, how = self.kb.lookup_normed(norm_folded(folded)), "normalised"
        fitting = self._sorted(ids, role, typed)
        return (how, fitting) if fitting else None

    def _ids(self, folded: str, role: str) -> tuple[str, ...]:
        """Concepts with exactly this folded name that fit a role; kept."""
        key = (folded, role)
        ids = self._named.get(key)
        if ids is None:
            if len(self._named) >= self.cache_size:
                self._named.clear()
            known = () if folded in GENERAL_NAMES else self.kb.lookup_folded(folded)
            ids = self._named[key] = self._sorted(known, role, True)
        return ids

    def _sorted(self, ids: Sequence[str], role: str, typed: bool) -> tuple[str, ...]:
        """Ids of the role's types first; none if there are none and `typed`."""
        fitting = tuple(i for i in ids if self._fits(i, role))
        if not fitting and role == "condition":
            fitting = tuple(self._infections(ids))
        if not fitting:
            # A disease is never what is given, whatever its aliases say.
            unfit = role == "intervention"
            return () if typed else self._without(ids, CONDITION_TYPES if unfit else ())
        headings = tuple(dict.fromkeys(self._heading(i) for i in fitting))
        return headings + tuple(i for i in ids if i not in fitting)

    def _without(self, ids: Sequence[str], types: Iterable[str]) -> tuple[str, ...]:
        return tuple(i for i in ids if not set(self.kb.types(i)) & set(types))

    def _infections(self, ids: Sequence[str]) -> Iterator[str]:
        """The infection of a germ that is given as a condition."""
        for germ in ids:
            if not GERM_TYPES.isdisjoint(self.kb.types(germ)):
                for ending in ("infection", "infections", "disease"):
                    found = self.kb.lookup(f"{self.kb.name(germ)} {ending}")
                    yield from (i for i in found[:1] if self._fits(i, "condition"))

    def _heading(self, concept_id: str) -> str:
        """The MeSH heading of a substance that is a salt of it, or that it is a salt
        of: to MeSH, sildenafil and sildenafil citrate are one."""
        if not concept_id.startswith("UNII:"):
            return concept_id
        base, *rest = fold(self.kb.name(concept_id)).split()
        names = [base] if rest and SALTS.issuperset(rest) else []
        if not rest:
            names = [f"{base} {salt}" for salt in SALTS]
        for name in names:
            for found in self.kb.lookup_folded(name):
                if found.startswith("MESH:D"):
                    return found
        return concept_id

    def _fits(self, concept_id: str, role: str) -> bool:
        role, _, text = role.partition(" ")
        types = ROLE_TYPES[role] & TEXT_TYPES if text else ROLE_TYPES[role]
        own = self.kb.types(concept_id)
        # A base without types cannot tell, so all of it fits.
        return not own or not types.isdisjoint(own)

    def _is_spelled(self, text: str, concept_id: str) -> bool:
        concept = self.kb[concept_id]
        lower = text.lower()
        return any(
            lower == name.lower() for name in (concept.canonical_name, *concept.aliases)
        )

    def _is_readable(self, text: str, folded: str) -> bool:
        """Whether a name is safe to read as it stands: short capitals are not, unless
        curated or the base's own heading; "MDD" is a dozen things."""
        if len(folded.replace(" ", "")) > _SHORT or self.kb.is_curated(folded):
            return True
        return any(self._has_short(i, text, folded) for i in self.kb.lookup_folded(folded))

    def _has_short(self, concept_id: str, text: str, folded: str) -> bool:
        concept = self.kb[concept_id]
        if fold(concept.canonical_name) == folded:
            return True
        spelled = [name for name in concept.aliases if fold(name) == folded]
        if not self._has_curated:
            return text in spelled
        return not any(_is_capitals(name) for name in (text, *spelled))


def _is_capitals(text: str) -> bool:
    return sum(char.isupper() or char.isdigit() for char in text) >= 2


def _moved(part: Part, by: int) -> Part:
    return Part(part.text, part.start + by, part.end + by)


def _alone(short: str) -> str:
    """Pattern of a short form that is not a part of a word."""
    return rf"(?<![^\W_]){re.escape(short)}(?![^\W_])"


def _used(text: str, defined: Mapping[str, str] | None) -> dict[str, str]:
    """The abbreviations that occur in a text."""
    return {
        short: long
        for short, long in (defined or {}).items()
        if short in text and re.search(_alone(short), text)
    }


def _expand(text: str, used: Mapping[str, str]) -> str:
    for short, long in used.items():
        if long not in text:
            text = re.sub(_alone(short), lambda _, long=long: long, text)  # type: ignore
    return text


def _segments(text: str, found: Sequence[Word]) -> list[int]:
    """A number for each word; it rises where a name cannot go on."""
    numbers = []
    number = 0
    for i, word in enumerate(found):
        if i and _BREAK.search(text, found[i - 1].end, min(word.start + 1, len(text))):
            number += 1
        numbers.append(number)
    return numbers


def _merge(links: list[Link], more: Iterator[Link]) -> list[Link]:
    """All links in order of place; where two overlap, one of `more` wins."""
    new = list(more)
    kept = [
        link
        for link in links
        if not any(link.start < n.end and n.start < link.end for n in new)
    ]
    return sorted((*kept, *new), key=lambda link: (link.start, link.end))
