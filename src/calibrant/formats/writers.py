"""Tables to files: JSONL, JSON, CSV or Parquet, by the file's name; whole or not at all.

A file appears under its name only when everything has been written. CSV cells that a
spreadsheet would run as a formula are written as text.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from calibrant.core.errors import SourceError

LINE_SUFFIXES = (".jsonl", ".ndjson")
FORMULA = r"^'*(?:\s*[=+\-@]|[\t\r\n])"
"""How a cell begins that a spreadsheet takes for a formula; it is written with ' before it.

One that begins so behind ' gets one more, so that taking one away from any cell that matches and
begins with ' gives back what was written (``unquoted``).
"""


def write_frames(frames: Iterable[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    """Write all frames to one file; on any error no file is left and an old one stays."""
    writer = _writer(path)
    with replacing(path) as temporary:
        writer(iter(frames), schema, temporary)


def write_line_file(lines: Iterable[pl.Series], path: Path) -> None:
    """Write texts that are lines already to one file, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        write_lines(lines, file)


def write_document(data: bytes, path: Path) -> None:
    """Write one document, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def check_output(path: Path, *inputs: Path | None) -> None:
    """Raise at once what writing would raise at the end; no input may be written over."""
    _writer(path)
    if not path.parent.is_dir():
        raise SourceError(f"{path}: the folder {path.parent} does not exist")
    if path.resolve() in {source.resolve() for source in inputs if source is not None}:
        raise SourceError(f"{path}: is read from, and would be written over; name another file")


def _writer(path: Path) -> Callable[[Iterator[pl.DataFrame], pl.Schema, Path], None]:
    try:
        return _WRITERS[path.suffix.lower()]
    except KeyError:
        known = ", ".join(_WRITERS)
        raise SourceError(
            f"{path}: cannot write {path.suffix or 'this'!r}; known: {known}"
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` that takes its place at the end."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_jsonl(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    with path.open("wb") as file:
        for frame in frames:
            frame.write_ndjson(file)


def write_lines(lines: Iterable[pl.Series], file: BinaryIO) -> None:
    """Texts that are lines already."""
    for part in lines:
        part.to_frame().write_csv(file, include_header=False, quote_style="never")


def _write_json(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    with path.open("wb") as file:
        before = b"[\n"
        for frame in frames:
            lines = frame.write_ndjson().strip().replace("\n", ",\n")
            file.write(before + lines.encode("utf-8"))
            before = b",\n"
        file.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _write_csv(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    with path.open("wb") as file:
        flat(pl.DataFrame(schema=schema)).write_csv(file)
        for frame in frames:
            flat(frame).write_csv(file, include_header=False)


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without nested columns, its text safe in a spreadsheet.

    A column of records becomes one column a field (``raw.CQ1``); a list is written with
    semicolons.
    """
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Struct):
            at = frame.get_column_index(name)
            fields = frame.drop_in_place(name).struct.unnest()
            for offset, field in enumerate(fields):
                frame.insert_column(at + offset, field.alias(f"{name}.{field.name}"))
    frame = frame.with_columns(pl.selectors.list().list.join(";"))
    frame = frame.with_columns(pl.selectors.enum().cast(pl.String))
    frame = frame.rename(lambda name: f"'{name}" if re.match(FORMULA, name) else name)
    text = pl.col(pl.String)
    unsafe = text.str.contains(FORMULA)
    return frame.with_columns(pl.when(unsafe).then("'" + text).otherwise(text).name.keep())


def unquoted(cell: str) -> str:
    """What a cell said before it was made safe."""
    quoted = cell.startswith("'") and pl.Series([cell]).str.contains(FORMULA).item()
    return cell[1:] if quoted else cell


def _write_parquet(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> None:
    # Parquet knows no record without fields
    empty = [name for name, kind in schema.items() if kind == pl.Struct({})]
    kept = pl.Schema({name: kind for name, kind in schema.items() if name not in empty})
    failure: list[BaseException] = []

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        try:
            for frame in frames:
                yield frame.drop(empty)
        except BaseException as error:  # polars would wrap it beyond recognition
            failure.append(error)
            raise

    try:
        register_io_source(source, schema=kept).sink_parquet(
            path, maintain_order=True, statistics=False, compression_level=1
        )
    except pl.exceptions.PolarsError:
        if failure:
            raise failure[0] from None
        raise


_WRITERS: dict[str, Callable[[Iterator[pl.DataFrame], pl.Schema, Path], None]] = {
    ".jsonl": _write_jsonl,
    ".ndjson": _write_jsonl,
    ".json": _write_json,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
