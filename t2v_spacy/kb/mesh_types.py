"""Semantic types of MeSH headings by place in the tree, where the source has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Tree number or the start of one -> TUIs, approximate; the longest start decides.
_TYPES = {
    "A": "T017",
    "A01": "T029",
    "A11": "T025",
    "A12": "T031",
    "A18": "T002",
    "B": "T001",
    "B01": "T204",
    "B02": "T007",
    "B03": "T007",
    "B04": "T005",
    "C": "T047",
    "C04": "T191",
    "C16.131": "T019",
    "C23": "T046",
    "C23.888": "T184",
    "C25": "T037",
    "C26": "T037",
    "D": "T103",
    "D01": "T197",
    "D02": "T109 T121",
    "D03": "T109 T121",
    "D04": "T109 T121",
    "D05": "T122",
    "D06": "T125",
    "D08": "T126",
    "D09": "T109",
    "D10": "T109",
    "D12": "T116",
    "D12.776.124.486": "T129",
    "D13": "T114",
    "D20": "T121",
    "D20.215.894": "T129",
    "D23": "T123",
    "D23.050": "T129",
    "D25": "T122",
    "D26": "T121",
    "D27": "T121",
    "E": "T058",
    "E01": "T060",
    "E02": "T061",
    "E03": "T061",
    "E04": "T061",
    "E05": "T062",
    "E06": "T061",
    "E07": "T074",
    "F01": "T055",
    "F02": "T041",
    "F03": "T048",
    "F04": "T061",
    "G": "T038",
    "G07": "T039",
    "G11": "T039",
    "G13": "T080",
    "H": "T090",
    "I": "T054",
    "I03": "T056",
    "J": "T073",
    "J02": "T168",
    "K": "T078",
    "L": "T170",
    "M": "T098",
    "N": "T058",
    "V": "T170",
    "Z": "T083",
}


def types_of(tree_numbers: Iterable[str]) -> tuple[str, ...]:
    """TUIs of a heading with these tree numbers, each once, in their order."""
    found: dict[str, None] = {}
    for number in tree_numbers:
        found.update(dict.fromkeys(_longest(number).split()))
    return tuple(found)


def _longest(number: str) -> str:
    place = number
    while "." in place:
        if place in _TYPES:
            return _TYPES[place]
        place = place.rpartition(".")[0]
    return _TYPES.get(place) or _TYPES.get(place[:1], "")


def parents_by_tree(trees: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Id -> ids of the headings one step up in the tree, for ids with tree numbers."""
    owner = {number: i for i, numbers in trees.items() for number in numbers}
    found: dict[str, tuple[str, ...]] = {}
    for i, numbers in trees.items():
        above = (owner.get(number.rpartition(".")[0]) for number in numbers)
        found[i] = tuple(dict.fromkeys(p for p in above if p and p != i))
    return found
