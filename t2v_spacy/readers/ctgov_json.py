"""ClinicalTrials.gov API v2: a study, a list, {"studies": [...]}, or a study a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..sections.text import clean_line, clean_text, unescape_markdown
from ..trial import (
    Arm,
    Enrollment,
    Intervention,
    Location,
    Outcome,
    Reference,
    Trial,
)
from ..values import (
    PartialDate,
    constant,
    display,
    parse_age,
    parse_bool,
    parse_count,
    parse_date,
    parse_id,
    parse_phases,
    parse_sex,
    parse_status,
    parse_study_type,
    split_type,
)
from .arms import link_arms
from .json_values import as_dict, as_list, as_text, iter_json
from .report import ReadReport
from .source import Source
from .terms import make_design, parse_actual, parse_class

FORMAT = "ctgov-json-v2"
_SECTIONS = (
    b'"protocolSection"',
    b'"resultsSection"',
    b'"annotationSection"',
    b'"documentSection"',
    b'"derivedSection"',
)
_ROLES = {
    "primaryOutcomes": "primary",
    "secondaryOutcomes": "secondary",
    "otherOutcomes": "other",
}
_DESIGN = {
    "allocation": "allocation",
    "intervention_model": "interventionModel",
    "observational_model": "observationalModel",
    "time_perspective": "timePerspective",
    "primary_purpose": "primaryPurpose",
}
Cleaner = Callable[[Any], str | None]


def sniff(head: bytes, name: str) -> bool:
    start = head.lstrip()[:1]
    return start in (b"{", b"[") and any(section in head for section in _SECTIONS)


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of a source; text is freed of its markdown escapes."""
    for where, value in iter_json(source, report):
        for place, study in _studies(where, value):
            yield from checked_trial(study, FORMAT, source, place, report)


def checked_trial(
    study: Any, fmt: str, source: Source, where: str, report: ReadReport
) -> Iterator[Trial]:
    """The trial of a study in v2 layout, or none and a refusal."""
    reason = why_refused(study)
    if reason:
        report.refuse(source.name, where, reason)
        return
    try:
        trial = trial_from_study(study, fmt)
    except (AttributeError, KeyError, TypeError, ValueError) as err:
        # The look-ups are tolerant, so only a shape never seen before comes here.
        report.refuse(source.name, where, f"of an unknown shape ({err!r})")
        return
    yield trial


def why_refused(study: Any) -> str | None:
    """Why a study has no usable NCT id, or None if it has one."""
    if not isinstance(study, dict):
        return "not a study"
    protocol = as_dict(study.get("protocolSection"))
    raw = as_text(as_dict(protocol.get("identificationModule")).get("nctId"))
    if raw:
        return None if parse_id(raw)[1] == "nct" else f"'{raw}' is not an NCT id"
    parts = [name for name, part in {**study, **protocol}.items() if as_dict(part)]
    parts = [name for name in parts if name != "protocolSection"] or list(study)
    return f"no NCT id; a fragment of a record ({', '.join(parts) or 'empty'})"


def trial_from_study(study: dict[str, Any], source: str = FORMAT) -> Trial:
    """Trial of one study with a valid id; null, {} and empty members are absent."""
    protocol = as_dict(study.get("protocolSection"))
    derived = as_dict(study.get("derivedSection"))
    identity = as_dict(protocol.get("identificationModule"))
    status = as_dict(protocol.get("statusModule"))
    sponsor = as_dict(protocol.get("sponsorCollaboratorsModule"))
    texts = as_dict(protocol.get("descriptionModule"))
    topics = as_dict(protocol.get("conditionsModule"))
    design = as_dict(protocol.get("designModule"))
    eligibility = as_dict(protocol.get("eligibilityModule"))
    lead = as_dict(sponsor.get("leadSponsor"))
    text = _markup if source == FORMAT else _plain
    interventions, arms = _arms(as_dict(protocol.get("armsInterventionsModule")), text)
    return Trial(
        nct_id=parse_id(identity["nctId"])[0],
        aliases=_lines(identity.get("nctIdAliases")),
        org_study_id=_line(as_dict(identity.get("orgStudyIdInfo")).get("id")),
        title=_line(identity.get("briefTitle")),
        official_title=_line(identity.get("officialTitle")),
        acronym=_line(identity.get("acronym")),
        brief_summary=text(texts.get("briefSummary")),
        detailed_description=text(texts.get("detailedDescription")),
        conditions=_lines(topics.get("conditions")),
        keywords=_lines(topics.get("keywords")),
        interventions=interventions,
        arms=arms,
        outcomes=_outcomes(as_dict(protocol.get("outcomesModule")), text),
        eligibility=text(eligibility.get("eligibilityCriteria")),
        sex=parse_sex(as_text(eligibility.get("sex"))),
        min_age=parse_age(as_text(eligibility.get("minimumAge"))),
        max_age=parse_age(as_text(eligibility.get("maximumAge"))),
        healthy_volunteers=parse_bool(eligibility.get("healthyVolunteers")),
        phases=parse_phases([str(phase) for phase in as_list(design.get("phases"))]),
        study_type=parse_study_type(as_text(design.get("studyType"))),
        design=_design(as_dict(design.get("designInfo"))),
        status=parse_status(as_text(status.get("overallStatus"))),
        why_stopped=text(status.get("whyStopped")),
        start_date=_date(status.get("startDateStruct")),
        primary_completion_date=_date(status.get("primaryCompletionDateStruct")),
        completion_date=_date(status.get("completionDateStruct")),
        first_posted=_posted(status.get("studyFirstPostDateStruct")),
        last_updated=_posted(status.get("lastUpdatePostDateStruct")),
        enrollment=_enrollment(as_dict(design.get("enrollmentInfo"))),
        sponsor=_line(lead.get("name")),
        sponsor_class=parse_class(as_text(lead.get("class"))),
        collaborators=_members(sponsor.get("collaborators"), "name"),
        locations=_locations(as_dict(protocol.get("contactsLocationsModule"))),
        condition_mesh=_mesh(derived, "conditionBrowseModule"),
        intervention_mesh=_mesh(derived, "interventionBrowseModule"),
        references=_references(as_dict(protocol.get("referencesModule"))),
        has_results=parse_bool(study.get("hasResults")),
        source=source,
        snapshot=parse_date(
            as_text(as_dict(derived.get("miscInfoModule")).get("versionHolder"))
        ),
    )


