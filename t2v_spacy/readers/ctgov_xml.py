"""ClinicalTrials.gov legacy XML: full records and search results."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..sections.text import clean_line, clean_text
from ..trial import Arm, Enrollment, Intervention, Location, Outcome, Reference, Trial
from ..values import (
    PartialDate,
    constant,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
)
from .arms import link_arms
from .report import ReadReport
from .source import Source
from .terms import (
    make_design,
    parse_actual,
    parse_class,
    read_block,
    read_design_text,
    read_id,
    read_snapshot,
    split_location,
)
from .xml_records import XmlError, iter_records

FORMAT = "ctgov-xml"
SEARCH_FORMAT = "ctgov-search-xml"
_MARKS = (b"<clinical_study", b"<search_results")
_ROLES = ("primary", "secondary", "other")


def sniff(head: bytes, name: str) -> bool:
    """Whether this is a legacy record, several of them, or a search result."""
    return head.lstrip()[:1] == b"<" and any(mark in head for mark in _MARKS)


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of one XML file. What comes after damage in the file is not read: the
    refusal names the line where reading stopped."""
    try:
        with source.open() as stream:
            for line, element in iter_records(stream):
                make = _from_record if element.tag == "clinical_study" else _from_search
                path = "id_info/nct_id" if make is _from_record else "nct_id"
                nct_id, reason = read_id(element.findtext(path))
                if reason:
                    report.refuse(source.name, f"line {line}", reason)
                else:
                    yield make(nct_id, element)
    except XmlError as err:
        report.refuse(source.name, f"line {err.line}", err.reason)


def _from_record(nct_id: str, study: Element) -> Trial:
    interventions, arms = link_arms(list(_interventions(study)), list(_arms(study)))
    enrollment = study.find("enrollment")
    design = {e.tag: e.text for e in study.iterfind("study_design_info/*")}
    lead = "sponsors/lead_sponsor/"
    return Trial(
        nct_id=nct_id,
        aliases=_lines(study, "id_info/nct_alias"),
        org_study_id=_line(study, "id_info/org_study_id"),
        title=_line(study, "brief_title"),
        official_title=_line(study, "official_title"),
        acronym=_line(study, "acronym"),
        brief_summary=read_block(study.findtext("brief_summary/textblock")),
        detailed_description=read_block(
            study.findtext("detailed_description/textblock")
        ),
        conditions=_lines(study, "condition"),
        keywords=_lines(study, "keyword"),
        interventions=interventions,
        arms=arms,
        outcomes=tuple(_outcomes(study)),
        eligibility=read_block(study.findtext("eligibility/criteria/textblock")),
        sex=parse_sex(study.findtext("eligibility/gender")),
        min_age=parse_age(study.findtext("eligibility/minimum_age")),
        max_age=parse_age(study.findtext("eligibility/maximum_age")),
        healthy_volunteers=parse_bool(study.findtext("eligibility/healthy_volunteers")),
        phases=parse_phases(study.findtext("phase")),
        study_type=parse_study_type(study.findtext("study_type")),
        design=make_design(design) or read_design_text(study.findtext("study_design")),
        status=parse_status(study.findtext("overall_status")),
        why_stopped=_line(study, "why_stopped"),
        start_date=_date(study, "start_date"),
        primary_completion_date=_date(study, "primary_completion_date"),
        completion_date=_date(study, "completion_date"),
        first_posted=_posted(study, "study_first_posted"),
        last_updated=_posted(study, "last_update_posted")
        or _posted(study, "lastchanged_date"),
        enrollment=None if enrollment is None else _enrollment(enrollment),
        sponsor=_line(study, lead + "agency"),
        sponsor_class=parse_class(study.findtext(lead + "agency_class")),
        collaborators=_lines(study, "sponsors/collaborator/agency"),
        locations=tuple(_locations(study)),
        condition_mesh=_lines(study, "condition_browse/mesh_term"),
        intervention_mesh=_lines(study, "intervention_browse/mesh_term"),
        references=tuple(_references(study)),
        has_results=study.find("clinical_results") is not None,
        source=FORMAT,
        snapshot=read_snapshot(study.findtext("required_header/download_date")),
    )


