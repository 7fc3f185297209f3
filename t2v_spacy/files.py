"""Files that a run must not lose: checksums, atomic replacement, locks."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import srsly

from .errors import Errors, error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
    except (OSError, sqlite3.Error) as err:
        reason = getattr(err, "strerror", None) or str(err)
        raise error(Errors.T010, path=path, reason=reason) from err


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other runs from writing `path`, by a file `.NAME.lock` beside it.

    RAISES (T010): not writable. (T051): another run is writing it.
    """
    lock = path.with_name(f".{path.name}.lock")
    with writing(path):
        lock.parent.mkdir(parents=True, exist_ok=True)
        held: int | None = None
        try:
            if fcntl:
                held = _flock(lock)
            else:
                lock.touch(exist_ok=False)
        except (BlockingIOError, FileExistsError) as err:
            raise error(Errors.T051, path=path, lock=lock) from err
    try:
        yield
    finally:
        # Before it is let go: who opened it meanwhile sees that it is gone.
        lock.unlink(missing_ok=True)
        if held is not None:
            os.close(held)


def _flock(path: Path) -> int:
    """Descriptor of a lock that goes with the process. RAISES: BlockingIOError."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise
        except OSError:
            return file  # a file system without locks
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        os.close(file)


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """Yield an empty sibling folder that takes the place of `path` at the end.

    Nothing of an older `path` is touched before the new folder is complete and on the
    disk, and a failure leaves it as it was. RAISES (T010): not writable. (T051):
    another run is writing it.
    """
    new, old = path.with_name(f".{path.name}.new"), _old(path)
    with locked(path):
        try:
            with writing(path):
                _bring_back(path)
                for left_over in (new, old):
                    shutil.rmtree(left_over, ignore_errors=True)
                new.mkdir()
            yield new
            with writing(path):
                _sync(*new.rglob("*"), new)
                if path.exists():
                    path.rename(old)
                new.rename(path)
                _sync(path.parent)
        finally:
            with suppress(OSError):
                _bring_back(path)
            shutil.rmtree(new, ignore_errors=True)
            if path.exists():
                shutil.rmtree(old, ignore_errors=True)


def recover(path: Path) -> None:
    """Put back the folder of a run that was killed while it replaced it."""
    path = path.resolve()
    if not path.exists() and _old(path).exists():
        with locked(path), writing(path):
            _bring_back(path)


def _bring_back(path: Path) -> None:
    if not path.exists() and _old(path).exists():
        _old(path).rename(path)


def _old(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def _sync(*paths: Path) -> None:
    """Have the system write files and folders to the disk."""
    for path in paths if fcntl else ():
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling path whose file takes the place of `path`."""
    new = path.with_name(f".{path.name}.new")
    try:
        yield new
        _sync(new)
        new.replace(path)
        _sync(path.parent)
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
