"""The section labels of a trial document, and the headings our own text uses."""

from __future__ import annotations

# Key attributes and context are the paper's terms (section 3.1): attributes say what
# the trial is about, context describes it at length.
KEY_ATTRIBUTES = ("title", "condition", "intervention", "outcome", "keyword")
CONTEXT = (
    "summary",
    "description",
    "inclusion",
    "exclusion",
    "eligibility",
    "design",
    "other",
)
SECTION_LABELS = KEY_ATTRIBUTES + CONTEXT
# Parts of the eligibility criteria; "eligibility" is what is neither of the others.
CRITERIA = ("inclusion", "exclusion", "eligibility")

# Headings written by `Trial.to_text`, in the order they are written.
HEADINGS = {
    "Title": "title",
    "Official Title": "other",
    "Acronym": "other",
    "Conditions": "condition",
    "Keywords": "keyword",
    "Interventions": "intervention",
    "Arms": "other",
    "Primary Outcomes": "outcome",
    "Secondary Outcomes": "outcome",
    "Other Outcomes": "outcome",
    "Brief Summary": "summary",
    "Detailed Description": "description",
    "Eligibility": "eligibility",
    "Design": "design",
}
