"""ClinicalTrials.gov API v1 (retired): FullStudiesResponse, or the studies in it.

A study is brought into the layout of v2 by a table, so that both are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..trial import Trial
from .ctgov_json import checked_trial
from .json_values import as_dict, as_list, iter_json
from .report import ReadReport
from .source import Source

FORMAT = "ctgov-json-v1"
_MARKS = (
    b'"FullStudiesResponse"',
    b'"FullStudies"',
    b'"FullStudy"',
    b'"ProtocolSection"',
    b'"StudyFieldsResponse"',
    b'"StudyStatistics"',
)


def _outcome(role: str) -> tuple[str, dict[str, str]]:
    return (
        f"{role}OutcomeList.{role}Outcome",
        {
            "measure": f"{role}OutcomeMeasure",
            "timeFrame": f"{role}OutcomeTimeFrame",
            "description": f"{role}OutcomeDescription",
        },
    )


def _dated(name: str) -> dict[str, str]:
    return {"date": f"{name}Struct.{name}", "type": f"{name}Struct.{name}Type"}


def _mesh(kind: str) -> dict[str, Any]:
    members = f"{kind}MeshList.{kind}Mesh"
    return {
        "meshes": (f"{kind}BrowseModule.{members}", {"term": f"{kind}MeshTerm"}),
    }


# v2 name -> where v1 has it. A text is a path; a pair is a list and its members' names.
_PROTOCOL: dict[str, dict[str, Any]] = {
    "identificationModule": {
        "nctId": "NCTId",
        "nctIdAliases": "NCTIdAliasList.NCTIdAlias",
        "orgStudyIdInfo": {"id": "OrgStudyIdInfo.OrgStudyId"},
        "briefTitle": "BriefTitle",
        "officialTitle": "OfficialTitle",
        "acronym": "Acronym",
    },
    "statusModule": {
        "overallStatus": "OverallStatus",
        "whyStopped": "WhyStopped",
        "startDateStruct": _dated("StartDate"),
        "primaryCompletionDateStruct": _dated("PrimaryCompletionDate"),
        "completionDateStruct": _dated("CompletionDate"),
        "studyFirstPostDateStruct": _dated("StudyFirstPostDate"),
        "lastUpdatePostDateStruct": _dated("LastUpdatePostDate"),
    },
    "sponsorCollaboratorsModule": {
        "leadSponsor": {
            "name": "LeadSponsor.LeadSponsorName",
            "class": "LeadSponsor.LeadSponsorClass",
        },
        "collaborators": (
            "CollaboratorList.Collaborator",
            {"name": "CollaboratorName"},
        ),
    },
    "descriptionModule": {
        "briefSummary": "BriefSummary",
        "detailedDescription": "DetailedDescription",
    },
    "conditionsModule": {
        "conditions": "ConditionList.Condition",
        "keywords": "KeywordList.Keyword",
    },
    "designModule": {
        "studyType": "StudyType",
        "phases": "PhaseList.Phase",
        "designInfo": {
            "allocation": "DesignInfo.DesignAllocation",
            "interventionModel": "DesignInfo.DesignInterventionModel",
            "primaryPurpose": "DesignInfo.DesignPrimaryPurpose",
            "observationalModel": (
                "DesignInfo.DesignObservationalModelList.DesignObservationalModel"
            ),
            "timePerspective": (
                "DesignInfo.DesignTimePerspectiveList.DesignTimePerspective"
            ),
            "maskingInfo": {"masking": "DesignInfo.DesignMaskingInfo.DesignMasking"},
        },
        "enrollmentInfo": {
            "count": "EnrollmentInfo.EnrollmentCount",
            "type": "EnrollmentInfo.EnrollmentType",
        },
    },
    "armsInterventionsModule": {
        "armGroups": (
            "ArmGroupList.ArmGroup",
            {
                "label": "ArmGroupLabel",
                "type": "ArmGroupType",
                "description": "ArmGroupDescription",
                "interventionNames": (
                    "ArmGroupInterventionList.ArmGroupInterventionName"
                ),
            },
        ),
        "interventions": (
            "InterventionList.Intervention",
            {
                "type": "InterventionType",
                "name": "InterventionName",
                "description": "InterventionDescription",
                "otherNames": "InterventionOtherNameList.InterventionOtherName",
                "armGroupLabels": (
                    "InterventionArmGroupLabelList.InterventionArmGroupLabel"
                ),
            },
        ),
    },
    "outcomesModule": {
        "primaryOutcomes": _outcome("Primary"),
        "secondaryOutcomes": _outcome("Secondary"),
        "otherOutcomes": _outcome("Other"),
    },
    "eligibilityModule": {
        "eligibilityCriteria": "EligibilityCriteria",
        "healthyVolunteers": "HealthyVolunteers",
        "sex": "Gender",
        "minimumAge": "MinimumAge",
        "maximumAge": "MaximumAge",
    },
    "contactsLocationsModule": {
        "locations": (
            "LocationList.Location",
            {
                "facility": "LocationFacility",
                "city": "LocationCity",
                "state": "LocationState",
                "country": "LocationCountry",
            },
        ),
    },
    "referencesModule": {
        "references": (
            "ReferenceList.Reference",
            {
                "pmid": "ReferencePMID",
                "type": "ReferenceType",
                "citation": "ReferenceCitation",
            },
        ),
    },
}
_DERIVED: dict[str, Any] = {
    "miscInfoModule": {"versionHolder": "MiscInfoModule.VersionHolder"},
    "conditionBrowseModule": _mesh("Condition"),
    "interventionBrowseModule": _mesh("Intervention"),
}


def sniff(head: bytes, name: str) -> bool:
    start = head.lstrip()[:1]
    return start in (b"{", b"[") and any(mark in head for mark in _MARKS)


def read(source: Source, report: ReadReport) -> Iterator[Trial]:
    """Trials of a source; a list of fields or of counts is refused by its kind."""
    for where, value in iter_json(source, report):
        if reason := _why_no_studies(value):
            report.refuse(source.name, where, reason)
            continue
        for place, study in _studies(where, value):
            converted = to_v2(as_dict(study))
            yield from checked_trial(converted, FORMAT, source, place, report)


def to_v2(study: dict[str, Any]) -> dict[str, Any]:
    """A v1 study in the layout of v2: the parts that a Trial has."""
    protocol = as_dict(study.get("ProtocolSection"))
    parts = {
        name: _convert(as_dict(protocol.get(name[0].upper() + name[1:])), names)
        for name, names in _PROTOCOL.items()
    }
    return {
        "protocolSection": parts,
        "derivedSection": _convert(as_dict(study.get("DerivedSection")), _DERIVED),
        "hasResults": "ResultsSection" in study,
    }


def _convert(node: dict[str, Any], names: Any) -> Any:
    if isinstance(names, str):
        return _dig(node, names)
    if isinstance(names, dict):
        return {name: _convert(node, where) for name, where in names.items()}
    path, members = names
    return [_convert(as_dict(item), members) for item in as_list(_dig(node, path))]


def _dig(node: Any, path: str) -> Any:
    for key in path.split("."):
        node = as_dict(node).get(key)
    return node


def _why_no_studies(value: Any) -> str | None:
    value = as_dict(value)
    if "StudyStatistics" in value:
        return "statistics of the registry, no trial records"
    if "StudyFieldsResponse" in value:
        names = as_list(as_dict(value["StudyFieldsResponse"]).get("FieldList"))
        return f"single fields ({', '.join(map(str, names))}) and no full studies"
    return None


def _studies(where: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(where, study) in the wrappers of the API, and without them."""
    if isinstance(value, list):
        prefix = "" if where == "file" else f"{where}, "
        for number, item in enumerate(value, 1):
            yield from _studies(f"{prefix}study {number}", item)
        return
    value = as_dict(value)
    value = as_dict(value.get("FullStudiesResponse")) or value
    value = as_dict(value.get("FullStudy")) or value
    if "FullStudies" in value:
        yield from _studies(where, as_list(value["FullStudies"]))
    else:
        yield where, value.get("Study") or value