def _studies(where: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(where, study) of one JSON value: a study, a list, or a page of the API."""
    if isinstance(value, dict) and isinstance(value.get("studies"), list):
        value = value["studies"]
    if not isinstance(value, list):
        yield where, value
        return
    if not value:
        yield where, {}
    for number, study in enumerate(value, 1):
        yield (
            (f"study {number}" if where == "file" else f"{where}, study {number}"),
            study,
        )


def _arms(
    module: dict[str, Any], text: Cleaner
) -> tuple[tuple[Intervention, ...], tuple[Arm, ...]]:
    names: dict[str, str] = {}
    interventions = []
    for item in map(as_dict, as_list(module.get("interventions"))):
        kind, raw = constant(as_text(item.get("type"))), _line(item.get("name"))
        if not raw:
            continue
        prefix, bare = split_type(raw)
        # "Drug: Tablet A" is a name with its type in front; "Ratio 1:1 kit" is not.
        name = bare if prefix and kind in (None, prefix) else raw
        names[f"{display(kind)}: {raw}" if kind else raw] = name
        interventions.append(
            Intervention(
                name=name,
                type=kind or prefix,
                other_names=_lines(item.get("otherNames")),
                arms=_lines(item.get("armGroupLabels")),
                description=text(item.get("description")),
            )
        )
    arms = [
        Arm(
            label=label,
            type=constant(as_text(item.get("type"))),
            description=text(item.get("description")),
            interventions=tuple(
                names.get(given) or split_type(given)[1]
                for given in _lines(item.get("interventionNames"))
            ),
        )
        for item in map(as_dict, as_list(module.get("armGroups")))
        if (label := _line(item.get("label")))
    ]
    return link_arms(interventions, arms)


def _outcomes(module: dict[str, Any], text: Cleaner) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(
            measure=measure,
            role=role,
            time_frame=_line(item.get("timeFrame")),
            description=text(item.get("description")),
        )
        for key, role in _ROLES.items()
        for item in map(as_dict, as_list(module.get(key)))
        if (measure := _line(item.get("measure")))
    )


def _design(info: dict[str, Any]) -> Any:
    facts = {name: as_text(info.get(key)) for name, key in _DESIGN.items()}
    masking = as_text(as_dict(info.get("maskingInfo")).get("masking"))
    return make_design({**facts, "masking": masking})


def _date(struct: Any) -> PartialDate | None:
    struct = as_dict(struct)
    actual = parse_actual(as_text(struct.get("type")))
    return parse_date(as_text(struct.get("date")), actual)


def _posted(struct: Any) -> PartialDate | None:
    """A day of posting; its type says how exact it is, not whether it is past."""
    return parse_date(as_text(as_dict(struct).get("date")))


def _enrollment(info: dict[str, Any]) -> Enrollment | None:
    count = parse_count(as_text(info.get("count")))
    actual = parse_actual(as_text(info.get("type")))
    return None if count is None else Enrollment(count, actual)


def _locations(module: dict[str, Any]) -> tuple[Location, ...]:
    keys = ("facility", "city", "state", "country")
    places = (
        {key: _line(item.get(key)) for key in keys}
        for item in map(as_dict, as_list(module.get("locations")))
    )
    return tuple(Location(**place) for place in places if any(place.values()))


def _references(module: dict[str, Any]) -> tuple[Reference, ...]:
    return tuple(
        Reference(
            pmid=as_text(item.get("pmid")),
            type=constant(as_text(item.get("type"))),
            citation=_line(item.get("citation")),
        )
        for item in map(as_dict, as_list(module.get("references")))
        if item.get("pmid") or item.get("citation")
    )


def _mesh(derived: dict[str, Any], module: str) -> tuple[str, ...]:
    return _members(as_dict(derived.get(module)).get("meshes"), "term")


def _members(items: Any, key: str) -> tuple[str, ...]:
    return _lines([as_dict(item).get(key) for item in as_list(items)])


def _lines(items: Any) -> tuple[str, ...]:
    return tuple(line for item in as_list(items) if (line := _line(item)))


def _line(value: Any) -> str | None:
    return clean_line(as_text(value))


def _plain(value: Any) -> str | None:
    return clean_text(as_text(value))


def _markup(value: Any) -> str | None:
    return clean_text(unescape_markdown(as_text(value) or ""))
