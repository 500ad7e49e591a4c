"""Reading a bundle: checksums and hash first, then every record, and only then is it used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from calibrant.core.errors import Fault, RecordError, SourceError, one_line
from calibrant.core.study import RubricRecord, StudyRecord
from calibrant.formats import bundle, bundle_lines
from calibrant.formats.bundle import Manifest
from calibrant.formats.bundle_lines import Codec
from calibrant.formats.bundle_source import Source, open_source, readable
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.study.contents import Contents, is_pseudonymous
from calibrant.study.soundness import Soundness, TooMany, rubric_record

T = TypeVar("T")
MAX_DOCUMENT = 16 * 1024 * 1024
"""The largest manifest, study or rubric."""
MAX_LINE = 64 * 1024 * 1024
"""The longest record."""
_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle that is what it says."""

    path: Path
    manifest: Manifest
    contents: Contents
    unchanged: Callable[[], None]
    """Raises where a file that was read since is not the one that was verified."""
    source: Source

    @property
    def hash(self) -> str:
        """Of the study in it."""
        return self.manifest.hash


@contextmanager
def verified(
    path: Path, on_record: Callable[[int], None] = lambda count: None
) -> Iterator[Verified]:
    """A bundle that has been looked through to its end.

    Raises ``SourceError`` where it is not whole, was changed, or is of a newer format, and
    ``RecordError`` with every fault where its records do not make a study.
    """
    with open_source(path) as source:
        with readable(path):
            manifest = _manifest(source)
            _sums(source, manifest)
            reader = _Reader(source, manifest)
            contents = reader.contents()
            _sound(reader, contents, on_record)
        yield Verified(path, manifest, contents, reader.unchanged, source)


# -- what it says of itself


def _manifest(source: Source) -> Manifest:
    name = f"{source.path}: {bundle.MANIFEST}"
    try:
        tree = parse_json(_small(source, bundle.MANIFEST))
        if not isinstance(tree, dict) or tree.get("format") != bundle.FORMAT:
            raise SourceError(f"{name}: is not that of a bundle of calibrant")
        version = tree.get("version")
        if isinstance(version, int) and version > bundle.VERSION:
            raise SourceError(
                f"{name}: was written by a newer calibrant (format {version}, this program knows "
                f"{bundle.VERSION}); install the newer one"
            )
        manifest = msgspec.convert(tree, Manifest)
    except BadJson as error:
        raise SourceError(f"{name}: {error}") from error
    except msgspec.ValidationError as error:
        raise SourceError(f"{name}: {one_line(str(error))[:300]}") from error
    if manifest.version != bundle.VERSION:
        raise SourceError(f"{name}: there is no format {manifest.version}")
    return manifest


def _small(source: Source, name: str) -> bytes:
    """The whole of a file that cannot be large."""
    with source.open(name) as file:
        data = file.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        raise SourceError(f"{source.path}: {name} is larger than any bundle has it; refused")
    return data


def _sums(source: Source, manifest: Manifest) -> None:
    """Every file is there, is the one that was written, and together they give the hash."""
    stated = set(manifest.files)
    there = set(source.sizes) - {bundle.MANIFEST}
    needed = bundle.FIXED_NAMES - {bundle.MANIFEST}
    for name in sorted(needed - stated) + sorted(stated - there):
        raise SourceError(f"{source.path}: {one_line(name)[:80]} is missing")
    for name in sorted(there - stated):
        raise SourceError(f"{source.path}: {name} is not told of in the manifest")
    rubrics = [name for name in stated if bundle.RUBRIC_NAME.fullmatch(name)]
    if sorted(rubrics) != [bundle.rubric_name(at) for at in range(1, len(rubrics) + 1)]:
        raise SourceError(f"{source.path}: a version of the rubric is missing")
    for name, facts in manifest.files.items():
        size, digest = 0, hashlib.sha256()
        if source.sizes[name] == facts.bytes:
            with source.open(name) as file:
                while (piece := file.read(_PIECE)) and size <= facts.bytes:
                    size += len(piece)
                    digest.update(piece)
        if size != facts.bytes or digest.hexdigest() != facts.sha256:
            raise SourceError(f"{source.path}: {name} is not the file that was written: changed")
    sums = {name: facts.sha256 for name, facts in manifest.files.items()}
    if bundle.content_digest(manifest.study, sums) != manifest.hash:
        raise SourceError(f"{source.path}: the hash of the manifest is not that of its files")
    if _small(source, bundle.STUDY) != bundle.study_line(manifest.study):
        raise SourceError(f"{source.path}: {bundle.STUDY} and the manifest tell two studies")


# -- its records


