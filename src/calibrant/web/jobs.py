"""Work that takes longer than a request: done in a thread, watched and fetched by its number.

Jobs live as long as the server. What they do to a study is in the study; what they leave behind
(a file to fetch, figures to read) is gone when the server stops.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fastapi import Request

from calibrant.core.errors import CalibrantError, StudyError
from calibrant.web.access import Seat, workspace_of
from calibrant.web.belongings import clear_left_behind, of_server, own_folder

Kind: TypeAlias = Literal["export", "judges", "report"]
State: TypeAlias = Literal["running", "done", "failed"]
MOST = 6
"""Finished jobs of one kind that a study keeps; the oldest go first."""
MOST_AT_ONCE = 4
"""Jobs of one kind that run in a study at the same time."""
FOLDER = "calibrant-jobs-"
"""How the names of our folders among the machine's temporary files begin."""
_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Job:
    """One piece of work and what became of it."""

    study: int
    kind: Kind
    by: str
    title: str
    began: str
    number: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "running"
    said: str = ""
    """Why it failed, or what it came to."""
    count: int = 0
    """How far it is, where that can be counted."""
    about: Any = None
    """What only jobs of its kind have."""
    folder: Path | None = None
    """Where its file is."""
    over: threading.Event = field(default_factory=threading.Event)


class Jobs:
    """All jobs of one server."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._gate = threading.Lock()
        clear_left_behind(FOLDER)
        self._folder = own_folder(self, FOLDER)

    def start(self, job: Job, work: Callable[[Job], str], *, alone: bool = False) -> Job:
        """Begin; ``work`` gives the sentence that the job ends with.

        Raises ``StudyError`` where too many of that kind run in the study, with ``alone`` one.
        """
        with self._gate:
            running = sum(_same(one, job) and one.state == "running" for one in self._jobs)
            if alone and running:
                raise StudyError("one runs already: wait until it is over, or stop it")
            if running >= MOST_AT_ONCE:
                raise StudyError(f"{running} run already: wait until one of them is over")
            job.folder = self._folder / job.number
            job.folder.mkdir(mode=0o700, parents=True)  # somebody may have tidied ours away
            self._jobs.append(job)
            self._forget(job)
        threading.Thread(target=self._run, args=(job, work), daemon=True).start()
        return job

    def _run(self, job: Job, work: Callable[[Job], str]) -> None:
        try:
            job.said = work(job)
            job.state = "done"
        except CalibrantError as error:
            job.state, job.said = "failed", str(error)
        except Exception:
            _log.exception("a job of kind %s failed", job.kind)
            job.state, job.said = "failed", "Something went wrong here, and it was written down."
        finally:
            job.over.set()

    def _forget(self, job: Job) -> None:
        """Let the oldest finished ones of this kind go, with their files."""
        mine = [one for one in self._jobs if _same(one, job) and one.state != "running"]
        for one in mine[: max(0, len(mine) - MOST)]:
            self._jobs.remove(one)
            if one.folder is not None:
                shutil.rmtree(one.folder, ignore_errors=True)

    def of(self, study: int, kind: Kind) -> list[Job]:
        """Those of a study, the newest first."""
        with self._gate:
            return [one for one in reversed(self._jobs) if (one.study, one.kind) == (study, kind)]

    def find(self, study: int, kind: Kind, number: str) -> Job | None:
        """One job of a study by its number."""
        return next((one for one in self.of(study, kind) if one.number == number), None)


def _same(one: Job, other: Job) -> bool:
    return (one.study, one.kind) == (other.study, other.kind)


def jobs_of(request: Request) -> Jobs:
    """The jobs of this server."""
    return of_server(request, "jobs", Jobs)


def noted(request: Request, seat: Seat, kind: str, **body: object) -> None:
    """A line of the workspace's log: who took data out of a study, or sent it away."""
    means = workspace_of(request).door.means
    event = means.event(kind, seat.visitor.name, study=seat.study.name, **body)
    means.accounts.log(event)
