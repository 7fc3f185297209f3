from __future__ import annotations
from dataclasses import dataclass
@dataclass(frozen=True)
class Item:
    """One criterion. text is free of its list mark; start and end are its characters in
    the eligibility text; kind is "inclusion", "exclusion" or "unspecified"; parent is
    the position (in `Eligibility.items`) of the item it is nested under, or None."""
    text: str
    kind: str
    start: int
    end: int
    parent: int | None = None
@dataclass(frozen=True)
class Block:
    """A stretch of the eligibility text of one kind; heading ends at body_start.
    The blocks cover the text without gap."""
    kind: str
    start: int
    end: int
    body_start: int
@dataclass(frozen=True)
class Eligibility:
    items: tuple[Item, ...] = ()
    blocks: tuple[Block, ...] = ()
    @property
    def inclusion(self): return tuple(i.text for i in self.items if i.kind == "inclusion")
    @property
    def exclusion(self): return tuple(i.text for i in self.items if i.kind == "exclusion")
    @property
    def unspecified(self): return tuple(i.text for i in self.items if i.kind == "unspecified")
def split_eligibility(text: str | None) -> Eligibility:
    return Eligibility()
