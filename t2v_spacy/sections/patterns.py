"""List marks and headings of eligibility texts: what starts an item or a block."""

from __future__ import annotations

import re

# --- list marks -------------------------------------------------------------------

BULLETS = "•▪▫●○◦·∙‣⁃■□◆◇►▸➢➤✓✔\uf0b7\uf0a7\uf0d8"
_DASHES = "*–—-"
_ROMAN = "i|ii|iii|iv|v|vi|vii|viii|ix|x|xi|xii"
# "\0" is a character that does not count: what an escape or an entity took up.
MARK = re.compile(
    rf"(?P<indent>[ \0]*)(?:"
    rf"(?P<bullet>[{BULLETS}]|[{_DASHES}]{{1,3}}(?=[ \0])|o(?=[ ]+[A-Z\d])"
    rf"|[{_DASHES}](?=[\w≥≤<>(\"']))"
    rf"|\(?(?P<number>\d{{1,2}})(?:\0*[.)](?=[ \0]|[^\W\d])|[ ]?-(?=[ ]|[A-Z]))"
    rf"|(?P<decimal>\d{{1,2}}(?:\.\d{{1,2}}){{1,3}})[.)]?(?=[ \0]+\D)"
    rf"|\(?(?P<letter>{_ROMAN}|[a-zA-Z])(?:\0*[.)](?=[ \0])|\)(?=\w))"
    rf")[ \0]*"
)
_LINE_MARK = re.compile(
    rf"[ ]*(?:[{BULLETS}]|[{_DASHES}]{{1,3}}(?:[ ]|(?=[A-Za-z]))"
    rf"|\(?\d{{1,2}}[.)](?:[ ]|(?=[A-Z]))|\(?(?:{_ROMAN}|[a-zA-Z])[.)][ ])"
)


def starts_with_mark(line: str) -> bool:
    """Whether the line, taken alone, looks like the start of a list item."""
    return _LINE_MARK.match(line) is not None


def strip_mark(line: str) -> str:
    """The line without its list mark and outer blanks."""
    match = _LINE_MARK.match(line)
    return (line[match.end() :] if match else line).strip()


# --- headings inside an eligibility text ------------------------------------------

