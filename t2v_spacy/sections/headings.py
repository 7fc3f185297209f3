"""Headings of whole documents, as data, and how a line is matched with them."""

from __future__ import annotations

import re

# Label -> headings as `heading_key` writes them, between semicolons. "*" stands for any
# words at the end. They come from registry pages (current and earlier layouts), printed
# records and protocol synopses.
STRONG_HEADINGS: dict[str, str] = {
    "title": (
        "brief title; public title; study title; protocol title; trial title; short "
        "title; title of study; title of the study; title of trial; full title; name "
        "of study"
    ),
    "summary": (
        "brief summary; study summary; lay summary; plain summary; trial summary; "
        "protocol summary; synopsis summary; study purpose; purpose of the study; "
        "study objectives; study objective; primary objective; primary objectives; "
        "secondary objectives; secondary objective; exploratory objectives; "
        "objectives of the study; study aims; objective and purpose; current primary "
        "objective"
    ),
    "description": (
        "detailed description; study description; study rationale; background and "
        "rationale; scientific background; study procedures; rationale for the study; "
        "extended description"
    ),
    "condition": (
        "condition or disease; conditions or focus of study; conditions or diseases; "
        "disease or condition; target indication; condition being studied; disease "
        "under study; health condition; health conditions or problems studied; "
        "condition or disease intervention/treatment; therapeutic indication"
    ),
    "intervention": (
        "intervention / treatment; intervention/treatment; interventions/treatments; "
        "arms and interventions; study interventions; study intervention; "
        "investigational product; investigational products; investigational medicinal "
        "product; investigational medicinal products; test product; test products; "
        "test product, dose *; test product dose *; reference therapy, dose *; "
        "reference therapy; name of active ingredient; name of investigational "
        "product; name of finished product; investigational product, *; intervention "
        "details; current intervention; investigational drug; investigational device"
    ),
    "outcome": (
        "primary outcome; primary outcomes; primary outcome measure; primary outcome "
        "measures; secondary outcome; secondary outcomes; secondary outcome measure; "
        "secondary outcome measures; other outcomes; other outcome measures; outcome "
        "measures; endpoints; study endpoints; primary endpoint; primary endpoints; "
        "secondary endpoint; secondary endpoints; exploratory endpoints; exploratory "
        "endpoint; efficacy endpoints; safety endpoints; primary efficacy endpoint; "
        "primary efficacy endpoints; primary end point; secondary efficacy endpoints; "
        "primary end points; secondary end points; key secondary endpoints; key "
        "secondary endpoint; criteria for evaluation; what is the study measuring; "
        "efficacy variables; safety variables; efficacy assessments; other pre- "
        "specified outcome measures; current primary outcome measures; current "
        "secondary outcome measures; original primary outcome measures; efficacy and "
        "safety endpoints"
    ),
    "keyword": "keyword; keywords; key words; keywords provided by *",
    "eligibility": (
        "eligibility criteria; participation criteria; selection criteria; subject "
        "selection; entry criteria; selection of subjects; selection of patients; "
        "selection of study population; diagnosis and main criteria for inclusion *; "
        "diagnosis and key criteria *; diagnosis and main criteria *; main criteria "
        "for inclusion *; inclusion and exclusion criteria; inclusion/exclusion "
        "criteria; main criteria for eligibility; current eligibility criteria"
    ),
    "design": (
        "study type; type of study; study phase; trial phase; phase of development; "
        "phase of study; development phase; clinical phase; study design; trial "
        "design; design details; study plan; design of study; how is the study "
        "designed; overall design; enrollment; actual enrollment; estimated "
        "enrollment; allocation; intervention model; interventional model; "
        "intervention model description; masking; masking description; primary "
        "purpose; observational model; time perspective; number of subjects *; number "
        "of patients *; number of participants *; number of subjects; number of "
        "patients; number of participants; planned sample size; planned enrollment; "
        "target sample size; duration of study; duration of treatment; duration of "
        "the study; ages eligible for study; sexes eligible for study; sex/gender; "
        "genders eligible for study; gender based eligibility; accepts healthy "
        "volunteers; minimum age; maximum age; sampling method; randomization; "
        "randomisation; number of arms; biospecimen retention; study arms; enrolment; "
        "endpoint classification"
    ),
    "other": (
        "official title; acronym; clinicaltrials.gov id *; last update "
        "posted *; study overview; study details; record history; "
        "other study id numbers; study id numbers; secondary ids; org study id; nct "
        "number; nct id; clinicaltrials.gov id; clinicaltrials.gov identifier; "
        "eudract number; protocol number; protocol no; study number; lead sponsor; "
        "collaborators and investigators; sponsors and collaborators; name of "
        "sponsor/company; name of sponsor; sponsor/company; principal investigator; "
        "principal investigators; coordinating investigator; study chair; study "
        "director; responsible party; information provided by; information provided "
        "by *; last update posted; last updated; first posted; first received; last "
        "verified; verification date; last updated on *; study start; study start "
        "date; study period; actual study start date; estimated study start date; "
        "primary completion; primary completion date; study completion; study "
        "completion date; actual primary completion date; estimated primary "
        "completion date; actual study completion date; estimated study completion "
        "date; recruitment status; overall status; study status; why study stopped; "
        "why stopped; contacts and locations; study contact; study contact backup; "
        "study locations; study centre(s); study centers; study center; study sites; "
        "investigational sites; centres; general publications; publications and "
        "helpful links; study results; study record dates; study documents; "
        "participant groups and cohorts; additional relevant mesh terms; relevant "
        "mesh terms; study links; drug and device information, study documents; ipd "
        "sharing statement; plan to share ipd; study registration dates; study record "
        "updates; human subjects protection review board; health authority; "
        "oversight; statistical methods; statistical analysis; statistical "
        "considerations; statistical analysis plan; safety evaluations; protocol "
        "synopsis; synopsis; clinical study protocol; protocol version; has data "
        "monitoring committee; data monitoring committee; removed location countries; "
        "listed location countries; terms related to *"
    ),
}
# Headings that are ordinary words: not believed inside an eligibility text.
WEAK_HEADINGS: dict[str, str] = {
    "outcome": "outcomes; endpoint",
    "title": "title",
    "summary": "purpose; objective; objectives; aim; aims; hypothesis; summary",
    "description": (
        "description; background; rationale; introduction; details; methods; "
        "background/rationale"
    ),
    "condition": (
        "diagnosis; disease; diseases; condition; conditions; indication; "
        "indications; medical condition; medical conditions; disease studied"
    ),
    "intervention": (
        "treatment; treatments; intervention; "
        "interventions; study drug; study drugs; study treatment; study treatments; "
        "comparator; comparators; study medication; trial drug; arms; treatment "
        "groups; reference product; dosage and administration; treatment arms"
    ),
    "eligibility": (
        "population; participants; subjects; patients; criteria; study subjects; "
        "study population; patient population; target population; eligibility"
    ),
    "design": (
        "design; duration; sex; gender; age; ages; age limits; sexes; phase; phases; "
        "healthy volunteers; study duration; treatment duration; blinding; "
        "methodology; sample size"
    ),
    "other": (
        "status; dates; date; contact; investigator; countries; sponsor; sponsors; "
        "version; references; results; location; locations; contacts; links; ethics; "
        "identifier; investigators; additional information; more information; "
        "collaborator; collaborators; amendments; publications; start date; "
        "completion date"
    ),
}


