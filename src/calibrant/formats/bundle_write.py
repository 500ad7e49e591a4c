"""Writing a bundle: everything streams, and it appears under its name whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import msgspec
import polars as pl

from calibrant.core.errors import SourceError
from calibrant.formats import bundle, bundle_lines
from calibrant.formats.bundle import FileFacts, Manifest
from calibrant.formats.bundle_lines import Codec
from calibrant.formats.writers import write_frames
from calibrant.study.contents import LONG, Contents, Tables

T = TypeVar("T")
_PIECE = 1024 * 1024
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Written:
    """A bundle that is there now."""

    path: Path
    hash: str
    counts: dict[str, int]
    pseudonymous: bool


def check_target(path: Path) -> None:
    """Raise at once what writing would raise at the end; nothing is ever written over."""
    if path.is_symlink() or path.exists():
        raise SourceError(f"{path}: is there already; name one that is not")
    if not path.parent.is_dir():
        raise SourceError(f"{path}: the folder {path.parent} does not exist")


def write_bundle(
    contents: Contents,
    tables: Tables,
    path: Path,
    *,
    exported_at: str,
    version: str,
    on_record: Callable[[int], None] = lambda count: None,
) -> Written:
    """Write a study to a folder or, where the name ends in ``.zip``, to an archive."""
    check_target(path)
    pack = _zipped if path.suffix.lower() == ".zip" else _foldered
    try:
        with pack(path) as sink, tempfile.TemporaryDirectory(prefix="calibrant-") as scratch:
            writer = _Writer(sink, on_record)
            manifest = writer.write(contents, tables, Path(scratch), exported_at, version)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    return Written(path, manifest.hash, manifest.counts, manifest.pseudonymous)


class _Sink(Protocol):
    """Where files go."""

    def open(self, name: str) -> IO[bytes]:
        """A new file."""


class _Writer:
    """Writes file after file, and keeps count."""

    def __init__(self, sink: _Sink, on_record: Callable[[int], None]) -> None:
        self._sink, self._on_record = sink, on_record
        self._files: dict[str, FileFacts] = {}
        self._counts: dict[str, int] = {}
        self._done = 0
        self._pseudonymous = False

    def write(
        self, contents: Contents, tables: Tables, scratch: Path, exported_at: str, version: str
    ) -> Manifest:
        """All files, the manifest last."""
        facts = bundle.study_facts(contents.study)
        self._file(bundle.STUDY, [bundle.study_line(facts)])
        for number, rubric in enumerate(contents.rubrics, 1):
            document = json.loads(rubric.document)
            self._file(bundle.rubric_name(number), [bundle.as_line(document)])
        self._counts["rubrics"] = len(contents.rubrics)
        self._lines("members", contents.members, bundle_lines.MEMBERS)
        self._lines("items", contents.items(), bundle_lines.ITEMS)
        self._lines("rounds", contents.rounds, bundle_lines.ROUNDS)
        self._lines("assignments", contents.assignments(), bundle_lines.ASSIGNMENTS)
        self._lines("ratings", contents.ratings(), bundle_lines.RATINGS)
        self._lines("journal", self._watched(contents), bundle_lines.JOURNAL)
        self._table("ratings", tables.ratings(), LONG, scratch)
        for kind, table in (("finals", tables.finals), ("verdicts", tables.verdicts)):
            frame = table()
            self._table(kind, [frame], frame.schema, scratch)
        manifest = Manifest(
            format=bundle.FORMAT,
            version=bundle.VERSION,
            calibrant=version,
            exported_at=exported_at,
            pseudonymous=self._pseudonymous,
            left_out=list(bundle.LEFT_OUT),
            study=facts,
            counts=self._counts,
            files=dict(sorted(self._files.items())),
            hash=bundle.content_digest(facts, {n: f.sha256 for n, f in self._files.items()}),
        )
        told = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
        with self._sink.open(bundle.MANIFEST) as file:
            file.write(told)
        return manifest

    def _watched(self, contents: Contents) -> Iterator[Any]:
        for one in contents.journal():
            self._pseudonymous |= one.kind == "pseudonyms" and one.body.get("key") is None
            yield one

    def _lines(self, kind: str, records: Iterable[T], codec: Codec[T]) -> None:
        count = 0

        def lines() -> Iterator[bytes]:
            nonlocal count
            for one in records:
                yield bundle.as_line(codec.write(one))
                count += 1
                if count % 1000 == 0:
                    self._on_record(self._done + count)

        self._file(bundle.line_name(kind), lines())
        self._counts[kind] = count
        self._done += count
        self._on_record(self._done)

    def _table(
        self, kind: str, frames: Iterable[pl.DataFrame], schema: pl.Schema, scratch: Path
    ) -> None:
        path = scratch / f"{kind}.parquet"
        write_frames(frames, schema, path)
        with path.open("rb") as file:
            self._file(bundle.table_name(kind), iter(lambda: file.read(_PIECE), b""))
        path.unlink()

    def _file(self, name: str, pieces: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._sink.open(name) as file:
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                file.write(piece)
        self._files[name] = FileFacts(size, digest.hexdigest())


# -- a folder, or an archive


@dataclass(frozen=True, slots=True)
class _Folder:
    place: Path

    def open(self, name: str) -> IO[bytes]:
        path = self.place / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return path.open("xb", buffering=_PIECE)


@contextmanager
def _foldered(path: Path) -> Iterator[_Sink]:
    """A folder under a name of its own, which gets its right name at the end."""
    place = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield _Folder(place)
        for file in sorted(place.rglob("*"), reverse=True):
            _settle(file)
        _settle(place)
        check_target(path)
        place.rename(path)
        _settle(path.parent)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


@dataclass(frozen=True, slots=True)
class _Archive:
    archive: zipfile.ZipFile

    def open(self, name: str) -> IO[bytes]:
        info = zipfile.ZipInfo(name, _EPOCH)
        packed = not name.endswith(".parquet")
        info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        info.external_attr = 0o600 << 16
        return self.archive.open(info, "w", force_zip64=True)


@contextmanager
def _zipped(path: Path) -> Iterator[_Sink]:
    """The same with an archive."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    place = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
                yield _Archive(archive)
            file.flush()
            os.fsync(file.fileno())
        check_target(path)
        place.rename(path)
        _settle(path.parent)
    finally:
        place.unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Wait until the disk has it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