def _interventions(study: Element) -> Iterator[Intervention]:
    for element in study.iterfind("intervention"):
        if name := _line(element, "intervention_name"):
            yield Intervention(
                name,
                constant(element.findtext("intervention_type")),
                _lines(element, "other_name"),
                _lines(element, "arm_group_label"),
                clean_text(element.findtext("description")),
            )


def _arms(study: Element) -> Iterator[Arm]:
    for element in study.iterfind("arm_group"):
        if label := _line(element, "arm_group_label"):
            yield Arm(
                label,
                constant(element.findtext("arm_group_type")),
                clean_text(element.findtext("description")),
            )


def _outcomes(study: Element) -> Iterator[Outcome]:
    for role in _ROLES:
        for element in study.iterfind(f"{role}_outcome"):
            if measure := _line(element, "measure"):
                time_frame = _line(element, "time_frame")
                description = clean_text(element.findtext("description"))
                yield Outcome(measure, role, time_frame, description)


def _locations(study: Element) -> Iterator[Location]:
    found = False
    for element in study.iterfind("location/facility"):
        found = True
        place = [_line(element, f"address/{n}") for n in ("city", "state", "country")]
        location = Location(_line(element, "name"), *place)
        if location != Location():
            yield location
    if not found:
        for country in _lines(study, "location_countries/country"):
            yield Location(country=country)


def _references(study: Element) -> Iterator[Reference]:
    for tag, kind in (("reference", None), ("results_reference", "RESULT")):
        for element in study.iterfind(tag):
            pmid, citation = _line(element, "PMID"), _line(element, "citation")
            if pmid or citation:
                yield Reference(pmid, kind, citation)


def _from_search(nct_id: str, study: Element) -> Trial:
    # A search result mixes all outcomes; Outcome's own default role is kept.
    other_ids = _lines(study, "other_ids/other_id")
    classes = _lines(study, "funded_bys/funded_by")
    enrollment = study.find("enrollment")
    results = study.findtext("study_results") or ""
    places = (split_location(t) for t in _lines(study, "locations/location"))
    return Trial(
        nct_id=nct_id,
        org_study_id=other_ids[0] if other_ids else None,
        title=_line(study, "title"),
        acronym=_line(study, "acronym"),
        conditions=_lines(study, "conditions/condition"),
        interventions=tuple(
            Intervention(name, constant(element.get("type")))
            for element in study.iterfind("interventions/intervention")
            if (name := clean_line(element.text))
        ),
        outcomes=tuple(map(Outcome, _lines(study, "outcome_measures/outcome_measure"))),
        sex=parse_sex(study.findtext("gender")),
        min_age=parse_age(study.findtext("min_age")),
        max_age=parse_age(study.findtext("max_age")),
        phases=parse_phases(_lines(study, "phases/phase")),
        study_type=parse_study_type(study.findtext("study_types")),
        design=read_design_text("|".join(_lines(study, "study_designs/study_design"))),
        status=parse_status(study.findtext("status")),
        start_date=_date(study, "start_date"),
        primary_completion_date=_date(study, "primary_completion_date"),
        completion_date=_date(study, "completion_date"),
        first_posted=_posted(study, "study_first_posted"),
        last_updated=_posted(study, "last_update_posted"),
        enrollment=None if enrollment is None else _enrollment(enrollment),
        sponsor=_line(study, "sponsors/lead_sponsor"),
        sponsor_class=parse_class(classes[0]) if classes else None,
        collaborators=_lines(study, "sponsors/collaborator"),
        locations=tuple(place for place in places if place),
        has_results="has results" in results.lower() if results else None,
        source=SEARCH_FORMAT,
    )


def _line(element: Element, path: str) -> str | None:
    return clean_line(element.findtext(path))


def _lines(element: Element, path: str) -> tuple[str, ...]:
    return tuple(t for e in element.iterfind(path) if (t := clean_line(e.text)))


def _date(study: Element, tag: str) -> PartialDate | None:
    element = study.find(tag)
    if element is None:
        return None
    return parse_date(element.text, parse_actual(element.get("type")))


def _posted(study: Element, tag: str) -> PartialDate | None:
    """A day of posting; its type says how exact it is, not whether it is past."""
    return parse_date(study.findtext(tag))


def _enrollment(element: Element) -> Enrollment | None:
    count = parse_count(element.text)
    if count is None:
        return None
    return Enrollment(count, parse_actual(element.get("type")))