_IN_OR_EX = r"(?:(?:non?[- ])?inc?lusions?|exclusions?|ineligibility|elimination)"
_BOTH = rf"(?:{_IN_OR_EX}\s*(?:/|&|,|-|and|or)\s*)?{_IN_OR_EX}"
_CRITERIA = r"(?:criteri(?:a|on|ons|um)|requirements?)"
_OPEN = r"(?:[\w&'’()/,.+-]+[ ]+){0,6}?"
_QUALIFIER = (
    r"(?:(?:key|main|major|general|specific|primary|additional|principal|important|"
    r"clinical|medical|other|study|subjects?|patients?|participants?|donors?|"
    r"recipients?|controls?|healthy|caregivers?|parents?|child(?:ren)?|summary of|"
    r"list of|the|(?:step|part|cohort|group|phase|arm|stage|stratum)[ ][\w.]+"
    r")['’s]*[ :-]+){0,4}?"
)
_FOREIGN = (
    r"(?:(?:main|principaux|principales|principali)\s+)?"
    r"(?:crit[eèé]r(?:es|ios|io|i)|criteri[ao]?|kryteria)\s+"
    r"(?:d['’]\s?|de\s+|di\s+|for\s+|of\s+|da\s+)?"
    r"(?:no[n]?[- ]inclus\w+|inclus\w+|exclus\w+|esclus\w+|eliminaci\w+|"
    r"w[łl][aą]czenia|wy[łl][aą]czenia)"
    r"|(?:haupt)?(?:ein|aus)schlu(?:ss|ß)kriterien|(?:in|ex)clusiecriteria"
    r"|(?:主要)?(?:入选|纳入|入组|排除)标准"
)
# A heading of its own line, or one that its colon ends.
ELIGIBILITY_HEADING = re.compile(
    rf"(?P<pre>{_OPEN})(?:{_BOTH})[ _]*{_CRITERIA}\b[^:：.;]{{0,60}}[:：]"
    rf"|(?P<pre2>{_OPEN})(?:{_BOTH})[ ]*(?:\([^()]{{0,40}}\))?[ ]*[:：]"
    rf"|(?:\d{{1,2}}(?:\.\d{{1,2}})*[.)]?[ ]+)?{_QUALIFIER}(?:{_BOTH})[ _]*{_CRITERIA}?"
    rf"(?:[ ]*[(\[][^()]{{0,50}}[)\]]|,?[ ]+(?:for|general|-|–)[ ]+[\w /()-]{{1,50}})?"
    rf"(?:[ ]+(?:includes?|are))?[ ]*[.-]*"
    rf"(?:$|(?=[ ]+(?:\(?1[.)]|[{BULLETS}*-])[ ]))"
    rf"|(?-i:(?:In|Ex)clusion Criteria|(?:IN|EX)CLUSION CRITERIA)(?-i:(?=[ ]+[A-Z1]))"
    rf"|(?:{_FOREIGN})[^:：.;]{{0,40}}(?:[:：]|$)",
    re.IGNORECASE,
)
# Words before "… criteria:" that make it a phrase about criteria, not a heading.
_NOT_HEADING = re.compile(
    r"\b(?:no|not|nor|meets?|met|meeting|fulfil\w*|satisf\w+|any|than|without|see|if|"
    r"per|other protocol\S*|apply|violat\w+)\b",
    re.IGNORECASE,
)
_WHO = (
    r"(?:the following |all |any |some )?(?:adult |healthy |eligible |potential |"
    r"pregnant )?(?:patients?|subjects?|participants?|volunteers?|children|infants?|"
    r"women|men|mothers?|individuals?|persons?|people|candidates?|donors?|"
    r"recipients?|you|your child|they)\b"
)
_EXCLUDED = re.compile(
    r"(?:[\w ]{3,30}:[ ]*)?excluded\b[^.:;]{0,60}:"
    r"|(?:exclude|exclusion) (?:if|patients|subjects)\b[^.:;]{0,60}:"
    rf"|(?:the following\b|{_WHO})[^.:;]{{0,90}}\b"
    r"(?:(?:will|may|can|must|should)[ ](?:also[ ])?"
    r"(?:be[ ](?:excluded|ineligible)|not[ ]be[ ](?:eligible|included|enrolled))"
    r"|(?:is|are|were)[ ](?:also[ ])?"
    r"(?:excluded|ineligible|exclusionary|not[ ]eligible)"
    r"|(?:must|may|should)[ ](?:not[ ](?:have|be|meet)|(?:have|meet)[ ]none))"
    r"(?:[^.:;]{0,70}:|[^.:;]{0,50}\bif(?:[ ]\w+)?[ ]*$)",
    re.IGNORECASE,
)
_INCLUDED = re.compile(
    r"(?:required|allowed)\b[^.:;]{0,30}:"
    rf"|{_WHO}[^.:;]{{0,30}}\b(?:(?:will|may|can)[ ]be[ ](?:included|eligible|enrolled)"
    r"|(?:is|are)[ ]eligible|must[ ](?:have|be|meet|fulfill?))"
    r"(?:[^.:;]{0,70}:|[^.:;]{0,50}\bif(?:[ ]\w+)?[ ]*$)"
    r"|to be (?:included|eligible)\b[^.:;]{0,90}:",
    re.IGNORECASE,
)
_UNPLACED = re.compile(
    r"-*[ ]*(?:(?:disease|patient|donor|recipient) characteristics|"
    r"prior[ /]+concurrent therapy|protocol entry criteria|entry criteria|"
    r"(?:patient )?eligibility(?: criteria)?|(?:selection )?criteria)"
    r"[ ]*(?:-+|:)?[ ]*(?:$|(?<=:[ ]))",
    re.IGNORECASE,
)
# Parts of words, of which a heading has at least one.
_HINTS = (
    *("clusi", "clud", "criter", "eligib", "characteris", "concurrent", "required"),
    *(
        "allowed",
        "must",
        "eliminat",
        "esclus",
        "schlu",
        "krit",
        "kryter",
        "crit",
        "标准",
    ),
)
_EXCLUDES = re.compile(
    r"exclu|esclus|ausschlu|non?[- ]inclus|inelig|elimin|排除|wy[łl]", re.IGNORECASE
)
_INCLUDES = re.compile(
    r"(?<!non-)(?<!non )(?<!no )(?<!no-)inclus|einschlu|入选|纳入|入组|w[łl][aą]cz",
    re.IGNORECASE,
)
# A heading in the middle of a line: a new block starts here, unless the words before
# it qualify it ("Step 2 Inclusion Criteria:") or make it part of a sentence.
GLUED_HEADING = re.compile(
    r"(?:Inclusion|Exclusion|INCLUSION|EXCLUSION)[ ][Cc](?:riteria|RITERIA)"
    r"(?:[ ]{0,3}:|(?=[ ][A-Z]))"
)
_QUALIFIED = re.compile(r"(?:Key|Main|Major|KEY|MAIN|MAJOR|Additional|Study)[ ]$")
_IN_SENTENCE = re.compile(
    r"(?:^|[/&*-]|\b(?:the|and|or|of|all|any|following|meets?|other|Other|protocol)|"
    r"^[ ]*\S{1,4}[.)])[ ]*$"
)
_ENDS_PHRASE = re.compile(r"[.:;)]")


def glued_heading(before: str) -> int:
    """Where, in the words of a line before a heading, the heading starts; -1 if it
    starts no new block."""
    match = _QUALIFIED.search(before)
    at = match.start() if match else len(before)
    before = before[:at]
    if not before.endswith(" ") or _IN_SENTENCE.search(before):
        return -1
    return at if len(before) > 40 or _ENDS_PHRASE.search(before) else -1


def eligibility_heading(line: str, marked: bool) -> tuple[str | None, int] | None:
    """(kind, end) of the heading a line starts with, None if it has none.

    line is free of indentation and list mark; marked tells whether it had a mark. kind
    is "inclusion", "exclusion", "unspecified", or None for a heading that says nothing
    of the kind.
    """
    line = line[:200]
    lower = line.lower()
    if not any(hint in lower for hint in _HINTS):
        return None
    if match := ELIGIBILITY_HEADING.match(line):
        before = match["pre"] or match["pre2"] or ""
        if not (before and _NOT_HEADING.search(before)):
            return _kind(match[0]), match.end()
    if not marked:
        if match := _EXCLUDED.match(line):
            return "exclusion", match.end()
        if match := _INCLUDED.match(line):
            return "inclusion", match.end()
    if match := _UNPLACED.match(line):
        return None, match.end()
    return None


def _kind(heading: str) -> str:
    excludes = _EXCLUDES.search(heading) is not None
    includes = _INCLUDES.search(heading) is not None
    if excludes and includes:
        return "unspecified"
    return "exclusion" if excludes else "inclusion"
