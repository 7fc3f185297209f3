"""Concepts while several sources are being merged into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..knowledge_base import Concept
from ..normalise import fold


@dataclass
class Entry:
    """A concept that can still change; fields as in `Concept`."""

    concept_id: str
    name: str
    aliases: list[str] = field(default_factory=list)
    types: tuple[str, ...] = ()
    definition: str | None = None
    parents: list[str] = field(default_factory=list)
    roles: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [self.name, *self.aliases]


class Draft:
    """Entries by id, in order of preference, and by folded name."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._by_name: dict[str, list[str]] = {}

    def __contains__(self, concept_id: str) -> bool:
        return concept_id in self.entries

    def __getitem__(self, concept_id: str) -> Entry:
        return self.entries[concept_id]

    def add(self, entry: Entry) -> None:
        self.entries[entry.concept_id] = entry
        for name in entry.names:
            self._note(name, entry.concept_id)

    def find(self, name: str) -> list[str]:
        """Ids of the entries with this name, but for case and punctuation."""
        return self._by_name.get(fold(name), [])

    def first(self, name: str) -> str | None:
        return next(iter(self.find(name)), None)

    def add_names(self, concept_id: str, names: Iterable[str]) -> int:
        """Give an entry more names; one that another entry has stays with that entry.

        Returns the number of names refused for that.
        """
        refused = 0
        for name in names:
            owners = self.find(name)
            if not owners:
                self.entries[concept_id].aliases.append(name)
                self._note(name, concept_id)
            elif concept_id not in owners:
                refused += 1
        return refused

    def concepts(self) -> Iterator[Concept]:
        """The entries as concepts; relations to what is not here are left out."""
        for entry in self.entries.values():
            yield Concept(
                entry.concept_id,
                entry.name,
                tuple(entry.aliases),
                entry.types,
                entry.definition,
                self._known(entry.parents),
                {
                    kind: known
                    for kind, ids in entry.roles.items()
                    if (known := self._known(ids))
                },
            )

    def _known(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(i for i in dict.fromkeys(ids) if i in self.entries)

    def _note(self, name: str, concept_id: str) -> None:
        if folded := fold(name):
            owners = self._by_name.setdefault(folded, [])
            if concept_id not in owners:
                owners.append(concept_id)