def _table(headings: dict[str, str]) -> dict[str, str]:
    return {
        phrase: label
        for label, phrases in headings.items()
        for phrase in phrases.split("; ")
    }


_STRONG, _WEAK = _table(STRONG_HEADINGS), _table(WEAK_HEADINGS)
_OPEN_ENDED = [(key[:-1], lab) for key, lab in _STRONG.items() if key.endswith("*")]
_OPEN_STARTS = tuple(start for start, _ in _OPEN_ENDED)
_NUMBERING = re.compile(r"(?:#{1,6}[ ]+|\d{1,2}(?:\.\d{1,2})*[.)]?[ ]+|[*\0]+)*")
_ASIDE = re.compile(r"[ ]*(?:\([^()]*\)|\[[^\[\]]*\])")


def heading_key(words: str) -> str:
    """A heading as the tables write it: no numbering, asides, marks, or capitals."""
    words = _ASIDE.sub("", _NUMBERING.sub("", words, count=1))
    return " ".join(words.replace("_", " ").lower().rstrip(" *:?.\t-–").split())


def section_heading(words: str, weak: bool) -> str | None:
    """Label of a heading, None if it is none. weak allows WEAK_HEADINGS as well."""
    key = heading_key(words)
    if label := _STRONG.get(key) or (_WEAK.get(key) if weak else None):
        return label
    if key.startswith(_OPEN_STARTS):
        return next(label for start, label in _OPEN_ENDED if key.startswith(start))
    return None
