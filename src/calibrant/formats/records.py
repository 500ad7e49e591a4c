"""Any data file as numbered records: what readers of items and of answers stand on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, Literal, TypeAlias

from calibrant.core.errors import Fault, SourceError
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.formats.tables import Place, Table, open_csv, open_xlsx, plain
from calibrant.formats.text import detect_encoding, open_binary, read_lines

FileKind: TypeAlias = Literal["jsonl", "json", "csv", "parquet", "xlsx"]
SUFFIXES: dict[str, FileKind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
MAX_JSON = 256 * 1024 * 1024
"""A JSON document is held in memory whole; larger data belong in JSONL."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file, or the fault that keeps it from being one."""

    number: int
    value: Any
    fault: Fault | None = None


@dataclass(slots=True)
class Records:
    """The records of a file, read one after the other."""

    kind: FileKind
    stream: Iterator[Record]
    notes: list[str] = field(default_factory=list)
    table: bool = False
    """Whether records are rows of a table: an absent value is an empty cell."""


def file_kind(path: Path) -> FileKind:
    """What a file holds, by its name."""
    try:
        return SUFFIXES[path.suffix.lower()]
    except KeyError:
        raise SourceError(
            f"{path}: cannot tell what {path.suffix or 'a file without an extension'!r} is; "
            f"known: {', '.join(SUFFIXES)}"
        ) from None


def require_file(path: Path) -> None:
    """A clear error where there is no file to read."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # a folder one may not enter, a name no file can have
        raise SourceError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if not S_ISREG(mode):
        raise SourceError(f"{path}: not a file")


def read_records(path: Path, encoding: str | None = None, place: Place | None = None) -> Records:
    """The records of a file of any known kind; ``place`` says where in it a table stands."""
    require_file(path)
    match file_kind(path):
        case "jsonl":
            return _jsonl(path, encoding)
        case "json":
            return _json(path, encoding)
        case "csv":
            return _table("csv", open_csv(path, encoding, place))
        case "xlsx":
            return _table("xlsx", open_xlsx(path, place))
        case "parquet":
            return Records("parquet", _parquet(path), table=True)


def _jsonl(path: Path, encoding: str | None) -> Records:
    found = detect_encoding(path, encoding)

    def stream() -> Iterator[Record]:
        empty = True
        for number, line in read_lines(path, found):
            if line.strip():
                empty = False
                yield parse_line(path, number, line)
        if empty:
            raise SourceError(f"{path}: the file is empty")

    return Records("jsonl", stream(), found.notes(path))


def parse_line(path: Path, number: int, line: str | bytes) -> Record:
    """One line of JSONL."""
    try:
        return Record(number, parse_json(line))
    except BadJson as error:
        return Record(number, None, Fault(str(error), source=str(path), record=number))


def _json(path: Path, encoding: str | None) -> Records:
    """A list of records, or a single one."""
    with open_binary(path) as file:
        data = file.read(MAX_JSON + 1)
    if len(data) > MAX_JSON:
        raise SourceError(
            f"{path}: larger than {MAX_JSON // (1024 * 1024)} MB; write one record a line (.jsonl)"
        )
    found = detect_encoding(path, encoding)
    try:
        document = parse_json(data.decode(found.name))
    except (BadJson, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: {error}") from error
    records = document if isinstance(document, list) else [document]
    stream = (Record(number, value) for number, value in enumerate(records, 1))
    return Records("json", stream, found.notes(path))


def _table(kind: FileKind, table: Table) -> Records:
    def stream() -> Iterator[Record]:
        for row in table.rows:
            value = dict(zip(table.names, row.cells, strict=True)) if row.fault is None else None
            yield Record(row.number, value, row.fault)

    return Records(kind, stream(), list(table.notes), table=True)


def _parquet(path: Path) -> Iterator[Record]:
    number = 0
    for frame in parquet_frames(path):
        for value in frame.iter_rows(named=True):
            number += 1
            yield Record(number, plain(value))


def parquet_frames(path: Path, rows: int = 65_536) -> Iterator[Any]:
    """A Parquet file as polars frames of bounded size, in order."""
    import polars as pl

    def frames() -> Iterator[pl.DataFrame]:
        batches = pl.scan_parquet(path, glob=False).collect_batches(
            chunk_size=rows, maintain_order=True, lazy=True
        )
        yield from batches

    yield from guarded(frames(), path, "Parquet")


def parquet_parts(path: Path, rows: int) -> Iterator[Any]:
    """The same, each part read when it is asked for: slower in all, and never two parts at once."""
    import polars as pl

    def frames() -> Iterator[pl.DataFrame]:
        whole = pl.scan_parquet(path, glob=False)
        height = int(whole.select(pl.len()).collect().item())
        for start in range(0, height, rows):
            yield whole.slice(start, rows).collect()

    yield from guarded(frames(), path, "Parquet")


def guarded(stream: Iterator[Any], path: Path, what: str) -> Iterator[Any]:
    """The stream; whatever a native reader throws at a broken file becomes a clear error."""
    while True:
        try:
            value = next(stream)
        except StopIteration:
            return
        except SourceError:
            raise
        except MemoryError as error:
            raise SourceError(f"{path}: too large for the memory at hand") from error
        except Exception as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SourceError(f"{path}: not a readable {what} file: {first}") from error
        except BaseException as error:  # a panic of the reader is not an Exception
            if type(error).__name__ == "PanicException":
                raise SourceError(f"{path}: not a readable {what} file") from error
            raise
        yield value
