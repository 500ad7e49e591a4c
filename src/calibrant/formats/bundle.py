"""The bundle: a whole study as plain files, with checksums and one hash over its content.

A bundle is a folder, or a ZIP archive where its name ends in ``.zip``. It holds ``manifest.json``;
``study.json``; every version of the rubric in ``rubrics/``; items, members, rounds, assignments,
ratings (all revisions) and the journal, one record a line; and tables for analysis in ``tables/``,
which follow from the rest. Drafts and leases are left out: nobody has handed them in. Every record
is written in one way only (canonical JSON), so the hash depends neither on the database it came
from, nor on the moment, nor on the packing. The name of the study is no part of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from calibrant.core.ids import TAG
from calibrant.core.study import StudyRecord

FORMAT = "calibrant-bundle"
VERSION = 1
"""Of the format; a reader knows its own and the older ones."""
MANIFEST = "manifest.json"
STUDY = "study.json"
LINES = ("members", "items", "rounds", "assignments", "ratings", "journal")
"""Files of one record a line, in the order in which they refer to each other."""
TABLES = ("ratings", "finals", "verdicts")
LEFT_OUT = ("drafts", "leases")
RUBRIC_NAME = re.compile(r"rubrics/[0-9]{4}\.json", re.ASCII)
_exact = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_ascii = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


class FileFacts(msgspec.Struct, forbid_unknown_fields=True):
    """What a file of the bundle has to be."""

    bytes: int
    sha256: str


class StudyFacts(msgspec.Struct, forbid_unknown_fields=True):
    """A study as such."""

    name: str
    title: str
    rubric_id: str
    item_type: str
    start_on: str
    seed: int
    created_at: str


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """What a bundle says of itself."""

    format: str
    version: int
    calibrant: str
    exported_at: str
    pseudonymous: bool
    """Whether members go by other names; such a bundle has a hash of its own."""
    left_out: list[str]
    study: StudyFacts
    counts: dict[str, int]
    files: dict[str, FileFacts]
    hash: str


def line_name(kind: str) -> str:
    """The file of one kind of record."""
    return f"{kind}.jsonl"


def rubric_name(number: int) -> str:
    """The file of a version of the rubric; names never come from contents."""
    return f"rubrics/{number:04}.json"


def table_name(kind: str) -> str:
    """The file of a table."""
    return f"tables/{kind}.parquet"


FIXED_NAMES = frozenset({MANIFEST, STUDY, *map(line_name, LINES), *map(table_name, TABLES)})
"""All files of a bundle but the rubrics."""


def is_part(name: str) -> bool:
    """Whether a bundle has a file of that name."""
    return name in FIXED_NAMES or RUBRIC_NAME.fullmatch(name) is not None


def as_line(value: Any) -> bytes:
    """The one line that stands for a record."""
    try:
        return _exact(value).encode() + b"\n"
    except UnicodeEncodeError:  # half a character, as models write it
        return _ascii(value).encode() + b"\n"


def study_facts(record: StudyRecord) -> StudyFacts:
    """A study for its file."""
    return StudyFacts(**{name: getattr(record, name) for name in StudyFacts.__struct_fields__})


def study_line(facts: StudyFacts) -> bytes:
    """The content of ``study.json``."""
    return as_line(msgspec.to_builtins(facts))


def content_digest(study: StudyFacts, sums: Mapping[str, str]) -> str:
    """The hash of a study: over its records, whatever it is called and wherever it is kept."""
    plain = msgspec.to_builtins(study)
    del plain["name"]
    digest = hashlib.sha256(as_line([FORMAT, VERSION, plain]))
    for name in sorted(sums):
        if name in map(line_name, LINES) or RUBRIC_NAME.fullmatch(name):
            digest.update(as_line([name, sums[name]]))
    return f"{TAG}:{digest.hexdigest()}"
