"""The files of a bundle as they lie there, opened without trusting any of them.

Only names that a bundle has are ever looked at, none of them is followed anywhere else, and
nothing is unpacked to the disk.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Protocol

from calibrant.core.errors import SourceError, one_line
from calibrant.formats.bundle import MANIFEST, is_part
from calibrant.formats.workbook_guard import BROKEN

MAX_FILES = 12_000
_LARGE = 64 * 1024 * 1024
_DENSEST = 400
"""How many times smaller than its content a large packed file may be; studies come to less."""


class Source(Protocol):
    """The files of a bundle."""

    path: Path
    sizes: dict[str, int]
    """Bytes by name."""

    def open(self, name: str) -> IO[bytes]:
        """One of them, for reading."""


@contextmanager
def readable(where: object) -> Iterator[None]:
    """Whatever reading a broken file raises becomes a clear error."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{where}: {error.strerror or error}") from error
    except BROKEN as error:
        raise SourceError(
            f"{where}: not a readable bundle: {one_line(str(error))[:200]}"
        ) from error


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The files of a bundle; raises ``SourceError`` where it holds anything else."""
    with ExitStack() as stack:
        with readable(path):
            source: Source
            if path.is_dir():
                source = _Folder(path)
            elif path.is_file():
                source = _Archive(path, stack.enter_context(zipfile.ZipFile(path)))
            else:
                raise SourceError(f"{path}: no such folder or file")
        yield source


def _checked(path: Path, sizes: dict[str, int]) -> dict[str, int]:
    if MANIFEST not in sizes:
        raise SourceError(f"{path}: not a bundle: it has no {MANIFEST}")
    return sizes


def _stranger(path: Path, name: str) -> SourceError:
    return SourceError(f"{path}: holds {one_line(name)[:80]!r}, which is no part of a bundle")


class _Folder:
    """A folder of regular files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sizes = _checked(path, dict(self._files(path, "")))

    def _files(self, folder: Path, before: str) -> Iterator[tuple[str, int]]:
        with os.scandir(folder) as entries:
            for at, entry in enumerate(entries):
                name = f"{before}{entry.name}"
                if at > MAX_FILES:
                    raise SourceError(f"{self.path}: holds too many files for a bundle")
                if name in ("rubrics", "tables") and entry.is_dir(follow_symlinks=False):
                    yield from self._files(folder / entry.name, f"{name}/")
                elif is_part(name) and entry.is_file(follow_symlinks=False):
                    yield name, entry.stat(follow_symlinks=False).st_size
                else:
                    raise _stranger(self.path, name)

    def open(self, name: str) -> IO[bytes]:
        """A file, which must still be one."""
        handle = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise _stranger(self.path, name)
        return os.fdopen(handle, "rb", buffering=1024 * 1024)


class _Archive:
    """A ZIP archive; what it says of its members is checked while they are read."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self._archive = path, archive
        members = archive.infolist()
        if len(members) > MAX_FILES:
            raise SourceError(f"{path}: holds too many files for a bundle")
        self._members: dict[str, zipfile.ZipInfo] = {}
        for one in members:
            mode = one.external_attr >> 16
            if not is_part(one.filename) or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
                raise _stranger(path, one.filename)
            if one.filename in self._members:
                raise SourceError(f"{path}: holds {one.filename} twice")
            if one.flag_bits & 0x1:
                raise SourceError(f"{path}: {one.filename} is encrypted")
            self._members[one.filename] = one
        self.sizes = _checked(path, {name: one.file_size for name, one in self._members.items()})
        self._bound()

    def _bound(self) -> None:
        """Refuse what unpacks to far more than any study does."""
        unpacked = sum(self.sizes.values())
        packed = self.path.stat().st_size
        if unpacked > _LARGE and unpacked > _DENSEST * packed:
            raise SourceError(
                f"{self.path}: {packed:,} bytes would unpack to {unpacked:,}; refused"
            )

    def open(self, name: str) -> IO[bytes]:
        """A member."""
        return self._archive.open(self._members[name])
