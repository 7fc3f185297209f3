"""The class of a drug by the end of its international name.

The base has the chemistry of most drugs, but not what they do: to it dapagliflozin is a
glucoside. International names say that in their last syllables.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..kb.normalise import fold

if TYPE_CHECKING:
    from ..kb.knowledge_base import KnowledgeBase

# Longer ends first, where one is a part of another.
_CLASSES = {
    "gliflozin": "SGLT2 inhibitors",
    "gliptin": "DPP-4 inhibitors",
    "glutide": "GLP-1 receptor agonists",
    "glitazone": "thiazolidinediones",
    "vastatin": "statins",
    "sartan": "angiotensin receptor blockers",
    "pril": "ACE inhibitors",
    "olol": "beta blockers",
    "prazole": "proton pump inhibitors",
    "afil": "PDE5 inhibitors",
    "xaban": "factor Xa inhibitors",
    "coxib": "COX-2 inhibitors",
    "setron": "5-HT3 antagonists",
    "parib": "PARP inhibitors",
    "ciclib": "CDK inhibitors",
    "tinib": "kinase inhibitors",
    "dronate": "bisphosphonates",
    "floxacin": "fluoroquinolones",
    "cillin": "penicillins",
    "conazole": "azole antifungals",
    "tegravir": "integrase inhibitors",
    "navir": "HIV protease inhibitors",
    "vudine": "reverse transcriptase inhibitors",
    "dipine": "calcium channel blockers",
    "stigmine": "cholinesterase inhibitors",
    "caine": "local anesthetics",
    "azepam": "benzodiazepines",
    "azolam": "benzodiazepines",
    "curonium": "neuromuscular blockers",
    "rubicin": "anthracyclines",
    "platin": "platinum compounds",
    "taxel": "taxanes",
    "dogrel": "P2Y12 inhibitors",
    "lukast": "leukotriene antagonists",
    "meterol": "beta-2 agonists",
    "moterol": "beta-2 agonists",
    "tropium": "muscarinic antagonists",
}
_ENDS = tuple(_CLASSES)
# Other things whose names end alike.
_NOT = (
    "piprazole",
    "duglutide",
    "praglutide",
    "paglutide",
    "brivudine",
    "sorivudine",
) + ("cocaine", "ridogrel", "xamoterol", "medronate")


@lru_cache(maxsize=1 << 14)
def drug_class(name: str) -> str | None:
    """Such as "SGLT2 inhibitors" for "dapagliflozin"; None if the name does not say."""
    for word in fold(name).split():
        if word.endswith(_ENDS) and not word.endswith(_NOT):
            end = next(end for end in _ENDS if word.endswith(end))
            if len(word) > len(end) + 1:
                return _CLASSES[end]
    return None


@lru_cache(maxsize=256)
def class_ids(kb: KnowledgeBase, name: str) -> tuple[str, ...]:
    """The concept of a class, () if the base has none."""
    return (kb.lookup(name) or kb.lookup_norm(name))[:1]
