"""The log of calls to models: what was sent, what came back, what was given up.

It only ever grows. A call is written down before it is sent and its reply before anything else
happens, so a run that is killed knows afterwards what it has paid for: replies are kept, and the
few calls that were on their way are named. It holds words of the items' judges, so nobody but its
owner may read it; the key of a server is never in it.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec

from calibrant.core.errors import SourceError
from calibrant.formats import call_lines as lines
from calibrant.formats.call_lines import Kept
from calibrant.ports.chat import Form, Reply
from calibrant.raters.judge.card import JudgeCard
from calibrant.raters.judge.judge import Call

OWNER_ONLY = 0o600
SYNC_EVERY = 0.25
"""Seconds between one time that what was written is forced to the disk and the next."""
KEY_BYTES = 32
MOST_DETAIL = 500
_PIECE = 256 * 1024


class CallLog:
    """A log on disk and, in memory, where in it the reply to each call stands."""

    def __init__(self, path: Path, file: int, *, readonly: bool) -> None:
        self.path, self.readonly = path, readonly
        self.key = b""
        self.cards: dict[str, dict[str, Any]] = {}
        """By the name of the judge."""
        self.in_flight: dict[str, lines.SentLine] = {}
        """Calls that an earlier run had sent and not heard of when it was killed."""
        self._file = file
        self._end = 0
        self._places: dict[bytes, int] = {}
        self._earlier: dict[int, int] = {}
        """Of the place of a reply, that of the one before it to the same call."""
        self._given_up: dict[bytes, int] = {}
        self._dirty = False
        self._trouble: OSError | None = None
        self._closing = threading.Event()
        self._syncing: threading.Thread | None = None

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False, key: bytes | None = None) -> Self:
        """Open a log, or begin one; ``key`` is for a new one.

        Raises ``SourceError`` where another run writes it, or where the file is no log of calls:
        then nothing of it is changed. A last line that was cut short by a kill is taken off.
        """
        flags = os.O_RDONLY if readonly else os.O_RDWR | os.O_APPEND | os.O_CREAT
        try:
            file = os.open(path, flags | os.O_CLOEXEC, OWNER_ONLY)
        except FileNotFoundError:
            raise SourceError(f"{path}: no such file") from None
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from error
        log = cls(path, file, readonly=readonly)
        try:
            log._take_up(key)
        except BaseException:
            os.close(file)
            raise
        return log

    def _take_up(self, key: bytes | None) -> None:
        try:
            about = os.fstat(self._file)
            if not stat.S_ISREG(about.st_mode):
                raise SourceError(f"{self.path}: not a file")
            if not self.readonly:
                self._lock()
            if about.st_size == 0 and not self.readonly:
                self.key = key or secrets.token_bytes(KEY_BYTES)
                self._write(lines.Head(lines.FORMAT, lines.VERSION, self.key.hex()))
            else:
                self._read()
            if not self.readonly:
                self._make_ready()
        except OSError as error:
            raise SourceError(f"{self.path}: {error.strerror or error}") from error

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SourceError(
                f"{self.path}: another run is writing this log; wait for it, or name another file"
            ) from None

    def _make_ready(self) -> None:
        """What is written from here on stands at the end of whole lines."""
        if os.fstat(self._file).st_size > self._end:
            os.ftruncate(self._file, self._end)
        if stat.S_IMODE(os.fstat(self._file).st_mode) != OWNER_ONLY:
            os.fchmod(self._file, OWNER_ONLY)
        if self.in_flight:
            self._write(lines.OpenLine(list(self.in_flight)))
        self._syncing = threading.Thread(target=self._sync_now_and_then, daemon=True)
        self._syncing.start()

    # -- reading what is there

    def _read(self) -> None:
        """Read the log once, keeping places only."""
        for number, line in enumerate(self._whole_lines(), 1):
            try:
                found = lines.brief_of(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise self._no_log(number) from error
            if (number == 1) != isinstance(found, lines.Head):
                raise self._no_log(number)
            self._note(found)
            self._end += len(line)
        if not self.key:
            raise self._no_log(1)

    def _no_log(self, number: int) -> SourceError:
        if number == 1:
            return SourceError(f"{self.path}: is no log of calls; it is left as it is")
        return SourceError(
            f"{self.path}: line {number} is damaged; it is left as it is: take that "
            "line out and nothing else is lost, or name another file"
        )

    def _whole_lines(self) -> Iterator[bytes]:
        """Every line that has an end."""
        with open(self._file, "rb", buffering=_PIECE, closefd=False) as source:
            while line := source.readline(lines.LONGEST):
                if not line.endswith(b"\n"):
                    if len(line) >= lines.LONGEST:
                        raise SourceError(f"{self.path}: a line is longer than any call; refused")
                    return
                yield line

    def _note(self, found: lines.Brief) -> None:
        match found:
            case lines.Head():
                self._take_head(found)
            case lines.CardLine():
                self.cards[found.name] = found.card
            case lines.SentLine():
                self.in_flight[found.id] = found
            case lines.FailedLine():
                self.in_flight.pop(found.id, None)
            case lines.GotBrief():
                self.in_flight.pop(found.id, None)
                self._place(found.id, self._end, found.last)
            case lines.GaveUpLine():
                self.in_flight.pop(found.id, None)
                self._given_up[_short(found.id)] = self._end
            case lines.OpenLine():
                for one in found.ids:
                    self.in_flight.pop(one, None)

    def _take_head(self, head: lines.Head) -> None:
        if head.format != lines.FORMAT:
            raise self._no_log(1)
        if head.version > lines.VERSION:
            raise SourceError(f"{self.path}: was written by a newer version of calibrant")
        try:
            self.key = bytes.fromhex(head.key)
        except ValueError:
            raise self._no_log(1) from None

    def _place(self, call_id: str, start: int, last: bool) -> None:
        """Where the newest reply of a call stands; the lowest bit says whether it is over."""
        short = _short(call_id)
        known = self._places.get(short)
        if known is not None:
            self._earlier[start] = known >> 1
        self._places[short] = start << 1 | last
        self._given_up.pop(short, None)

    # -- what is known

    def __len__(self) -> int:
        """How many calls have a reply."""
        return len(self._places)

    def answered(self, call_id: str) -> bool:
        """Whether a reply is there that answers everything, as it was read when it came."""
        return bool(self._places.get(_short(call_id), 0) & 1)

    def replies(self, call_id: str) -> list[Kept]:
        """All replies to a call, the newest first."""
        found: list[Kept] = []
        known = self._places.get(_short(call_id))
        place = None if known is None else known >> 1
        while place is not None:
            found.append(lines.kept_of(self._line_at(place)))
            place = self._earlier.get(place)
        return found

    def given_up(self, call_id: str) -> tuple[str, str] | None:
        """Why a call was given up in the end, and the words about it."""
        place = self._given_up.get(_short(call_id))
        if place is None:
            return None
        line = lines.brief_of(self._line_at(place))
        assert isinstance(line, lines.GaveUpLine)
        return line.why, line.detail

    def _line_at(self, place: int) -> bytes:
        size, line = 4096, b""
        while b"\n" not in line:
            size *= 4
            line = os.pread(self._file, size, place)
            if len(line) < size and b"\n" not in line:
                raise SourceError(f"{self.path}: was cut short while it was read; begin again")
        return line[: line.index(b"\n")]

    # -- writing

    def card(self, card: JudgeCard) -> None:
        """Write a judge's card, if it is not there yet."""
        if card.name not in self.cards:
            self.cards[card.name] = card.to_dict()
            self._write(lines.CardLine(card.name, card.hash, self.cards[card.name]))

    def sent(self, call: Call, card: str, attempt: int) -> None:
        """To be called before a call is sent."""
        self._write(
            lines.SentLine(
                id=call.id,
                item=call.item.id,
                content=call.content,
                question=call.question.id,
                sample=call.sample,
                card=card,
                attempt=attempt,
            )
        )

    def got(
        self,
        call: Call,
        reply: Reply,
        *,
        form: Form,
        attempt: int,
        seconds: float,
        rung: str,
        why: str = "",
        last: bool,
    ) -> None:
        """A reply; ``last``: it answers everything, and no other run asks again either."""
        usage = reply.usage
        line = lines.GotLine(
            id=call.id,
            attempt=attempt,
            seconds=round(seconds, 6),
            form=form,
            text=reply.text,
            rung=rung,
            why=why[:MOST_DETAIL],
            last=last,
            usage=(usage.prompt, usage.cached, usage.completion),
            finish=reply.finish,
            model=reply.model,
            tokens=lines.tokens_of(reply) if reply.tokens else [],
        )
        start = self._end
        self._write(line)
        self._place(call.id, start, last)

    def failed(self, call: Call, why: str, attempt: int) -> None:
        """An attempt came to nothing, and there will be another."""
        self._write(lines.FailedLine(call.id, why, attempt))

    def gave_up(self, call: Call, why: str, detail: str, attempts: int) -> None:
        """No reply answers everything, and none is asked for any more in this run."""
        start = self._end
        self._write(lines.GaveUpLine(call.id, why, detail[:MOST_DETAIL], attempts))
        self._given_up[_short(call.id)] = start

    def _write(self, line: lines.Line) -> None:
        """One line, one write: a kill leaves whole lines behind, or half of the last."""
        if self._trouble is not None:
            raise SourceError(f"{self.path}: {self._trouble.strerror or self._trouble}")
        if self.readonly:
            raise SourceError(f"{self.path}: is open for reading only")
        data = lines.line_of(line)
        try:
            written = os.write(self._file, data)
            if written < len(data):
                os.ftruncate(self._file, self._end)
                raise OSError("the disk is full")
        except OSError as error:
            raise SourceError(f"{self.path}: {error.strerror or error}") from error
        self._end += written
        self._dirty = True

    def _sync_now_and_then(self) -> None:
        while not self._closing.wait(SYNC_EVERY):
            self._sync()

    def _sync(self) -> None:
        """Force to the disk what was written; a disk that fails is told at the next line."""
        if self._dirty:
            self._dirty = False
            try:
                os.fdatasync(self._file)
            except OSError as error:
                self._trouble = error

    def close(self) -> None:
        """Force everything to the disk and let the file go."""
        if self._file < 0:
            return
        self._closing.set()
        if self._syncing is not None:
            self._syncing.join()
        self._sync()
        os.close(self._file)
        self._file = -1
        if self._trouble is not None:
            raise SourceError(f"{self.path}: {self._trouble.strerror or self._trouble}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _short(call_id: str) -> bytes:
    """An id in half the bytes: there are as many of them in memory as calls."""
    try:
        return bytes.fromhex(call_id)
    except ValueError:
        return call_id.encode()