@dataclass(slots=True)
class _Reader:
    """Reads records off the files of a bundle, and sees whether these stay as they are."""

    source: Source
    manifest: Manifest
    strict: bool = True
    """Whether each line is held against the one way of writing it; once is enough."""
    number: int = 0
    """Of the line that was read last."""
    _changed: list[str] = field(default_factory=list)

    def contents(self) -> Contents:
        """The study, as far as single files tell."""
        facts = msgspec.structs.asdict(self.manifest.study)
        study = StudyRecord(**facts)
        return Contents(
            study=study,
            rubrics=tuple(self._rubrics(study.created_at)),
            members=tuple(self.lines("members", bundle_lines.MEMBERS)),
            rounds=tuple(self.lines("rounds", bundle_lines.ROUNDS)),
            items=partial(self.lines, "items", bundle_lines.ITEMS),
            assignments=partial(self.lines, "assignments", bundle_lines.ASSIGNMENTS),
            ratings=partial(self.lines, "ratings", bundle_lines.RATINGS),
            journal=partial(self.lines, "journal", bundle_lines.JOURNAL),
        )

    def place(self, name: str) -> str:
        """A file, for messages."""
        return f"{self.source.path}: {name}"

    def _rubrics(self, at: str) -> Iterator[RubricRecord]:
        for name in sorted(self.manifest.files):
            if bundle.RUBRIC_NAME.fullmatch(name):
                line = _small(self.source, name)
                record = rubric_record(self._value(name, line, 1), at)
                if record is None:
                    raise RecordError(
                        [Fault("is no rubric that can be read", source=self.place(name))]
                    )
                yield record

    def lines(self, kind: str, codec: Codec[T]) -> Iterator[T]:
        """The records of one file, one after the other."""
        name = bundle.line_name(kind)
        digest = hashlib.sha256()
        self.number = 0
        with readable(self.place(name)), self.source.open(name) as file:
            while line := file.readline(MAX_LINE + 1):
                self.number += 1
                digest.update(line)
                yield self._record(name, codec, line)
        if digest.hexdigest() != self.manifest.files[name].sha256:
            self._changed.append(name)

    def _record(self, name: str, codec: Codec[T], line: bytes) -> T:
        try:
            return codec.read(self._value(name, line, self.number), odd=b"\\u" in line)
        except msgspec.ValidationError as error:
            raise self._fault(name, one_line(str(error))[:300], self.number) from error

    def _value(self, name: str, line: bytes, number: int) -> Any:
        """What a line says; it must say it as ``export`` writes it.

        A key that stands twice, a number beyond all numbers or a line without its end would not
        come out again as it went in, so all of them are told by writing the line once more.
        """
        if len(line) > MAX_LINE:
            raise SourceError(f"{self.place(name)}: a line is longer than any record; refused")
        try:
            value = json.loads(line)
            if self.strict and bundle.as_line(value) != line:
                raise self._fault(name, "is not written as export writes it", number)
        except (ValueError, RecursionError) as error:
            raise self._fault(name, f"not JSON: {one_line(str(error))[:200]}", number) from error
        return value

    def _fault(self, name: str, message: str, number: int) -> RecordError:
        return RecordError([Fault(message, source=self.place(name), record=number)])

    def unchanged(self) -> None:
        """Raise where a file that was read is not the one that was verified."""
        if self._changed:
            raise SourceError(f"{self.place(self._changed[0])}: was changed while it was read")


def _sound(reader: _Reader, contents: Contents, on_record: Callable[[int], None]) -> None:
    """Look at every record; raises ``RecordError`` with all faults."""
    looks = Soundness(contents.study, reader.place(bundle.STUDY))
    counts: dict[str, int] = {"rubrics": len(contents.rubrics)}
    done = 0
    pseudonymous = False
    try:
        looks.look_at_study()
        for number, rubric in enumerate(contents.rubrics, 1):
            looks.turn_to(reader.place(bundle.rubric_name(number)))
            looks.rubric(rubric)
        streams: tuple[tuple[str, Any, Callable[[Any], None]], ...] = (
            ("members", contents.members, looks.member),
            ("items", contents.items(), looks.item),
            ("rounds", contents.rounds, looks.round),
            ("assignments", contents.assignments(), looks.assignment),
            ("ratings", contents.ratings(), looks.rating),
            ("journal", contents.journal(), looks.entry),
        )
        for kind, stream, look in streams:
            looks.turn_to(reader.place(bundle.line_name(kind)))
            counts[kind] = 0
            for one in stream:
                look(one)
                counts[kind] += 1
                if kind == "journal":
                    pseudonymous |= is_pseudonymous(iter([one]))
            done += counts[kind]
            on_record(done)
        looks.turn_to(str(reader.source.path))
        looks.conclude()
        if counts != reader.manifest.counts:
            looks.fault("the counts of the manifest are not those of the files")
        if pseudonymous != reader.manifest.pseudonymous:
            looks.fault("the manifest and the journal differ on whether names are pseudonyms")
    except TooMany:
        pass
    if looks.faults:
        raise RecordError(looks.faults)
    reader.unchanged()
    reader.strict = False
