"""Vectors kept by what they are of: a hash of the text, a hash of what reads it."""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ...files import replaced_file, writing
from .base import Array


class VectorCache:
    """Vectors by text, in memory and, if a folder is given, in .npz parts there.

    A part is written whole or not at all and never changed, so a killed run loses at
    most the part it was in. A part is named by what it holds: two runs never write
    different things to one name.

    folder (Path | None): Made when first written to.
    fingerprint (str): Says what made the vectors; others in the folder are not read.
    """

    def __init__(self, folder: Path | None, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint[:16]
        self._rows: dict[str, Array] = {}
        for path in sorted(folder.glob(f"{self._fingerprint}-*.npz") if folder else ()):
            self._rows.update(_read_part(path))

    def vectors(
        self,
        texts: Sequence[str],
        encode: Callable[[list[str]], Array],
        *,
        name: str,
        part_size: int = 1024,
    ) -> Array:
        """The vector of each text, encoding each new one once.

        encode: Makes (texts, width) of new texts. name: Title of the progress bar.
        part_size: Texts that are encoded, then written, together.
        RETURNS (ndarray): float32 (texts, width).
        RAISES (T2VError): T010 if the folder cannot be written.
        """
        keys = [hashlib.sha256(text.encode("utf8")).hexdigest() for text in texts]
        pairs = zip(keys, texts, strict=True)
        new = {key: text for key, text in pairs if key not in self._rows}
        todo = list(new)
        with tqdm(total=len(todo), desc=name, unit="trial", disable=None) as bar:
            for start in range(0, len(todo), part_size):
                part = todo[start : start + part_size]
                rows = encode([new[key] for key in part]).astype("float32")
                self._write_part(part, rows)
                self._rows.update(zip(part, rows, strict=True))
                bar.update(len(part))
        return np.stack([self._rows[key] for key in keys])

    def _write_part(self, keys: list[str], rows: Array) -> None:
        if self._folder is None:
            return
        held = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
        path = self._folder / f"{self._fingerprint}-{held}.npz"
        with writing(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            with replaced_file(path) as temporary, temporary.open("wb") as file:
                np.savez(file, keys=np.array(keys), rows=rows)


def _read_part(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(zip(file["keys"].tolist(), file["rows"], strict=True))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as err:
        warnings.warn(
            f"{path} is broken ({err}); its vectors are made again.", stacklevel=3
        )
        return {}
