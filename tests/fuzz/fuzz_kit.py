"""What all fuzz tests share: numbered cases, broken bytes and values, a book of what went wrong.

Every case is made from the name of its reader and its number, nothing else, so that a failure
is repeated by running that one case again::

    CALIBRANT_FUZZ_CASES=2000 python -m pytest "tests/fuzz/test_fuzz_items.py" -k "jsonl-plan"
"""

from __future__ import annotations

import codecs
import faulthandler
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from types import FrameType
from typing import Any

import pytest

from calibrant.core.errors import CalibrantError, Fault

CASES = int(os.environ.get("CALIBRANT_FUZZ_CASES", "2000"))
"""Cases for each reader."""
CHUNKS = 4
"""Tests each reader's cases are dealt out to, so that several processes can share them."""
SECONDS = 20
"""A case that takes longer hangs; this is no measure of speed."""


def cases(chunk: int) -> range:
    """The numbers of the cases of one chunk."""
    return range(chunk, CASES, CHUNKS)


class Hang(BaseException):
    """A case did not come to its end."""


class Broken(AssertionError):
    """A promise was not kept; the first line is the same for all cases of one kind."""


def promise(kept: bool, what: str, *details: object) -> None:
    """Raise ``Broken`` unless ``kept``."""
    if not kept:
        raise Broken(what, *details)


@dataclass
class Findings:
    """What went wrong in which cases; one entry for each kind of failure."""

    reader: str
    found: dict[str, list[str]] = field(default_factory=dict)
    data: object = b""
    """What the running case reads, for the message."""
    _armed: float = -1e9

    def random(self, case: int) -> Random:
        """The numbers a case is made from."""
        return Random(f"{self.reader}/{case}")

    def _arm(self) -> None:
        """Put off the end of the process; it comes only if no case ends for minutes."""
        if monotonic() - self._armed > SECONDS:
            self._armed = monotonic()
            faulthandler.dump_traceback_later(30 * SECONDS, exit=True, file=sys.__stderr__ or 2)

    @contextmanager
    def case(self, number: int) -> Iterator[None]:
        """Run one case; whatever it raises is written down."""
        self.data = b""
        self._arm()
        try:
            with _guarded():
                yield
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            told = f"case {number}: {_clip(error, 500)} | input: {_clip(repr(self.data), 600)}"
            self.found.setdefault(_signature(error), []).append(told)

    def settle(self) -> None:
        """Fail if anything went wrong."""
        faulthandler.cancel_dump_traceback_later()
        lines = [
            f"{len(told)} × {kind}\n    {told[0]}\n    cases: {_numbers(told)}"
            for kind, told in self.found.items()
        ]
        if lines:
            told = "\n".join(lines)
            pytest.fail(f"reader {self.reader!r}, seed 'reader/case':\n{told}", pytrace=False)


def _numbers(told: Sequence[str]) -> str:
    return ", ".join(one.split(":", 1)[0].removeprefix("case ") for one in told[:10])


def _clip(value: object, length: int) -> str:
    text = str(value)
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def _signature(error: BaseException) -> str:
    """Failures with one signature have one cause, more often than not."""
    if isinstance(error, Broken):
        return f"promise broken: {error.args[0]}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"calibrant{os.sep}" in frame.filename] or frames
    place = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "nowhere"  # noqa: PTH119
    return f"{type(error).__name__} at {place}"


