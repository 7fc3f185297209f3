"""Registry values in one normal form: statuses, phases, types, dates, ages, ids.

Every function takes the text of a source and returns the normal form, or None for
absent. Nothing here raises on bad input: an unknown value is kept or marked invalid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class PartialDate:
    """A date that knows how exact it is.

    value (str): ISO text of what is known: "2015", "2015-09", "2015-09-04", or "".
    precision (str): "year", "month", "day", or "invalid" (see `raw`).
    actual (bool | None): True for a past date, False for a planned one, None if unsaid.
    raw (str | None): The source text, kept only for an invalid date.
    """

    value: str
    precision: str
    actual: bool | None = field(default=None, compare=False)
    raw: str | None = None

    def __str__(self) -> str:
        return self.value


# Status constant -> what it says of the outcome (DESIGN: positive class TERMINATED).
STATUS_LABELS: dict[str, str | None] = {
    "ACTIVE_NOT_RECRUITING": None,
    "COMPLETED": "COMPLETED",
    "ENROLLING_BY_INVITATION": None,
    "NOT_YET_RECRUITING": None,
    "RECRUITING": None,
    "SUSPENDED": "TERMINATED",
    "TERMINATED": "TERMINATED",
    "WITHDRAWN": "TERMINATED",
    "AVAILABLE": None,
    "NO_LONGER_AVAILABLE": None,
    "TEMPORARILY_NOT_AVAILABLE": None,
    "APPROVED_FOR_MARKETING": "COMPLETED",
    "WITHHELD": None,
    "UNKNOWN": None,
}
PHASES = ("EARLY_PHASE1", "PHASE1", "PHASE2", "PHASE3", "PHASE4", "NA")
STUDY_TYPES = ("INTERVENTIONAL", "OBSERVATIONAL", "EXPANDED_ACCESS")
SPONSOR_CLASSES = ("INDUSTRY", "NIH", "FED", "OTHER_GOV", "NETWORK", "INDIV", "OTHER")
INTERVENTION_TYPES = (
    "BEHAVIORAL",
    "BIOLOGICAL",
    "COMBINATION_PRODUCT",
    "DEVICE",
    "DIAGNOSTIC_TEST",
    "DIETARY_SUPPLEMENT",
    "DRUG",
    "GENETIC",
    "PROCEDURE",
    "RADIATION",
    "OTHER",
)
CONTROL = re.compile(
    r"\b(placebo|sham|vehicle|dummy|usual care|standard (of )?care|no (intervention|"
    r"treatment)|wait(ing)?[- ]?list|(best )?supportive care|saline|control)\b",
    re.IGNORECASE,
)
_MISSING = frozenset(("", "n/a", "na", "n\\a", "nan", "none", "null", "-"))
_MONTHS = {
    name: number
    for number, name in enumerate(
        [
            "jan",
            "feb",
            "mar",
            "apr",
            "may",
            "jun",
            "jul",
            "aug",
            "sep",
            "oct",
            "nov",
            "dec",
        ],
        start=1,
    )
}
_LENGTH = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_NOT_WORD = re.compile(r"[^A-Z0-9]+")
_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ].*)?)?)?")
_MONTH_FIRST = re.compile(r"([A-Za-z]+)\.?\s+(?:(\d{1,2})\s*,\s*|(\d{1,2})\s+)?(\d{4})")
_DAY_FIRST = re.compile(r"(\d{1,2})[\s.-]+([A-Za-z]+)\.?[\s,-]+(\d{4})")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
_PHASE = re.compile(r"(?<![A-Z0-9])(EARLY\s*)?(IV|I{1,3}|[0-4])[ABC]?(?![A-Z0-9])")
_PHASE_NUMBER = {"0": 0, "I": 1, "II": 2, "III": 3, "IV": 4}
_AGE = re.compile(
    r"(\d+(?:\.\d+)?(?:e-\d+)?)\s*(year|month|week|day|hour|minute)s?", re.I
)
# Units in a year; a week is 7 days and a year 365.25, so 12 weeks are 0.23 years.
_PER_YEAR = {
    "year": 1.0,
    "month": 12.0,
    "week": 365.25 / 7,
    "day": 365.25,
    "hour": 365.25 * 24,
    "minute": 365.25 * 24 * 60,
}
_TYPE_PREFIX = re.compile(r"([A-Za-z]+(?:[ _][A-Za-z]+)?)\s*:\s+(?=\S)")
_NCT = re.compile(r"NCT\d{8}")
_OTHER_REGISTRY = re.compile(
    r"ISRCTN\d{8}|ACTRN\d{14}|CHICTR-?[A-Z]*-?\d{8,10}|CTRI/\d{4}/\d{2,3}/\d{6}|"
    r"DRKS\d{8}|(?:EUCTR)?\d{4}-\d{6}-\d{2}(?:-(?:\d{2}|[A-Z]{2}))?|"
    r"IRCT\d{8,}(?:N\d+)?|JPRN-[A-Z]+(?:-[A-Z]+)?-?\d{4,}|JRCT(?:\d|[A-Z])\d{9}|"
    r"KCT\d{7}|NL-?\d{2,5}|NTR-?\d{1,5}|PACTR\d{12,}|RBR-\w{6,8}|"
    r"SLCTR/\d{4}/\d{3}|TCTR\d{11}|UMIN\d{9}|U1111-\d{4}-\d{4}"
)
_TRUE = frozenset(("true", "t", "yes", "y", "1", "accepts healthy volunteers"))
_FALSE = frozenset(("false", "f", "no", "n", "0"))


def constant(raw: str | None) -> str | None:
    """Registry constant of a display value: "Double (Participant)" -> "DOUBLE"."""
    if not raw:
        return None
    return _constant(raw)


@lru_cache(maxsize=4096)
def _constant(raw: str) -> str | None:
    value = _NOT_WORD.sub("_", raw.split("(")[0].split("[")[0].upper()).strip("_")
    return "NA" if value in ("N_A", "NOT_APPLICABLE") else value or None


def display(value: str) -> str:
    """Readable form of a constant: "EARLY_PHASE1" -> "Early Phase 1"."""
    if value == "NA":
        return "Not Applicable"
    words = re.sub(r"(?<=PHASE)(?=\d)", "_", value).split("_")
    return " ".join(word.capitalize() for word in words)


def parse_status(raw: str | None) -> str | None:
    """Status constant; an unknown value is kept as given, a blank one is None."""
    value = constant(raw)
    if value == "UNKNOWN_STATUS":
        return "UNKNOWN"
    if value in STATUS_LABELS or not raw:
        return value
    return raw.strip().encode("utf-8", "replace").decode() or None


def outcome_label(status: str | None) -> str | None:
    """ "TERMINATED", "COMPLETED", or None where the status says nothing of the end."""
    return STATUS_LABELS.get(status or "")


def parse_phases(raw: str | Iterable[str] | None) -> frozenset[str]:
    """Set of PHASES. "NA" means not applicable; an empty set means not said."""
    if raw is None:
        return frozenset()
    if not isinstance(raw, str):
        return frozenset().union(*(parse_phases(item) for item in raw))
    return _parse_phases(raw)


@lru_cache(maxsize=1024)
def _parse_phases(raw: str) -> frozenset[str]:
    text = raw.strip().upper()
    if text in ("NA", "N/A", "N\\A", "NOT APPLICABLE", "NOT_APPLICABLE"):
        return frozenset(("NA",))
    found = set()
    for early, number in _PHASE.findall(re.sub(r"_?PHASE[_ ]*|_", " ", text)):
        rank = _PHASE_NUMBER.get(number)
        rank = int(number) if rank is None else rank
        found.add("EARLY_PHASE1" if early or not rank else f"PHASE{rank}")
    return frozenset(found)


def parse_date(raw: str | None, actual: bool | None = None) -> PartialDate | None:
    """Date with its precision; None if absent, precision "invalid" if impossible.

    Day and month that could be swapped ("03/04/2020") leave only the year: a day is
    never invented. Dotted dates are day first.
    """
    if not raw or raw.strip().lower() in _MISSING:
        return None
    value, precision = _read_date(raw.strip())
    if precision == "invalid":
        return PartialDate("", precision, actual, raw)
    return PartialDate(value, precision, actual)


@lru_cache(maxsize=65536)
def _read_date(text: str) -> tuple[str, str]:
    if match := _ISO.fullmatch(text):
        return _date(match[1], match[2], match[3])
    if match := _MONTH_FIRST.fullmatch(text):
        return _date(
            match[4], _MONTHS.get(match[1][:3].lower(), 0), match[2] or match[3]
        )
    if match := _DAY_FIRST.fullmatch(text):
        return _date(match[3], _MONTHS.get(match[2][:3].lower(), 0), match[1])
    if match := _NUMERIC.fullmatch(text):
        first, second = int(match[1]), int(match[3])
        if match[2] == "." or first > 12 or first == second:
            return _date(match[4], second, first)
        if second > 12:
            return _date(match[4], first, second)
        return _date(match[4], None, None)
    return "", "invalid"


def _date(year: str, month: str | int | None, day: str | int | None) -> tuple[str, str]:
    if month is None:
        return year, "year"
    month = int(month)
    if not 1 <= month <= 12:
        return "", "invalid"
    if day is None:
        return f"{year}-{month:02}", "month"
    day, number = int(day), int(year)
    leap = number % 4 == 0 and (number % 100 != 0 or number % 400 == 0)
    if not 1 <= day <= _LENGTH[month] or (month == 2 and day == 29 and not leap):
        return "", "invalid"
    return f"{year}-{month:02}-{day:02}", "day"


@lru_cache(maxsize=4096)
def parse_age(raw: str | None) -> float | None:
    """Age in years; "N/A" and blank mean no limit (None)."""
    match = _AGE.search(raw or "")
    if not match:
        return None
    return float(match[1]) / _PER_YEAR[match[2].lower()]


def parse_sex(raw: str | None) -> str | None:
    """ "ALL", "FEMALE" or "MALE"."""
    value = constant(raw)
    return "ALL" if value == "BOTH" else value


def parse_bool(raw: str | bool | None) -> bool | None:
    if raw is None or isinstance(raw, bool):
        return raw
    text = raw.strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def parse_count(raw: str | int | float | None) -> int | None:
    """Number of participants; 0 is a number, "" and "NA" are absent."""
    try:
        return None if raw is None else int(float(raw))
    except (ValueError, OverflowError):
        return None


def parse_study_type(raw: str | None) -> str | None:
    """Study type constant: "Observational [Patient Registry]" is OBSERVATIONAL; None
    where it is absent or "N/A"."""
    value = constant(raw)
    return None if value == "N_A" else value


def split_type(name: str) -> tuple[str | None, str]:
    """ "Drug: Tablet A" -> ("DRUG", "Tablet A"); "Ratio 1:1 kit" keeps its colon."""
    match = _TYPE_PREFIX.match(name)
    if match and (kind := constant(match[1])) in INTERVENTION_TYPES:
        return kind, name[match.end() :]
    return None, name


def is_control_name(name: str) -> bool:
    """Whether an intervention is a placebo, sham or usual care."""
    return CONTROL.search(name) is not None


def record_page(nct_id: str) -> str | None:
    """Where the registry shows a trial, None for what is no NCT id."""
    found, kind = parse_id(nct_id)
    return f"https://clinicaltrials.gov/study/{found}" if kind == "nct" else None


def parse_id(raw: str) -> tuple[str, str]:
    """(id, kind) with kind "nct", "other" (another registry) or "invalid".

    Case and outer blanks do not matter; an NCT id has exactly eight digits.
    """
    text = raw.strip().upper()
    if _NCT.fullmatch(text):
        return text, "nct"
    return text, "other" if _OTHER_REGISTRY.fullmatch(text) else "invalid"
