"""The words of a record that tell studies apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

Words = frozenset[str]

_WORD = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
# "PF-0123" is one word.
_HYPHEN = re.compile(r"(?<=[a-z])-(?=\d)")
_PHASE = re.compile(
    r"\bphase\W{0,2}(?:[ivx]+|\d)[abc]?\b(?:\s*[/-]\s*(?:[ivx]+|\d)[abc]?\b)?"
)


def words(*texts: str | None) -> Words:
    """Lower-case words and numbers; a plural is as its singular."""
    joined = _HYPHEN.sub("", "\n".join(text or "" for text in texts).lower())
    return frozenset(w[:-1] if _plural(w) else w for w in _WORD.findall(joined))


def title_words(text: str | None) -> Words:
    """Without the phase, which the record says itself, and what all titles say."""
    return words(_PHASE.sub(" ", (text or "").lower())) - _EMPTY


def condition_words(names: Iterable[str]) -> Words:
    return words(*names) - _EMPTY - _ILL


def drug_words(names: Iterable[str]) -> Words:
    """Without how much of it and how it is given."""
    found = words(*names) - _EMPTY - _DOSE
    return frozenset(word for word in found if not word.isdigit())


def sponsor_words(name: str | None) -> Words:
    """Without the legal form."""
    return words(name) - _FORM


def _plural(word: str) -> bool:
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return ends and len(word) > 4


_EMPTY = words(
    """a an the of in on for to with without by and or at as is are be from into its
    study studies trial clinical research evaluate evaluating evaluation assess
    assessing assessment investigate investigating determine determining compare
    comparing comparison comparative versus vs use using used effect patient subject
    participant people who have has having treating treatment phase randomized
    randomised double blind blinded placebo controlled multicenter multicentre center
    open label parallel group prospective efficacy safety effectiveness tolerability
    this that"""
)
_DOSE = words(
    """mg mcg ug g kg ml l iu unit dose daily once twice weekly week day oral injection
    tablet capsule infusion intravenous subcutaneous solution therapy regimen arm group
    low medium high single multiple combination plus"""
)
_ILL = words(
    """acute cancer carcinoma chronic condition disease disorder infection malignant
    neoplasm stage syndrome tumor tumour type unspecified"""
)
_FORM = words(
    """the inc ltd co corp corporation company companies llc lp gmbh ag sa spa nv bv
    plc limited pharma pharmaceutical laboratory laboratories therapeutics biotech
    biotechnology international holding"""
)
