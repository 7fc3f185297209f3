"""Write invented UMLS files (RRF) of any size, to try a reader without a licence."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from t2v_spacy.kb.rrf import COLUMNS

NAMES_EACH, PARENTS_EACH = 5, 2
# Names, a type, and each parent told from both sides.
ROWS_EACH = NAMES_EACH + 1 + 2 * PARENTS_EACH
TYPES = ("T047", "T191", "T121", "T061", "T074")
SYLLABLES = (
    "ba",
    "cor",
    "di",
    "fen",
    "gal",
    "hy",
    "lo",
    "mus",
    "no",
    "pra",
    "ri",
    "zet",
)


def main(
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    rows: Annotated[int, typer.Option(help="Rows of all files together.")] = 2_000_000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Write MRCONSO, MRSTY, MRREL and MRFILES. Names are random syllables."""
    rng = random.Random(seed)
    n = max(1, rows // ROWS_EACH)
    out.mkdir(parents=True, exist_ok=True)
    files = {"MRCONSO": names(n, rng), "MRSTY": types(n, rng), "MRREL": parents(n, rng)}
    stated = []
    for name, lines in files.items():
        count = write(out / f"{name}.RRF", lines)
        columns = COLUMNS[name].split()
        fields = [f"{name}.RRF", "", ",".join(columns), str(len(columns)), str(count)]
        stated.append("|".join([*fields, ""]) + "|")
    write(out / "MRFILES.RRF", stated)
    typer.echo(f"{n} concepts, {n * ROWS_EACH} rows in {out}")


def write(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with path.open("w", encoding="utf8") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


def names(n: int, rng: random.Random) -> Iterator[str]:
    for i in range(n):
        for k in range(NAMES_EACH):
            best = "P|L{0}|PF|S{0}|Y" if k == 0 else "S|L{0}|VO|S{0}|N"
            atom = i * NAMES_EACH + k
            name = " ".join("".join(rng.choices(SYLLABLES, k=3)) for _ in range(3))
            start = f"{cui(i)}|ENG|{best.format(atom)}|A{atom}|||D{i}|MSH|MH|D{i}|"
            yield f"{start}{name}|0|N||"


def types(n: int, rng: random.Random) -> Iterator[str]:
    for i in range(n):
        yield f"{cui(i)}|{rng.choice(TYPES)}|A1|Invented|AT{i}||"


def parents(n: int, rng: random.Random) -> Iterator[str]:
    """Each concept is below earlier ones; what its parent says of it comes too."""
    for i in range(n):
        for _ in range(PARENTS_EACH):
            one, other = cui(i), cui(rng.randrange(i + 1))
            yield f"{one}|A1|AUI|PAR|{other}|A2|AUI|inverse_isa|R{i}||MSH|MSH|||N||"
            yield f"{other}|A2|AUI|CHD|{one}|A1|AUI|isa|R{i}||MSH|MSH|||N||"


def cui(i: int) -> str:
    return f"C{i + 1:07}"


if __name__ == "__main__":
    typer.run(main)
