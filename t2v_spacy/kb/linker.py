"""Link mentions of trials to concepts, and say of each link how it was found.

A mention is one item of a list ("Recurrent Adult Soft Tissue Sarcoma"); running text is
searched for names instead. Nothing here needs spaCy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .matcher import NameMatcher, Run, SpellingMatcher, pick
from .meanings import Meanings, is_short
from .mentions import CONTROL, Part, split, stripped, trim, without_brackets
from .normalise import Word, fold, words

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

# The share of links of a method that were right when 100 were read one by one; see
# docs/results/kb.md.
SCORES = {
    "exact": 1.0,
    "folded": 1.0,
    "curated": 1.0,
    "stripped": 0.99,
    "normalised": 0.98,
    "parenthetical": 0.98,
    "split": 0.98,
    "abbreviation": 0.97,
    "spelling": 0.95,
    "ngram": 0.94,
}
METHODS = tuple(SCORES)
_LONGEST_ITEM = 25
_AS_WRITTEN = ("exact", "stripped")
# Names are not sought across these.
_BREAK = re.compile(r"[\n\r\t;:()\[\]!?•|]|[.,] |\s[-–—+/]\s")
_NOT = frozenset(("non", "anti"))
_OTHER_THING = frozenset(
    ("agonist", "agonists", "analog", "analogs", "analogue", "analogues", "antagonist")
    + ("antagonists", "antibodies", "antibody", "blockade", "blocker", "blockers")
    + ("deprivation", "gene", "genes", "inhibitor", "inhibitors", "mutation")
    + ("mutations", "receptor", "receptors", "transplant", "transplantation")
    + ("transplants", "vaccine", "vaccines")
)
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
        self._tried = self.methods | {"exact"}
        self.fuzzy = fuzzy
        self.cache_size = cache_size
        self.meanings = Meanings(kb, cache_size)
        self._links: dict[tuple, list[Link]] = {}

    @cached_property
    def matcher(self) -> NameMatcher:
        return NameMatcher(self.kb.folded_names)

    @cached_property
    def spelling(self) -> SpellingMatcher:
        return SpellingMatcher(self.kb.folded_names)

    def link(
        self, mention: str, role: str = "any", defined: Mapping[str, str] | None = None
    ) -> list[Link]:
        """Concepts of one item, in order of place; [] if there is none.

        role (str): "condition", "intervention" or "any": which types are looked for.
        defined (Mapping[str, str] | None): Abbreviations of the trial, short to long.
        """
        used = _used(mention, defined) if defined else {}
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
    ) -> list[Link]:
        """Names and defined abbreviations in running text, in order of place."""
        return self._within(text, (role,), defined or {})

    def _within(
        self, text: str, roles: Sequence[str], defined: Mapping[str, str]
    ) -> list[Link]:
        """Links of the first of some roles for which there are any."""
        found = list(words(text))
        segments = _segments(text, found)
        runs: list[Run] = []
        if "ngram" in self.methods:
            runs = self.matcher.find(found, segments, self.kb.lookup_folded)
            runs = [run for run in runs if not _goes_on(run, found, segments)]
        for role in roles:
            links = self._picked(text, found, runs, role)
            if defined:
                links = _merge(links, self._abbreviations(text, role, defined))
            if links:
                return links
        return []

    def _picked(
        self, text: str, found: Sequence[Word], runs: Sequence[Run], role: str
    ) -> list[Link]:
        allowed = "text" if role == "any" else role

        def accept(run: Run) -> bool:
            ids = self.meanings.within(run.name, allowed)
            name = text[found[run.first].start : found[run.last - 1].end]
            return bool(ids) and self.meanings.is_clear(name, run.name, ids[0])

        return [
            Link(
                self.meanings.within(run.name, allowed),
                "ngram",
                found[run.first].start,
                found[run.last - 1].end,
                SCORES["ngram"],
            )
            for run in pick(runs, accept)
        ]

    def _link(self, mention: str, role: str, used: dict[str, str]) -> list[Link]:
        item = trim(mention)
        if not item.text:
            return []
        if len(item.text.split()) > _LONGEST_ITEM:
            return self.link_text(mention, role, used)
        for step in (self._control, self._whole, self._parts, self._similar):
            if links := [*step(item, role, used)]:
                return links
        # "COVID visitation restrictions" is about COVID-19, if no intervention.
        return self._within(mention, (role, "any"), used)

    def _whole(
        self, item: Part, role: str, used: Mapping[str, str], strict: bool = False
    ) -> Iterator[Link]:
        """One link for the whole of an item, or for its core.

        strict: take only concepts of the role's types, as for a part of a combination.
        """
        for how, part in self._forms(item, role, used):
            name = part.text if how == "exact" else used.get(part.text, part.text)
            typed = strict or how in ("parenthetical", "stripped")
            found = self.meanings.find(name, role, typed)
            if found and how in self._tried:
                found_how, ids = found
                how = found_how if how == "exact" else how
                if how in self.methods:
                    yield Link(ids, how, part.start, part.end, SCORES[how])
                    return

    def _forms(
        self, item: Part, role: str, used: Mapping[str, str]
    ) -> Iterator[tuple[str, Part]]:
        if item.text in used:  # the trial says what it stands for
            yield "abbreviation", item
        if item.text not in used or not is_short(fold(item.text)):
            yield "exact", item
        if used and item.text not in used:
            yield "abbreviation", item._replace(text=_expand(item.text, used))
        outer, inner = without_brackets(item.text)
        if outer.text:
            yield "parenthetical", _moved(outer, item.start)
            for part in inner:
                if part.text in used or not is_short(part.text):
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
        if role != "intervention":
            return
        match = CONTROL.search(item.text)
        if not match or self.meanings.find(item.text, role, False):
            return
        if not self._complete(item, role, used):
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
            forms = [
                p for how, p in self._forms(item, role, used) if how in _AS_WRITTEN
            ]
            for part in dict.fromkeys(forms[:1] + forms[-1:]):
                for name in self.spelling.find(fold(part.text)):
                    if ids := self.meanings.within(name, role):
                        score = SCORES["spelling"]
                        yield Link(ids, "spelling", part.start, part.end, score)
                        return
        if self.fuzzy is not None:
            found = [
                c for c in self.fuzzy([item.text])[0] if self.meanings.fits(c[0], role)
            ]
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


def _moved(part: Part, by: int) -> Part:
    return Part(part.text, part.start + by, part.end + by)


def _alone(short: str) -> str:
    """Pattern of a short form that is not a part of a word."""
    return rf"(?<![^\W_]){re.escape(short)}(?![^\W_])"


def _used(text: str, defined: Mapping[str, str]) -> dict[str, str]:
    """The abbreviations that occur in a text."""
    return {
        short: long
        for short, long in defined.items()
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
    end = 0
    for i, word in enumerate(found):
        start = word.start
        # One blank is no break, and is most often all there is.
        alone = start - end == 1 and text[end] == " "
        if i and not alone and _BREAK.search(text, end, min(start + 1, len(text))):
            number += 1
        numbers.append(number)
        end = word.end
    return numbers


def _goes_on(run: Run, found: Sequence[Word], segments: Sequence[int]) -> bool:
    """Whether the words beside a name make it another thing: "non" before it, or an
    "inhibitor" or "transplant" after it."""
    first, last = run.first, run.last
    before = first and segments[first - 1] == segments[first]
    if before and found[first - 1].folded in _NOT:
        return True
    after = last < len(found) and segments[last] == segments[last - 1]
    return after and found[last].folded in _OTHER_THING


def _merge(links: list[Link], more: Iterator[Link]) -> list[Link]:
    """All links in order of place; where two overlap, one of `more` wins."""
    new = list(more)
    kept = [
        link
        for link in links
        if not any(link.start < n.end and n.start < link.end for n in new)
    ]
    return sorted((*kept, *new), key=lambda link: (link.start, link.end))