@contextmanager
def _guarded() -> Iterator[None]:
    """Stop a case that hangs, as soon as it is back in Python."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise Hang(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def promise_fault(fault: Fault) -> None:
    """A fault says something, in one line."""
    promise(bool(fault.message.strip()), "a fault has a message", fault)
    promise(len(str(fault).splitlines()) == 1, "a fault is one line", str(fault))


def promise_source_error(error: CalibrantError) -> None:
    """An error about a whole file says something."""
    promise(bool(str(error).strip()), "an error has a message", type(error))


# -- bytes

NASTY = (
    b"\x00", b"\x01", b"\x0b", b"\x0c", b"\x1b[31m", b"\x1c", b"\x7f", b"\x80", b"\xff", b"\xc3",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xe2\x80\xa8", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b'"', b"'", b'""', b"\n", b"\r", b"\r\n", b"\n\n", b"\t", b",", b";", b"|", b":", b"\\", b"\\u",
    b"{", b"}", b"[", b"]", b"null", b"NaN", b"-Infinity", b"1e999", b"\\ud800", b"\\u0000", b"*a",
    b"&a ", b"!!python/object:os.system ", b"%", b"---\n", b"- ", b"? ", b"#", b"none", b"~",
)  # fmt: skip
ENCODINGS = (
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "cp1252",
    "latin-1",
    "cp037",
)


def broken_bytes(rng: Random, data: bytes, most: int = 4, text: bool = True) -> bytes:
    """``data`` with up to ``most`` things done to it."""
    for _ in range(rng.randint(1, most)):
        data = _break(rng, data, text)
    return data


def _break(rng: Random, data: bytes, text: bool) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 2, 8, 40, 200)))
    match rng.randrange(10 if text else 7):
        case 0 | 1 if at < len(data):
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 2:
            return data[:at] + rng.choice(NASTY) + data[at:]
        case 3:
            return data[:at] + rng.choice(NASTY) + data[end:]
        case 4:
            return data[:end] + data[at:]
        case 5:
            return data[:at] + data[end:]
        case 6:
            return data[:at] if rng.random() < 0.3 else data[at:] + data[:at]
        case 7:
            return _recoded(rng, data)
        case 8:
            return _relined(rng, data)
        case 9:
            return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b" ", b"\x00")) + data
    return data + rng.choice(NASTY)


def _recoded(rng: Random, data: bytes) -> bytes:
    """The same text in an encoding it does not claim to have."""
    name = rng.choice(ENCODINGS)
    return codecs.encode(data.decode("utf-8", "replace"), name, "replace")


def _relined(rng: Random, data: bytes) -> bytes:
    """Lines with other ends, or in another order."""
    lines = data.split(b"\n")
    match rng.randrange(5):
        case 0:
            rng.shuffle(lines)
        case 1:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
        case 2:
            return b"\r\n".join(lines)
        case 3:
            return b"\r".join(lines)
        case 4:
            at = rng.randrange(len(lines))
            lines[at : at + 2] = [b" ".join(lines[at : at + 2])]
    return b"\n".join(lines)


# -- values


@dataclass(frozen=True, slots=True)
class Raw:
    """A piece of JSON text that no value stands for."""

    text: str


def nested(depth: int) -> Raw:
    """Lists in lists."""
    return Raw("[" * depth + "]" * depth)


ODD_TEXTS: tuple[str, ...] = (
    "", " ", "\t", "\n", "\r\n", "NA", "na ", "N/A", "#N/A", "ERROR", " error", "nan", "None",
    "null", "YES", "yes", " No ", "no\n", "5", " 5 ", "5.0", "+3", "05", "5.", "1e0", "٣", "0x5",
    "-0", "true", "=1+1", "-1", "@x", "+x", "\tx", "a\nb", "a\rb", "a\u2028b", "\x00", "\x1b[31m",
    "\x1c", "\ufeff", "\u00a0", "\u200b", "é", "ſ", "İ", "ß", "\U0001f600", "x" * 501, "x" * 5000,
    "a:b:c", "a;b", "a,b", 'say "x"', "<script>", "deception", "CQ1", "usefulness", "record-1",
    "a\\b",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 7, 3.0, 2.5, -0.0, 1e308, 10**30, -(10**30), 10**400, 2**63,
    2**64,
    [], {}, [[]], [None], [1, "a"], ["YES"], {"id": "x"}, {"a": {"b": [1]}},
    [["a", "b"], ["c", "d"]],
)  # fmt: skip
ODD_JSON: tuple[Raw, ...] = (
    Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("1e999"), Raw("-1e-999"), Raw("-0"),
    Raw("01"),
    Raw('"\\ud800"'), Raw('"\\udc00x"'), Raw('"\\ud83d\\ude00"'), Raw('"\\u0000"'),
    Raw('"\\u0059ES"'),
    Raw("9" * 4000), Raw("9" * 5000), Raw('"\\x"'), Raw("'a'"), Raw("{"), Raw("tru"), Raw("1 2"),
    nested(50), nested(300), nested(700), nested(960), nested(978), nested(2000), nested(100_000),
    Raw('{"a":1,"a":2}'), Raw('{"id":"x","id" :"y"}'),
)  # fmt: skip


def odd_value(rng: Random, json_text: bool = True) -> Any:
    """Something nobody expects."""
    choice = rng.random()
    if choice < 0.45:
        return rng.choice(ODD_TEXTS)
    if choice < 0.8 or not json_text:
        return rng.choice(ODD_VALUES)
    return rng.choice(ODD_JSON)


def odd_node(rng: Random, node: Any) -> Any:
    """A copy of a JSON value with one thing in it changed."""
    if rng.random() < 0.12 or not isinstance(node, dict | list) or not node:
        return odd_value(rng)
    if isinstance(node, list):
        out = list(node)
        at = rng.randrange(len(out))
        match rng.randrange(4):
            case 0:
                out.insert(at, rng.choice(out))
            case 1:
                del out[at]
            case _:
                out[at] = odd_node(rng, out[at])
        return out
    key = rng.choice(list(node))
    match rng.randrange(6):
        case 0:
            return {name: value for name, value in node.items() if name != key}
        case 1:
            other = rng.choice((*ODD_TEXTS, key.upper(), key + " ", key.replace("_", "-")))
            return {(other if name == key else name): value for name, value in node.items()}
        case 2:
            return {**node, rng.choice(ODD_TEXTS): odd_value(rng)}
        case _:
            return {**node, key: odd_node(rng, node[key])}


def dump(rng: Random, node: Any) -> str:
    """JSON text of a value, now and then spelt in an unusual way, or with a key twice."""
    match node:
        case Raw(text):
            return text
        case dict():
            pairs = [(_spelt(rng, key), dump(rng, value)) for key, value in node.items()]
            if pairs and rng.random() < 0.02:
                key, _ = rng.choice(pairs)
                again = rng.choice(('"YES"', '"NO"', "5", "null", '"x"'))
                pairs.insert(rng.randrange(len(pairs) + 1), (key, again))
            colon = ":" if rng.random() < 0.9 else rng.choice((": ", " :", "\t:\t"))
            return "{" + ",".join(f"{key}{colon}{value}" for key, value in pairs) + "}"
        case list():
            return "[" + ",".join(dump(rng, entry) for entry in node) + "]"
        case str():
            return _spelt(rng, node)
    return json.dumps(node)


def _spelt(rng: Random, text: str) -> str:
    if text and rng.random() < 0.01:
        at = rng.randrange(len(text))
        if text[at] < "\uffff":
            inside = [json.dumps(part)[1:-1] for part in (text[:at], text[at + 1 :])]
            return f'"{inside[0]}\\u{ord(text[at]):04x}{inside[1]}"'
    return json.dumps(text, ensure_ascii=rng.random() < 0.5)


class RepeatedKey(ValueError):
    """A key stands twice in one object."""


def strict_json(text: str) -> Any:
    """What a line says, read by the standard library alone; raises ``ValueError``."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            raise RepeatedKey(str(pairs)[:80])
        return built

    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text, object_pairs_hook=build, parse_constant=refuse)


@contextmanager
def deep_stack() -> Iterator[None]:
    """Room for an oracle to look at what a reader with less room has refused or not."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
