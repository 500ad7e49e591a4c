"""Text files of any encoding, as whole lines of UTF-8, with bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from calibrant.core.errors import SourceError

BLOCK = 8 * 1024 * 1024
MAX_LINE = 32 * 1024 * 1024
"""A longer line is not a record; reading it would only exhaust the memory."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes become text, and whether that was a guess."""

    name: str
    guessed: bool = False

    def notes(self, path: Path) -> list[str]:
        """What the file's owner should know."""
        return [f"{path.name}: not UTF-8, read as {self.name}"] if self.guessed else []


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file, as UTF-8."""

    data: bytes
    first_line: int
    end: int
    """How many bytes of the file have been read, for progress."""
    line_count: int = field(init=False)
    """How many lines there are; the last one may lack its newline."""

    def __post_init__(self) -> None:
        ends = self.count(b"\n")
        object.__setattr__(self, "line_count", ends + (not self.data.endswith(b"\n")))

    def count(self, sign: bytes) -> int:
        """How often a byte occurs."""
        import numpy as np

        return int(np.count_nonzero(np.frombuffer(self.data, np.uint8) == ord(sign)))

    def lines(self) -> list[bytes]:
        """The lines, each with its newline."""
        lines = [line + b"\n" for line in self.data.split(b"\n")]
        last = lines.pop()[:-1]
        return [*lines, last] if last else lines


def detect_encoding(path: Path, stated: str | None = None) -> Encoding:
    """The encoding of a text file: as stated, by its mark, UTF-8 if it is valid, or a guess."""
    if stated is not None:
        return _as_stated(path, _stated(stated))
    with open_binary(path) as file:
        head = file.read(BLOCK)
        for mark, name in _BOMS:
            if head.startswith(mark):
                return Encoding(name)
        if b"\0" in head:
            return Encoding(_wide(path, head), guessed=True)
        decoder = codecs.getincrementaldecoder("utf-8")()
        sample, offset = head, 0
        try:
            while head:
                if decoder.getstate()[0] or not head.isascii():
                    decoder.decode(head)
                offset += len(head)
                sample, head = head, file.read(BLOCK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return Encoding(_guess(path, head or sample), guessed=True)
    return Encoding("utf-8")


def _as_stated(path: Path, name: str) -> Encoding:
    """The stated encoding, with or without its mark, as the file has it."""
    family = {"utf-8": "utf-8-sig", "utf-8-sig": "utf-8-sig"}.get(name, name)
    marks = [mark for mark, each in _BOMS if each == family]
    if not marks:
        return Encoding(name)
    with open_binary(path) as file:
        head = file.read(4)
    if any(head.startswith(mark) for mark in marks):
        return Encoding(family)
    # without its mark: plain UTF-8, or the usual order of bytes
    return Encoding("utf-8" if family == "utf-8-sig" else f"{family}-le")


def _stated(name: str) -> str:
    """The encoding of that name, if it is one of text."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # refuses codecs that turn bytes into bytes
    except (LookupError, UnicodeError, ValueError):
        found = ""
    if not found or found in ("undefined", "punycode", "idna", "unicode_escape"):
        raise SourceError(f"{name[:40]!r} is not the name of an encoding of text")
    return found


def open_binary(path: Path) -> BinaryIO:
    """The file, opened, or a clear error."""
    try:
        return path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error


def _wide(path: Path, head: bytes) -> str:
    """UTF-16 without a mark: text in Latin script has its zero bytes all on one side."""
    zeros = [index % 2 for index, byte in enumerate(head[:4096]) if byte == 0]
    if zeros and len(zeros) > len(head[:4096]) // 8 and len(set(zeros)) == 1:
        return "utf-16-le" if zeros[0] == 1 else "utf-16-be"
    raise SourceError(f"{path}: not a text file (it holds zero bytes)")


def _guess(path: Path, sample: bytes) -> str:
    from charset_normalizer import from_bytes

    bad = re.search(rb"[\x80-\xff]", sample)
    start = max(0, (bad.start() if bad else 0) - 20_000)
    matches = from_bytes(sample[start : start + 200_000])
    best = matches.best()
    for match in matches:  # where several fit as well, the one that most files are in
        if best is not None and match.encoding == "cp1252" and match.chaos <= best.chaos:
            best = match
    if best is None or best.encoding in ("ascii", "utf_8"):
        raise SourceError(f"{path}: not UTF-8, and no other encoding fits; name it with --encoding")
    return best.encoding


def read_blocks(path: Path, encoding: Encoding) -> Iterator[Block]:
    """The file as blocks of whole lines; the last one may lack its newline."""
    rest, line, end = b"", 1, 0
    for data, end in _utf8(path, encoding):
        cut = data.rfind(b"\n") + 1
        if not cut:
            rest += data
        else:
            block = Block(rest + data[:cut], line, end)
            yield block
            line += block.line_count
            rest = data[cut:]
        if len(rest) > MAX_LINE:
            limit = MAX_LINE // (1024 * 1024)
            raise SourceError(
                f"{path}: line {line} is longer than {limit} MB; this is not a record"
            )
    if rest:
        yield Block(rest, line, end)


def read_lines(path: Path, encoding: Encoding) -> Iterator[tuple[int, str]]:
    """The file as numbered lines with their newlines; only a newline ends a line."""
    for block in read_blocks(path, encoding):
        for offset, line in enumerate(block.lines()):
            number = block.first_line + offset
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise SourceError(
                    f"{path}: line {number} is not {encoding.name}; "
                    "name the file's encoding with --encoding"
                ) from error


def _utf8(path: Path, encoding: Encoding) -> Iterator[tuple[bytes, int]]:
    """Pieces of the file as UTF-8, with the number of bytes read so far."""
    with open_binary(path) as file:
        if encoding.name in ("utf-8", "utf-8-sig"):
            if encoding.name == "utf-8-sig":
                file.read(len(codecs.BOM_UTF8))
            while data := file.read(BLOCK):
                yield data, file.tell()
            return
        decoder = codecs.getincrementaldecoder(encoding.name)()
        while True:
            data = file.read(BLOCK)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                near = file.tell() - len(data) + error.start
                raise SourceError(
                    f"{path}: not {encoding.name} near byte {near}; "
                    "name the file's encoding with --encoding"
                ) from error
            yield text.encode("utf-8", "surrogatepass"), file.tell()
            if not data:
                return
