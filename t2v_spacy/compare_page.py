"""A comparison of trials as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from .trial import Trial

if TYPE_CHECKING:
    from .search.compare import Cell, Comparison, Row
    from .search.highlight import Term
    from .search.reasons import Reasons

# Nothing of a record may run or load anything, whatever was escaped before.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --line: #c8ccd4; --head: #f1f3f7; --word: #fff1a8;
  --differ: #ffd9cf; --quiet: #5a6270; --page: #fff; --ink: #16191f; }
@media (prefers-color-scheme: dark) { :root { --line: #3b424f; --head: #20252e;
  --word: #5a4a00; --differ: #6b2b1d; --quiet: #a2abba; --page: #14171c;
  --ink: #e8eaee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 100rem; background: var(--page);
  color: var(--ink); font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.35rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: .4rem .6rem; border: 1px solid var(--line); vertical-align: top;
  text-align: start; overflow-wrap: anywhere; }
thead th, tbody th { background: var(--head); font-weight: 600; }
tr > :first-child { width: 10rem; }
mark { color: inherit; background: var(--word); }
mark.d { background: var(--differ); font-weight: 700; text-decoration: underline; }
.no::before { content: "\\2260\\00a0"; font-weight: 700; }
.yes::before { content: "=\\00a0"; color: var(--quiet); }
.quiet { color: var(--quiet); } ul { margin: 0; padding-inline-start: 1.1rem; }
@media (max-width: 45rem) {
  table, thead, tbody, tr, th, td, tr > :first-child { display: block; width: auto; }
  thead { display: none; } tr { margin-bottom: .8rem; }
  td > .of { display: block; font-size: .85rem; color: var(--quiet); }
}
@media (min-width: 45.01rem) { td > .of { display: none; } }
"""


def comparison_page(found: Comparison) -> str:
    """A whole page, of `search.compare.compare`. All text of records is escaped; the
    page has no script and loads nothing."""
    names = ", ".join(map(_text, found.names))
    body = "\n".join(
        (
            f"<h1>{names} side by side</h1>",
            _key(),
            *_reasons(found),
            "<h2>What they are</h2>",
            _table(found, _head_rows(found)),
            "<h2>Design</h2>",
            _table(found, _fact_rows(found)),
            *_criteria(found),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{names}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _key() -> str:
    return (
        '<p class="quiet"><mark>word</mark> both have it; '
        '<mark class="d">number</mark> only this one has it; '
        "≠ differs from the first trial, = agrees with it.</p>"
    )


def _reasons(found: Comparison) -> Iterator[str]:
    yield "<h2>In common with the first</h2>\n<ul>"
    for name, reasons in zip(found.names[1:], found.reasons, strict=True):
        line = _text(reasons.line() or "nothing in common")
        yield f"<li><b>{_text(name)}</b>: {line}{_details(reasons)}</li>"
    yield "</ul>"


def _details(reasons: Reasons) -> str:
    lines = [
        f"{match.relation} {match.section}: {match.hit.text} / {match.query.text}"
        + ("" if match.relation == "same" else f" ({match.name})")
        for match in reasons.concepts
    ]
    if reasons.sections:
        cosines = (f"{label} {value:.2f}" for label, value in reasons.sections.items())
        lines.append(f"cosines: {', '.join(cosines)}")
    if not lines:
        return ""
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return (
        f'<details><summary>in detail</summary><ul class="quiet">{items}</ul></details>'
    )


def _table(found: Comparison, rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Rows of a name and one cell a trial, which are HTML already."""
    heads = "".join(f'<th scope="col">{_text(name)}</th>' for name in found.names)
    lines = [f"<table>\n<thead><tr><td></td>{heads}</tr></thead>\n<tbody>"]
    for label, cells in rows:
        shown = "".join(
            f'<td dir="auto"><span class="of">{_text(name)}</span>{cell}</td>'
            for name, cell in zip(found.names, cells, strict=True)
        )
        lines.append(f'<tr><th scope="row">{_text(label)}</th>{shown}</tr>')
    return "\n".join([*lines, "</tbody>\n</table>"])


def _head_rows(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    terms = [_terms_of_first(found), *(list(r.terms) for r in found.reasons)]
    pairs = list(zip(found.trials, terms, strict=True))
    for label in ("title", "conditions", "interventions", "summary"):
        yield label, [_field(label, trial, shared) for trial, shared in pairs]


def _terms_of_first(found: Comparison) -> list[Term]:
    from .search.highlight import query_keys, shared_terms

    first, *others = found.trials
    return [term for other in others for term in shared_terms(query_keys(other), first)]


def _field(label: str, trial: Trial, terms: Sequence[Term]) -> str:
    from .search.highlight import fields

    spans: dict[int | None, set[tuple[int, int]]] = {}
    for term in terms:
        for place in term.places:
            if place.field == label:
                spans.setdefault(place.item, set()).add((place.start, place.end))
    texts = [
        _marked(field.text, spans.get(field.item, ()), "")
        for field in fields(trial)
        if field.name == label
    ]
    if label in ("title", "summary"):
        return "".join(texts) or _ABSENT
    more = len(texts) - _SHOWN
    texts = [*texts[:_SHOWN], *([f"… and {more} more"] if more > 0 else [])]
    items = "".join(f"<li>{text}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else _ABSENT


_SHOWN = 15  # conditions, interventions
_ABSENT = '<span class="quiet">–</span>'


def _fact_rows(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    marks = {None: "", True: ' class="yes"', False: ' class="no"'}
    for row in found.facts:
        cells = [
            _ABSENT if value is None else f"<span{marks[agree]}>{_text(value)}</span>"
            for value, agree in zip(row.values, row.agree, strict=True)
        ]
        yield row.name, cells


def _criteria(found: Comparison) -> Iterator[str]:
    for kind in ("inclusion", "exclusion", "unspecified"):
        rows = [row for row in found.criteria if row.kind == kind]
        if rows:
            shared = sum(row.shared for row in rows)
            name = "Criteria" if kind == "unspecified" else f"{kind.title()} criteria"
            yield f"<h2>{name}: {shared} alike</h2>"
            yield _table(
                found, [(_label(row), list(map(_cell, row.cells))) for row in rows]
            )


def _label(row: Row) -> str:
    if not row.shared:
        return "one alone"
    return "differs" if any(c and c.differences for c in row.cells) else "alike"


def _cell(cell: Cell | None) -> str:
    return _ABSENT if cell is None else _marked(cell.text, cell.differences, "d")


def _marked(text: str, spans: Iterable[tuple[int, int]], kind: str) -> str:
    """The text escaped, with the spans marked; overlapping ones once."""
    open_tag = f'<mark class="{kind}">' if kind else "<mark>"
    parts, done = [], 0
    for start, end in sorted(spans):
        if start >= done:
            parts += [
                _text(text[done:start]),
                open_tag,
                _text(text[start:end]),
                "</mark>",
            ]
            done = end
    return "".join([*parts, _text(text[done:])])


def _text(text: str) -> str:
    """Escaped, without the characters that no page may have."""
    kept = (char if char.isprintable() or char in "\n\t" else " " for char in text)
    return escape("".join(kept))
