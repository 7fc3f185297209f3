"""Files of an index: checksums, atomic replacement of a folder, one bytes value."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import srsly

from ..errors import Errors, error


def digest(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path) -> dict[str, dict]:
    """Size and checksum of each file below a folder, by relative POSIX path."""
    return {
        file.relative_to(folder).as_posix(): {
            "size": file.stat().st_size,
            "sha256": digest(file),
        }
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure of the system to write into T010."""
    try:
        yield
    except OSError as err:
        reason = err.strerror or str(err)
        raise error(Errors.T010, path=path, reason=reason) from err


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """Yield an empty sibling folder that takes the place of `path` at the end.

    Nothing of an older `path` is touched before the new folder is complete, and a
    failure leaves it as it was. RAISES (T010): not writable.
    """
    new = path.with_name(f".{path.name}.new")
    old = path.with_name(f".{path.name}.old")
    with writing(path):
        for left_over in (new, old):
            shutil.rmtree(left_over, ignore_errors=True)
        new.mkdir(parents=True)
    try:
        yield new
        with writing(path):
            if path.exists():
                path.rename(old)
            try:
                new.rename(path)
            except OSError:
                if old.exists():
                    old.rename(path)
                raise
    finally:
        for left_over in (new, old):
            shutil.rmtree(left_over, ignore_errors=True)


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling path whose file takes the place of `path`."""
    new = path.with_name(f".{path.name}.new")
    try:
        yield new
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def pack(folder: Path) -> bytes:
    """All files of a folder as one bytes value."""
    names = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    files = {f.relative_to(folder).as_posix(): f.read_bytes() for f in names}
    return srsly.msgpack_dumps(files)


def unpack(data: bytes, folder: Path) -> None:
    """Inverse of `pack`. RAISES (T041): other bytes, or a name outside the folder."""
    try:
        files = {k: bytes(v) for k, v in srsly.msgpack_loads(data).items()}
    except (ValueError, TypeError, AttributeError) as err:
        raise error(Errors.T041, path="the bytes", reason=str(err)) from err
    for name, content in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise error(Errors.T041, path="the bytes", reason=f"bad file name {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
