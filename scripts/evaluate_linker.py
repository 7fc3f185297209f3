"""How well the concept linker does on real records: agreement with the registry's MeSH
tags, coverage, and links to read one by one.

    python scripts/evaluate_linker.py agreement trials.jsonl.gz --half development
    python scripts/evaluate_linker.py coverage trials.jsonl.gz
    python scripts/evaluate_linker.py sample trials.jsonl.gz --per-method 10
"""

# ruff: noqa: T201
from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from t2v_spacy import Trial, read_trials
from t2v_spacy.kb.abbreviations import find_abbreviations
from t2v_spacy.kb.linker import SCORES, ConceptLinker, Link
from t2v_spacy.kb.loaders import open_kb

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
Source = Annotated[Path, typer.Argument(help="Records with registry MeSH tags.")]
Base = Annotated[Path | None, typer.Option(help="Knowledge base; built-in if none.")]
Methods = Annotated[str, typer.Option(help="Methods to use, with commas.")]


class Half(StrEnum):
    development = "development"
    final = "final"


@app.command()
def agreement(
    source: Source,
    half: Half = Half.development,
    kb: Base = None,
    misses: Annotated[int, typer.Option(help="Print so many differences.")] = 0,
    exact_only: Annotated[
        bool, typer.Option(help="Only links of a whole name (exact to curated).")
    ] = False,
) -> None:
    """Trials with one item and one tag: is the link the tag, or above or below it?"""
    linker = _linker(kb)
    trials = [t for t in read_trials(source) if _half(t.nct_id) == half]
    for role in ("condition", "intervention"):
        counts: Counter[str] = Counter()
        by_method: dict[str, Counter[str]] = {}
        shown = []
        for trial in trials:
            names = _items(trial, role)
            tags = getattr(trial, f"{role}_mesh")
            if len(names) != 1 or len(tags) != 1:
                continue
            tag = next(iter(linker.kb.lookup(tags[0])), None)
            if tag is None:
                counts["tag not in the base"] += 1
                continue
            links = linker.link(names[0], role, _defined(trial))
            if exact_only:
                links = [k for k in links if k.how in _WHOLE_NAME]
            verdict = _compare(linker, links[:1], tag)
            counts[verdict] += 1
            each = {_compare(linker, [link], tag) for link in links}
            best = next((v for v in ("same", "ancestor", "other") if v in each), "-")
            counts[f"any {best}"] += 1
            if "COVID-19" not in (
                linker.kb.name(tag),
                *map(linker.kb.name, _ids(links)),
            ):
                counts[f"calm {verdict}"] += 1
            how = links[0].how if links else "-"
            by_method.setdefault(how, Counter())[verdict] += 1
            if verdict == "other":
                found = linker.kb.name(links[0].ids[0])
                shown.append((how, names[0], found, tags[0], links[0].ids[0]))
        _report(role, half.value, counts, by_method)
        for row in random.Random(0).sample(shown, min(misses, len(shown))):
            print("   ", " | ".join(row))


@app.command()
def coverage(
    source: Source,
    kb: Base = None,
    n: Annotated[int, typer.Option(help="Trials to take at random.")] = 12_000,
    seed: int = 11,
    misses: Annotated[int, typer.Option(help="Print frequent unlinked items.")] = 0,
) -> None:
    """Share of items linked as a whole, and of trials with a concept."""
    linker = _linker(kb)
    trials = [t for t in read_trials(source) if t.conditions and t.interventions]
    chosen = random.Random(seed).sample(trials, min(n, len(trials)))
    print(f"{len(chosen)} of {len(trials)} trials with both lists, seed {seed}")
    for role in ("condition", "intervention"):
        methods: Counter[str] = Counter()
        missed: Counter[str] = Counter()
        mentions = trials_with = 0
        for trial in chosen:
            defined, hit = _defined(trial), False
            for name in _items(trial, role):
                mentions += 1
                links = linker.link(name, role, defined)
                hit |= bool(links)
                methods[links[0].how if links else "none"] += 1
                if not links or links[0].how == "ngram":
                    missed[name.lower()] += 1
            trials_with += hit
        whole = mentions - methods["none"] - methods["ngram"]
        print(
            f"{role}: {mentions} mentions, linked as a whole {whole / mentions:.1%}, "
            f"at all {1 - methods['none'] / mentions:.1%}; "
            f"trials with a concept {trials_with / len(chosen):.1%}"
        )
        print("   ", {m: f"{c / mentions:.1%}" for m, c in methods.most_common()})
        for name, count in missed.most_common(misses):
            print(f"    {count:5} {name}")


