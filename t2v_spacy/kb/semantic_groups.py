"""UMLS semantic types (TUIs) and the groups they form, as NLM publishes them.

The groups are those of the Semantic Groups file of the UMLS Semantic Network, which
needs no licence.
"""

from __future__ import annotations

from collections.abc import Iterable

# Group -> TUIs, the numbers alone.
_GROUPS = {
    "ACTI": "051 052 053 054 055 056 057 064 066",
    "ANAT": "017 018 021 022 023 024 025 026 029 030 031",
    "CHEM": "103 104 109 110 111 114 115 116 118 119 120 121 122 123 124 125 126 127 "
    "129 130 131 192 195 196 197 200",
    "CONC": "077 078 079 080 081 082 089 102 169 170 171 185",
    "DEVI": "074 075 203",
    "DISO": "019 020 033 037 046 047 048 049 050 184 190 191",
    "GENE": "028 085 086 087 088",
    "GEOG": "083",
    "LIVB": "001 002 004 005 007 008 010 011 012 013 014 015 016 096 097 098 099 100 "
    "101 194 204",
    "OBJC": "071 072 073 167 168",
    "OCCU": "090 091",
    "ORGA": "092 093 094 095",
    "PHEN": "034 038 067 068 069 070",
    "PHYS": "032 039 040 041 042 043 044 045 201",
    "PROC": "058 059 060 061 062 063 065",
}
GROUP_OF = {f"T{n}": group for group, tuis in _GROUPS.items() for n in tuis.split()}


def _tuis(numbers: str) -> frozenset[str]:
    return frozenset(f"T{number}" for number in numbers.split())


# What a condition of a trial may be: diseases, signs, injuries, mental states.
CONDITION_TYPES = _tuis("047 191 048 046 019 020 190 049 037 184")
DRUG_TYPES = _tuis("121 195 200 109 116 114 125 126 127 129 123 122 197 103")
PROCEDURE_TYPES = _tuis("061 060 058 059")
DEVICE_TYPES = _tuis("074 203 075")
# Behaviour, daily and educational activity, food, cells given as treatment.
OTHER_INTERVENTION_TYPES = _tuis("055 056 065 168 025")
INTERVENTION_TYPES = (
    DRUG_TYPES | PROCEDURE_TYPES | DEVICE_TYPES | OTHER_INTERVENTION_TYPES
)


def group(tui: str) -> str:
    """Group of a type, e.g. "DISO" of "T047"; "" for one that is not known."""
    return GROUP_OF.get(tui, "")


def groups(tuis: Iterable[str]) -> frozenset[str]:
    """Groups of some types, without the unknown."""
    return frozenset(filter(None, map(group, tuis)))
