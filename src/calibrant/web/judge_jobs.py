"""Judge runs that are started from a page: only a server of this machine's settings is asked.

Whoever leads a study names a model of that server and nothing else: no address, no file, no key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import Request

from calibrant.core.errors import SourceError, StudyError
from calibrant.engine.jobs import Tally
from calibrant.judging.asking import GGUF, Asking
from calibrant.judging.in_study import Foreseen, StudyJudged, foreseen, judge_study, study_calls
from calibrant.raters.judge.card import Way
from calibrant.settings import OWN_URL, Server, Settings
from calibrant.study.handle import Study
from calibrant.web.access import Seat, workspace_of
from calibrant.web.jobs import Job, jobs_of, noted

MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,119}", re.ASCII)
"""Names of models: no @, which would name another server."""
WAYS: tuple[tuple[Way, str], ...] = (
    ("criterion", "one criterion a call: the most careful"),
    ("category", "the criteria of a category together"),
    ("rubric", "all criteria in one call: the cheapest"),
)


@dataclass(slots=True)
class JudgeRunning:
    """A run while it lasts, and what it came to."""

    model: str
    way: str
    host: str
    tally: Tally = field(default_factory=Tally)
    found: StudyJudged | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """How far it is, in numbers."""
        tally = self.tally
        usage = list(tally.usage.values())
        return {
            "calls": tally.known,
            "done": tally.done,
            "kept": tally.kept,
            "under_way": tally.in_flight,
            "asked_again": tally.retried,
            "errors": dict(tally.errors.copy()),
            "tokens_in": sum(one.prompt for one in usage),
            "tokens_out": sum(one.completion for one in usage),
            "stopping": tally.stop,
        }


def server() -> Server | None:
    """The server that judges are asked at; None where none is set."""
    try:
        return Settings.here().server(None)
    except SourceError:
        return None


def asking_of(model: str, way: str) -> Asking:
    """What a run is told; raises ``StudyError`` where the name is not one of a model."""
    if not MODEL.fullmatch(model) or "//" in model or model.lower().endswith(GGUF):
        raise StudyError(
            "name a model of the server: letters, digits and . _ : / + - only, and no address"
        )
    if way not in dict(WAYS):
        raise StudyError(f"a judge is asked by {', '.join(dict(WAYS))}")
    return Asking(models=(model,), way=way)


def need_server() -> Server:
    """The server; raises ``StudyError`` with how to set one."""
    found = server()
    if found is None:
        raise StudyError(
            "no server is set for judges: whoever runs this workspace sets "
            f"{OWN_URL} (and CALIBRANT_API_KEY) in the environment or in .env, and starts it anew"
        )
    return found


def outlook(study: Study, model: str, way: str) -> tuple[Server, list[Foreseen]]:
    """Where a run would send items, and what each judge would do; nothing is sent."""
    return need_server(), foreseen(study, asking_of(model, way))


def start(request: Request, seat: Seat, model: str, way: str) -> Job:
    """Begin a run; one at a time in a study."""
    asking, host = asking_of(model, way), need_server().host
    workspace = workspace_of(request)
    study = workspace.unhurried(seat.study)
    calls = study_calls(workspace.opened.shown, study.name)
    running = JudgeRunning(model, way, host)
    job = Job(
        study=study.number,
        kind="judges",
        by=seat.visitor.name,
        title=f"{model} at {host}",
        began=study.now(),
        about=running,
    )
    begun = jobs_of(request).start(job, lambda one: _run(study, asking, calls, running), alone=True)
    noted(request, seat, "judges_run", model=model, server=host)
    return begun


def _run(study: Study, asking: Asking, calls: Path, running: JudgeRunning) -> str:
    found = judge_study(study, asking, calls, tally=running.tally)
    running.found = found
    return " ".join(outcome(found, running.tally)) or "Nothing was to be done."


def outcome(found: StudyJudged, tally: Tally) -> list[str]:
    """What a run came to, in sentences."""
    said = [f"{line}." for line in found.told("another run")]
    if tally.stopped:
        said.append(f"It stopped by itself: {tally.stopped}.")
    elif found.stopped:
        said.append("It was stopped; another run goes on where it ended, and pays nothing twice.")
    return said


def stop(job: Job) -> None:
    """Send nothing more; what is on its way is waited for."""
    assert isinstance(job.about, JudgeRunning)
    job.about.tally.stop = True
