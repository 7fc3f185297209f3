"""Registry terms that the formats spell or join in their own ways."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..sections.patterns import starts_with_mark
from ..sections.text import clean_text, restore_breaks, unescape_markdown, unwrap
from ..trial import Design, Location
from ..values import PartialDate, constant, parse_date, parse_id

_DESIGN_LABELS = {
    "allocation": "allocation",
    "intervention model": "intervention_model",
    "observational model": "observational_model",
    "time perspective": "time_perspective",
    "masking": "masking",
    "primary purpose": "primary_purpose",
    "endpoint classification": "",
}
_DESIGN_PAIR = re.compile(rf"(?:^|[,|])\s*({'|'.join(_DESIGN_LABELS)}):\s*", re.I)
_DESIGN_TERMS = {
    "N_A": "NA",
    "OPEN_LABEL": "NONE",
    "SINGLE_BLIND": "SINGLE",
    "DOUBLE_BLIND": "DOUBLE",
    "EDUCATIONAL_COUNSELING_TRAINING": "ECT",
}
_CLASSES = {"U_S_FED": "FED", "INDIVIDUAL": "INDIV"}
_ENDED = (".", ":", ";", "?", "!")
_ACTUAL = {"actual": True, "anticipated": False, "estimated": False, "estimate": False}
_COUNTRY_TAIL = re.compile(
    r"(the )?[\w' ]*\b(republic|states) of( the)?|occupied|province of china", re.I
)
_POSTCODE = re.compile(r"(?=.*\d)[A-Z0-9 .-]{3,12}")
_WITH_STATE = frozenset(("United States", "Canada"))


def read_id(raw: str | None) -> tuple[str, str | None]:
    """(id, None), or ("", why there is no usable id)."""
    nct_id, kind = parse_id(raw or "")
    if kind == "nct":
        return nct_id, None
    return "", f"'{nct_id}' is not an NCT id" if nct_id else "no NCT id"


def read_block(raw: str | None) -> str | None:
    """Text of a block that was printed with hard line ends, these taken out.

    The printer set a blank line between paragraphs and list items, so a line that goes
    on in lower case belongs to the one above however short that is.
    """
    text = clean_text(raw)
    if not text:
        return None
    lines: list[str] = []
    for line in unwrap(text).split("\n"):
        start = line.lstrip()
        if (
            lines
            and lines[-1]
            and start[:1].islower()
            and not lines[-1].endswith(_ENDED)
            and not starts_with_mark(start)
        ):
            lines[-1] += f" {start}"
        else:
            lines.append(line)
    return "\n".join(lines)


def read_tilde_block(raw: str | None) -> str | None:
    """Text of a database export: "~" for line ends, markdown escapes in recent ones."""
    text = clean_text(raw)
    if not text:
        return None
    # An escaped sign is a sign, whatever stands beside it.
    text = restore_breaks(text.replace("\\~", "\0")).replace("\0", "~")
    return unwrap(unescape_markdown(text))


def read_snapshot(text: str | None) -> PartialDate | None:
    """Day of "ClinicalTrials.gov processed this data on February 03, 2023"."""
    return parse_date(text.rsplit(" on ", 1)[1]) if text and " on " in text else None


def parse_actual(raw: str | None) -> bool | None:
    """True for "Actual", False for "Anticipated" and "Estimated", None if unsaid."""
    return _ACTUAL.get((raw or "").strip().lower())


def parse_class(raw: str | None) -> str | None:
    """Sponsor class constant: "U.S. Fed" -> "FED"."""
    value = constant(raw)
    return _CLASSES.get(value or "", value)


def make_design(facts: Mapping[str, str | None]) -> Design | None:
    """Design of display values or constants by field name; None if all are absent.

    One term for one thing: "Parallel Assignment" is PARALLEL, "Open Label" is NONE.
    """
    values = {}
    for name in Design.__dataclass_fields__:
        value = constant(facts.get(name))
        if value:
            value = value.removesuffix("_ASSIGNMENT")
            values[name] = _DESIGN_TERMS.get(value, value)
    return Design(**values) if values else None


def read_design_text(text: str | None) -> Design | None:
    """Design of "Allocation: Randomized, Masking: Double (Subject, Investigator)".

    The pairs may be joined by a comma or a bar; a comma inside a value is no joint.
    """
    text = text or ""
    pairs = list(_DESIGN_PAIR.finditer(text))
    ends = [*(pair.start() for pair in pairs[1:]), len(text)]
    facts = {
        _DESIGN_LABELS[pair[1].lower()]: text[pair.end() : end].strip()
        for pair, end in zip(pairs, ends, strict=False)
    }
    return make_design(facts)


def split_location(text: str) -> Location | None:
    """Location of "Facility, City, State, Postcode, Country".

    The country is certain. Facilities hold commas and most countries have no state, so
    the parts are told apart only where that is safe; else all is the facility.
    """
    parts = [part for part in text.strip().split(", ") if part]
    if not parts:
        return None
    country = parts.pop()
    if parts and _COUNTRY_TAIL.fullmatch(country):
        country = f"{parts.pop()}, {country}"
    if len(parts) > 1 and _POSTCODE.fullmatch(parts[-1]):
        parts.pop()
    state = parts.pop() if country in _WITH_STATE and len(parts) > 1 else None
    if state is None and len(parts) > 2:
        return Location(facility=", ".join(parts), country=country)
    city = parts.pop() if parts else None
    return Location(", ".join(parts) or None, city, state, country)
