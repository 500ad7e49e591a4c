"""Studies to be served in the benchmark, and the people who are logged in to them."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg

from bench import coaching
from bench.areas.study import conversations
from bench.harness import PYTHON, BenchError, Context
from bench.web_servers import Load, Person, Served, free_port, serving
from calibrant import compose
from calibrant.core.item import Conversation, Exchange
from calibrant.core.plan import Plan
from calibrant.core.rubric import Rubric
from calibrant.core.study import Key
from calibrant.formats.rubric_file import load_rubric
from calibrant.study.handle import Study
from calibrant.web.refs import task_ref
from calibrant.web.workspace import Workspace

RUBRIC = "coaching-conversation"
COMMAND = Path(PYTHON).with_name("calibrant")
NOTE = (
    "The coach asks before it advises; the second reply is a little long for an evening like that."
)
DRAFTS = 4
"""Drafts that are saved of an item before it is handed in."""
WARM_UP = 10
"""Pages that are asked for before any counts."""
TASK, VERSION = re.compile(r'data-task="([^"]+)"'), re.compile(r'data-version="([0-9]+)"')


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database with one study, rated by people who are logged in."""

    place: str
    folder: Path
    number: int
    names: Sequence[str]
    items: Sequence[str]
    cookie: str
    secrets: dict[str, str]
    csrf: dict[str, str]

    def headers(self, name: str) -> dict[str, str]:
        """What a browser in which somebody is signed in sends with a request of a script."""
        return {
            "Cookie": f"{self.cookie}={self.secrets[name]}",
            "X-Calibrant-Csrf": self.csrf[name],
            "Content-Type": "application/json",
            "Accept": "application/json",
        }

    def task(self, name: str, item: str) -> str:
        """An assignment as addresses name it."""
        return task_ref(Key(round=1, item=item, rater=name, occasion=1))


def long_conversations(number: int) -> Iterator[Conversation]:
    """Of 15 exchanges, as people have them with a coach."""
    for at, said in enumerate(coaching.conversations(number)):
        first = (f"Case {at}: {said[0][0]}", said[0][1])
        turns = [Exchange(user=user, assistant=reply) for user, reply in (first, *said[1:])]
        yield Conversation(id=f"c-{at:06}", exchanges=tuple(turns))


def prepared(
    ctx: Context,
    place: str,
    *,
    people: int,
    items: int,
    content: Callable[[int], Iterator[Conversation]] = conversations,
) -> Prepared:
    """A study in which everybody rates every item, open, its rubric read by all."""
    names = [f"r{at:03}" for at in range(people)]
    study = compose.create_study(place, "served", load_rubric(RUBRIC), lead="lena")
    try:
        study.add_items(content(items))
        for name in names:
            study.add_member(name)
        study.plan_round("main", plan=Plan(way="everyone"), raters=names)
        study.open_round(1, override="a benchmark")
        for name in names:
            _of(study, name).acknowledge()
        number = study.number
    finally:
        study.store.close()
    with contextlib.chdir(ctx.work):  # where the secret of a database on a server is kept
        opened = compose.open_workspace(place)
        try:
            for name in names:
                opened.owners.add(name, by="bench")
            secrets = {name: opened.door.admit(name, by="bench") for name in names}
            csrf = {name: opened.door.csrf(one) for name, one in secrets.items()}
            cookie = Workspace(opened=opened, hosts=()).cookie
        finally:
            opened.close()
    ids = [f"c-{at:06}" for at in range(items)]
    return Prepared(place, ctx.work, number, names, ids, cookie, secrets, csrf)


def _of(study: Study, name: str) -> Study:
    """The same study in other hands."""
    return Study(study.store, study.number, study.record, name, study.clock)


@contextlib.contextmanager
def ours(made: Prepared) -> Iterator[Served]:
    """``calibrant serve`` on it."""
    port = free_port()
    command: list[str | Path] = [
        COMMAND,
        "serve",
        "--db",
        made.place,
        "--port",
        str(port),
        "--no-browser",
    ]
    with serving("calibrant", command, folder=made.folder, port=port, ready="/sign-in") as found:
        yield found


