"""Files that were uploaded and not taken in yet: kept in a private folder for an hour at most.

A file belongs to the account that sent it and to one study; nobody else is told that it is
there. It is read as data by our own readers and by nothing else, and never served back.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from fastapi import Request
from starlette.exceptions import HTTPException

from calibrant.core.criterion import ItemType
from calibrant.core.errors import CalibrantError, SourceError, one_line
from calibrant.formats.records import SUFFIXES
from calibrant.ports.clock import Clock
from calibrant.study.intake import Intake
from calibrant.web.access import NOT_FOUND, Seat, workspace_of
from calibrant.web.belongings import clear_left_behind, of_server, own_folder
from calibrant.web.upload_check import Checked
from calibrant.web.upload_columns import Looked

KEPT_FOR = timedelta(hours=1)
FOLDER = "calibrant-uploads-"
"""How the names of our folders among the machine's temporary files begin."""
MOST_EACH = 4
"""Files that an account may have waiting; the oldest makes room."""
MOST_NAME = 120
KNOWN = tuple(suffix for suffix, kind in SUFFIXES.items() if kind != "parquet")
"""What can be uploaded; Parquet is for programs, and its reader is not made for strangers."""
AT_ONCE = 2
"""Files that are read at the same time, whoever sent them."""
_TURNS = threading.BoundedSemaphore(AT_ONCE)