@app.command()
def sample(
    source: Source,
    kb: Base = None,
    per_method: int = 100,
    seed: int = 5,
    half: Half = Half.final,
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
) -> None:
    """Links at random, by method, to be read one by one."""
    linker = _linker(kb)
    trials = [t for t in read_trials(source) if _half(t.nct_id) == half]
    random.Random(seed).shuffle(trials)
    found: dict[str, list[str]] = {name: [] for name in (*SCORES, "text")}
    for trial in trials:
        for line, link in _all_links(linker, trial):
            how = "text" if line.startswith("[text") else link.how
            if len(found[how]) < per_method:
                found[how].append(line)
                break  # one a trial, so that no trial counts twice
        if all(len(lines) >= per_method for lines in found.values()):
            break
    for how, lines in found.items():
        if method in (None, how):
            print(f"\n== {how} ({len(lines)})")
            for i, line in enumerate(lines, 1):
                print(f"{i:3} {line}")


_WHOLE_NAME = ("exact", "folded", "normalised", "curated")


def _all_links(linker: ConceptLinker, trial: Trial) -> Iterator[tuple[str, Link]]:
    defined = _defined(trial)
    rng = random.Random(trial.nct_id)
    found = []
    for role in ("condition", "intervention"):
        for name in _items(trial, role):
            for link in linker.link(name, role, defined):
                found.append((_line(linker, role, name, link), link))
    texts = [trial.title, trial.eligibility, *(o.measure for o in trial.outcomes)]
    for text in filter(None, texts):
        for link in linker.link_text(text, "any", defined):
            context = text[max(0, link.start - 40) : link.end + 40]
            mark = text[link.start : link.end]
            line = _line(linker, "text", f"…{context}…  [{mark}]", link)
            found.append((line.replace("\n", " "), link))
    rng.shuffle(found)
    yield from found


def _line(linker: ConceptLinker, role: str, name: str, link: Link) -> str:
    concept = linker.kb[link.ids[0]]
    part = "" if role == "text" else f" «{name[link.start : link.end]}»"
    return (
        f"[{role}] {name}{part} -> {concept.canonical_name} "
        f"({concept.concept_id} {','.join(concept.types)})"
    )


def _report(
    role: str, half: str, counts: Counter[str], by_method: dict[str, Counter[str]]
) -> None:
    linked = counts["same"] + counts["ancestor"] + counts["other"]
    total = linked + counts["not linked"]
    print(f"{role} ({half} half): {total} trials, linked {linked / total:.1%}")
    for prefix, what in (
        ("", "first link"),
        ("any ", "any link"),
        ("calm ", "first link, without those on COVID-19"),
    ):
        same, above, other = (
            counts[f"{prefix}{v}"] for v in ("same", "ancestor", "other")
        )
        all_of = same + above + other
        print(
            f"    {what}: {all_of} linked, same {same / all_of:.1%}, "
            f"same or ancestor {(same + above) / all_of:.1%}"
        )
    print(f"    tag not in the base: {counts['tag not in the base']}")
    for how, verdicts in sorted(by_method.items(), key=lambda p: -p[1].total()):
        print(f"    {how}: {dict(verdicts)}")


def _ids(links: list[Link]) -> list[str]:
    return [link.ids[0] for link in links[:1]]


def _compare(linker: ConceptLinker, links: list[Link], tag: str) -> str:
    if not links:
        return "not linked"
    first = links[0].ids[0]
    if first == tag:
        return "same"
    above = linker.kb.ancestors(first)
    return "ancestor" if tag in above or first in linker.kb.ancestors(tag) else "other"


def _items(trial: Trial, role: str) -> list[str]:
    if role == "condition":
        return list(trial.conditions)
    return [item.name for item in trial.interventions]


def _defined(trial: Trial) -> dict[str, str]:
    return {a.short: a.long for a in find_abbreviations(trial.to_text())}


def _half(nct_id: str) -> Half:
    """A random half that a trial keeps whatever else is in the file."""
    digest = hashlib.sha256(nct_id.encode()).digest()
    return Half.development if digest[0] & 1 else Half.final


def _linker(path: Path | None, **settings: Any) -> ConceptLinker:
    return ConceptLinker(open_kb(path), **settings)


if __name__ == "__main__":
    app()