# -- what reviewers send


def _form(rubric: Rubric, share: float) -> dict[str, Any]:
    """A form that is filled in so far; whole, it has a note too."""
    ids = rubric.criterion_ids
    answered = ids[: round(len(ids) * share)]
    form: dict[str, Any] = {"answers": dict.fromkeys(answered, "YES")}
    return form | ({"notes": {ids[0]: NOTE}} if share >= 0.5 else {})


def turn(draft: str, rating: str) -> list[dict[str, str]]:
    """One item: drafts that grow, each from the version before, and the rating."""
    rubric = load_rubric(RUBRIC)
    steps = [
        {
            "method": "PUT",
            "path": draft,
            "body": json.dumps({"form": _form(rubric, (at + 1) / DRAFTS), "version": at}),
        }
        for at in range(DRAFTS)
    ]
    whole = {"form": _form(rubric, 1.0), "version": DRAFTS, "request": "@ACT@"}
    return [*steps, {"method": "POST", "path": rating, "body": json.dumps(whole)}]


def our_load(made: Prepared, names: Sequence[str], items: Sequence[str]) -> Load:
    """Reviewers at our server, each logged in, on these items."""
    at = f"/api/v1/studies/{made.number}/tasks/@PLACE@"
    people = [
        Person(made.headers(name), [made.task(name, item) for item in items]) for name in names
    ]
    return Load(people, turn(f"{at}/draft", f"{at}/rating"))


def bare_load(made: Prepared, names: Sequence[str], items: Sequence[str]) -> Load:
    """The same forms to the bare endpoint, which does not ask who sends them."""
    at = "/studies/1/tasks/@PLACE@"
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    people = [
        Person(headers, [f"{made.task(name, item)}/{name}" for item in items]) for name in names
    ]
    return Load(people, turn(f"{at}/draft", f"{at}/rating"))


# -- what is kept


def kept(place: str, ratings: str, drafts: str) -> tuple[int, int]:
    """How many ratings are in a table, and how many drafts in another."""
    asked = [f"SELECT count(*) FROM {one}" for one in (ratings, drafts)]
    if "://" in place:
        with psycopg.connect(place) as server:
            found = [server.execute(one.encode()).fetchall()[0][0] for one in asked]
    else:
        with contextlib.closing(sqlite3.connect(place)) as file:
            found = [file.execute(one).fetchone()[0] for one in asked]
    return found[0], found[1]


# -- the rating page


def asked_for(made: Prepared, server: Served, number: int) -> list[float]:
    """Seconds that the next item's page takes, rater by rater; it is handed in each time."""
    form = _form(load_rubric(RUBRIC), 1.0)
    took: list[float] = []
    with contextlib.closing(HTTPConnection("127.0.0.1", server.port, timeout=60)) as line:
        for at in range(number + WARM_UP):
            headers = made.headers(made.names[at % len(made.names)])
            began = time.perf_counter()
            text = _asked(line, "GET", f"/s/{made.number}/rate", headers | {"Accept": "text/html"})
            took.append(time.perf_counter() - began)
            task, version = TASK.search(text), VERSION.search(text)
            if task is None or version is None:
                raise BenchError("the rating page does not tell its task and version")
            sent = {"form": form, "version": int(version[1]), "request": f"page-{at:06}"}
            path = f"/api/v1/studies/{made.number}/tasks/{task[1]}/rating"
            _asked(line, "POST", path, headers, json.dumps(sent))
    return took[WARM_UP:]


def _asked(
    line: HTTPConnection, method: str, path: str, headers: dict[str, str], body: str | None = None
) -> str:
    line.request(method, path, body=body, headers=headers)
    answer = line.getresponse()
    text = answer.read().decode()
    if not 200 <= answer.status < 300:
        raise BenchError(f"{method} {path}: {answer.status} {text[:300]}")
    return text