class Job:
    """Work in a thread of its own: how far it is, and what came of it."""

    def __init__(self, what: str) -> None:
        """``what`` it does, as its page says: ``Reading the file``."""
        self.what = what
        self.done = 0
        self.total: int | None = None
        self.error = ""
        self._over = threading.Event()

    def start(self, work: Callable[[Job], None]) -> None:
        """Begin; trouble ends up in ``error``, in words."""

        def run() -> None:
            try:
                with _TURNS:
                    work(self)
            except CalibrantError as error:
                self.error = str(error) or type(error).__name__
            except MemoryError:
                self.error = "the file is too large for the memory at hand"
            except BaseException:
                self.error = "something went wrong while the file was read"
                raise
            finally:
                self._over.set()

        threading.Thread(target=run, name=self.what, daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Whether it is over, after waiting a little for it."""
        return self._over.wait(seconds)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._over.is_set()


@dataclass(slots=True, kw_only=True)
class Upload:
    """A file between its upload and the moment somebody decides about it."""

    token: str
    account: str
    study: int
    name: str
    """As its owner calls it, fit to be shown; nothing is opened by it."""
    path: Path
    kind: ItemType
    made_at: datetime
    job: Job
    looked: Looked | None = None
    choices: dict[str, str] = field(default_factory=dict)
    """What each column was said to be."""
    checked: Checked | None = None
    checks: int = 0
    """How often it was checked: what somebody agrees to is the check that they saw."""
    taking: bool = False
    """Whether it was said that its items are to be taken in."""
    intake: Intake | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def next_job(self, what: str) -> Job | None:
        """A new job, once the one before is over; None while somebody is at it."""
        with self._turn:
            if not self.job.is_over:
                return None
            self.job = Job(what)
            return self.job

    def told(self, text: str) -> str:
        """A sentence of a reader with the file's own name in the place of ours."""
        own = text.replace(str(self.path), self.name).replace(self.path.name, self.name)
        return one_line(own)


class Uploads:
    """The files that wait, by their token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        clear_left_behind(FOLDER)
        self._folder = own_folder(self, FOLDER)
        self._kept: dict[str, Upload] = {}
        self._turn = threading.Lock()
        self._timer: threading.Timer | None = None

    def keep(self, seat: Seat, name: str, content: BinaryIO) -> Upload:
        """Put a file aside for whoever sits there; raises ``SourceError`` on a kind unknown."""
        shown = shown_name(name)
        suffix = PurePosixPath(shown).suffix.lower()
        if suffix not in KNOWN:
            raise SourceError(
                f"{shown}: a file of items is a spreadsheet (.xlsx), a table (.csv, .tsv) or "
                "JSON (.jsonl, .json)"
            )
        token = secrets.token_urlsafe(18)
        self._need_room(seat.visitor.name)
        with self._turn:
            if not self._folder.is_dir():  # empty for hours: somebody tidied it away
                self._folder = own_folder(self, FOLDER)
            place = self._folder / token
            place.mkdir(mode=0o700)
        path = place / f"upload{suffix}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(content, file)
        made = Upload(
            token=token,
            account=seat.visitor.name,
            study=seat.study.number,
            name=shown,
            path=path,
            kind=cast("ItemType", seat.study.record.item_type),
            made_at=self._clock(),
            job=Job("Reading the file"),
        )
        with self._turn:
            self._kept[token] = made
        self._make_room(made)
        self._remind()
        return made

    def find(self, seat: Seat, token: str) -> Upload:
        """A file of this account in this study; for anybody else it is not there."""
        self.sweep()
        with self._turn:
            found = self._kept.get(token)
        mine = (seat.visitor.name, seat.study.number)
        if found is None or (found.account, found.study) != mine:
            raise HTTPException(404, NOT_FOUND)
        return found

    def waiting(self, seat: Seat) -> list[Upload]:
        """Files of this account in this study, the newest first."""
        self.sweep()
        mine = (seat.visitor.name, seat.study.number)
        with self._turn:
            found = [one for one in self._kept.values() if (one.account, one.study) == mine]
        return sorted(found, key=lambda one: one.made_at, reverse=True)

    def drop(self, upload: Upload) -> None:
        """Delete a file for good."""
        with self._turn:
            self._kept.pop(upload.token, None)
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    def sweep(self) -> None:
        """Delete what has waited too long, and is not being read just now."""
        now = self._clock()
        with self._turn:
            old = [one for one in self._kept.values() if now - one.made_at > KEPT_FOR]
        for one in old:
            if one.job.is_over:
                self.drop(one)

    def _need_room(self, account: str) -> None:
        """Refuse one more file while others of the account are being read, or wait for it."""
        with self._turn:
            mine = [one for one in self._kept.values() if one.account == account]
        if sum(not one.job.is_over for one in mine) >= MOST_EACH:
            raise SourceError(
                f"{MOST_EACH} files of yours are being read: wait until one of them is done"
            )

    def _make_room(self, newest: Upload) -> None:
        with self._turn:
            mine = [one for one in self._kept.values() if one.account == newest.account]
        waiting = [one for one in mine if one is not newest and one.job.is_over]
        for one in sorted(waiting, key=lambda one: one.made_at)[: max(0, len(mine) - MOST_EACH)]:
            self.drop(one)

    def _remind(self) -> None:
        """Sweep when the time is up, though nobody may come by."""
        own = weakref.ref(self)

        def come_back() -> None:
            found = own()
            if found is not None:
                found._swept()

        with self._turn:
            if self._timer is not None:
                return
            self._timer = threading.Timer(KEPT_FOR.total_seconds() + 1, come_back)
            self._timer.daemon = True
            self._timer.start()

    def _swept(self) -> None:
        self.sweep()
        with self._turn:
            self._timer, more = None, bool(self._kept)
        if more:
            self._remind()


def shown_name(name: str) -> str:
    """The last part of a file's name, fit to be shown; folders and hidden signs are left out."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(sign for sign in last if sign.isprintable()).strip()
    if len(plain) > MOST_NAME:
        stem, dot, suffix = plain.rpartition(".")
        plain = f"{stem[: MOST_NAME - 12]}…{dot}{suffix[:8]}"
    return plain or "file"


def uploads_of(request: Request) -> Uploads:
    """Where this server keeps the files that wait."""
    return of_server(request, "uploads", lambda: Uploads(workspace_of(request).clock))
