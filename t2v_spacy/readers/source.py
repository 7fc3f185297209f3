"""Where records come from: a file, a .gz, the members of a .zip, a folder of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class Source:
    """One stream of bytes. name is what messages show: "trials.zip/NCT9….xml"."""

    name: str
    open: Callable[[], BinaryIO]
